"""The experiment files: complete, consistent, and true to the paper; profiles."""

from __future__ import annotations

import itertools
import math
import tomllib
from pathlib import Path

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.experiments import catalogue
from focusedcleaner.experiments.catalogue import QUICK, Profile, common, quick_synthetic
from focusedcleaner.experiments.cells import Cell
from focusedcleaner.experiments.tables import RULES
from focusedcleaner.sanitizers import PRESETS

NAMES = (
    *("datasets", "prune-true", "metrics", "flip-or-delete", "esr", "f1", "accuracy-mettack", "accuracy-minmax"),
    *("budget-esr", "budget-cr", "sensitivity", "ablation", "with-robust-cld", "with-robust-lp", "nettack"),
    *("prognn-graphs", "clean-damage", "splits", "other-split"),
)
DATA = Path(catalogue.__file__).parent / "data"
POWERS = ("0.05", "0.1", "0.15", "0.2", "0.25")


def test_there_are_nineteen_in_the_order_of_the_paper() -> None:
    assert catalogue.names() == NAMES
    assert [catalogue.load(name).number for name in NAMES] == list(range(1, 20))


@pytest.mark.parametrize("name", NAMES)
def test_every_table_cell_has_a_name_of_its_own_and_cells_or_a_reason(name: str) -> None:
    table_cells = catalogue.load(name).table_cells
    assert len({(one.panel.id, one.row.id, one.column.id) for one in table_cells}) == len(table_cells)
    assert all(bool(one.cells) != bool(one.missing_reason) for one in table_cells)


@pytest.mark.parametrize("name", NAMES)
def test_the_papers_figures_fit_the_tables(name: str) -> None:
    experiment = catalogue.load(name)
    assert set(experiment.paper) <= {(one.panel.id, one.row.id, one.column.id) for one in experiment.table_cells}
    path = next(path for path in DATA.glob("*.toml") if path.stem[3:] == name)
    written = tomllib.loads(path.read_text(encoding="utf-8")).get("paper", {})
    used = {(panel.id if panel.id in written else panel.fields.get("data")) for panel in experiment.panels}
    assert set(written) <= used
    for panel in experiment.panels:
        for row in written.get(panel.id, ()):
            assert (panel.id, row, panel.columns[0].id) in experiment.paper


@pytest.mark.parametrize("name", NAMES)
def test_claims_speak_of_what_is_there(name: str) -> None:
    experiment = catalogue.load(name)
    panels = {panel.id: panel for panel in experiment.panels}
    for claim in experiment.claims:
        assert len(set(claim) & set(RULES)) == 1, claim["text"]
        for panel in (panels[one] for one in claim.get("panels", panels)):
            columns = {column.id for column in panel.columns}
            assert set(claim.get("at", ())) <= columns
            order = [[row] if isinstance(row, str) else row for row in claim.get("order", ())]
            mentioned = {*itertools.chain(*order), *claim.get("rows", ()), *claim.get("peaks", ())}
            mentioned |= {claim[rule] for rule in ("reaches", "near") if rule in claim}
            assert mentioned <= {row.id for row in panel.rows}, claim["text"]
            assert {*claim.get("peaks", {}).values(), *claim.get("higher", ())} <= columns


@pytest.mark.parametrize(
    ("name", "panel", "row", "column", "value"),
    [
        ("datasets", "sizes", "citeseer", "attributes", 3703),
        ("flip-or-delete", "cora", "gasoline-d", "accuracy", 74.1),
        ("esr", "mettack cora", "cld", "0.1", 55.2),
        ("esr", "mettack cora", "lp", "0.25", 37.8),
        ("accuracy-mettack", "cora", "cld", "0.15", 76.0),
        ("accuracy-mettack", "polblogs", "simpgcn", "0.25", 50.8),
        ("accuracy-mettack", "citeseer", "prognn", "0.05", 70.6),
        ("accuracy-minmax", "polblogs", "median", "0.15", 19.1),
        ("accuracy-minmax", "citeseer", "simpgcn", "0.25", 71.1),
        ("accuracy-minmax", "cora", "elastic", "0.1", 81.0),
        ("ablation", "bi-level", "linkpred", "0.2", 14.5),
        ("ablation", "test loss", "without", "0.1", 49.9),
        ("ablation", "normal nodes", "without", "0.05", 28.6),
        ("with-robust-cld", "citeseer", "elastic-with", "0.25", 58.3),
        ("with-robust-cld", "cora", "median-without", "0.2", 60.3),
        ("with-robust-lp", "cora", "median-without", "0.2", 60.5),
        ("with-robust-lp", "polblogs", "median-with", "0.05", 86.7),
        ("prognn-graphs", "accuracy cora", "prognn", "0.25", 69.7),
    ],
)
def test_spot_values_of_the_paper(name: str, panel: str, row: str, column: str, value: float) -> None:
    assert catalogue.load(name).paper[panel, row, column] == value


def test_jaccard_has_no_figure_on_polblogs_but_a_reason() -> None:
    cells = catalogue.load("accuracy-minmax").table_cells
    missing = [one for one in cells if one.missing_reason and "sanitizer" in one.fields]
    assert {one.column.id for one in missing} == set(POWERS)
    assert {(one.panel.fields["data"], one.row.id, one.missing_reason) for one in missing} == {
        ("polblogs", "jaccard", "needs attributes"),
        ("polblogs", "jaccard-threshold", "needs attributes"),
    }
    assert all(math.isnan(one.paper) for one in missing)


def settings_in(*names: str) -> dict[str, set[object]]:
    """The settings of each sanitizer and classifier in some experiments."""
    found: dict[str, set[object]] = {}
    for name in names:
        for cell in catalogue.load(name).cells():
            parts = [cell, cell.graph] if cell.kind == "accuracy" else [cell]
            for part in parts:
                if isinstance(part, Cell) and part.kind in ("accuracy", "sanitation"):
                    found.setdefault(part.method, set()).add(part.settings)
    return found


