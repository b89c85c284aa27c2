"""Node tables: ids, classes and attributes of any kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.io.attribute_columns import MOST_CATEGORIES
from focusedcleaner.io.columns import TableOptions
from focusedcleaner.io.node_table import NodeTable
from focusedcleaner.io.text_table import TextTable


def read(
    folder: Path, text: str, extra: int = 0, **options: str
) -> tuple[dict[str, list[float]], dict[str, object], list[str]]:
    """The attributes by name, the other parts, and the notes of a table."""
    (folder / "nodes.csv").write_text(text)
    table = NodeTable.read(TextTable.read(folder / "nodes.csv"), TableOptions(**options))  # type: ignore[arg-type]
    parts, notes = table.parts(extra)
    matrix = parts.pop("attributes", None)
    names = parts.pop("attribute_names", None)
    if matrix is not None and names is None:
        names = [str(number) for number in range(matrix.shape[1])]
    columns = {} if matrix is None else dict(zip(names, matrix.toarray().T.tolist(), strict=True))
    return columns, parts, notes


def test_each_kind_of_column_is_understood(tmp_path: Path) -> None:
    columns, _, notes = read(
        tmp_path,
        "id,age,country,active,joined,empty,same\na,30,US,yes,2020-01-01,,1\nb,,DE,no,2020-01-03,NA,1\nc,50,US,,2019-12-31,,1\n",
    )
    assert columns == {
        "age": [30, 30, 50],
        "age missing": [0, 1, 0],
        "country=DE": [0, 1, 0],
        "country=US": [1, 0, 1],
        "active": [1, 0, 0],
        "active missing": [0, 0, 1],
        "joined": [18262, 18264, 18261],
        "same": [1, 1, 1],
    }
    assert notes == [
        "missing values, filled in: age (1 node), active (1 node)",
        "categories: country (2)",
        "booleans, read as 1 and 0: active",
        "dates, read as days: joined",
        "empty columns, left out: empty",
        "constant columns, which tell nothing about a node: same",
    ]


def test_rare_categories_are_pooled_and_free_text_is_left_out(tmp_path: Path) -> None:
    rows = [f"n{node},c{node % 60},name {node},{node + 1000},same" for node in range(240)]
    columns, _, notes = read(tmp_path, "\n".join(["id,city,name,other_id,kind", *rows]))
    assert len(columns) == MOST_CATEGORIES + 1
    assert sum(columns["city=other"]) == 4 * (60 - MOST_CATEGORIES)
    assert notes == [
        "categories: city (60, the 10 rarest pooled)",
        "columns whose values are nearly all different, left out: name",
        "columns of ids, left out: other_id",
        "constant columns, which tell nothing about a node: kind",
    ]


def test_missing_categories_are_a_category(tmp_path: Path) -> None:
    columns, _, notes = read(tmp_path, "id,x\na,red\nb,?\nc,blue\n")
    assert columns == {"x=blue": [0, 0, 1], "x=red": [1, 0, 0], "x missing": [0, 1, 0]}
    assert notes == ["missing values, filled in: x (1 node)", "categories: x (2)"]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,5", "-2,25", "0,0"], [1.5, -2.25, 0]),
        (["true", "False", "TRUE"], [1, 0, 1]),
        (["31.12.1970", "01.01.1970", "02.01.1970"], [364, 0, 1]),
        (["12/31/1970", "01/01/1970", "01/02/1970"], [364, 0, 1]),
        (["31/12/1970", "01/01/1970", "02/01/1970"], [364, 0, 1]),
        (["1970-01-02 12:00:00", "1970-01-01 00:00:00", "1970-01-01 06:00:00"], [1.5, 0, 0.25]),
        (["1970-01-02T12:00:00Z", "1970-01-01T00:00:00Z", "1970-01-01T06:00:00Z"], [1.5, 0, 0.25]),
    ],
)
def test_numbers_booleans_and_dates_of_many_forms(cells: list[str], values: list[float], tmp_path: Path) -> None:
    columns, _, _ = read(tmp_path, "\n".join(["id;x", *(f"n{row};{cell}" for row, cell in enumerate(cells))]))
    assert columns == {"x": values}


@pytest.mark.parametrize(
    ("labels", "numbers", "names"),
    [
        (["fraud", "", "ok"], [0, -1, 1], ("fraud", "ok")),
        (["1", "0", "NA"], [1, 0, -1], None),
        (["1.0", "0.0", ""], [1, 0, -1], None),
        (["5", "unknown", "7"], [0, -1, 1], ("5", "7")),
        (["Null", "nan", "x"], [-1, -1, 0], ("x",)),
        (["true", "false", "none"], [1, 0, -1], ("false", "true")),
    ],
)
def test_labels(labels: list[str], numbers: list[int], names: tuple[str, ...] | None, tmp_path: Path) -> None:
    _, parts, _ = read(tmp_path, "\n".join(["id,class", *(f"n{row},{label}" for row, label in enumerate(labels))]))
    assert parts["labels"].tolist() == numbers  # type: ignore[attr-defined]
    assert parts["class_names"] == names


def test_one_marked_class_is_said(tmp_path: Path) -> None:
    _, parts, notes = read(tmp_path, "account_id,is_fraud\na,1\nb,\nc,1\n")
    assert parts["labels"].tolist() == [0, -1, 0]  # type: ignore[attr-defined]
    assert notes == [
        "ids from account_id, classes from is_fraud",
        "only one class is marked (is_fraud 1, 2 nodes): others count as unlabelled",
    ]
    assert read(tmp_path, "id,label\na,fraud\nb,\n")[2] == [
        "only one class is marked (fraud, 1 node): others count as unlabelled"
    ]
    assert read(tmp_path, "id,label\na,1\nb,0\n")[2] == []


def test_nodes_without_a_row_have_median_attributes_and_no_class(tmp_path: Path) -> None:
    columns, parts, _ = read(tmp_path, "id,age,city,label\na,1,x,p\nb,2,y,q\nc,9,x,p\n", extra=2)
    assert columns == {"age": [1, 2, 9, 2, 2], "city=x": [1, 0, 1, 0, 0], "city=y": [0, 1, 0, 0, 0]}
    assert parts["labels"].tolist() == [0, 1, 0, -1, -1]  # type: ignore[attr-defined]


def test_a_constant_column_is_left_out_though_some_nodes_have_no_row(tmp_path: Path) -> None:
    columns, _, notes = read(tmp_path, "id,age,kind\na,1,v1\nb,2,v1\n", extra=2)
    assert list(columns) == ["age"]
    assert notes == ["constant columns, which tell nothing about a node: kind"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("x,z\n1,2\n", {}, "which column holds the nodes' ids.*the columns are x, z"),
        ("x,y\n1,2\n", {"id": "q"}, "there is no column 'q'; the columns are x, y"),
        ("id,y\n1,2\n", {"label": "q"}, "there is no column 'q'; the columns are id, y"),
        ("id,ID\na,1\n", {}, "two columns called 'id'"),
        ("id,x\na,1e999\n", {}, "line 2: the value of 'x' '1e999' is not finite"),
    ],
)
def test_what_can_not_be_told_is_refused(text: str, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text, **options)


def test_attributes_of_one_name_are_told_apart(tmp_path: Path) -> None:
    columns, _, _ = read(tmp_path, "id,x,x=a\na,a,1\nb,b,2\nc,a,3\n")
    assert columns == {"x=a": [1, 0, 1], "x=b": [0, 1, 0], "x=a (2)": [1, 2, 3]}
