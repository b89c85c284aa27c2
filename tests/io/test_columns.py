"""Columns of an edge table: by option, by name, by place."""

from __future__ import annotations

from pathlib import Path

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.io.columns import EdgeColumns, TableOptions, edge_columns
from focusedcleaner.io.text_table import TextTable


def found(folder: Path, text: str, **options: str | bool) -> EdgeColumns:
    (folder / "edges.csv").write_text(text)
    return edge_columns(TextTable.read(folder / "edges.csv"), TableOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("header", "ends", "bipartite"),
    [
        ("source,target", (0, 1), False),
        ("Target,note,SOURCE", (2, 0), False),
        ("src,dst", (0, 1), False),
        ("id,from,to", (1, 2), False),
        ("u,v", (0, 1), False),
        ("user_id,friend_id", (0, 1), False),
        ("Follower,Followee", (0, 1), False),
        ("citing,cited", (0, 1), False),
        ("sender,receiver,text", (0, 1), False),
        ("date,payer,payee", (1, 2), False),
        ("id1,id2", (0, 1), False),
        ("node_a,node_b,x", (0, 1), False),
        ("user_id_1,x,user_id_2", (0, 2), False),
        ("x,from_account,to_account", (1, 2), False),
        ("account_from,account_to,x", (0, 1), False),
        ("user,item", (0, 1), True),
        ("stars,Product ID,Reviewer ID", (2, 1), True),
        ("customer,merchant,amount", (0, 1), True),
        ("author_id,paper_id", (0, 1), True),
        ("user,item,source,target", (2, 3), False),
    ],
)
def test_names_are_recognized(header: str, ends: tuple[int, int], bipartite: bool, tmp_path: Path) -> None:
    columns = found(tmp_path, f"{header}\n{','.join('abcd'[: header.count(',') + 1])}\n")
    assert columns.header
    assert (columns.source, columns.target) == ends
    assert columns.bipartite == bipartite


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n", False),  # a row on its own
        ("1,2\n2,3\n", False),  # numbers above numbers
        ("one,two\n1,2\n", True),  # texts above numbers
        ("a,b,1\nc,d,2\n", False),  # the third column is of numbers
        ("a,b\nc,a\n", False),  # a comes again
        ("a,b\nb,c\n", False),
        ("x,y\n1,\n2,3\n", True),
    ],
)
def test_a_header_is_told_from_data(text: str, header: bool, tmp_path: Path) -> None:
    assert found(tmp_path, text).header == header


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\nc,d\n", {}, r"the first row \(a, b\) may be a header or an edge: .*--source and --target.*--no-header"),
        ("a,b,n\nc,d,1\n", {}, "Name them with --source and --target; the columns are a, b, n"),
        ("user,item,shop\na,b,c\n", {"header": True}, "--source and --target; the columns are user, item, shop"),
        ("a,b,c\nd,e,f\n", {"source": "a"}, "Name them with --target"),
        ("a,b\nc,d\n", {"source": "q"}, "there is no column 'q'; the columns are a, b"),
        ("a,A\nc,d\n", {"source": "a", "target": "x"}, "there is no column 'x'"),
        ("a,b\n", {"header": False, "source": "3"}, "there is no column '3'; the columns are 1, 2"),
        ("source,target,w\na,b,c\n", {"weight": "source"}, "must be different columns"),
    ],
)  # fmt: skip
def test_doubt_is_refused_with_the_options_to_use(
    text: str, options: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        found(tmp_path, text, **options)


def test_weight_and_time_are_recognized(tmp_path: Path) -> None:
    columns = found(tmp_path, "user,item,stars,text,created_at\na,b,5,x,2020\n")
    assert (columns.weight, columns.time, columns.drops_zeros) == (2, 4, False)
    assert (
        columns.told(weighted=True)
        == "edges from columns user, item, two kinds of nodes; weight from stars; time from created_at"
    )
    columns = found(tmp_path, "source,target,Weight\na,b,5\n")
    assert (columns.weight, columns.time, columns.drops_zeros) == (2, None, True)
    assert columns.told(weighted=False) == ""


def test_columns_without_a_name_are_weight_and_time(tmp_path: Path) -> None:
    assert found(tmp_path, "1,2,5\n2,3,4\n").weight == 2
    assert found(tmp_path, "1,2,1600000000\n2,3,1600000001\n").time == 2
    columns = found(tmp_path, "1,2,-5,1600000000\n2,3,4,1600000001\n")
    assert (columns.weight, columns.time) == (2, 3)
    assert found(tmp_path, "1,2,x\n2,3,y\n").weight is None
    columns = found(tmp_path, "x,1,2\ny,2,3\n", header=False, source="2", target="3")
    assert (columns.source, columns.target, columns.weight) == (1, 2, None)


def test_options_that_the_table_lacks_count_as_not_given(tmp_path: Path) -> None:
    columns = found(tmp_path, "source,target\na,b\n", source="user", target="item", time="date", strict=False)
    assert (columns.source, columns.target, columns.time) == (0, 1, None)
    columns = found(tmp_path, "a,b,c\n1,2,3\n", source="c", target="a", time="date", strict=False)
    assert (columns.source, columns.target) == (2, 0)
