"""``.. registered:: SANITIZERS``: every method of a registry with its settings and the docstring of its class."""

from __future__ import annotations

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.parsing import nested_parse_to_nodes

from focusedcleaner import registry
from focusedcleaner.registry import Method


class RegisteredMethods(SphinxDirective):
    """A section for each method of the registry that the argument names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        documented: set[type] = self.env.temp_data.setdefault("documented", set())
        lines: list[str] = []
        for method in getattr(registry, self.arguments[0]):
            lines += [*_heading(method), *_settings(method), *_classes(method, documented)]
        return nested_parse_to_nodes(self.state, StringList(lines, source=self.get_source_info()[0]))


def _heading(method: Method[object]) -> list[str]:
    summary = method.summary[:1].upper() + method.summary[1:]
    return [method.name, "-" * len(method.name), "", f"{summary}.", ""]


def _settings(method: Method[object]) -> list[str]:
    """A table of the settings by the name that ``--set`` and keyword arguments take."""
    rows = ["   * - setting", "     - default", "     - values"]
    for name, (_, setting) in method.settings().items():
        rows += [f"   * - ``{name}``", f"     - ``{_default(method, name)}``", f"     - {setting.allowed or 'text'}"]
    for part, kinds in method.parts.items():
        if len(kinds) > 1:
            rows += [f"   * - ``{part}``", f"     - ``{next(iter(kinds))}``", f"     - {' or '.join(kinds)}"]
    if method.variants:
        rows += [
            "   * - ``variant``",
            f"     - ``{next(iter(method.variants))}``",
            f"     - {' or '.join(method.variants)}",
        ]
    return [".. list-table::", "   :header-rows: 1", "", *rows, ""] if len(rows) > 3 else ["No settings.", ""]


def _default(method: Method[object], name: str) -> object:
    part, setting = method.settings()[name]
    built = method.make({})
    value = getattr(getattr(built, part) if part else built, setting.name)
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else value


def _classes(method: Method[object], documented: set[type]) -> list[str]:
    """The classes behind a method, each documented where it first occurs."""
    kinds = [method.kind, *(kind for kinds in method.parts.values() for kind in kinds.values())]
    kinds += [kind for kind in method.variants.values() if kind is not method.kind]
    lines = []
    for kind in kinds:
        path = f"{kind.__module__}.{kind.__qualname__}"
        if kind not in documented:
            documented.add(kind)
            lines += [f".. autoclass:: {path}", "   :no-members:", ""]
        elif kind is method.kind:
            lines += [f"Its class is :py:class:`~{path}`.", ""]
    return lines


def setup(app: Sphinx) -> dict[str, object]:
    """Add the directive."""
    app.add_directive("registered", RegisteredMethods)
    return {"parallel_read_safe": True}
