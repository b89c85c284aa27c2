"""The built documentation site, as a reader's browser sees it: `make docs` runs these after building it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from playwright.sync_api import Browser, Page

import focusedcleaner as fc
from focusedcleaner.registry import ATTACKS, CLASSIFIERS, SANITIZERS
from tests.review.browser_pages import looking

pytestmark = pytest.mark.site

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = sorted(page.relative_to(SITE).as_posix() for page in SITE.rglob("*.html"))
READ = [page for page in PAGES if page not in ("genindex.html", "py-modindex.html", "search.html")]
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src"}


class Elements(HTMLParser):
    """The anchors of a page, where its links lead, and what it loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADED and LOADED[tag] in values:
            self.loaded.append(values[LOADED[tag]])
        if tag == "link" and {"stylesheet", "icon", "preload"} & set(values.get("rel", "").split()):
            self.loaded.append(values["href"])


@pytest.fixture(scope="session")
def elements() -> dict[str, Elements]:
    return {page: Elements(SITE / page) for page in PAGES}


def test_the_site_is_built() -> None:
    assert {"index.html", "start.html", "reference.html", "methods.html", "changelog.html"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str, elements: dict[str, Elements]) -> None:
    broken = []
    for link in elements[page].links:
        target, anchor = urldefrag(unquote(link))
        if "://" in target or target.startswith("mailto:"):
            continue
        file = (SITE / page).parent.joinpath(target).resolve() if target else (SITE / page).resolve()
        name = file.relative_to(SITE.resolve()).as_posix()
        if not file.is_file() or (anchor and name in elements and anchor not in elements[name].anchors):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_loaded_from_elsewhere(page: str, elements: dict[str, Elements]) -> None:
    assert [address for address in elements[page].loaded if "//" in address] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_a_folder_of_this_machine(page: str) -> None:
    text = (SITE / page).read_text(encoding="utf-8")
    assert [name for name in (str(SITE.parents[2]), sys.prefix, "/tmp/tmp") if name in text] == []


def test_everything_public_is_documented(elements: dict[str, Elements]) -> None:
    modules = {"__version__", "datasets"}
    documented = elements["reference.html"].anchors
    assert [name for name in fc.__all__ if name not in modules and f"focusedcleaner.{name}" not in documented] == []


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The site on a free port of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    with looking(browser) as page:
        yield page


@pytest.mark.browser
@pytest.mark.parametrize("page", READ)
def test_a_page_fits_the_screen(page: str, tab: Page, address: str) -> None:
    tab.set_viewport_size({"width": 1400, "height": 900})
    tab.goto(f"{address}/{page}")
    for width in (1400, 400):
        tab.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)
            wide = tab.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{page} is {wide} pixels wide at {width}"
            text, ground = tab.evaluate(
                "() => { const style = getComputedStyle(document.body); return [style.color, style.backgroundColor]; }"
            )
            assert contrast(text, ground) > 7


def contrast(text: str, ground: str) -> float:
    """WCAG's contrast ratio of two colours, ``rgb(r, g, b)``.

    >>> round(contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)"), 1)
    21.0
    """

    def luminance(colour: str) -> float:
        parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(text), luminance(ground)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.browser
@pytest.mark.parametrize("name", [*SANITIZERS.names(), *ATTACKS.names(), *CLASSIFIERS.names()])
def test_a_search_for_a_method_finds_its_page(name: str, tab: Page, address: str) -> None:
    tab.goto(f"{address}/search.html?q={name}")
    found = tab.locator(f'#search-results a[href*="methods.html#{name}"]')
    found.first.wait_for(timeout=20_000)
