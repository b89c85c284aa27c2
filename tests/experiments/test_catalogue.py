"""The experiments' data files: complete, consistent, and true to the paper."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest

from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.experiments import catalogue, sources
from focusedcleaner.experiments.cells import Accuracy, Sanitation, Source
from focusedcleaner.experiments.claims import RULES
from focusedcleaner.experiments.points import cells_at
from focusedcleaner.experiments.profiles import QUICK, Profile, small

NAMES = (
    *("datasets", "prune-true", "metrics", "flip-or-delete", "esr", "f1", "accuracy-mettack", "accuracy-minmax"),
    *("budget-esr", "budget-cr", "sensitivity", "ablation", "with-robust-cld", "with-robust-lp", "nettack"),
    *("prognn-graphs", "clean-damage", "splits"),
)
POWERS = ("0.05", "0.1", "0.15", "0.2", "0.25")


def test_there_are_eighteen_in_the_order_of_the_paper() -> None:
    assert catalogue.names() == NAMES
    assert [catalogue.load(name).number for name in NAMES] == list(range(1, 19))


@pytest.mark.parametrize("name", NAMES)
def test_every_point_has_cells_or_a_reason(name: str) -> None:
    experiment = catalogue.load(name)
    identities = set()
    for panel, row, column, fields in experiment.points():
        identities.add((panel.id, row.id, column.id))
        assert catalogue.why_not(fields) or cells_at(fields)
    assert len(identities) == len(list(experiment.points())), "two points have one name"


@pytest.mark.parametrize("name", NAMES)
def test_the_papers_figures_fit_the_tables(name: str) -> None:
    experiment = catalogue.load(name)
    panels = {panel.id: panel for panel in experiment.panels}
    for panel, rows in experiment.paper.items():
        assert set(rows) <= {row.id for row in panels[panel].rows}
        assert {len(values) for values in rows.values()} == {len(panels[panel].columns)}


@pytest.mark.parametrize("name", NAMES)
def test_claims_speak_of_what_is_there(name: str) -> None:
    experiment = catalogue.load(name)
    panels = {panel.id: panel for panel in experiment.panels}
    for claim in experiment.claims:
        assert len(set(claim) & set(RULES)) == 1, claim["text"]
        for panel in (panels[one] for one in claim.get("panels", panels)):
            columns = {column.id for column in panel.columns}
            assert set(claim.get("at", ())) <= columns
            mentioned = {row for key in ("order", "near", "spreads", "among") for row in claim.get(key, ())}
            mentioned |= {claim[key] for key in ("best", "reaches") if key in claim} | set(claim.get("peaks", ()))
            assert mentioned <= {row.id for row in panel.rows}, claim["text"]
            assert set(claim.get("peaks", {}).values()) <= columns


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
    experiment = catalogue.load(name)
    (found,) = (one for one in experiment.panels if one.id == panel)
    lines = {line.id: line for line in (*found.rows, *found.columns)}
    assert experiment.published(found, lines[row], lines[column]) == value


def test_jaccard_has_no_figure_on_polblogs_and_says_why() -> None:
    experiment = catalogue.load("accuracy-mettack")
    missing = [
        (panel.id, row.id, catalogue.why_not(fields), experiment.published(panel, row, column))
        for panel, row, column, fields in experiment.points()
        if catalogue.why_not(fields)
    ]
    assert len(missing) == 5
    assert {one[:3] for one in missing} == {("polblogs", "jaccard", "needs attributes")}
    assert all(math.isnan(one[3]) for one in missing)


def settings_in(*names: str) -> dict[str, set[object]]:
    """By sanitizer or classifier, the settings that it has in some experiments."""
    found: dict[str, set[object]] = {}
    for name in names:
        for cell in catalogue.load(name).cells():
            parts = [cell, cell.graph] if isinstance(cell, Accuracy) else [cell]
            for part in parts:
                if isinstance(part, Accuracy | Sanitation):
                    found.setdefault(part.method, set()).add(part.settings)
    return found


def test_one_setting_of_a_method_serves_all_powers_and_data_sets() -> None:
    """No tuning per power: in the paper's comparisons every cell of a sanitizer or a classifier has the same settings,
    FocusedCleaner's and GASOLINE's the published training; in ours the defaults."""
    as_published = {(("inner", "unrolled"),)}
    for method, settings in settings_in("esr", "f1", "accuracy-mettack", "accuracy-minmax", "nettack").items():
        assert settings == (as_published if method in ("cld", "lp", "gasoline-d") else {()})
    for method, settings in settings_in("prognn-graphs", "clean-damage").items():
        assert settings == ({(), *as_published} if method == "cld" else {()})


def test_the_comparisons_have_the_seeds_that_they_promise() -> None:
    accuracy = {cell.seed for cell in catalogue.load("accuracy-minmax").cells() if isinstance(cell, Accuracy)}
    assert accuracy == set(range(10))
    esr = {cell.seed for cell in catalogue.load("esr").cells() if isinstance(cell, Sanitation)}
    assert esr == set(range(3))


def test_esr_f1_and_the_accuracy_tables_share_their_cells() -> None:
    esr = {cell.key for cell in catalogue.load("esr").cells()}
    assert esr == {cell.key for cell in catalogue.load("f1").cells()}
    cleaned = {cell.graph.key for cell in catalogue.load("accuracy-mettack").cells() if isinstance(cell, Accuracy)}
    assert len(esr & cleaned) == len(esr) / 2


def test_quick_is_one_data_set_two_powers_two_seeds() -> None:
    for name, full in ((name, catalogue.load(name)) for name in NAMES):
        quick = catalogue.load(name, QUICK)
        assert quick.panels
        keys = {cell.key for cell in full.cells()}
        assert {cell.key for cell in quick.cells()} <= keys, "a taste of the same cells"
        for _, _, _, fields in quick.points():
            assert fields["data"] == "cora"
            assert fields.get("power", 0) in (0, 0.05, 0.1)
            assert fields.get("seeds", 1) <= 2
        for panel, rows in quick.paper.items():
            for row, values in rows.items():
                assert set(values) <= {*full.paper[panel][row], math.nan} or any(map(math.isnan, values))


def test_a_stand_in_takes_every_data_sets_place_and_has_no_published_figures() -> None:
    for name in set(NAMES) - {"prognn-graphs"}:
        taste = catalogue.load(name, small(60))
        assert taste.panels
        assert not taste.paper
        for panel, row, column, fields in taste.points():
            assert fields["data"] == "synthetic-60"
            assert fields.get("split", "random 0").startswith("random")
            assert "Cora" not in f"{panel.label} {row.label} {column.label}"
    assert all("published" not in str(panel.fields) for panel in catalogue.load("prognn-graphs", small(60)).panels)


def test_data_sets_can_be_chosen() -> None:
    chosen = catalogue.load("esr", Profile(data=("citeseer",)))
    assert [panel.id for panel in chosen.panels] == ["mettack citeseer", "minmax citeseer"]
    assert catalogue.load("ablation", Profile(data=("citeseer",))).panels == ()


def test_mistakes_in_a_file_are_told() -> None:
    with pytest.raises(InputError, match="there is no experiment 'esrr'; there are datasets, prune-true"):
        catalogue.load("esrr")
    with pytest.raises(InputError, match="the experiment x lacks 'says'"):
        catalogue.read("x", 1, {"title": "t", "where": "w", "panels": []})


def test_axes_columns_and_facets_make_points() -> None:
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
    points = list(catalogue.read("x", 1, text).points())
    assert [(panel.id, row.id, column.id) for panel, row, column, _ in points] == [
        (f"{data} mettack", "a", tau) for data, tau in itertools.product(("cora", "citeseer"), ("0.5", "0.6"))
    ]
    assert points[0][3]["settings"] == {"eta": 0.0, "tau": 0.5}
    assert points[0][0].label == "Cora, METTACK"


def test_published_files_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources.clean_graph.cache_clear()
    monkeypatch.setattr(sources, "_without_split", lambda data: synthetic(num_nodes=100, seed=0, with_split=False))
    monkeypatch.setenv("FOCUSEDCLEANER_DATA", str(tmp_path))
    monkeypatch.setenv("FOCUSEDCLEANER_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InputError, match=r"authors/cora_splits\.json is in no folder that FOCUSEDCLEANER_DATA names"):
        sources.clean_graph(Source("cora"))
    (tmp_path / "authors").mkdir()
    (tmp_path / "authors" / "cora_splits.json").write_text('{"idx_train": [0, 1], "idx_val": [2], "idx_test": [3]}')
    with pytest.raises(InputError, match="is not the published file: its SHA-256 is another one"):
        sources.clean_graph(Source("cora"))
    with pytest.raises(InputError, match="there is no split 'mine'"):
        sources.clean_graph(Source("cora", "mine"))
    sources.clean_graph.cache_clear()
