"""The site of the documentation in Chromium: opened from a file or from a server, it needs nothing from elsewhere."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.conftest import WIDE
from tools.site.__main__ import build

NARROW: Final = {"width": 390, "height": 844}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing of it."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder / "html", folder / "work")
    return folder / "html"


@pytest.fixture(scope="module", params=["file", "server"])
def address(site: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Where the site is: a folder, or a plain server of that folder."""
    if request.param == "file":
        yield site.as_uri()
        return
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Any]:
    """Opens pages; at the end none may have asked for anything elsewhere, or have had an error."""
    pages: list[Page] = []
    wrong: list[str] = []

    def open_page(name: str, **options: Any) -> Page:
        page = browser.new_page(**{"viewport": WIDE, **options})
        pages.append(page)
        page.set_default_timeout(10_000)
        page.on("request", lambda request: _noted(request.url, address, wrong))
        page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{address}/{name}")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert wrong == []


def _noted(url: str, address: str, wrong: list[str]) -> None:
    if not url.startswith((address, "data:", "blob:", "about:")):
        wrong.append(f"from elsewhere: {url}")


def searched(page: Page, text: str) -> Page:
    """Types into the search as a reader does."""
    page.keyboard.press("/")
    page.get_by_role("combobox").wait_for()
    page.keyboard.type(text)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "docs/operations.html", "examples/pool-tagged.yaml.html"])
def test_a_page_has_its_words_in_both_colours(name: str, scheme: str, opened: Any) -> None:
    page = opened(name, color_scheme=scheme)
    assert page.locator("h1").inner_text()
    dark = page.evaluate("document.body.getAttribute('data-md-color-scheme')")
    assert dark == {"light": "default", "dark": "slate"}[scheme]


def test_a_search_finds_a_pasted_message_with_names_of_the_reader(opened: Any) -> None:
    page = searched(opened("docs/host.html"), 'this namespace has no HostPool "Blades" that the pod may use')
    found = page.get_by_role("option").filter(has_text="this namespace has no HostPool that the pod may use")
    found.click()
    page.wait_for_url("**/docs/troubleshooting.html*")


def test_diagrams_are_drawn(opened: Any) -> None:
    page = opened("docs/architecture.html")
    drawn = page.locator("div.mermaid")  # in place of their texts
    drawn.nth(3).wait_for()
    assert [each.bounding_box()["height"] > 300 for each in drawn.all()] == [True] * 4


@pytest.mark.parametrize("name", ["index.html", "docs/troubleshooting.html", "docs/operations.html"])
def test_a_page_fits_a_narrow_screen(name: str, opened: Any) -> None:
    page = opened(name, viewport=NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "docs/troubleshooting.html"])
def test_what_a_page_says_can_be_read(name: str, scheme: str, opened: Any) -> None:
    """The article alone: around it is the theme, whose faults are not ours."""
    found = Axe().run(opened(name, color_scheme=scheme), context="article", options={"preload": False})
    serious = [each["id"] for each in found.response["violations"] if each["impact"] in ("serious", "critical")]
    assert serious == []
