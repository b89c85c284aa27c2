"""Edge features against loops over neighbours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from focusedcleaner.edge_features.clusters import ClusterFeatureExtractor
from focusedcleaner.edge_features.extractor import EdgeFeatureExtractor, KnownSimilarity
from focusedcleaner.engine.sparse import row_products, unit_rows
from focusedcleaner.graph import Graph


def test_features_are_what_their_names_say(graph: Graph) -> None:
    seen = graph.without_test_labels()
    features = EdgeFeatureExtractor(seen).extract(seen)
    assert graph.attributes is not None
    assert graph.split is not None
    neighbours = {node: set[int]() for node in range(graph.num_nodes)}
    for u, v in graph.edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    rows = graph.attributes.toarray().astype(float)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    trained = set(graph.split.train.tolist())
    for place in range(0, graph.num_edges, 7):
        u, v = graph.edges[place].tolist()
        shared = neighbours[u] & neighbours[v]
        rarity = sum(1 / np.log(max(len(neighbours[node]), 2)) for node in shared)
        for_v = sum(features.classes[node] @ features.classes[v] for node in neighbours[u] - {v})
        for_u = sum(features.classes[node] @ features.classes[u] for node in neighbours[v] - {u})
        likeness = [for_v / max(len(neighbours[u]) - 1, 1), for_u / max(len(neighbours[v]) - 1, 1)]
        beside_u = sum(rows[node] @ rows[v] for node in neighbours[u] - {v}) / max(len(neighbours[u]) - 1, 1)
        beside_v = sum(rows[node] @ rows[u] for node in neighbours[v] - {u}) / max(len(neighbours[v]) - 1, 1)
        expected = {
            "common_neighbours": len(shared),
            "adamic_adar": rarity,
            "training_ends": len({u, v} & trained),
            "attribute_similarity": rows[u] @ rows[v],
            "agreement": np.log(max(features.classes[u] @ features.classes[v], 1e-6)),
            "min_neighbours_like_other_end": min(likeness),
            "max_neighbours_like_other_end": max(likeness),
            "min_similarity_to_neighbours": min(beside_u, beside_v),
            "max_similarity_to_neighbours": max(beside_u, beside_v),
        }
        assert {name: features[name][place] for name in expected} == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", [EdgeFeatureExtractor, ClusterFeatureExtractor])
@pytest.mark.parametrize("entries", [2**18, 150])
def test_some_rows_are_those_of_the_whole_table(
    graph: Graph, kind: type[EdgeFeatureExtractor], entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("focusedcleaner.adjacency_rows.BLOCK_ENTRIES", entries)
    seen = graph.without_test_labels()
    extractor = kind(seen)
    poisoned = seen.with_edges([[0, 50], [1, 70], [2, 90]])
    whole, rows = extractor.extract(poisoned), np.array([0, 7, 8, 200])
    some = extractor.extract(poisoned, rows)
    assert some.names == whole.names
    assert some.table == pytest.approx(whole.table[rows], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", [EdgeFeatureExtractor, ClusterFeatureExtractor])
def test_blocks_hardly_change_features(
    graph: Graph, kind: type[EdgeFeatureExtractor], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = graph.without_test_labels()
    whole = kind(seen).extract(seen)
    monkeypatch.setattr("focusedcleaner.adjacency_rows.BLOCK_ENTRIES", 150)
    monkeypatch.setattr("focusedcleaner.edge_features.extractor.PAIRS", 70)
    again = Graph(seen.num_nodes, seen.edges, seen.attributes, seen.labels, seen.split, class_names=seen.class_names)
    parts = kind(again).extract(again)
    for name in whole.names:
        if np.ptp(whole[name]) > 0:
            assert np.corrcoef(parts[name], whole[name])[0, 1] > 0.99, name


def test_similarities_of_known_edges_are_looked_up(graph: Graph) -> None:
    assert graph.features is not None
    rows = unit_rows(graph.features)
    other = graph.without_edges(graph.edges[::3]).with_edges([[0, 50], [3, 70]])
    found = KnownSimilarity(graph, rows).of(other, rows)
    assert found == pytest.approx(row_products(rows, rows, other.edges))


def test_adjacent_doubt_leaves_out_the_edge_itself(graph: Graph) -> None:
    bare = replace(graph.without_test_labels(), attributes=None)
    features = EdgeFeatureExtractor(bare).extract(bare)
    doubt = 1 - np.exp(features["agreement"])
    u, v = graph.edges[5].tolist()
    sums = [sum(doubt[e] for e, ends in enumerate(graph.edges.tolist()) if end in ends and e != 5) for end in (u, v)]
    found = features["min_adjacent_doubt"][5], features["max_adjacent_doubt"][5]
    assert found == pytest.approx(sorted(sums), abs=1e-5)


def test_the_order_of_ends_and_nodes_does_not_matter(graph: Graph) -> None:
    assert graph.attributes is not None
    assert graph.labels is not None
    assert graph.split is not None
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    place = np.argsort(order)
    split = type(graph.split)(
        *(np.sort(place[part]) for part in (graph.split.train, graph.split.val, graph.split.test))
    )
    turned = Graph.from_pairs(
        graph.num_nodes,
        place[graph.edges][:, ::-1],
        attributes=graph.attributes[order],
        labels=graph.labels[order],
        split=split,
        class_names=graph.class_names,
    ).without_test_labels()
    seen = graph.without_test_labels()
    one, other = EdgeFeatureExtractor(seen).extract(seen), EdgeFeatureExtractor(turned).extract(turned)
    ends = np.sort(place[graph.edges], axis=1)
    row = np.searchsorted(turned.edge_keys, ends[:, 0] * graph.num_nodes + ends[:, 1])
    for name in ("common_neighbours", "attribute_similarity", "min_degree", "training_ends"):
        assert other[name][row] == pytest.approx(one[name])
    for name in ("agreement", "gradient", "min_prox1", "min_neighbours_like_other_end"):
        assert np.corrcoef(other[name][row], one[name])[0, 1] > 0.99
