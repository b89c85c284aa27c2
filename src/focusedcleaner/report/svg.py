"""The few words of SVG that the pictures are written in; whatever is put in is escaped."""

from __future__ import annotations

from markupsafe import Markup, escape


def element(name: str, *inside: object, **attributes: object) -> Markup:
    """An element; ``fill_opacity`` is the attribute fill-opacity, ``class_`` is class, and None leaves one out.

    >>> element("text", "a < b", x=1.50, class_="label", id=None)
    Markup('<text x="1.5" class="label">a &lt; b</text>')
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = "".join(escape(part) for part in inside)
    return Markup(f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>")


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else escape(value)


def number(value: float) -> str:
    """A coordinate in one decimal, without a trailing zero.

    >>> number(12.04), number(-0.01), number(3.26)
    ('12', '0', '3.3')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def shape(kind: str, x: float, y: float, radius: float, **style: object) -> Markup:
    """A circle, a square or a diamond of about that radius.

    >>> shape("circle", 10.0, 10.0, 9.0, fill="red")
    Markup('<circle cx="10" cy="10" r="9" fill="red"/>')
    """
    if kind == "circle":
        return element("circle", cx=x, cy=y, r=radius, **style)
    half = radius * (0.9 if kind == "square" else 0.8)
    turn = f"rotate(45 {number(x)} {number(y)})" if kind == "diamond" else None
    return element("rect", x=x - half, y=y - half, width=2 * half, height=2 * half, transform=turn, **style)
