"""Dense-blocks: fake reviews end to end, its verdict, its ranking of all edges, and what other methods say."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import focusedcleaner as fc
from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.formatting import why
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.sanitizers import DenseBlocks, default_method, sanitizer

USERS, ITEMS, REVIEWS = 900, 250, 3_000
NOTES = {"source_column": "user", "target_column": "item"}


def reviews(accounts: int = 0, items: int = 0, camouflage: int = 0, seed: int = 0) -> tuple[Graph, IntArray]:
    """Reviews of a shop with power-law popularity, and a ring of fake accounts; the ring's edges."""
    rng = np.random.default_rng(seed)
    popularity = np.arange(1, ITEMS + 1) ** -0.8
    popularity /= popularity.sum()
    activity = np.arange(1, USERS + 1) ** -0.5
    genuine = np.column_stack(
        [rng.choice(USERS, REVIEWS, p=activity / activity.sum()), rng.choice(ITEMS, REVIEWS, p=popularity)]
    )
    chosen = rng.choice(ITEMS, items, replace=False)
    fake = np.array([(USERS + a, item) for a in range(accounts) for item in chosen], dtype=np.int64).reshape(-1, 2)
    others = np.column_stack(
        [USERS + np.arange(camouflage) % max(accounts, 1), rng.choice(ITEMS, camouflage, p=popularity)]
    )
    pairs, total = np.concatenate([genuine, fake, others]), USERS + accounts
    names = (*(f"user {user}" for user in range(total)), *(f"item {item}" for item in range(ITEMS)))
    graph = Graph.from_pairs(total + ITEMS, pairs + np.array([0, total]), names=names, notes=NOTES)
    return graph, fake + np.array([0, total])


@pytest.mark.parametrize(("accounts", "items"), [(27, 9), (27, 12), (15, 20)])
@pytest.mark.parametrize("camouflage", [0, 300])
def test_fake_reviews_are_found_end_to_end(accounts: int, items: int, camouflage: int) -> None:
    graph, fake = reviews(accounts, items, camouflage)
    result = fc.sanitize(graph)
    assert (result.method, result.verdict.status, result.warnings) == ("dense-blocks", "poisoned", ())
    planted = Graph.from_pairs(graph.num_nodes, fake)
    hits = planted.has_edges(result.removed)
    assert hits.mean() > 0.95
    assert hits.sum() > 0.85 * len(fake)  # an account without camouflage keeps an edge
    assert result.estimate is not None
    assert result.estimate.low <= len(fake) <= result.estimate.high
    assert result.verdict.expected_precision == pytest.approx(hits.mean(), abs=0.15)
    assert (result.evidence["group"] == 1).all()
    assert (result.evidence["group_sources"] == accounts).all()
    assert np.isin(result.evidence["group_targets"], (items - 1, items)).all()  # the shop's favourite may be left out
    assert (result.evidence["group_density"] == 1).all()
    found = result.evidence["group_targets"][0]
    words = f"one of {accounts} users that share these {found} items (100 % of the possible edges)"
    assert words in why(graph, result.evidence, result.scores, 0, result.removed[0].tolist())


def test_two_rings_are_two_groups() -> None:
    graph, fake = reviews(27, 10)
    total = USERS + 27
    second = np.array([(user, total + item) for user in range(500, 530) for item in range(60, 70)])
    both = graph.with_edges(second[~graph.has_edges(second)])
    result = fc.sanitize(both)
    planted = Graph.from_pairs(graph.num_nodes, np.concatenate([fake, second]))
    assert result.verdict.status == "poisoned"
    assert set(result.evidence["group"].tolist()) == {1, 2}
    assert planted.has_edges(result.removed).mean() > 0.95
    assert len(result.removed) > 0.9 * planted.num_edges


@pytest.mark.parametrize("seed", range(4))
def test_no_sign_in_untouched_reviews(seed: int) -> None:
    result = fc.sanitize(reviews(seed=seed)[0])
    assert result.verdict.status == "no sign"
    assert len(result.removed) == 0
    assert len(result.suspects) > 0
    assert "planted" not in result.suspect_evidence
    assert (result.suspect_evidence["group"] > 0).all()  # edges of groups come first
    assert result.estimate is None


def test_every_edge_has_a_probability_and_the_ring_comes_first() -> None:
    graph, fake = reviews(27, 10, 200)
    result = fc.sanitize(graph)
    scores = result.edge_scores
    assert scores is not None
    assert result.probabilistic
    assert ((scores >= 0) & (scores <= 1)).all()
    planted = Graph.from_pairs(graph.num_nodes, fake).has_edges(graph.edges)
    assert planted[np.argsort(-scores)[: len(fake)]].mean() > 0.95
    ring = np.isin(graph.edges[:, 0], fake[:, 0])
    camouflage, others = ring & ~planted, ~ring
    assert scores[camouflage].max() < 0.1
    assert np.median(scores[camouflage]) > np.median(scores[others])


