"""What the site changes in its sources: docstrings become reStructuredText, and links are named by titles."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import focusedcleaner

LONGEST = 300
"""Characters of a signature that is shown; results of many fields are not made by users."""
SECTION = re.compile(r"(Args|Returns|Raises|Yields|Attributes):$")


def prepare(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Mark indented formulas as literal blocks, and escape the bars of absolute values elsewhere."""
    prepared: list[str] = []
    section = literal = False
    for line in lines:
        indented, blank = line.startswith("    "), not line.strip()
        if not indented and not blank:
            section, literal = bool(SECTION.match(line)), False
        if indented and not section and not literal and prepared and not prepared[-1]:
            prepared += ["::", ""]
            literal = True
        code = literal or line.lstrip().startswith((">>>", "..."))
        prepared.append(line if code else re.sub(r"(``[^`]*``)|\|", lambda found: found[1] or r"\|", line))
    lines[:] = prepared


def shorten(
    app: Sphinx, what: str, name: str, obj: object, options: object, signature: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """Leave out the constructor of a result with many fields."""
    return ("", None) if what == "class" and len(signature or "") > LONGEST else None


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Link a public name that a docstring gives without its package."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or target.partition(".")[0] not in focusedcleaner.__all__:
        return None
    python = env.get_domain("py")
    return python.resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], f"focusedcleaner.{target}", node, content
    )


def name_links(app: Sphinx, page: str, source: list[str]) -> None:
    """Give ``[method.md](method.md)``, which reads well as a file, the title of the page."""
    source[0] = re.sub(r"\[(?:docs/)?[\w-]+\.md\]\(", "[](", source[0])


def setup(app: Sphinx) -> dict[str, object]:
    """Add them; `prepare` must run before napoleon."""
    app.connect("autodoc-process-docstring", prepare, priority=400)
    app.connect("autodoc-process-signature", shorten)
    app.connect("missing-reference", resolve)
    app.connect("source-read", name_links)
    return {"parallel_read_safe": True}
