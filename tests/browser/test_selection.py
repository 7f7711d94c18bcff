"""What the panel says of an element, a node and a pool, and what the boxes show of it."""

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open
from tests.cli.planpage.plan_documents import job, large, node, refused, small
from webhook.placementreview.plans.document import NodeResource, PlanDocument, PlannedElement, PlannedNode, PlannedPool


def element(page: Page, name: str) -> Locator:
    """The button of an element in the table."""
    return page.get_by_role("row").get_by_role("button", name=name, exact=True)


def box(page: Page, name: str) -> Locator:
    """The box of a node."""
    return page.locator(".canvas > li").filter(has=page.get_by_role("button", name=name, exact=True))


def part(page: Page, heading: str) -> Locator:
    """A part of the panel."""
    return page.locator("#panel section").filter(has=page.get_by_role("heading", name=heading, exact=True))


def marks(page: Page) -> dict[str, str]:
    boxes = page.locator(".canvas > li")
    titles, words = boxes.locator(".title").all_inner_texts(), boxes.locator(".mark").all_inner_texts()
    return dict(zip(titles, words, strict=True))


def test_an_element_shows_its_node_its_cost_and_its_constraints(open_page: Open) -> None:
    page = open_page(small())
    element(page, "apps-parallel-0").click()
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", level=2)).to_have_text("Element apps-parallel-0")
    expect(panel.locator(".facts")).to_contain_text("worker-1")
    expect(panel.locator(".facts")).to_contain_text("812")
    expect(panel.locator(".facts")).to_contain_text("Job apps-parallel in namespace default, admitted")
    expect(part(page, "Constraints")).to_contain_text("host(MyPool)")
    expect(page.get_by_role("status")).to_have_text("Element apps-parallel-0")


def test_an_element_shows_which_rule_closed_every_other_node(open_page: Open) -> None:
    page = open_page(small())
    element(page, "apps-parallel-0").click()
    closed = part(page, "Nodes that are closed")
    expect(closed.locator("summary")).to_have_text(["host(MyPool) is not in HostPool MyPool (tag source)3 nodes"])
    closed.locator("summary").click()
    expect(closed.locator("li")).to_have_text(["control-plane-1", "worker-8", "worker-9"])


def test_open_nodes_with_elements_that_must_stay_apart_are_told_from_the_others(open_page: Open) -> None:
    page = open_page(small())
    element(page, "apps-parallel-1").click()
    groups = part(page, "Other nodes that are open").locator("details")
    expect(groups.locator("summary")).to_have_text(
        [
            "every rule lets it go there2 nodes",
            "open, but this plan has elements there that it must stay apart from1 node",
        ]
    )
    groups.nth(1).locator("summary").click()
    expect(groups.nth(1).locator("li")).to_have_text("worker-2 holds apps-parallel-3")


def test_boxes_show_where_a_selected_element_could_go(open_page: Open) -> None:
    page = open_page(small())
    element(page, "apps-parallel-1").click()
    assert marks(page) == {
        "control-plane-1": "closed",
        "worker-1": "open",
        "worker-2": "apart",
        "worker-8": "here",
        "worker-9": "open",
    }


def test_lines_lead_to_the_nodes_of_partners(open_page: Open) -> None:
    page = open_page(small())
    element(page, "apps-parallel-3").click()
    expect(page.locator(".edges line.apart")).to_have_count(2)
    page.keyboard.press("Escape")
    expect(page.locator(".edges line")).to_have_count(0)


def test_too_many_lines_are_left_out(open_page: Open) -> None:
    page = open_page(large())
    element(page, "apps-parallel-3").click()
    expect(page.locator(".edges line")).to_have_count(0)
    expect(part(page, "Apart from").locator("summary")).to_have_text('hostExlocation("sink")249 elements')


def test_a_node_shows_what_is_free_what_is_on_it_and_what_could_have_been(open_page: Open) -> None:
    page = open_page(small())
    page.get_by_role("button", name="worker-8", exact=True).click()
    expect(page.locator("#panel tbody tr")).to_have_text(["cpu8422", "memory32Gi8Gi4Gi20Gi", "pods11042104"])
    expect(part(page, "Elements here").locator("li")).to_have_text(["apps-parallel-1", "apps-parallel-2"])
    part(page, "Other elements that could go here").locator("summary").click()
    expect(part(page, "Other elements that could go here").locator("li")).to_have_text(["apps-parallel-3"])
    closed = part(page, "Elements for which the node is closed")
    expect(closed.locator("summary")).to_have_text(["host(MyPool) is not in HostPool MyPool (tag source)1 element"])


def test_a_pool_shows_its_hosts(open_page: Open) -> None:
    page = open_page(small())
    page.get_by_role("button", name="MyPool").click()
    expect(page.locator(".facts")).to_contain_text("every eligible node is a host")
    expect(page.locator(".facts")).to_contain_text("2 of 5 nodes")
    expect(part(page, "Hosts").locator("li")).to_have_text(["worker-1", "worker-2"])
    there = part(page, "Elements on its hosts")
    expect(there.locator("summary")).to_have_text(["name the pool1 element", "do not name it1 element"])
    expect(there.locator("li")).to_have_text(["apps-parallel-0", "apps-parallel-3"])
    assert {name for name, mark in marks(page).items() if mark == "host"} == {"worker-1", "worker-2"}
    expect(page.locator(".edges line.member")).to_have_count(2)


