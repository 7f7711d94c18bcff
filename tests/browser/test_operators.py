"""Operators inside their elements: what separates one from its neighbours shows on hover and on focus."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.cli.planpage.plan_documents import fused

SEPARATED = "apart from Work: Source: partitionIsolation"


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_operator_says_what_separates_it_while_it_has_the_focus(open_page: Open, width: int, scheme: str) -> None:
    page = open_page(fused(), viewport={"width": width, "height": 900}, color_scheme=scheme)
    operator = page.locator(".operator").filter(has_text="Source").first
    reason = operator.locator(".apart")
    expect(reason).to_be_hidden()
    operator.focus()
    expect(reason).to_be_visible()
    expect(reason).to_have_text(SEPARATED)
    box = reason.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    operator.blur()
    expect(reason).to_be_hidden()
    operator.hover()
    expect(reason).to_be_visible()


def test_operators_are_reached_by_the_tab_key(open_page: Open) -> None:
    page = open_page(fused())
    page.get_by_role("row").get_by_role("button", name="apps-0", exact=True).focus()
    page.keyboard.press("Tab")
    expect(page.locator(".operator:focus .apart")).to_have_text(SEPARATED)


def test_the_panel_of_an_element_has_its_operators_and_streams(open_page: Open) -> None:
    page = open_page(fused())
    page.get_by_role("row").get_by_role("button", name="apps-0", exact=True).click()
    panel = page.locator("#panel section")
    operators = panel.filter(has=page.get_by_role("heading", name="Operators", exact=True))
    streams = panel.filter(has=page.get_by_role("heading", name="Streams to other elements", exact=True))
    expect(operators.locator("li")).to_have_text(["Source", "Log", "Quiet"])
    expect(streams.locator("li")).to_have_text(
        [
            "Source and Work: 90\u00a0% of the traffic, to another node",
            "Log and Work: less than 1\u00a0% of the traffic",
        ]
    )
