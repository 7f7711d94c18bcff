"""``make pictures``: the picture of the overview in ``docs/plan.md``, taken of a page in Chromium.

The plan is that of :func:`tests.plan_documents.racks`, with one clause of the refused Job's conflict ticked. Fonts and
versions of Chromium differ between machines, so no test compares the picture with the page.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import sync_playwright

from tests.browser.chromium import ARGUMENTS, path
from tests.plan_documents import racks
from webhook.cli.planpage.page import render

PICTURE: Final = Path(__file__).parents[2] / "docs" / "pictures" / "plan-overview.png"
"""Where the picture is written."""

SIZE: Final = {"width": 1120, "height": 640}
CLAUSE: Final = "host(Source)"
"""What is ticked of the conflict."""


def take(target: Path) -> None:
    """Write the picture of the page into the file."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "plan.html"
        file.write_text(render(racks()), encoding="utf-8")
        chromium = playwright.chromium.launch(executable_path=path(), args=list(ARGUMENTS))
        page = chromium.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        page.goto(file.as_uri())
        page.get_by_label("Group by").select_option("zone")
        page.locator(".causes label").filter(has_text=CLAUSE).get_by_role("checkbox").check()
        page.locator("h1").hover()
        page.evaluate("document.activeElement.blur()")
        target.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=target)
        chromium.close()


if __name__ == "__main__":
    take(PICTURE)
    sys.stdout.write(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes\n")
