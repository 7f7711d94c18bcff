"""``make pictures``: the picture of the overview in ``docs/plan.md``, and that of the tour in ``docs/start.md``.

The overview is taken of a page in Chromium, the tour is what the command writes to a terminal in colour. The plan is
that of :func:`tests.cli.planpage.plan_documents.racks`, with one clause of the refused Job's conflict ticked. Fonts and
versions of Chromium differ between machines, so no test compares the pictures.
"""

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

from tests.browser.chromium import ARGUMENTS, path
from tests.cli.planpage.plan_documents import racks
from webhook.cli.planpage.page import render

PICTURE: Final = Path(__file__).parents[2] / "docs" / "pictures" / "plan-overview.png"
"""Where the picture is written."""

TOUR: Final = PICTURE.with_name("tour.svg")
EXAMPLES: Final = "refused-pool-and-exlocation"
"""The example of the tour that the picture shows."""

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


def take_tour(target: Path) -> None:
    """Write the picture of the tour into the file: as text, with no font from elsewhere."""
    command = (sys.executable, "-m", "webhook", "tour", "--only", EXAMPLES)
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "112"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)  # noqa: S603 -- ourselves
    # The address of the server and the folder of the clone come first, and differ each time.
    shown = done.stdout.split("\n\n")[1]
    console = Console(record=True, width=112, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"$ streams-placement tour --only {EXAMPLES}\n{shown}"))
    drawn = console.export_svg(title="streams-placement tour", unique_id="tour")
    target.write_text(re.sub(r"@font-face \{.*?\}\n", "", drawn, flags=re.DOTALL))


if __name__ == "__main__":
    take(PICTURE)
    take_tour(TOUR)
    for picture in (PICTURE, TOUR):
        sys.stdout.write(f"{picture}: {picture.stat().st_size:,} bytes\n")
