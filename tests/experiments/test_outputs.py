"""What is shown of results: means, the paper's beside them, claims, figures, the page."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from focusedcleaner.errors import InputError
from focusedcleaner.experiments import catalogue, ledger
from focusedcleaner.experiments.catalogue import Experiment
from focusedcleaner.experiments.claims import verdicts
from focusedcleaner.experiments.figures import draw
from focusedcleaner.experiments.outputs import show, write_outputs
from focusedcleaner.experiments.page import page
from focusedcleaner.experiments.plan import in_order
from focusedcleaner.experiments.points import cells_at
from focusedcleaner.experiments.store import CellResult
from focusedcleaner.experiments.summary import entries
from focusedcleaner.experiments.tables import csv_text, markdown

DOCS = Path(__file__).parents[2] / "docs"


def experiment(**more: Any) -> Experiment:
    """Two sanitizers at two powers on two data sets, three seeds each."""
    text = {
        "title": "A test",
        "where": "Table 0",
        "says": "Nothing.",
        "x": "attack power",
        "y": "ESR (%)",
        "fixed": {"attack": "mettack", "measure": "esr", "seeds": 3},
        "panels": [
            {
                "data": ["cora", "polblogs"],
                "columns": {"power": [0.05, 0.1]},
                "rows": [{"sanitizer": "cld"}, {"sanitizer": "jaccard"}],
            }
        ],
        "paper": {"cora": {"cld": [36.0, 55.2]}},
        **more,
    }
    return catalogue.read("test", 0, text)


def results(of: Experiment, table: dict[tuple[str, str, str], list[float]]) -> dict[str, CellResult]:
    """CellResult values by panel, row and column, one for each seed."""
    known: dict[str, CellResult] = {}
    for panel, row, column, fields in of.points():
        if catalogue.why_not(fields) is None:
            for cell, value in zip(cells_at(fields), table.get((panel.id, row.id, column.id), []), strict=False):
                known[cell.key] = CellResult({"esr": value, "accuracy": value}, 1.0)
    return known


TABLE = {
    ("cora", "cld", "0.05"): [0.30, 0.32, 0.34],
    ("cora", "cld", "0.1"): [0.60, 0.50],
    ("cora", "jaccard", "0.05"): [0.33],
    ("cora", "jaccard", "0.1"): [0.1, 0.1, 0.1],
}


def test_a_place_tells_mean_deviation_number_and_the_papers_figure() -> None:
    test = experiment()
    found = {(one.panel.id, one.row.id, one.column.id): one for one in entries(test, results(test, TABLE))}
    whole, some, none = found["cora", "cld", "0.05"], found["cora", "cld", "0.1"], found["polblogs", "cld", "0.1"]
    assert (whole.text, whole.beside) == ("32.0 ± 2.0", "(36.0; -4.0)")
    assert (some.text, some.beside) == ("55.0 ± 7.1, n = 2", "(55.2; -0.2)")
    assert (none.text, none.beside) == ("not computed yet", "")
    assert found["polblogs", "jaccard", "0.1"].text == "needs attributes"


def test_markdown_and_csv_have_every_place() -> None:
    test = experiment()
    known = results(test, TABLE)
    text = markdown(test, known)
    assert "| Cora | 5 % | 10 % |\n| --- | ---: | ---: |\n" in text
    assert "| FocusedCleaner CLD | 32.0 ± 2.0 (36.0; -4.0) | 55.0 ± 7.1, n = 2 (55.2; -0.2) |" in text
    assert "| GCN-Jaccard | needs attributes | needs attributes |" in text
    rows = list(csv.DictReader(io.StringIO(csv_text(test, known))))
    assert len(rows) == 8
    assert rows[0] == {
        "panel": "Cora",
        "row": "FocusedCleaner CLD",
        "column": "5 %",
        "measure": "esr",
        "mean": "32.000",
        "standard_deviation": "2.000",
        "n": "3",
        "wanted": "3",
        "paper": "36.000",
        "difference": "-4.000",
        "why": "",
    }
    assert {row["why"] for row in rows} == {"", "needs attributes", "not computed yet"}


def test_the_screen_shows_the_same() -> None:
    test = experiment(claims=[{"text": "CLD leads.", "order": ["cld", "jaccard"]}])
    out = io.StringIO()
    show(Console(file=out, width=160), test, results(test, TABLE))
    assert "55.0 ± 7.1, n = 2 (55.2; -0.2)" in out.getvalue()
    assert "CLD leads. holds in 1 of 2 places" in out.getvalue()


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ({"order": ["cld", "jaccard"]}, [False, True]),
        ({"order": ["cld", "jaccard"], "at": ["0.1"]}, [True]),
        ({"order": ["cld", "jaccard"], "panels": ["polblogs"]}, []),
        ({"near": ["cld", "jaccard"], "within": 2.0}, [True, True]),
        ({"best": "jaccard", "among": ["cld"]}, [True, False]),
        ({"reaches": "cld", "within": 3.0}, [False, True]),
        ({"reaches": "cld", "within": 4.5}, [True, True]),
        ({"rises": "cld"}, [True]),
        ({"rises": ["cld", "jaccard"]}, [True, False]),
        ({"peaks": {"cld": "0.1", "jaccard": "0.1"}}, [True, False]),
        ({"higher": ["0.1", "0.05"]}, [True, False]),
        ({"above": 31.9}, [True, True, True, False]),
        ({"equal": True}, [False, False]),
        ({"spreads": ["cld", "jaccard"]}, [True, True]),
    ],
)
def test_claims_are_checked_place_by_place(claim: dict[str, Any], holds: list[bool]) -> None:
    test = experiment(claims=[{"text": "It is so.", **claim}])
    (verdict,) = verdicts(test, results(test, TABLE))
    assert [check.holds for check in verdict.checks] == holds
    expected = (
        "not known yet" if not holds else "holds" if all(holds) else f"holds in {sum(holds)} of {len(holds)} places"
    )
    assert verdict.summary == expected


def test_a_claim_without_a_rule_is_refused() -> None:
    test = experiment(claims=[{"text": "It is so."}])
    with pytest.raises(InputError, match=r"the claim 'It is so\.' has no rule; rules are order, best"):
        verdicts(test, {})


def test_the_page_tells_where_ours_differs_and_why() -> None:
    claims = [
        {"text": "CLD leads.", "order": ["cld", "jaccard"], "why": "Because it rained."},
        {"text": "CLD rises.", "rises": "cld"},
    ]
    test = experiment(claims=claims)
    text = page([test], results(test, TABLE), "results", {"test"})
    assert "| 0 | A test | Table 0 | 9 of 18 | 1 of 2 hold everywhere |" in text
    assert (
        "- *A test.* CLD leads. *Holds in 1 of 2 places*, not at Cora, 5 %: FocusedCleaner CLD 32.0, GCN-Jaccard 33.0. "
        "Because it rained.\n"
    ) in text
    assert "![A test](results/test.svg)" in text
    nothing = page([test], {}, "results", set())
    assert "Nowhere so far: of 2 claims 0 could be checked" in nothing
    assert "![" not in nothing


@pytest.mark.parametrize("kind", ["lines", "heatmap"])
def test_figures_are_the_same_in_every_run(kind: str) -> None:
    test = experiment(figure=kind)
    known = results(test, TABLE)
    first, second = draw(test, known), draw(test, known)
    assert first == second
    assert first["svg"].startswith(b"<?xml")
    assert b"<dc:date>" not in first["svg"]
    assert first["png"].startswith(b"\x89PNG")
    assert first["svg"] != draw(test, results(test, {**TABLE, ("cora", "cld", "0.05"): [0.9]}))["svg"]
    assert draw(test, {}) == {}
    assert draw(experiment(), known) == {}


def test_files_are_written_where_they_are_wanted(tmp_path: Path) -> None:
    test = experiment(figure="lines")
    known = results(test, TABLE)
    written = write_outputs([test], known, tmp_path, whole=False)
    assert {path.name for path in written} == {"test.csv", "test.md", "test.svg", "test.png"}
    assert (tmp_path / "test.md").read_text().startswith("## 0. A test\n")
    place = tmp_path / "results"
    place.mkdir()
    write_outputs([test], known, place, whole=True)
    assert (tmp_path / "results.md").read_text().startswith("# Results\n")


def test_the_ledger_gives_back_what_it_was_given(tmp_path: Path) -> None:
    test = experiment()
    known = {
        key: CellResult({"esr": one.values["esr"], "removed": 7, "cr": None}, 1.25)
        for key, one in results(test, TABLE).items()
    }
    other = {"f" * 24: CellResult({"esr": 1.0}, 1.0)}
    (tmp_path / "old.csv").write_text("key,cell,seconds\n")
    assert ledger.write(in_order([test]), {**known, **other}, tmp_path) == len(known)
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert set(texts) == {"sanitation-cora.csv"}
    assert ledger.read(texts["sanitation-cora.csv"]) == known
    lines = texts["sanitation-cora.csv"].splitlines()[1:]
    assert [line.split(",", 1)[1] for line in lines] == sorted(line.split(",", 1)[1] for line in lines)


def test_the_committed_page_and_tables_are_those_of_the_committed_results() -> None:
    experiments = [catalogue.load(name) for name in catalogue.names()]
    known = ledger.shipped()
    drawn = {path.stem for path in (DOCS / "results").glob("*.svg")}
    assert page(experiments, known, "results", drawn) == (DOCS / "results.md").read_text(encoding="utf-8")
    for one in experiments:
        assert csv_text(one, known) == (DOCS / "results" / f"{one.name}.csv").read_text(encoding="utf-8"), one.name
        there = any(entry.values for entry in entries(one, known))
        assert (one.name in drawn) == (bool(one.figure) and there)


def test_the_committed_results_are_small_sorted_and_of_cells_that_are_wanted() -> None:
    wanted = in_order(catalogue.load(name) for name in catalogue.names())
    known = ledger.shipped()
    assert set(known) <= {cell.key for cell in wanted}, "run: focusedcleaner reproduce --all --page --export"
    texts = ledger.texts(wanted, known)
    assert {path.name: path.read_text() for path in ledger.FOLDER.glob("*.csv")} == texts
    assert sum(map(len, texts.values())) < 2_000_000
    assert not any(math.isnan(one.seconds) for one in known.values())
