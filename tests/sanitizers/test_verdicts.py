"""What every sanitation says about its graph: the verdict, the suspects and the warnings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import focusedcleaner as fc
from focusedcleaner.errors import InputWarning
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import Interrupted, Jaccard
from focusedcleaner.verdict import Status, Verdict
from tests.sanitizers.helpers import FOUND, Chooser, Judge

NO_FINDING = "removed because the budget says so; that is not a finding"


def test_a_method_that_only_ranks_is_uncertain(graph: Graph) -> None:
    found = Jaccard().sanitize(graph)
    assert found.verdict == Verdict(
        "uncertain",
        "the method jaccard ranks edges; it can't tell whether any was planted",
        caveat=f"30 edges were {NO_FINDING}",
    )
    assert found.headline == "Uncertain: a ranking only"
    threshold = Jaccard(threshold=0.01).sanitize(graph).verdict.caveat
    assert threshold.endswith("removed because the method's own rule says so; that is not a finding")


def test_a_finding_has_no_caveat_and_a_budget_has_one(graph: Graph) -> None:
    found = Judge().sanitize(graph)
    assert (len(found.removed), found.verdict.caveat, found.auto) == (FOUND, "", True)
    given = Judge().sanitize(graph, 12)
    assert len(given.removed) == 12
    assert given.verdict.status == "poisoned"
    assert given.verdict.caveat == "about 8 edges were planted; 12 were removed because the budget says so"
    clean = Judge("no sign").sanitize(graph, 12)
    assert clean.verdict.caveat == f"12 edges were {NO_FINDING}"


@pytest.mark.parametrize("status", ["no sign", "uncertain", "not suitable"])
def test_what_is_no_finding_lists_suspects(graph: Graph, status: Status) -> None:
    found = Judge(status).sanitize(graph)
    assert len(found.removed) == 0
    assert found.graph == graph
    assert len(found.suspects) == len(found.suspect_scores) == 2 * FOUND
    assert {len(column) for column in found.suspect_evidence.values()} == {2 * FOUND}
    assert {"planted", "common_neighbours", "degree_u"} <= set(found.suspect_evidence)
    assert repr(found) == f"Sanitation(judge, {status}: 0 of 300 edges removed, 16 suspects)"
    page = found._repr_html_()
    assert f"<strong>{found.headline}</strong>" in page
    assert page.count("<tr>") == 6


def test_suspects_are_in_the_users_numbering_and_never_removed(graph: Graph) -> None:
    whole = Judge("uncertain").sanitize(graph).suspects
    partly = Judge().sanitize(graph)
    assert graph.has_edges(whole).all()
    assert partly.removed.tolist() == whole[:FOUND].tolist()
    assert partly.suspects.tolist() == whole[FOUND:].tolist()
    assert partly.suspect_scores.tolist() == partly.suspect_evidence["planted"].tolist()
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    other = Judge("uncertain").sanitize(graph.subgraph(order)).suspects
    assert np.sort(order[other], axis=1).tolist() == whole.tolist()
    assert (Judge("uncertain").sanitize(graph).suspect_evidence["degree_u"] == graph.degrees[whole[:, 0]]).all()


def test_an_interrupted_run_has_no_answer(graph: Graph) -> None:
    with pytest.raises(Interrupted) as stop:
        Chooser(interrupted=True).sanitize(graph)
    assert stop.value.sanitation.verdict.reason == "the run was interrupted before it had an answer"


def test_warnings_are_kept_and_raised(graph: Graph) -> None:
    ages = np.column_stack([np.eye(150, 3), np.arange(150) + 40.0])
    mixed = replace(graph, attributes=ages, attribute_names=None)
    with pytest.warns(InputWarning, match="different scales"):
        found = Jaccard().sanitize(mixed, 5)
    assert len(found.warnings) == 1
    assert "different scales" in found.warnings[0]
    adjacency = graph.adjacency().tolil()
    adjacency[0, 0] = 1
    data = {"adjacency": adjacency.tocsr(), "attributes": ages, "labels": graph.labels}
    with pytest.warns(InputWarning) as raised:
        result = fc.sanitize(data, "jaccard", 5)
    assert result.warnings == tuple(str(one.message) for one in raised)
    assert any("self-loop" in text for text in result.warnings)
    assert len(result.warnings) == 2


def test_progress_tells_the_stage(graph: Graph) -> None:
    seen: list[tuple[int, int, str]] = []
    Judge().sanitize(graph, progress=lambda done, total, stage="": seen.append((done, total, stage)))
    assert seen[-1] == (2, 2, "round 2 of 2: random, PGD")
