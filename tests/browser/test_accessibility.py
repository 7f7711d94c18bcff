"""axe finds nothing: in light and dark, at both sizes, with the panel open and closed."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.cli.planpage.plan_documents import large, racks, refused, small
from webhook.placementreview.plans.document import PlanDocument

DOCUMENTS = {"small": small(), "refused": refused(), "large": large(), "racks": racks()}


def findings(page: Page) -> list[str]:
    """What axe objects to, with where it is."""
    violations = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html']}" for each in violations for node in each["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("selected", ["nothing", "element", "node", "pool"])
@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_there_are_no_findings(open_page: Open, document: PlanDocument, selected: str, scheme: str) -> None:
    page = open_page(document, color_scheme=scheme, bypass_csp=True)
    buttons = {"element": "tr.element button", "node": ".canvas .title", "pool": "table.pools button"}
    for cause in page.locator(".causes input").all():
        cause.check()
    if selected != "nothing":
        page.locator(buttons[selected]).nth(1 if selected == "element" else 0).click()
        expect(page.locator("#panel")).to_be_visible()
        page.evaluate("document.querySelectorAll('#panel details').forEach(each => { each.open = true })")
    assert findings(page) == []


def test_there_are_no_findings_without_scripts(open_page: Open) -> None:
    page = open_page(refused())
    page.evaluate("document.querySelectorAll('.tools, .overview, .viewport, .edges').forEach(each => each.remove())")
    page.evaluate("document.documentElement.className = ''")
    assert findings(page) == []


@pytest.mark.parametrize("document", [small(), racks()], ids=["small", "racks"])
def test_there_are_no_findings_on_a_small_screen(open_page: Open, document: PlanDocument) -> None:
    page = open_page(document, viewport={"width": 390, "height": 800}, bypass_csp=True)
    page.locator("tr.element button").first.click()
    assert findings(page) == []
