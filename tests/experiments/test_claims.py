"""Claims, checked one comparison at a time."""

from __future__ import annotations

from typing import Any

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.experiments.claims import verdicts
from focusedcleaner.experiments.tables import fill_tables
from tests.experiments.example import experiment, results


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
def test_each_rule_is_checked_wherever_figures_are_available(claim: dict[str, Any], holds: list[bool]) -> None:
    test = experiment(claims=[{"text": "It is so.", **claim}])
    (verdict,) = verdicts(test, fill_tables(test, results(test)))
    assert [check.holds for check in verdict.checks] == holds
    some = f"holds in {sum(holds)} of {len(holds)} comparisons"
    assert verdict.summary == ("not computed yet" if not holds else "holds" if all(holds) else some)


def test_a_claim_without_a_rule_is_refused() -> None:
    test = experiment(claims=[{"text": "It is so."}])
    with pytest.raises(InputError, match=r"the claim 'It is so\.' has no rule; the rules are order, best"):
        verdicts(test, fill_tables(test, {}))
