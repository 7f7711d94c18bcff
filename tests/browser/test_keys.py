"""Everything can be reached with keys alone, and the focus is always somewhere."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.cli.planpage.plan_documents import large, refused, small


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def focused(page: Page) -> str:
    return page.evaluate("document.activeElement.textContent")


def tab_stops(page: Page) -> list[str]:
    """What Tab reaches, from the start of the page to its end."""
    stops = []
    for _ in range(60):
        page.keyboard.press("Tab")
        name = page.evaluate("(document.activeElement.id || document.activeElement.textContent).trim()")
        if page.evaluate("document.activeElement === document.body") or name in stops[:1]:
            return stops
        stops.append(name)
    raise AssertionError(stops)


def test_tab_reaches_each_part_once(open_page: Open) -> None:
    page = open_page(small())
    assert tab_stops(page) == [
        "Skip to the nodes", "search", "only-planned", "MyPool", "apps-parallel-0", "group-by", "overview",
        "control-plane-1",
    ]  # fmt: skip


def test_tab_reaches_the_elements_of_a_conflict_and_of_the_active_box(open_page: Open) -> None:
    page = open_page(refused())
    page.get_by_role("button", name="worker-8", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    stops = tab_stops(page)
    assert stops[:2] == ["apps-parallel-1", "apps-parallel-2"]
    page.reload()
    assert tab_stops(page)[1:4] == ["shards-0", "shards-1", "shards-2"]


def test_enter_opens_the_panel_and_escape_gives_the_focus_back(open_page: Open) -> None:
    page = open_page(small())
    page.get_by_role("row").get_by_role("button", name="apps-parallel-0").focus()
    press(page, "ArrowDown", "ArrowDown", "ArrowUp", "Enter")
    assert focused(page) == "Element apps-parallel-1"
    press(page, "Escape")
    expect(page.locator("#panel")).to_be_hidden()
    assert focused(page) == "apps-parallel-1"


def test_escape_gives_the_focus_back_to_where_the_way_through_the_panel_began(open_page: Open) -> None:
    page = open_page(small())
    page.get_by_role("row").get_by_role("button", name="apps-parallel-1").press("Enter")
    page.locator("#panel").get_by_role("button", name="worker-8").press("Enter")
    assert focused(page) == "Node worker-8"
    page.locator("#panel").get_by_role("button", name="Close").press("Enter")
    assert focused(page) == "apps-parallel-1"


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (["ArrowRight"], "worker-00001"),
        (["ArrowLeft"], "worker-00000"),
        (["ArrowUp"], "worker-00000"),
        (["End"], "worker-04999"),
        (["End", "ArrowDown"], "worker-04999"),
        (["End", "ArrowLeft"], "worker-04998"),
        (["End", "Home"], "worker-00000"),
        (["PageDown", "PageUp"], "worker-00000"),
    ],
)
def test_arrow_keys_lead_through_thousands_of_boxes(open_page: Open, keys: list[str], name: str) -> None:
    page = open_page(large())
    page.get_by_role("button", name="worker-00000").focus()
    press(page, *keys)
    assert focused(page) == name
    expect(page.get_by_role("button", name=name)).to_be_in_viewport()


def test_arrow_down_leads_to_the_box_below(open_page: Open) -> None:
    page = open_page(large())
    page.get_by_role("button", name="worker-00000").focus()
    above = page.locator(":focus").bounding_box()
    press(page, "ArrowDown")
    below = page.locator(":focus").bounding_box()
    assert above
    assert below
    assert (below["x"], below["y"] > above["y"]) == (above["x"], True)


def test_the_focus_comes_back_to_a_box_that_was_scrolled_away(open_page: Open) -> None:
    page = open_page(large())
    page.get_by_role("button", name="worker-00000").focus()
    press(page, "End", "Enter")
    assert focused(page) == "Node worker-04999"
    page.locator(".viewport").evaluate("each => each.scrollTop = 0")
    expect(page.get_by_role("button", name="worker-00000")).to_be_in_viewport()
    press(page, "Escape")
    assert focused(page) == "worker-04999"
    expect(page.get_by_role("button", name="worker-04999")).to_be_in_viewport()


def test_a_box_with_the_focus_stays_when_it_is_scrolled_out_of_view(open_page: Open) -> None:
    page = open_page(large())
    page.get_by_role("button", name="worker-00001").focus()
    page.locator(".viewport").evaluate("each => each.scrollTop = each.scrollHeight")
    expect(page.get_by_role("button", name="worker-04999")).to_be_in_viewport()
    assert focused(page) == "worker-00001"


def test_escape_in_a_search_with_words_only_clears_it(open_page: Open) -> None:
    page = open_page(small())
    page.get_by_role("row").get_by_role("button", name="apps-parallel-1").click()
    page.get_by_role("searchbox").fill("worker")
    press(page, "Escape")
    expect(page.locator("#panel")).to_be_visible()


def test_the_focus_is_visible(open_page: Open) -> None:
    page = open_page(small())
    press(page, "Tab", "Tab", "Tab")
    for _ in range(4):
        assert page.locator(":focus").evaluate("each => getComputedStyle(each).outlineStyle") != "none"
        press(page, "Tab")
