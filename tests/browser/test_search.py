"""Search and filters over boxes and tables."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.cli.planpage.plan_documents import large, refused, small


def boxes(page: Page) -> list[str]:
    return page.locator(".canvas .title").all_inner_texts()


def elements(page: Page) -> list[str]:
    return [name for name in page.locator("tr.element:visible .name").all_inner_texts() if name]


@pytest.mark.parametrize(
    ("words", "nodes", "found"),
    [
        ("worker-8", ["worker-8"], ["apps-parallel-1", "apps-parallel-2"]),
        ("hostcolocation", ["worker-8"], ["apps-parallel-1", "apps-parallel-2"]),
        ("PARALLEL-3", ["worker-2"], ["apps-parallel-3"]),
        ("dedicated=infra", ["control-plane-1"], []),
        ("worker-8 parallel-2", ["worker-8"], ["apps-parallel-2"]),
        ("no such thing", [], []),
    ],
)
def test_words_find_nodes_and_elements(open_page: Open, words: str, nodes: list[str], found: list[str]) -> None:
    page = open_page(small())
    page.get_by_role("searchbox", name="Search").fill(words)
    expect(page.locator(".counts")).to_contain_text(f"{len(nodes)} of 5 nodes, {len(found)} of 4 elements")
    assert (boxes(page), elements(page)) == (nodes, found)
    expect(page.get_by_role("status")).to_contain_text(f"{len(nodes)} of 5 nodes")


def test_subjects_without_found_elements_are_left_out(open_page: Open) -> None:
    page = open_page(refused())
    page.get_by_role("searchbox").fill("shards-1")
    expect(page.locator("tr.subject:visible")).to_have_count(1)
    page.get_by_role("searchbox").fill("")
    expect(page.locator("tr.subject:visible")).to_have_count(4)


def test_only_nodes_that_get_something(open_page: Open) -> None:
    page = open_page(small())
    page.get_by_label("only nodes that get something").check()
    expect(page.locator(".counts")).to_contain_text("3 of 5 nodes")
    assert boxes(page) == ["worker-1", "worker-2", "worker-8"]


def test_only_nodes_that_the_selected_element_could_have(open_page: Open) -> None:
    page = open_page(small())
    only = page.get_by_label("only nodes open to apps-parallel-0")
    expect(only).to_be_hidden()
    page.get_by_role("row").get_by_role("button", name="apps-parallel-0").click()
    only.check()
    expect(page.locator(".counts")).to_contain_text("2 of 5 nodes")
    page.keyboard.press("Escape")
    expect(page.locator(".counts")).to_contain_text("5 of 5 nodes")


def test_only_hosts_of_the_selected_pool(open_page: Open) -> None:
    page = open_page(large())
    page.get_by_role("button", name="Sized").click()
    page.get_by_label("only hosts of Sized").check()
    expect(page.locator(".counts")).to_contain_text("12 of 5,000 nodes")
    assert boxes(page) == [f"worker-{place:05}" for place in range(4988, 5000)]


def test_a_search_among_thousands_shows_what_it_finds_from_the_top(open_page: Open) -> None:
    page = open_page(large())
    page.locator(".viewport").evaluate("each => each.scrollTop = 100_000")
    page.get_by_role("searchbox").fill("worker-04")
    expect(page.locator(".counts")).to_contain_text("1,000 of 5,000 nodes")
    expect(page.get_by_role("button", name="worker-04000", exact=True)).to_be_in_viewport()
