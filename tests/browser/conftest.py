"""One Chromium for all tests, and pages opened in it as users open them: from a file."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import ARGUMENTS, path
from webhook.cli.planpage.page import render
from webhook.placementreview.plans.document import PlanDocument

Open = Callable[..., Page]

WIDE: Final = {"width": 1440, "height": 900}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, with a new profile that is deleted at the end."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path(), args=list(ARGUMENTS))
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens the page of a plan; at the end, it must have asked for nothing else and have had no errors."""
    pages: list[tuple[Page, str, list[str]]] = []

    def opened(document: PlanDocument, **options: Any) -> Page:
        file = tmp_path / f"plan-{len(pages)}.html"
        file.write_text(render(document), encoding="utf-8")
        page = browser.new_page(**{"viewport": WIDE, **options})
        page.set_default_timeout(10_000)
        seen: list[str] = []
        pages.append((page, file.as_uri(), seen))
        page.on("request", lambda request: seen.append(request.url))
        page.on("console", lambda message: seen.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: seen.append(str(error)))
        page.goto(file.as_uri())
        return page

    yield opened
    for page, address, seen in pages:
        page.close()
        assert set(seen) == {address}
