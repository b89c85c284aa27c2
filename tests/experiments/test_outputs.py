"""Outputs: terminal, files and the page of results."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from focusedcleaner.experiments import catalogue
from focusedcleaner.experiments.catalogue import read_toml
from focusedcleaner.experiments.outputs import csv_text, page, show, write_outputs
from focusedcleaner.experiments.store import committed_results
from focusedcleaner.experiments.tables import fill_tables
from tests.experiments.example import experiment, results

DOCS = Path(__file__).parents[2] / "docs"


def test_the_terminal_shows_figures_and_claims() -> None:
    test = experiment(claims=[{"text": "CLD leads.", "order": ["cld", "jaccard"]}])
    out = io.StringIO()
    show(Console(file=out, width=160), test, results(test))
    assert "55.0 ± 7.1, n = 2 (55.2; -0.2)" in out.getvalue()
    assert "CLD leads. holds in 1 of 2 comparisons" in out.getvalue()


def test_the_page_says_where_our_results_differ_and_why() -> None:
    claims = [
        {"text": "CLD leads.", "order": ["cld", "jaccard"], "why": ["strong-jaccard", "budget"]},
        {"text": "CLD rises.", "higher": ["0.1", "0.05"], "rows": ["cld"]},
        {"text": "CLD reaches it.", "reaches": "cld"},
    ]
    test = experiment(claims=claims)
    text = page([test], results(test), "results", {"test"})
    assert "| 0 | A test | Table 0 | 9 of 18 | 1 of 3 hold everywhere |" in text
    assert "3 of 3 claims could be checked so far, 1 of them hold everywhere." in text
    for reason in (read_toml("reasons.toml")["strong-jaccard"], read_toml("reasons.toml")["budget"]):
        assert f"- {reason} *Section 0 (1 of 2).*\n" in text
    assert "- No reason was measured. *Section 0 (0 of 2).*\n" in text
    details = "*holds in 1 of 2 comparisons*, not at Cora, 5 %: FocusedCleaner CLD 32.0, GCN-Jaccard 33.0\n"
    assert f"- CLD leads. {details}" in text
    assert "![A test](results/test.svg)" in text
    nothing = page([test], {}, "results", set())
    assert "0 of 3 claims could be checked so far" in nothing
    assert "![" not in nothing


def test_a_panel_without_the_authors_files_is_one_line_and_its_claims_do_not_count() -> None:
    panels = [{"data": ["cora"], "attack": "authors-mettack", "columns": {"power": [0.05, 0.1]}}]
    rows = [{"sanitizer": "cld"}, {"sanitizer": "jaccard"}]
    test = experiment(
        panels=[{**panels[0], "rows": rows}], paper={}, claims=[{"text": "So.", "order": ["cld", "jaccard"]}]
    )
    text = page([test], {}, "results", set())
    assert "Cora: not computed, because the files were not at hand" in text
    assert "| 0 | A test | Table 0 | 0 |  |" in text
    assert "0 of 0 claims" in text
    assert "needs a download" in csv_text(fill_tables(test, {}))


@pytest.mark.parametrize("name", catalogue.names())
def test_claims_refer_to_reasons_that_are_there(name: str) -> None:
    for claim in catalogue.load(name).claims:
        assert set(claim.get("why", ())) <= set(read_toml("reasons.toml"))
        assert not isinstance(claim.get("why", ()), str)


def test_files_are_written_to_the_folder_and_the_page_beside_it(tmp_path: Path) -> None:
    test = experiment(figure="lines")
    known = results(test)
    written = write_outputs([test], known, tmp_path, with_page=False)
    assert {path.name for path in written} == {"test.csv", "test.md", "test.svg", "test.png"}
    assert (tmp_path / "test.md").read_text().startswith("## 0. A test\n")
    folder = tmp_path / "results"
    folder.mkdir()
    write_outputs([test], known, folder, with_page=True)
    assert (tmp_path / "results.md").read_text().startswith("# Results\n")


def test_the_committed_page_and_tables_are_those_of_the_committed_results() -> None:
    experiments = [catalogue.load(name) for name in catalogue.names()]
    results = committed_results()
    drawn = {path.stem for path in (DOCS / "results").glob("*.svg")}
    assert page(experiments, results, "results", drawn) == (DOCS / "results.md").read_text(encoding="utf-8")
    for one in experiments:
        entries = fill_tables(one, results)
        assert csv_text(entries) == (DOCS / "results" / f"{one.name}.csv").read_text(encoding="utf-8"), one.name
        assert (one.name in drawn) == (bool(one.figure) and any(entry.values for entry in entries.values()))