def test_a_budget_takes_the_ranking_even_without_a_finding() -> None:
    graph, _ = reviews()
    result = fc.sanitize(graph, budget=40)
    assert (len(result.removed), result.verdict.status) == (40, "no sign")
    assert "that is not a finding" in result.verdict.caveat
    assert (np.diff(result.scores) <= 0).all()


def test_the_numbering_of_the_nodes_does_not_matter() -> None:
    graph, _ = reviews(27, 10, 100)
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    shuffled = graph.subgraph(order)
    one, other = fc.sanitize(graph), fc.sanitize(shuffled)
    names = [
        {frozenset(map(g.name, pair)) for pair in r.removed.tolist()} for g, r in ((graph, one), (shuffled, other))
    ]
    assert names[0] == names[1]
    assert one.headline == other.headline


def test_a_graph_that_is_not_bipartite_is_only_ranked(poisoned: Graph) -> None:
    result = DenseBlocks().sanitize(poisoned)
    assert (result.verdict.status, len(result.removed)) == ("not suitable", 0)
    assert "not bipartite" in result.headline
    clique = Graph.from_pairs(poisoned.num_nodes, [(u, v) for u in range(20, 34) for v in range(u) if v >= 20])
    found = DenseBlocks().sanitize(poisoned.with_edges(clique.edges), 80)
    assert clique.has_edges(found.removed).mean() > 0.9


def test_a_networkx_table_without_labels() -> None:
    graph, _ = reviews(27, 10, 100)
    table = nx.Graph([(graph.name(u), graph.name(v)) for u, v in graph.edges.tolist()])
    result = fc.sanitize(table)
    assert result.verdict.status == "poisoned"
    assert result.data.number_of_edges() == table.number_of_edges() - len(result.removed)
    assert "one of 27 nodes that share the same 10 neighbours" in why(
        result.poisoned, result.evidence, result.scores, 0, result.removed[0].tolist()
    )


def test_bipartite_graphs_get_dense_blocks_and_others_do_not(poisoned: Graph) -> None:
    assert default_method(reviews()[0]) == "dense-blocks"
    assert default_method(poisoned) == "self-attack"


@pytest.mark.parametrize("name", ["svd", "jaccard", "agreement"])
def test_other_methods_say_that_they_do_not_fit(name: str) -> None:
    graph, _ = reviews()
    rng = np.random.default_rng(0)
    graph = replace(
        graph, labels=rng.integers(0, 2, graph.num_nodes), attributes=rng.integers(0, 2, (graph.num_nodes, 4))
    ).with_drawn_split(0)
    with pytest.warns(InputWarning, match=f"bipartite, such as users and items: {name} compares nodes of one kind"):
        result = sanitizer(name).sanitize(graph, 20)
    assert any("use dense-blocks" in note for note in result.warnings)


@pytest.mark.filterwarnings("error::focusedcleaner.errors.InputWarning")
def test_random_edges_fit_every_graph() -> None:
    assert not sanitizer("random").sanitize(reviews()[0], 20).warnings


@pytest.mark.parametrize("edges", [[[0, 1]], [[0, 1], [1, 2], [2, 3]], [[0, 1], [0, 3], [1, 2], [2, 3]]])
def test_tiny_graphs_show_no_sign(edges: list[list[int]]) -> None:
    result = DenseBlocks().sanitize(Graph(4, edges))
    assert (result.verdict.status, len(result.removed)) == ("no sign", 0)


def test_a_graph_in_which_many_pairs_are_edges_is_not_judged() -> None:
    rng = np.random.default_rng(0)
    background, ring = np.argwhere(rng.random((200, 100)) < 0.12), np.argwhere(np.ones((40, 25)))
    result = DenseBlocks().sanitize(Graph.from_pairs(300, np.concatenate([background, ring]) + np.array([0, 200])))
    assert (result.verdict.status, len(result.removed), result.estimate) == ("uncertain", 0, None)
    assert result.verdict.reason.startswith("16 % of all possible edges exist")
    assert (result.suspect_evidence["group"][:100] == 1).all()


def test_a_complete_bipartite_graph_is_no_finding() -> None:
    graph = Graph(30, [[u, v] for u in range(15) for v in range(15, 30)])
    result = fc.sanitize(graph)
    assert (result.method, result.verdict.status) == ("dense-blocks", "no sign")


def test_fewer_than_two_groups_are_refused() -> None:
    with pytest.raises(InputError, match=r"groups must lie in \[2, 1000\], not 1"):
        DenseBlocks(groups=1)
