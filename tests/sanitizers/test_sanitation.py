"""The result of a sanitizer: all edges ranked, and soft weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import sanitizer
from tests.sanitizers.helpers import Judge


def test_ranked_edges_are_all_edges_by_score_with_probabilities_of_a_poisoned_graph(graph: Graph) -> None:
    result = Judge().sanitize(graph)
    edges, scores, columns = result.ranked_edges()
    assert result.edge_scores is not None
    assert sorted(map(tuple, edges.tolist())) == list(map(tuple, graph.edges.tolist()))
    assert scores.tolist() == sorted(result.edge_scores.tolist(), reverse=True)
    assert columns["planted"].tolist() == scores.tolist()
    assert edges[columns["removed"]].tolist() == result.removed.tolist()
    frame = result.to_frame(all_edges=True)
    assert frame.columns == ["rank", "u", "v", "score", "removed", "planted"]
    assert frame["rank"].to_list() == list(range(1, 301))


@pytest.mark.parametrize("status", ["no sign", "uncertain", "not suitable"])
def test_without_a_finding_there_are_no_probabilities(graph: Graph, status: str) -> None:
    result = Judge(status=status).sanitize(graph)  # type: ignore[arg-type]
    assert result.edge_probabilities is None
    assert (result.edge_weights == 1).all()
    assert "planted" not in result.ranked_edges()[2]


def test_removed_edges_come_first_among_equal_scores(graph: Graph) -> None:
    result = Judge().sanitize(graph)
    flat = replace(result, edge_scores=np.ones(graph.num_edges))
    assert flat.ranked_edges()[2]["removed"].tolist() == [True] * 8 + [False] * 292


def test_without_scores_of_all_edges_there_is_no_ranking(graph: Graph) -> None:
    result = sanitizer("cld").sanitize(graph, 5)
    assert result.edge_scores is None
    with pytest.raises(InputError, match="cld scores only the edges that it removes"):
        result.to_frame(all_edges=True)
    small = sanitizer("self-attack").sanitize(graph)
    with pytest.raises(InputError, match="no score of every edge: Not suitable: too small"):
        small.to_frame(all_edges=True)


def test_a_softened_result_keeps_every_edge_and_lists_what_would_have_gone(graph: Graph) -> None:
    hard = Judge().sanitize(graph)
    soft = hard.softened()
    assert soft.graph == soft.data == graph
    assert soft.suspects.tolist() == hard.removed.tolist()
    assert soft.suspect_scores.tolist() == hard.scores.tolist()
    assert soft.suspect_evidence == hard.evidence
    assert len(soft.to_frame()) == 0
    assert soft.to_frame().columns == hard.to_frame().columns
    assert "0 of 300 edges removed. " in soft.summary
    assert "expected precision" not in soft.headline
    assert soft.verdict.caveat == "no edge was removed: the weight of each is 1 − its probability of being planted"
    assert repr(soft) == "Sanitation(judge, poisoned: 300 edges weighted, 8 suspects, about 8 planted)"
    assert "8 suspects" in soft._repr_html_()


def test_what_a_method_declares_it_gives(graph: Graph) -> None:
    """A method that says it scores every edge does so, with probabilities between 0 and 1 if it says so."""
    quick = {"self-attack": {"rounds": 1, "trees": 3, "attackers": "dice", "attackers_elsewhere": "random"}}
    for name in ("self-attack", "agreement", "block-model", "jaccard", "cosine", "svd", "random", "cld"):
        method = sanitizer(name, **quick.get(name, {}))
        result = method.sanitize(graph, 5)
        assert (result.edge_scores is not None) == method.scores_edges
        assert result.probabilistic == method.probabilistic
        if result.probabilistic and result.edge_scores is not None:
            assert ((result.edge_scores >= 0) & (result.edge_scores <= 1)).all()