def test_one_setting_of_a_method_serves_all_powers_and_data_sets() -> None:
    """No tuning per power: the paper's comparisons use one setting per method, that of the preset or the default. The
    paper has a threshold for GCN-Jaccard on each data set; one panel compares settings of CLD, one row a GCN's."""
    presets = {**common()["presets"]["paper"], **dict.fromkeys(("cld", "lp"), PRESETS["paper"])}
    preset = {method: tuple(sorted(settings.items())) for method, settings in presets.items()}
    others: dict[str, list[object]] = {
        "jaccard": [(("distance", True), ("threshold", threshold)) for threshold in (6.3, 8.15)],
        "cld": [(("inner", "unrolled"),), tuple(sorted({**PRESETS["paper"], "steps": 100}.items()))],
        "gcn": [(("validated", False),)],
    }
    compared = ("esr", "f1", "accuracy-mettack", "accuracy-minmax", "nettack", "other-split")
    for method, settings in settings_in(*compared).items():
        assert settings == {preset.get(method, ()), *others.get(method, [])}
    for method, settings in settings_in("prognn-graphs", "clean-damage").items():
        assert settings == ({(), preset["cld"]} if method == "cld" else {()})


def test_the_comparisons_have_the_seeds_that_they_promise() -> None:
    accuracy = {cell.seed for cell in catalogue.load("accuracy-minmax").cells() if cell.kind == "accuracy"}
    assert accuracy == set(range(10))
    esr = {cell.seed for cell in catalogue.load("esr").cells() if cell.kind == "sanitation"}
    assert esr == set(range(3))


def test_esr_f1_and_the_accuracy_tables_share_their_cells() -> None:
    esr = {cell.key for cell in catalogue.load("esr").cells()}
    assert esr == {cell.key for cell in catalogue.load("f1").cells()}
    accuracies = [*catalogue.load("accuracy-mettack").cells(), *catalogue.load("accuracy-minmax").cells()]
    assert esr <= {cell.graph.key for cell in accuracies if isinstance(cell.graph, Cell)}


def test_quick_is_one_data_set_two_powers_two_seeds() -> None:
    for name, full in ((name, catalogue.load(name)) for name in NAMES):
        quick = catalogue.load(name, QUICK)
        assert quick.panels
        keys = {cell.key for cell in full.cells()}
        assert {cell.key for cell in quick.cells()} <= keys, "a selection of the same cells"
        paper = {(one.panel.id, one.row.id, one.column.id): one.paper for one in full.table_cells}
        for one in quick.table_cells:
            assert one.fields["data"] == "cora"
            assert one.fields.get("power", 0) in (0, 0.05, 0.1)
            assert one.fields.get("seeds", 1) <= 2
            assert one.paper == pytest.approx(paper[one.panel.id, one.row.id, one.column.id], abs=0, nan_ok=True)
        assert not quick.claims


def test_quick_has_at_most_three_values_of_other_axes_and_the_papers_figures_beside_them() -> None:
    (panel,) = catalogue.load("sensitivity", QUICK).panels[1:2]
    assert [column.id for column in panel.columns] == ["0", "0.5", "1"]
    quick = catalogue.load("accuracy-mettack", QUICK)
    cld = {one.column.id: one.paper for one in quick.table_cells if one.row.id == "cld"}
    assert cld == {"0.05": 83.6, "0.1": 81.1}


def test_a_stand_in_replaces_every_data_set_and_has_no_published_figures() -> None:
    for name in set(NAMES) - {"prognn-graphs"}:
        stand_in = catalogue.load(name, quick_synthetic(60))
        assert stand_in.panels
        assert not stand_in.paper
        for one in stand_in.table_cells:
            assert one.fields["data"] == "synthetic-60"
            assert one.fields.get("split", "random 0").startswith("random")
            assert "Cora" not in f"{one.panel.label} {one.row.label} {one.column.label}"
    assert not catalogue.load("prognn-graphs", quick_synthetic(60)).panels, "it has published poison only"


def test_data_sets_can_be_chosen() -> None:
    chosen = catalogue.load("esr", Profile(data=("citeseer",)))
    assert {panel.fields["data"] for panel in chosen.panels} == {"citeseer"}
    assert catalogue.load("ablation", Profile(data=("citeseer",))).panels == ()


def test_mistakes_in_a_file_are_reported() -> None:
    with pytest.raises(InputError, match="there is no experiment 'esrr'; the experiments are datasets, prune-true"):
        catalogue.load("esrr")
    with pytest.raises(InputError, match="the experiment x lacks 'says'"):
        catalogue.parse("x", 1, {"title": "t", "where": "w", "panels": []})


def test_panels_rows_and_columns_make_table_cells() -> None:
    text = {
        "title": "t",
        "where": "w",
        "says": "s",
        "fixed": {"settings": {"eta": 0.0}, "measure": "esr", "sanitizer": "cld"},
        "panels": [
            {
                "data": ["cora", "citeseer"],
                "attack": ["mettack"],
                "rows": [{"power": 0.1, "id": "a"}],
                "columns": {"settings.tau": [0.5, 0.6]},
            }
        ],
    }
    table_cells = catalogue.parse("x", 1, text).table_cells
    assert [(one.panel.id, one.row.id, one.column.id) for one in table_cells] == [
        (f"{data} mettack", "a", tau) for data, tau in itertools.product(("cora", "citeseer"), ("0.5", "0.6"))
    ]
    assert table_cells[0].fields["settings"] == {"eta": 0.0, "tau": 0.5}
    assert table_cells[0].panel.label == "Cora, METTACK"
