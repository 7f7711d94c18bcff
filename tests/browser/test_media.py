"""The page in print, in the dark, without scripts, on small screens, and with texts that attack it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.cli.planpage.plan_documents import HOSTILE, hostile, large, refused, small
from webhook.placementreview.plans.document import PlanDocument


def test_print_has_all_elements_and_refusals_as_tables_and_none_of_the_panes(open_page: Open) -> None:
    page = open_page(refused())
    page.get_by_role("row").get_by_role("button", name="shards-1").click()
    page.get_by_role("searchbox").fill("typo")
    expect(page.locator(".counts")).to_contain_text("1 of 9 elements")
    page.emulate_media(media="print")
    for hidden in ("#panel", ".tools", ".viewport", ".edges", ".overview .details"):
        expect(page.locator(hidden)).to_be_hidden()
    assert page.locator("tr.element:visible").count() == 9
    expect(page.locator("table.planned")).to_be_visible()
    expect(page.locator("#refused")).to_contain_text("2 of 3 fit")


def test_paper_takes_the_whole_plan(open_page: Open, tmp_path: Path) -> None:
    page = open_page(large())
    page.pdf(path=tmp_path / "plan.pdf")
    assert (tmp_path / "plan.pdf").read_bytes().count(b"/Type /Page\n") > 20


def test_print_is_black_on_white_in_the_dark(open_page: Open) -> None:
    page = open_page(small(), color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert colours(page) == ("rgb(0, 0, 0)", "rgb(255, 255, 255)")


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("light", ("rgb(28, 32, 36)", "rgb(246, 246, 243)")),
        ("dark", ("rgb(228, 230, 232)", "rgb(21, 24, 27)")),
    ],
)
def test_the_page_follows_the_scheme(open_page: Open, scheme: str, expected: tuple[str, str]) -> None:
    assert colours(open_page(small(), color_scheme=scheme)) == expected


def colours(page: Page) -> tuple[str, str]:
    """Text and paper."""
    style = "getComputedStyle(document.body)"
    return page.evaluate(f"{style}.color"), page.evaluate(f"{style}.backgroundColor")


def test_nothing_moves_for_those_who_want_less_motion(open_page: Open) -> None:
    page = open_page(small(), reduced_motion="reduce")
    durations = "[...document.querySelectorAll('*')].map(each => getComputedStyle(each).transitionDuration)"
    assert set(page.evaluate(durations)) == {"0s"}


@pytest.mark.parametrize("document", [refused(), large()], ids=["refused", "large"])
def test_without_scripts_there_are_tables_and_refusals(open_page: Open, document: PlanDocument) -> None:
    page = open_page(document, java_script_enabled=False)
    elements = [element for subject in document.subjects for element in subject.elements]
    assert page.locator("tr.element:visible").count() == len(elements)
    assert page.locator("table.planned").is_visible()
    assert page.get_by_role("button").count() == 0
    refusals = [subject for subject in document.subjects if subject.verdict == "refused"]
    assert page.locator("#refused article:visible").count() == len(refusals)


def test_a_small_screen_has_everything_below_each_other(open_page: Open) -> None:
    page = open_page(small(), viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("row").get_by_role("button", name="apps-parallel-1").click()
    expect(page.locator("#panel")).to_be_in_viewport()


def test_texts_that_attack_the_page_are_only_texts(open_page: Open) -> None:
    page = open_page(hostile())
    for button in page.get_by_role("row").get_by_role("button").all():
        button.click()
    page.get_by_role("row").get_by_role("button").first.press("Escape")
    for button in page.locator(".canvas .title").all():
        button.click()
        page.evaluate("document.querySelectorAll('#panel details').forEach(each => { each.open = true })")
    assert page.evaluate("window.hostile") is None
    assert page.locator("img, iframe, object, svg:not(.edges, .picture, .glyph), script:not([type])").count() == 0
    assert page.title() == HOSTILE[0]
    assert page.locator(".canvas .title").all_inner_texts()[:4] == list(HOSTILE[:4])


@pytest.mark.parametrize("document", [refused(), large()], ids=["refused", "large"])
def test_a_phone_shows_whole_constraints_and_lists_that_fit(open_page: Open, document: PlanDocument) -> None:
    page = open_page(document, viewport={"width": 390, "height": 844})
    cut = """[...document.querySelectorAll('.elements .clauses, .lists table')]
        .filter(each => each.scrollWidth > each.clientWidth || each.getBoundingClientRect().right > innerWidth)
        .map(each => each.textContent)"""
    assert page.evaluate(cut) == []
    clauses = page.locator("tr.element:visible .clauses").first
    expect(clauses).to_have_css("white-space", "normal")
    expect(page.get_by_role("row").filter(has_text="MyPool").first).to_be_visible()
