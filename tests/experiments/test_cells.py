"""Cells: what determines a computation, and nothing else, makes the key."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.attacks import attack
from focusedcleaner.experiments import cells as cells_module
from focusedcleaner.experiments.cells import Accuracy, Cell, Poison, Pruning, Sanitation, Source
from focusedcleaner.experiments.compute import Arrays, Outcome, run
from focusedcleaner.experiments.graphs import graph_of, task_of
from focusedcleaner.experiments.points import cells_at
from focusedcleaner.experiments.sources import clean_graph

SMALL = Source("synthetic-100", "random 0")
POINT = {"data": "cora", "attack": "mettack", "power": 0.1, "sanitizer": "cld", "measure": "esr"}

sources = st.builds(Source, st.sampled_from(["cora", "citeseer"]), st.sampled_from(["authors", "random 1"]))
poisons = st.builds(
    Poison,
    sources,
    st.sampled_from(["mettack", "minmax", "dice"]),
    st.sampled_from([0.05, 0.1, 0.25]),
    seed=st.integers(0, 3),
)
sanitations = st.builds(
    Sanitation,
    poisons,
    st.sampled_from(["cld", "lp"]),
    st.sampled_from([0.05, 0.1]),
    st.sampled_from([(), (("eta", 0.0),), (("victim_ends", 2),)]),
    st.integers(0, 3),
)
accuracies = st.builds(
    Accuracy, st.one_of(poisons, sanitations), st.sampled_from(["gcn", "rgcn"]), seed=st.integers(0, 3)
)
any_cell = st.one_of(poisons, sanitations, accuracies)


def computed(cell: Cell, arrays: Arrays | None = None) -> Outcome:
    """What comes of a cell that builds on others with these arrays."""
    outcome = run(task_of(cell, lambda _: arrays or {}))
    assert isinstance(outcome, Outcome)
    return outcome


@settings(max_examples=60, deadline=None)
@given(any_cell, any_cell)
def test_two_cells_have_one_key_exactly_where_they_are_equal(one: Cell, other: Cell) -> None:
    assert (one.key == other.key) == (one == other)


@settings(max_examples=30, deadline=None)
@given(sanitations)
def test_every_part_of_a_sanitation_makes_its_key(cell: Sanitation) -> None:
    changes = [
        replace(cell, seed=cell.seed + 1),
        replace(cell, budget=cell.budget / 2),
        replace(cell, sanitizer="focused-none"),
        replace(cell, settings=(*cell.settings, ("normal_only", False))),
        replace(cell, poison=replace(cell.poison, seed=cell.poison.seed + 1)),
        replace(cell, poison=replace(cell.poison, power=0.2)),
        replace(cell, poison=replace(cell.poison, origin=Source("polblogs"))),
    ]
    assert len({cell.key, *(changed.key for changed in changes)}) == len(changes) + 1


def test_settings_count_by_what_they_are_not_by_how_they_are_written() -> None:
    plain = Sanitation(Poison(SMALL), "cld")
    assert replace(plain, settings=(("tau", 0.6),)).key == plain.key  # the default, said aloud
    assert (
        replace(plain, settings=(("eta", 0), ("tau", 0.7))).key
        == replace(plain, settings=(("tau", 0.7), ("eta", 0.0))).key
    )
    assert replace(plain, budget=0.1 + 0.2 - 0.2).key == plain.key


def test_an_edition_touches_its_method_and_what_builds_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def keys() -> dict[str, str]:
        cells_module._method.cache_clear()
        cld = Sanitation(Poison(SMALL, "mettack", 0.1), "cld")
        lp = Sanitation(Poison(SMALL, "mettack", 0.1), "lp")
        return {"cld": cld.key, "lp": lp.key, "gcn after cld": Accuracy(cld, "gcn").key, "poison": cld.poison.key}

    before = keys()
    monkeypatch.setitem(cells_module.EDITIONS, "cld", 2)
    changed = {name for name, key in keys().items() if key != before[name]}
    cells_module._method.cache_clear()
    assert changed == {"cld", "gcn after cld"}


def test_a_model_without_a_graph_has_one_cell_for_all_poison() -> None:
    after = [Accuracy(Poison(SMALL, "mettack", power), "mlp") for power in (0.05, 0.1)]
    cleaned = Accuracy(Sanitation(after[0].graph, "cld"), "mlp")  # type: ignore[arg-type]
    assert {cell.key for cell in (*after, cleaned)} == {Accuracy(Poison(SMALL), "mlp").key}
    assert not cleaned.inputs()


def test_an_attack_in_order_is_run_once_for_all_powers() -> None:
    powers = [Poison(SMALL, "mettack", power) for power in (0.05, 0.1, 0.25)]
    assert {poison.run.key for poison in powers} == {powers[-1].key}
    apart = [Poison(SMALL, "minmax", power).run.power for power in (0.05, 0.1)]
    assert apart == [0.05, 0.1]


@pytest.mark.parametrize("power", [0.05, 0.1, 0.25])
def test_a_smaller_power_is_what_the_attack_does_with_it(power: float) -> None:
    poison = Poison(SMALL, "mettack", power)
    outcome = computed(poison.run)
    graph = graph_of(poison, lambda cell: outcome.arrays)
    assert graph == attack("mettack").poison(clean_graph(SMALL), power).graph


def test_nettack_flips_so_often_at_each_of_forty_targets() -> None:
    source = Source("synthetic-200", "random 0")
    poison = Poison(source, "nettack", 2)
    outcome = computed(poison.run)
    targets, flips = outcome.arrays["targets"], outcome.arrays["flips"]
    clean = clean_graph(source)
    assert len(set(targets.tolist())) == 40
    assert set(targets.tolist()) <= set(clean.split.test.tolist())  # type: ignore[union-attr]
    times = [sum(target in pair for pair in flips.tolist()) for target in targets.tolist()]
    assert min(times) >= 1
    assert len(flips) <= 80
    graph = graph_of(poison, lambda cell: outcome.arrays)
    assert len(graph.added_edges(clean)) + len(clean.added_edges(graph)) == len(flips)
    accuracy = task_of(Accuracy(poison, "gcn", nodes="targets"), lambda cell: outcome.arrays)
    assert accuracy.targets is targets
    after = computed(accuracy.cell, outcome.arrays).values["accuracy"]
    assert after is not None
    assert after < 0.9, "a GCN got every one of them right on the clean graph"


def test_a_pruning_hits_as_often_as_it_says() -> None:
    poison = Poison(SMALL, "mettack", 0.1)
    made = computed(poison.run).arrays
    found = []
    for share, hits in ((1.0, 1.0), (1.0, 0.5), (0.5, 1.0), (1.0, 0.0), (0.0, 1.0)):
        values = computed(Pruning(poison, share, hits), made).values
        found.append((values["removed"], values["cr"], values["esr"]))
    planted = found[0][0]
    assert found[0] == (planted, 1.0, 1.0)
    assert found[1][0] == planted
    assert found[1][1] == pytest.approx(0.5, abs=0.03)
    assert found[2] == (round(planted / 2), pytest.approx(0.5, abs=0.03), pytest.approx(0.5, abs=0.03))  # type: ignore[operator]
    assert found[3][1:] == (0.0, 0.0)
    assert found[4][0] == 0


def test_a_failure_is_told_and_not_raised() -> None:
    task = task_of(Sanitation(Poison(SMALL), "cld", budget=0.99), lambda cell: {})
    assert "can be removed without isolating a node" in run(task).error  # type: ignore[union-attr]


def test_points_become_cells_seed_by_seed() -> None:
    accuracy = cells_at({**POINT, "measure": "accuracy", "classifier": "gcn", "seeds": 5})
    graphs = [cell.graph for cell in accuracy if isinstance(cell, Accuracy)]
    assert [cell.seed for cell in graphs if isinstance(cell, Sanitation)] == [0, 1, 2, 0, 1]
    drawn = cells_at({**POINT, "split": "random *", "seeds": 3})
    assert [cell.source.split for cell in drawn] == ["random 0", "random 1", "random 2"]
    assert [cell.seed for cell in drawn if isinstance(cell, Sanitation)] == [0, 0, 0]
    (clean,) = cells_at({**POINT, "power": 0})
    assert isinstance(clean, Sanitation)
    assert clean.poison == Poison(Source("cora"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sanitiser": "cld"}, "a point has no field 'sanitiser'"),
        ({"measure": "roc"}, "there is no measure 'roc'"),
        ({"sanitizer": None}, ""),
    ],
)
def test_a_wrong_point_is_told(change: dict[str, object], message: str) -> None:
    point = {key: value for key, value in {**POINT, **change}.items() if value is not None}
    with pytest.raises(ValueError, match=message or "esr needs a sanitizer"):
        cells_at(point)