def test_a_pool_without_elements_and_hosts_says_so(open_page: Open) -> None:
    pools = (PlannedPool("default", "P", "Shared", 1, (), job="one"), PlannedPool("default", "P", "Shared", None, ()))
    page = open_page(PlanDocument(title="Plan", cluster="", subjects=(), nodes=(node("a"),), pools=pools))
    page.get_by_role("button", name="P").first.click()
    expect(page.locator("#panel h2")).to_have_text("HostPool P (Job one)")
    expect(part(page, "Hosts")).to_contain_text("none yet")
    expect(part(page, "Elements on its hosts")).to_contain_text("none")
    page.get_by_role("row").get_by_role("button", name="P").nth(1).click()
    expect(part(page, "Hosts")).to_contain_text("no node is eligible")


def test_bars_of_all_boxes_have_one_scale_and_their_amounts_one_unit(open_page: Open) -> None:
    amounts = (
        NodeResource("cpu", "8", "100m", "100m", "7800m", 12, 12),
        NodeResource("pods", "110", "0", "0", "110", 0, 0),
    )
    long = NodeResource("memory", "15926340Ki", "0", "0", "15795268Ki", 0, 0)
    nodes = (PlannedNode("a", amounts), PlannedNode("b", (long,)))
    page = open_page(PlanDocument(title="Plan", cluster="", subjects=(), nodes=nodes))
    expect(box(page, "a").locator(".resource")).to_have_text("cpu7.8 of 8 free")
    widths = page.locator(".resource .bar").evaluate_all("bars => bars.map(bar => bar.clientWidth)")
    assert len(widths) == 2
    assert len({*widths}) == 1


def test_hosts_of_a_pool_with_a_size_have_their_index(open_page: Open) -> None:
    page = open_page(large(20, 8))
    page.get_by_role("button", name="Sized").click()
    assert marks(page)["worker-00008"] == "host [0]"


def test_elements_of_a_conflict_lead_to_their_panels(open_page: Open) -> None:
    page = open_page(refused())
    page.locator("#refused").get_by_role("button", name="shards-1").click()
    expect(page.locator(".facts")).to_contain_text("no node")
    expect(part(page, "Apart from").locator("li")).to_have_text(["shards-0", "shards-2"])


def test_an_element_that_was_not_judged_says_so(open_page: Open) -> None:
    page = open_page(refused())
    element(page, "typo").click()
    expect(part(page, "Other nodes")).to_contain_text("No node was judged.")


def test_chips_in_boxes_select_their_elements(open_page: Open) -> None:
    page = open_page(small())
    box(page, "worker-8").get_by_role("button", name="apps-parallel-2").click()
    expect(page.locator("#panel h2")).to_have_text("Element apps-parallel-2")
    expect(page.locator("tr.chosen")).to_contain_text("apps-parallel-2")


def test_long_lists_of_nodes_are_one_text(open_page: Open) -> None:
    page = open_page(large())
    element(page, "apps-parallel-0").click()
    closed = part(page, "Nodes that are closed")
    expect(closed.locator(".count")).to_have_text("4,000 nodes")
    closed.locator("summary").click()
    expect(closed.locator("p.names")).to_contain_text("worker-04999")


def test_replicas_are_counted_on_each_of_their_nodes(open_page: Open) -> None:
    web = PlannedElement(name="web", replicas=3, placed={"a": 2, "b": 1}, closed=())
    page = open_page(
        PlanDocument(title="Plan", cluster="", subjects=(job("web", [web]),), nodes=tuple(map(node, ("a", "b", "c"))))
    )
    expect(box(page, "a").locator(".chip")).to_have_text("web \u00d7 2")
    element(page, "web \u00d7 3").click()
    expect(page.locator(".facts .names li")).to_have_text(["a \u00d7 2", "b"])
    assert marks(page) == {"a": "here", "b": "here", "c": "open"}


def test_a_box_of_fixed_height_says_how_many_elements_it_does_not_name(open_page: Open) -> None:
    crowd = [PlannedElement(name=f"crowded-{place}", node="n000") for place in range(9)]
    nodes = tuple(node(f"n{place:03}") for place in range(200))
    page = open_page(PlanDocument(title="Plan", cluster="", subjects=(job("crowd", crowd),), nodes=nodes))
    names = box(page, "n000").locator(".chip").all_inner_texts()
    expect(box(page, "n000").locator(".more")).to_have_text(f"+ {9 - len(names)} more")
    expect(box(page, "n000").locator(".more")).to_be_in_viewport()
    assert len(names) >= 2


def test_names_that_are_too_long_for_a_box_keep_their_ends(open_page: Open) -> None:
    name = f"{'long-' * 12}17"
    nodes = tuple(node(f"n{place:03}") for place in range(200))
    page = open_page(
        PlanDocument(
            title="Plan", cluster="", subjects=(job("j", [PlannedElement(name=name, node="n000")]),), nodes=nodes
        )
    )
    chip = box(page, "n000").get_by_role("button", name=name)
    assert chip.inner_text().endswith("-17")
    assert chip.evaluate("each => each.scrollWidth <= each.clientWidth")
