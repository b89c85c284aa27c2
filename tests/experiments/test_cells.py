"""Cells: everything that determines a computation, and nothing else, determines the key."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.errors import InputError
from focusedcleaner.experiments import cells as cells_module
from focusedcleaner.experiments.cells import (
    Cell,
    Source,
    accuracy,
    expand_cells,
    poison,
    pruning,
    sanitation,
)

SMALL = Source("synthetic-100", "random 0")
FIELDS = {"data": "cora", "attack": "mettack", "power": 0.1, "sanitizer": "cld", "measure": "esr"}

sources = st.builds(Source, st.sampled_from(["cora", "citeseer"]), st.sampled_from(["authors", "random 1"]))
poisons = st.builds(
    poison,
    sources,
    st.sampled_from(["mettack", "minmax", "dice"]),
    st.sampled_from([0.05, 0.1, 0.25]),
    seed=st.integers(0, 3),
)
sanitations = st.builds(
    sanitation,
    poisons,
    st.sampled_from(["cld", "lp"]),
    st.sampled_from([0.05, 0.1]),
    st.sampled_from([(), (("eta", 0.0),), (("victim_ends", 2),)]),
    st.integers(0, 3),
)
accuracies = st.builds(
    accuracy, st.one_of(poisons, sanitations), st.sampled_from(["gcn", "rgcn"]), seed=st.integers(0, 3)
)
any_cell = st.one_of(poisons, sanitations, accuracies)


@settings(max_examples=60, deadline=None)
@given(any_cell, any_cell)
def test_keys_are_equal_exactly_if_cells_are_equal(one: Cell, other: Cell) -> None:
    assert (one.key == other.key) == (one == other)


@settings(max_examples=30, deadline=None)
@given(sanitations)
def test_every_field_of_a_sanitation_changes_its_key(cell: Cell) -> None:
    changes = [
        replace(cell, seed=cell.seed + 1),
        replace(cell, amount=cell.amount / 2),
        replace(cell, method="focused-none"),
        replace(cell, settings=(*cell.settings, ("normal_only", False))),
        replace(cell, graph=replace(cell.poison, seed=cell.poison.seed + 1)),
        replace(cell, graph=replace(cell.poison, amount=0.2)),
        replace(cell, graph=replace(cell.poison, graph=Source("polblogs"))),
    ]
    assert len({cell.key, *(changed.key for changed in changes)}) == len(changes) + 1


def test_equal_settings_give_equal_keys_however_they_are_written() -> None:
    plain = sanitation(poison(SMALL), "cld")
    assert replace(plain, settings=(("tau", 0.6),)).key == plain.key  # the default, said aloud
    assert (
        replace(plain, settings=(("eta", 0), ("tau", 0.7))).key
        == replace(plain, settings=(("tau", 0.7), ("eta", 0.0))).key
    )
    assert replace(plain, amount=0.1 + 0.2 - 0.2).key == plain.key


def test_an_edition_changes_the_keys_of_its_method_and_of_dependent_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    def keys() -> dict[str, str]:
        cells_module._method.cache_clear()
        cld = sanitation(poison(SMALL, "mettack", 0.1), "cld")
        lp = sanitation(poison(SMALL, "mettack", 0.1), "lp")
        return {"cld": cld.key, "lp": lp.key, "gcn after cld": accuracy(cld, "gcn").key, "poison": cld.poison.key}

    before = keys()
    monkeypatch.setitem(cells_module.EDITIONS, "cld", 99)
    changed = {name for name, key in keys().items() if key != before[name]}
    cells_module._method.cache_clear()
    assert changed == {"cld", "gcn after cld"}


def test_a_classifier_without_a_graph_has_one_cell_for_all_poisoned_graphs() -> None:
    fields = {"data": "cora", "attack": "mettack", "measure": "accuracy", "classifier": "mlp"}
    poisoned = [expand_cells({**fields, "power": power}) for power in (0.05, 0.1)]
    cleaned = expand_cells({**fields, "power": 0.1, "sanitizer": "cld"})
    assert {*poisoned, cleaned} == {(accuracy(poison(Source("cora")), "mlp"),)}
    (targeted,) = expand_cells({**fields, "attack": "nettack", "flips": 1, "nodes": "targets"})
    assert targeted.poison.method == "nettack", "the targets are those of the attack"


def test_an_ordered_attack_runs_once_for_all_powers() -> None:
    powers = [poison(SMALL, "mettack", power) for power in (0.05, 0.1, 0.25)]
    assert {one.full_run.key for one in powers} == {powers[-1].key}
    apart = [poison(SMALL, "minmax", power).full_run.amount for power in (0.05, 0.1)]
    assert apart == [0.05, 0.1]


def test_fields_are_expanded_to_one_cell_per_seed() -> None:
    accuracy = expand_cells({**FIELDS, "measure": "accuracy", "classifier": "gcn", "seeds": 5})
    graphs = [cell.graph for cell in accuracy]
    assert [graph.seed for graph in graphs if isinstance(graph, Cell) and graph.kind == "sanitation"] == [0, 1, 2, 0, 1]
    drawn = expand_cells({**FIELDS, "split": "random *", "seeds": 3})
    assert [cell.source.split for cell in drawn] == ["random 0", "random 1", "random 2"]
    assert [cell.seed for cell in drawn if cell.kind == "sanitation"] == [0, 0, 0]
    (clean,) = expand_cells({**FIELDS, "power": 0})
    assert clean.kind == "sanitation"
    assert clean.poison == poison(Source("cora"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sanitiser": "cld"}, "unknown field 'sanitiser'"),
        ({"measure": "roc"}, "unknown measure 'roc'"),
        ({"sanitizer": None}, "esr needs a sanitizer"),
    ],
)
def test_wrong_fields_are_reported(change: dict[str, object], message: str) -> None:
    fields = {key: value for key, value in {**FIELDS, **change}.items() if value is not None}
    with pytest.raises(InputError, match=message):
        expand_cells(fields)


def test_keys_stay_those_of_the_committed_results() -> None:
    """A changed key would orphan results that took days to compute."""
    attacked = poison(Source("cora"), "mettack", 0.1)
    unrolled = (("inner", "unrolled"),)
    keys = {
        "297db40124a137dfd6ad2ef1": Cell("statistics", Source("cora"), "statistics"),
        "30b9e0eae552f42d8e9b6e5c": sanitation(poison(Source("cora")), "agreement"),
        "3dd7f9649e17a190230bebe2": accuracy(sanitation(poison(Source("cora")), "agreement"), "gcn"),
        "85334caa7a70bbaa05a2390a": pruning(attacked, 1.0, 0.0),
        "0b2c235f78005c121df3f4e1": sanitation(attacked, "lp", settings=unrolled, seed=2),
        "29f19348ef3b1a6b2d05b1fd": accuracy(poison(Source("polblogs", "prognn"), "published", 0.25), "median", seed=9),
        "1cc608d1e2505150fb561a0a": accuracy(poison(Source("citeseer"), "nettack", 3), "rgcn", seed=4, nodes="targets"),
    }
    assert {key: cell.key for key, cell in keys.items()} == {key: key for key in keys}


def test_added_settings_change_a_key_only_if_they_are_set() -> None:
    attacked = poison(Source("cora"), "mettack", 0.1)
    assert "validated" not in accuracy(attacked, "gcn").text
    assert accuracy(attacked, "gcn", (("validated", True),)).key == accuracy(attacked, "gcn").key
    assert accuracy(attacked, "gcn", (("validated", False),)).key != accuracy(attacked, "gcn").key
    assert "distance" not in sanitation(attacked, "jaccard").text
    assert sanitation(attacked, "jaccard", settings=(("distance", True),)).key != sanitation(attacked, "jaccard").key
