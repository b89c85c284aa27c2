"""Tables: means over seeds beside the paper's figures; claims, checked one comparison at a time."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.experiments.cells import CellResult
from focusedcleaner.experiments.outputs import Section, csv_text
from focusedcleaner.experiments.tables import fill_tables, verdicts
from tests.experiments.example import experiment, results


def test_an_entry_has_mean_deviation_count_and_the_papers_figure() -> None:
    test = experiment()
    entries = fill_tables(test, results(test))
    whole, some, none = entries["cora", "cld", "0.05"], entries["cora", "cld", "0.1"], entries["polblogs", "cld", "0.1"]
    assert (whole.text, whole.comparison) == ("32.0 ± 2.0", "(36.0; -4.0)")
    assert (some.text, some.comparison) == ("55.0 ± 7.1, n = 2", "(55.2; -0.2)")
    assert (none.text, none.comparison) == ("not computed yet", "")
    assert entries["polblogs", "jaccard", "0.1"].text == "needs attributes"


def test_an_undefined_measure_is_a_dash_and_not_missing() -> None:
    test = experiment(
        panels=[{"data": ["cora"], "measure": "cr", "power": 0.1, "rows": [{"sanitizer": "cld"}]}], paper={}
    )
    undefined = {cell.key: CellResult({"cr": None}, 1.0) for cell in test.cells()}
    (entry,) = fill_tables(test, undefined).values()
    assert (entry.text, entry.missing_reason) == ("–", "–")


def test_markdown_and_csv_have_every_entry() -> None:
    test = experiment()
    entries = fill_tables(test, results(test))
    text = Section(test, entries).markdown()
    assert "| Cora | 5 % | 10 % |\n| --- | ---: | ---: |\n" in text
    assert "| FocusedCleaner CLD | 32.0 ± 2.0 (36.0; -4.0) | 55.0 ± 7.1, n = 2 (55.2; -0.2) |" in text
    assert "| GCN-Jaccard | needs attributes | needs attributes |" in text
    rows = list(csv.DictReader(io.StringIO(csv_text(entries))))
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


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ({"order": ["cld", "jaccard"]}, [False, True]),
        ({"order": ["cld", "jaccard"], "at": ["0.1"]}, [True]),
        ({"order": ["cld", "jaccard"], "panels": ["polblogs"]}, []),
        ({"order": ["cld", "jaccard"], "within": 2.0}, [True, True]),
        ({"order": ["jaccard", ["cld", "jaccard"]], "at": ["0.1"]}, [False]),
        ({"order": ["jaccard", ["cld"]]}, [True, False]),
        ({"reaches": "cld", "within": 3.0}, [False, True]),
        ({"reaches": "cld", "within": 4.5}, [True, True]),
        ({"near": "cld", "within": 3.0}, [False, True]),
        ({"higher": ["0.1", "0.05"], "rows": ["cld"]}, [True]),
        ({"peaks": {"cld": "0.1", "jaccard": "0.1"}}, [True, False]),
        ({"higher": ["0.1", "0.05"]}, [True, False]),
        ({"above": 31.9}, [True, True, True, False]),
        ({"equal": True}, [False, False]),
        ({"order": ["cld", "jaccard"], "of": "deviation"}, [True, True]),
    ],
)
def test_each_rule_is_checked_wherever_figures_are_available(claim: dict[str, Any], holds: list[bool]) -> None:
    test = experiment(claims=[{"text": "It is so.", **claim}])
    (verdict,) = verdicts(test, fill_tables(test, results(test)))
    assert [check.holds for check in verdict.checks] == holds
    some = f"holds in {sum(holds)} of {len(holds)} comparisons"
    assert verdict.summary == ("not computed yet" if not holds else "holds" if all(holds) else some)


def test_a_claim_without_a_rule_is_refused() -> None:
    test = experiment(claims=[{"text": "It is so."}])
    with pytest.raises(InputError, match=r"the claim 'It is so\.' has no rule; the rules are order, higher"):
        verdicts(test, fill_tables(test, {}))
