"""Methods by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import focusedcleaner
from focusedcleaner import datasets
from focusedcleaner.attacks import ATTACKS, attack
from focusedcleaner.classifiers import CLASSIFIERS, classifier
from focusedcleaner.detectors import ClassDiv, LinkPred, NoDetector
from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.registry import Method, Registry
from focusedcleaner.sanitizers import SANITIZERS, FocusedCleaner, sanitizer
from focusedcleaner.surrogate import Implicit, Unrolled
from tests.sanitizers.helpers import Judge

REGISTRIES: tuple[Registry[Any], ...] = (SANITIZERS, ATTACKS, CLASSIFIERS)
METHODS: list[Method[Any]] = [method for registry in REGISTRIES for method in registry]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_can_be_built_and_has_its_name(method: Method[Any]) -> None:
    assert method.make({}).name == method.name


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_is_documented_with_formula_and_paper_and_tested(method: Method[Any]) -> None:
    text = method.kind.__doc__ or ""
    assert method.summary
    assert "\n        " in text, "no formula in an indented block"
    assert re.search(r'"[A-Z].+"', text, re.DOTALL), "no title of a paper"
    assert ">>>" in text, "no example"
    here = Path(__file__)
    others = [test.read_text() for test in here.parent.rglob("test_*.py") if test != here]
    assert any(re.search(rf"\b{method.kind.__name__}\b", text) for text in others), "no test"


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_has_an_entry_in_the_docs(method: Method[Any]) -> None:
    root = Path(__file__).parent.parent
    pages = [root / "README.md", *(root / "docs").glob("*.md")]
    assert any(f"`{method.name}`" in page.read_text() for page in pages)


def test_settings_find_their_part() -> None:
    made = sanitizer("cld", tau="0.7", eta=0, victim_ends="2", inner="unrolled", steps=5, rate=0.01, inner_rate=0.2)
    expected = FocusedCleaner(
        detector=ClassDiv(tau=0.7, rate=0.01), eta=0.0, victim_ends=2, inner=Unrolled(steps=5, rate=0.2)
    )
    assert made == expected


def test_each_name_has_its_detector() -> None:
    for name, detector in (("cld", ClassDiv()), ("lp", LinkPred()), ("focused-none", NoDetector())):
        made = sanitizer(name)
        assert isinstance(made, FocusedCleaner)
        assert type(made.detector) is type(detector)


def test_a_part_may_be_given_ready() -> None:
    assert sanitizer("lp", inner=Implicit(weight_decay=0.5)) == sanitizer("lp", weight_decay=0.5)
    with pytest.raises(InputError, match="weight_decay is already set in the inner that was passed"):
        sanitizer("lp", inner=Implicit(), weight_decay=0.5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"taw": 1}, "cld has no setting 'taw'; its settings are eta, .*tau.*weight_decay.*inner"),
        ({"steps": 1}, "cld has no setting 'steps'"),
        ({"detector": "none"}, "cld has no setting 'detector'"),
        ({"inner": "closed"}, "inner must be one of implicit, unrolled, two-layer, not 'closed'"),
        ({"inner": 3}, "inner must be one of implicit, unrolled, two-layer, not 3"),
        ({"tau": "high"}, "tau must be a number, not 'high'"),
        ({"tau": 2}, r"tau must lie in \[0, 1\], not 2"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sanitizer("cld", **settings)


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="there is no method 'x'; there are cld, lp, focused-none"):
        sanitizer("x")
    with pytest.raises(InputError, match="there is no attack 'x'; there are dice, random"):
        attack("x")
    with pytest.raises(InputError, match="there is no classifier 'x'; there are gcn"):
        classifier("x")


def test_the_package_offers_its_names() -> None:
    for name in focusedcleaner.__all__:
        assert getattr(focusedcleaner, name) is not None
        assert name in dir(focusedcleaner)
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", focusedcleaner.__version__)
    with pytest.raises(AttributeError, match="no attribute 'cleaner'"):
        focusedcleaner.cleaner  # noqa: B018


PLUGIN = """
import focusedcleaner as fc
from tests.sanitizers.helpers import Judge

fc.register_sanitizer(Judge)
fc.register_dataset("plugged", lambda: fc.datasets.synthetic(100))
"""


def installed(folder: Path, module: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a package that declares a plug-in look installed."""
    about = folder / f"{module}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[focusedcleaner.plugins]\nmine = {module}\n")
    (folder / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))


def test_installed_plug_ins_register_themselves(
    registries: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("focusedcleaner.registry._loaded_plugins", set())
    before = SANITIZERS.names()
    installed(tmp_path, "a_plugin_of_the_tests", PLUGIN, monkeypatch)
    assert SANITIZERS.names() == (*before, Judge.name)
    assert datasets.load("plugged").num_nodes == 100


def test_a_broken_plug_in_is_left_out_with_a_warning(
    registries: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("focusedcleaner.registry._loaded_plugins", set())
    before = SANITIZERS.names()
    installed(tmp_path, "a_broken_plugin", "import there_is_no_such_module", monkeypatch)
    with pytest.warns(InputWarning, match=r"the plug-in mine \(a_broken_plugin\) is left out: ModuleNotFoundError"):
        assert SANITIZERS.names() == before
    assert SANITIZERS.names() == before
