"""Five thousand nodes and a thousand elements: how long it takes until something, and then everything, is there.

The best of some tries counts: what else a machine does at the moment is not the page's doing. ``docs/plan.md`` has
figures of a machine with two cores.
"""

from typing import Final

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Open
from tests.cli.planpage.plan_documents import large

PAINT: Final = 1_000
"""Milliseconds from the start of loading to the first paint."""

LOADED: Final = 2_500
"""Milliseconds from the start of loading until the boxes are there."""

ANSWER: Final = 300
"""Milliseconds of work for a selection."""

TRIES: Final = 5

ACTIONS: Final = {
    "an element": "document.querySelector('tr.element:nth-child(5) button').click()",
    "a node": "document.querySelector('.canvas .title').click()",
}


def test_the_first_paint_is_there_within_a_second(open_page: Open) -> None:
    page = open_page(large())
    paint, loaded = map(min, zip(*(times(page) for _ in range(TRIES)), strict=True))
    print(f"first paint {paint:.0f} ms, loaded {loaded:.0f} ms")  # noqa: T201 -- shown with -s
    assert paint < PAINT
    assert loaded < LOADED


def times(page: Page) -> tuple[float, float]:
    """When something, and when everything is there, in milliseconds since the page was reloaded."""
    page.reload()
    page.wait_for_function("() => performance.getEntriesByType('paint').length > 0")
    paints = page.evaluate("performance.getEntriesByType('paint').map(each => each.startTime)")
    return max(paints), page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")


def test_only_boxes_in_view_are_made(open_page: Open) -> None:
    page = open_page(large())
    assert page.locator(".canvas > li").count() < 100


@pytest.mark.parametrize("action", ACTIONS)
def test_selecting_takes_no_time(open_page: Open, action: str) -> None:
    page = open_page(large())
    work = f"{ACTIONS[action]}; document.body.offsetHeight"
    timed = f"() => {{ const from = performance.now(); {work}; return performance.now() - from; }}"
    took = []
    for _ in range(TRIES):
        page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        took.append(page.evaluate(timed))
    print(f"{action}: {min(took):.0f} ms, the first time {took[0]:.0f} ms")  # noqa: T201 -- shown with -s
    assert min(took) < ANSWER
