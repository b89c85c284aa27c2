"""Names and evidence as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from focusedcleaner.formatting import readable, visible, why, why_sentence
from focusedcleaner.graph import Graph, Split

LABELLED = Graph(
    4,
    [[0, 1], [2, 3]],
    labels=[0, 1, 1, 1],
    split=Split([0, 2], [1], [3]),
    class_names=("ants", "bees"),
    names=("ann", "bob", "cy", "di"),
)
UNLABELLED = Graph(4, [[0, 1], [2, 3]])
ANTS, BEES = [0.9, 0.1], [0.2, 0.8]


def words(graph: Graph, edge: tuple[int, int], **columns: Any) -> str:
    return why(graph, {name: np.array([value]) for name, value in columns.items()}, np.array([0.25]), 0, edge)


@pytest.mark.parametrize(
    ("edge", "one", "other", "expected"),
    [
        ((0, 1), ANTS, BEES, "ann is ants; bob is bees"),
        ((0, 1), ANTS, ANTS, "ann is ants; bob is bees but looks like ants (90 %)"),
        ((2, 3), BEES, ANTS, "cy is bees; di looks like ants (90 %)"),
        ((1, 2), BEES, BEES, "both are bees"),
        ((2, 3), BEES, BEES, "cy is bees and di looks like it (80 %)"),
        ((3, 2), BEES, BEES, "cy is bees and di looks like it (80 %)"),
        ((3, 3), ANTS, BEES, "di looks like ants (90 %); di looks like bees (80 %)"),
        ((3, 3), ANTS, ANTS, "both look like ants (90 and 90 %)"),
    ],
)
def test_the_classes_of_the_named_ends(edge: tuple[int, int], one: Any, other: Any, expected: str) -> None:
    assert words(LABELLED, edge, classes_u=one, classes_v=other) == expected


@pytest.mark.parametrize(
    ("degree", "around", "expected"),
    [
        (5, [0.9, 0.1], "cy is bees; di looks like bees (80 %) but its other neighbours are ants"),
        (5, [0.6, 0.4], "cy is bees; di looks like bees (80 %) but most of its other neighbours are ants"),
        (2, [0.9, 0.1], "cy is bees; di looks like bees (80 %) but its other neighbour is ants"),
        (5, [0.5, 0.5], "cy is bees and di looks like it (80 %)"),
        (1, [0.0, 0.0], "cy is bees and di looks like it (80 %)"),
    ],
)
def test_the_classes_of_the_other_neighbours(degree: int, around: Any, expected: str) -> None:
    columns = {"classes_u": BEES, "classes_v": BEES, "neighbours_u": BEES, "neighbours_v": around}
    assert words(LABELLED, (2, 3), **columns, degree_u=3, degree_v=degree) == expected


def test_clusters_in_place_of_classes() -> None:
    one, other = [0.8, 0.1, 0.1], [0.1, 0.2, 0.7]
    assert words(UNLABELLED, (0, 1), clusters_u=one, clusters_v=other) == "0 is in cluster 1, 1 in cluster 3"
    assert words(UNLABELLED, (0, 1), clusters_u=one, clusters_v=one) == "both are in cluster 1"
    assert words(UNLABELLED, (0, 1), cluster_u=1, cluster_v=4) == "0 is in cluster 2, 1 in cluster 5"
    around = words(UNLABELLED, (2, 3), clusters_u=one, clusters_v=one, neighbours_u=one, neighbours_v=other)
    assert around == "2 is in cluster 1; 3 is in cluster 1 but most of its other neighbours are in cluster 3"


def test_the_leading_reason_comes_first_and_doubts_last() -> None:
    same, unlike = {"classes_u": BEES, "classes_v": BEES}, {"classes_u": ANTS, "classes_v": BEES}
    columns = {"common_neighbours": 0, "attribute_similarity": 0.04, "planted": 0.93}
    reasons = "attributes 4 % alike, no common neighbour"
    assert words(UNLABELLED, (0, 1), **columns, **unlike) == (
        f"0 looks like class 0 (90 %); 1 looks like class 1 (80 %); {reasons}; planted with probability 0.93"
    )
    doubt = "though both look like class 1 (80 and 80 %)"
    assert words(UNLABELLED, (0, 1), **columns, **same) == f"{reasons}, {doubt}; planted with probability 0.93"
    likely = {"common_neighbours": 3, "attribute_similarity": 0.7}
    assert words(UNLABELLED, (0, 1), **likely, **same) == (
        "3 common neighbours, both look like class 1 (80 and 80 %), attributes 70 % alike"
    )
    assert words(UNLABELLED, (0, 1), link_probability=0.03, attribute_similarity=0.6) == (
        "a link predictor gives it a probability of 0.03, though attributes 60 % alike"
    )


def test_a_sentence_keeps_the_spelling_of_a_name() -> None:
    columns = {"classes_u": np.array([ANTS]), "classes_v": np.array([BEES])}
    assert why_sentence(LABELLED, columns, np.zeros(1), 0, (0, 1)) == "ann is ants; bob is bees."
    assert why_sentence(LABELLED, columns, np.zeros(1), 0, (3, 3)).startswith("di looks like ants")
    assert why_sentence(LABELLED, {"common_neighbours": np.zeros(1)}, np.zeros(1), 0, (0, 1)) == "No common neighbour."


def test_a_missing_edge_has_reasons_but_no_suspicion() -> None:
    columns = {"classes_u": BEES, "classes_v": BEES, "common_neighbours": 2, "attribute_similarity": 0.04}
    table = {name: np.array([value]) for name, value in columns.items()}
    told = why(UNLABELLED, table, np.zeros(1), 0, (0, 1), planted=False)
    assert told == "both look like class 1 (80 and 80 %), 2 common neighbours, attributes 4 % alike"


def test_methods_with_little_evidence() -> None:
    assert words(UNLABELLED, (0, 1)) == "score 0.25"
    assert words(UNLABELLED, (0, 1), attribute_similarity=-0.07) == "attributes 0 % alike"
    assert words(UNLABELLED, (0, 1), common_neighbours=0, group=1) == "score 0.25"
    assert words(UNLABELLED, (0, 1), link_probability=0.5, common_neighbours=1) == "1 common neighbour"


_COLUMNS = ("classes", "clusters", "neighbours", "cluster", "degree")
_SINGLE = ("planted", "common_neighbours", "attribute_similarity", "link_probability", "group")


@given(st.data())
def test_any_evidence_is_one_visible_line(data: st.DataObject) -> None:
    """Columns come from files: any of them may be missing, a number or a distribution."""
    cells = st.one_of(st.floats(-1e3, 1e3), st.lists(st.floats(0, 1), min_size=2, max_size=2))
    names = [*(f"{name}_{end}" for name in _COLUMNS for end in "uv"), *_SINGLE]
    chosen = data.draw(st.dictionaries(st.sampled_from(names), cells))
    ends = data.draw(st.tuples(st.text(min_size=1), st.text(min_size=1)).filter(lambda pair: pair[0] != pair[1]))
    told = words(Graph(2, [[0, 1]], names=ends), (0, 1), **chosen)
    assert told
    assert told == visible(told)
    assert "\n" not in told


def test_names_are_one_visible_line() -> None:
    assert readable("a\n\tb  c") == "a b c"
    assert readable("\x1b[31mred\x00\u2028") == "�[31mred�"
    assert len(readable("x" * 10_000)) == 60


def group_evidence(**columns: float) -> dict[str, NDArray[Any]]:
    values = {"group": 1, "group_sources": 27, "group_targets": 9, "group_density": 0.94, **columns}
    return {name: np.array([value]) for name, value in values.items()}


def test_a_dense_group_in_words() -> None:
    plain = Graph(2, [[0, 1]])
    scores = np.array([0.9])
    told = why(plain, group_evidence(), scores, 0, (0, 1))
    assert told == "one of 27 nodes that share the same 9 neighbours (94 % of the possible edges)"
    notes = {"source_column": "user", "target_column": "item", "a_source": "7"}
    named = Graph(2, [[0, 1]], names=[7, 8], notes=notes)
    told = why(named, group_evidence(common_neighbours=0), scores, 0, (0, 1))
    assert told == "one of 27 users that share these 9 items (94 % of the possible edges)"
    sparse = why(named, group_evidence(group_density=0.11), scores, 0, (0, 1))
    assert sparse == "one of 27 users with 11 % of the possible edges to these 9 items"
    assert why(named, group_evidence(group=0), scores, 0, (0, 1)) == "score 0.9"


def test_columns_whose_sides_nobody_knows_are_not_named() -> None:
    notes = {"source_column": "user", "target_column": "item"}
    told = why(Graph(2, [[0, 1]], names=["a", "b"], notes=notes), group_evidence(), np.array([0.9]), 0, (0, 1))
    assert "27 nodes" in told


def test_names_of_columns_are_not_trusted() -> None:
    notes = {"source_column": "user\x1b[31m", "target_column": "item\u202e", "a_source": "a"}
    told = why(Graph(2, [[0, 1]], names=["a", "b"], notes=notes), group_evidence(), np.array([0.9]), 0, (0, 1))
    assert "\x1b" not in told
    assert "\u202e" not in told
