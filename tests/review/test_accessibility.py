"""The review page for everybody: names, headings, the tab key, contrast, narrow windows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from focusedcleaner.review.page import Review
from tests.review.browser_pages import at, looking

pytestmark = pytest.mark.browser

NAMELESS = """
[...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a[href]")].filter((one) => {
  const label = one.labels && one.labels.length ? one.labels[0].textContent : "";
  return !(label + (one.getAttribute("aria-label") || "") + (one.matches("a, button") ? one.textContent : "")).trim();
}).map((one) => one.outerHTML)
"""
FOCUSABLE = "summary, a[href], button, select, textarea, input:not([type=hidden])"


def test_labels_headings_and_landmarks(page: Page) -> None:
    assert page.evaluate(NAMELESS) == []
    levels = [
        int(tag[1]) for tag in page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((h) => h.tagName)")
    ]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for selector in ("html[lang]", "main", "header", "nav[aria-label]", "#status[role=status]", "#alert[role=alert]"):
        expect(page.locator(selector).first).to_be_attached()
    assert page.evaluate(
        "[...document.querySelectorAll('svg')].every((one) => one.ariaHidden === 'true' || one.ariaLabel)"
    )
    identifiers = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(identifiers) == len(set(identifiers))
    assert page.evaluate("[...document.querySelectorAll('table')].every((one) => one.caption)")


def test_the_tab_key_follows_the_reading_order(page: Page) -> None:
    order = f"[...document.querySelectorAll({FOCUSABLE!r})].filter((one) => one.checkVisibility())"
    expected = page.evaluate(f"{order}.map((one) => one.outerHTML)")
    found = []
    for _ in expected:
        page.keyboard.press("Tab")
        found.append(page.evaluate("document.activeElement.outerHTML"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert found == expected
    tops = [page.locator(one).bounding_box() for one in ("header", ".overview", "main", "footer")]
    assert all(box for box in tops)
    assert [box["y"] for box in tops if box] == sorted(box["y"] for box in tops if box)


def test_the_skip_link_leads_to_the_edge(page: Page) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("#planted")).to_be_focused()
    page.keyboard.press("Enter")
    at(page, 2)
    expect(page.locator("#planted")).to_be_focused()


CONTRAST = """
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = (colour) => colour.slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (one) => { for (; one; one = one.parentElement) {
    const colour = rgb(getComputedStyle(one).backgroundColor); if (colour[3] === 255) return colour; }
    return [255, 255, 255]; };
  const poor = [];
  for (const one of document.querySelectorAll("#page *, footer *")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || one.closest("svg, .off, .unseen, option") || !one.checkVisibility()) continue;
    const [ink, paper] = [light(rgb(getComputedStyle(one).color)), light(behind(one))];
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (ratio < 4.5) poor.push(`${one.className} ${one.textContent.trim()} ${ratio.toFixed(2)}`);
  }
  return poor;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(browser: Browser, home: str, review: Review, scheme: Any) -> None:
    for rank, verdict in enumerate(("planted", "genuine", "unsure", "planted"), 1):
        review.store.decide(rank, "ann", verdict)  # type: ignore[arg-type]
    review.store.decide(4, "bob", "genuine")
    with looking(browser, color_scheme=scheme, reduced_motion="reduce") as page:
        for edge in (1, 2, 3, 4, 5):
            page.goto(f"{home}/?edge={edge}")
            assert page.evaluate(CONTRAST) == []


def test_a_narrow_window_has_no_sideways_scrolling(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
