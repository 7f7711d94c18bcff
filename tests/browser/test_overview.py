"""The overview: squares in groups, marks, the conflict of a refused Job, pointer, keys, and the time it takes."""

from typing import Any, Final

import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open
from tests.cli.planpage.plan_documents import HOSTILE, hostile, job, large, node, racks, refused, small
from webhook.placementreview.plans.document import (
    ClosedNodes,
    Conflict,
    PlanDocument,
    PlannedElement,
    PlannedNode,
    PlannedPool,
)

DRAWN: Final = 300
"""Milliseconds in which thousands of squares are laid out and drawn."""

TRIES: Final = 5


def heads(page: Page) -> list[str]:
    return page.locator(".picture text").all_text_contents()


def squares(page: Page, kind: str) -> list[str]:
    """The upper left corners of the squares that have a path of that kind."""
    path = page.locator(f".picture path.{kind}")
    corners = path.evaluate("each => each.getAttribute('d').match(/M[\\d.]+ [\\d.]+/g)") if path.count() else []
    return list(dict.fromkeys(corners))


def details(page: Page) -> Locator:
    return page.locator(".overview .details")


def cause(page: Page, name: str) -> Locator:
    return page.locator(".causes label").filter(has_text=name).get_by_role("checkbox")


def middle(page: Page, place: int) -> dict[str, Any]:
    """Where the square of that place is in the picture, as the position of a pointer."""
    x, y = map(float, squares(page, "ground")[place][1:].split())
    return {"x": x + 5, "y": y + 5}


def test_nodes_are_grouped_by_what_the_reader_chooses(open_page: Open) -> None:
    page = open_page(racks(500, 200))
    by = page.get_by_label("Group by")
    assert by.locator("option").all_text_contents() == ["HostPool", "zone", "rack", "nothing"]
    assert heads(page) == ["Source \u00b7 140", "no HostPool \u00b7 360"]
    by.select_option("zone")
    assert heads(page) == ["central \u00b7 167", "east \u00b7 167", "west \u00b7 166"]
    by.select_option("rack")
    assert heads(page)[:3] == ["rack-0 \u00b7 40", "rack-1 \u00b7 40", "rack-2 \u00b7 40"]
    by.select_option("nothing")
    assert heads(page) == []
    assert len(squares(page, "ground")) == 500


def test_nodes_without_labels_and_pools_are_one_group(open_page: Open) -> None:
    page = open_page(PlanDocument(title="Plan", cluster="", subjects=(), nodes=(node("a"), node("b"))))
    expect(page.get_by_label("Group by").locator("option")).to_have_text(["nothing"])
    assert len(squares(page, "ground")) == 2


def test_nodes_without_the_label_are_the_last_group(open_page: Open) -> None:
    nodes = (
        PlannedNode("a", ()),
        PlannedNode("b", (), labels={"rack": "r10"}),
        PlannedNode("c", (), labels={"rack": "r9"}),
    )
    page = open_page(PlanDocument(title="Plan", cluster="", subjects=(), nodes=nodes))
    assert heads(page) == ["r9 \u00b7 1", "r10 \u00b7 1", "no rack \u00b7 1"]


def test_pools_that_have_all_nodes_make_no_groups(open_page: Open) -> None:
    pools = [
        PlannedPool("default", name, "Shared", None, (), able)
        for name, able in (("All", ((0, 2),)), ("One", ((1, 1),)))
    ]
    nodes = tuple(map(node, "abc"))
    page = open_page(PlanDocument(title="Plan", cluster="", subjects=(), nodes=nodes, pools=tuple(pools)))
    assert heads(page) == ["One \u00b7 1", "only All \u00b7 2"]
    page = open_page(PlanDocument(title="Plan", cluster="", subjects=(), nodes=nodes, pools=(pools[0],)))
    expect(page.get_by_label("Group by").locator("option")).to_have_text(["nothing"])


def test_a_plan_without_nodes_has_an_empty_overview(open_page: Open) -> None:
    page = open_page(PlanDocument(title="Plan", cluster="", subjects=(), nodes=()))
    expect(details(page)).to_contain_text("0 nodes, 0 with elements of this plan.")
    page.locator(".squares").focus()
    page.keyboard.press("ArrowRight")
    expect(details(page)).to_contain_text("0 nodes")


def test_nodes_that_get_something_are_framed_and_show_it(open_page: Open) -> None:
    page = open_page(small())
    page.get_by_label("Group by").select_option("nothing")
    ground = squares(page, "ground")
    framed = [
        f"M{float(x) - 0.5:g} {float(y) - 0.5:g}" for x, y in (each[1:].split() for each in squares(page, "framed"))
    ]
    assert framed == ground[1:4]
    assert len(squares(page, "planned")) == 3
    assert len(squares(page, "used")) == 4


@pytest.mark.parametrize("width", [390, 1_440])
@pytest.mark.parametrize("grouping", ["HostPool", "zone", "rack", "nothing"])
def test_five_thousand_nodes_are_seen_without_scrolling(open_page: Open, grouping: str, width: int) -> None:
    page = open_page(racks(5_000, 1_000), viewport={"width": width, "height": 900})
    page.get_by_label("Group by").select_option(grouping)
    page.locator(".squares").scroll_into_view_if_needed()
    box = page.locator(".picture").bounding_box()
    assert box
    assert box["height"] < 700
    assert box["x"] + box["width"] <= width
    assert len(squares(page, "ground")) == 5_000


def test_pointing_at_a_square_tells_of_its_node(open_page: Open) -> None:
    page = open_page(small())
    page.get_by_label("Group by").select_option("nothing")
    expect(details(page)).to_contain_text("5 nodes, 3 with elements of this plan.")
    page.locator(".picture").hover(position=middle(page, 3))
    expect(details(page)).to_have_text(
        "worker-8 \u00b7 2 elements: apps-parallel-1, apps-parallel-2 \u00b7 "
        "free: cpu 2 of 8, memory 20Gi of 32Gi, pods 104 of 110"
    )
    page.locator(".picture").hover(position=middle(page, 0))
    expect(details(page)).to_contain_text("control-plane-1 \u00b7 no element \u00b7 ")
    expect(details(page)).to_contain_text("taint dedicated=infra:NoSchedule")
    page.locator("h1").hover()
    expect(details(page)).to_contain_text("5 nodes")


def test_many_elements_are_counted(open_page: Open) -> None:
    crowd = [PlannedElement(name=f"pe-{place}", node="a") for place in range(9)]
    page = open_page(PlanDocument(title="Plan", cluster="", subjects=(job("crowd", crowd),), nodes=(node("a"),)))
    page.locator(".squares").focus()
    expect(details(page)).to_contain_text("a \u00b7 9 elements: pe-0, pe-1, pe-2, pe-3, pe-4, pe-5 and 3 more")


def test_a_click_opens_the_node(open_page: Open) -> None:
    page = open_page(racks(500, 200))
    page.locator(".picture").click(position=middle(page, 2))
    expect(page.locator("#panel h2")).to_have_text("Node worker-2")
    expect(page.get_by_role("button", name="worker-2", exact=True)).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator(".squares")).to_be_focused()


def test_a_click_beside_the_squares_does_nothing(open_page: Open) -> None:
    page = open_page(small())
    box = page.locator(".squares").bounding_box()
    assert box
    page.locator(".squares").click(position={"x": box["width"] - 3, "y": box["height"] - 3})
    expect(page.locator("#panel")).to_be_hidden()


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ([], "worker-0"),
        (["ArrowUp"], "worker-0"),
        (["ArrowLeft"], "worker-0"),
        (["ArrowDown"], "worker-1"),
        (["ArrowDown", "ArrowUp"], "worker-0"),
        (["ArrowRight", "ArrowLeft"], "worker-0"),
        (["End"], "worker-499"),
        (["End", "Home"], "worker-0"),
        (["PageDown"], "worker-167"),
        (["PageDown", "PageDown", "PageDown"], "worker-334"),
        (["PageDown", "PageUp", "PageUp"], "worker-0"),
        (["x"], "worker-0"),
        (["Control+ArrowDown"], "worker-0"),
    ],
)
def test_keys_lead_from_square_to_square(open_page: Open, keys: list[str], name: str) -> None:
    page = open_page(racks(500, 200))
    page.get_by_label("Group by").select_option("zone")
    page.locator(".squares").focus()
    for key in keys:
        page.keyboard.press(key)
    expect(details(page)).to_contain_text(f"{name} \u00b7")
    expect(page.get_by_role("status")).to_contain_text(f"{name} \u00b7")


def test_arrow_keys_lead_into_the_next_group_and_band(open_page: Open) -> None:
    page = open_page(racks(13, 5))
    page.get_by_label("Group by").select_option("zone")
    page.locator(".squares").focus()
    seen = []
    for _ in range(13):
        seen.append(details(page).inner_text().partition(" ")[0])
        page.keyboard.press("ArrowRight")
    assert seen == [f"worker-{place}" for place in range(13)]


@pytest.mark.parametrize("key", ["Enter", " "])
def test_enter_opens_the_node_and_escape_gives_the_focus_back(open_page: Open, key: str) -> None:
    page = open_page(racks(500, 200))
    page.locator(".squares").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press(key)
    expect(page.locator("#panel h2")).to_have_text("Node worker-1")
    page.keyboard.press("Escape")
    expect(page.locator(".squares")).to_be_focused()
    expect(details(page)).to_contain_text("worker-1 \u00b7")


def test_each_clause_of_a_conflict_shows_which_nodes_it_closes(open_page: Open) -> None:
    page = open_page(racks(500, 200))
    causes = page.locator(".causes")
    expect(causes.locator("legend")).to_have_text("Nodes closed to Job score in namespace default")
    expect(causes.locator("label")).to_have_text(
        [
            "host(Source)360 nodes",
            'nodeSelector zone: "east"333 nodes',
            "requests cpu 483 nodes",
            "has the taint dedicated=infra:NoSchedule13 nodes",
        ]
    )
    expect(causes.locator("p")).to_have_text('hostExlocation("shard") closes no node by itself')
    cause(page, "host(Source)").check()
    assert len(squares(page, "closing")) == 360
    assert len(squares(page, "left")) == 140
    expect(page.get_by_role("status")).to_have_text("360 nodes closed, 140 nodes left")
    cause(page, "nodeSelector").check()
    expect(page.locator(".picture path.closing")).to_have_count(2)
    expect(page.get_by_role("status")).to_have_text("453 nodes closed, 47 nodes left")
    page.locator(".squares").focus()
    expect(details(page)).to_contain_text('closed: nodeSelector zone: "east"')
    for name in ("host(Source)", "nodeSelector"):
        cause(page, name).uncheck()
    expect(page.locator(".picture path.closing")).to_have_count(0)


def test_clauses_have_strokes_of_their_own(open_page: Open) -> None:
    page = open_page(racks(500, 200))
    strokes = page.locator(".causes .closing").evaluate_all("paths => paths.map(path => path.getAttribute('d'))")
    assert len({*strokes}) == 4


def test_where_nothing_is_planned_the_conflict_is_drawn_at_once(open_page: Open) -> None:
    page = open_page(racks(500, 0))
    expect(page.locator(".causes input:checked")).to_have_count(4)
    expect(page.locator(".picture path.closing")).to_have_count(4)


def test_conflicts_of_several_objects_are_chosen_among(open_page: Open) -> None:
    one, other = racks(13, 5), small()
    nodes = one.nodes
    pool = PlannedPool("default", "Tight", "Exclusive", 9, (), ((0, 3),))
    tight = job(
        "tight", (), verdict="refused", pools=(1,), conflicts=(Conflict(("HostPool Tight (9 hosts)",), (), ""),)
    )
    text = job("text", (), verdict="refused", message="wrong")
    document = PlanDocument(
        title="Plan",
        cluster=other.cluster,
        subjects=(*one.subjects, tight, text),
        nodes=nodes,
        pools=(*one.pools, pool),
        rules=one.rules,
    )
    page = open_page(document)
    choice = page.get_by_label("Conflict of")
    expect(choice.locator("option")).to_have_text(["Job score in namespace default", "Job tight in namespace default"])
    choice.select_option("Job tight in namespace default")
    expect(page.locator(".causes label")).to_have_text(["not eligible for HostPool Tight9 nodes"])
    assert len(squares(page, "left")) == 4


def test_conflicts_of_one_object_are_told_apart_by_their_elements(open_page: Open) -> None:
    ends = {"x": 3, "y": 2}
    closed = [ClosedNodes(f'host("{name}")', f"is not named {name}", ((0, last),)) for name, last in ends.items()]
    conflicts = tuple(Conflict((rule.clause,), (f"j-{at}",), "", (at,)) for at, rule in enumerate(closed))
    document = small()
    refused = job("j", (), verdict="refused", conflicts=conflicts)
    page = open_page(replace(document, subjects=(refused,), rules=tuple(closed)))
    choice = page.get_by_label("Conflict of")
    titles = ["j-0 of Job j in namespace default", "j-1 of Job j in namespace default"]
    expect(choice.locator("option")).to_have_text(titles)
    expect(page.locator(".causes label")).to_have_text(['host("x")4 nodes'])
    choice.select_option(titles[1])
    expect(page.locator(".causes label")).to_have_text(['host("y")3 nodes'])
    expect(page.locator("dl.conflict")).to_have_count(2)


def test_the_selection_is_marked_on_squares(open_page: Open) -> None:
    page = open_page(small())
    page.get_by_role("row").get_by_role("button", name="apps-parallel-1").click()
    kinds = {kind: len(squares(page, kind)) for kind in ("here", "closed", "apart", "near")}
    assert kinds == {"here": 1, "closed": 2, "apart": 1, "near": 0}, "a closed square is crossed out by two lines"
    page.locator("table.pools").get_by_role("button", name="MyPool").click()
    assert len(squares(page, "near")) == 2
    page.keyboard.press("Escape")
    assert len(squares(page, "near")) == 0


def test_nodes_that_the_search_does_not_find_are_faint(open_page: Open) -> None:
    page = open_page(small())
    page.get_by_role("searchbox").fill("worker-8")
    expect(page.locator(".counts")).to_contain_text("1 of 5 nodes")
    assert (len(squares(page, "faint")), len(squares(page, "ground"))) == (4, 1)
    page.get_by_role("searchbox").fill("")
    expect(page.locator(".counts")).to_contain_text("5 of 5 nodes")
    page.get_by_role("row").get_by_role("button", name="apps-parallel-0").click()
    page.get_by_label("only nodes open to").check()
    expect(page.locator(".counts")).to_contain_text("2 of 5 nodes")
    assert len(squares(page, "faint")) == 3


def test_print_has_the_overview_with_what_is_ticked(open_page: Open) -> None:
    page = open_page(racks(500, 200), color_scheme="dark")
    cause(page, "host(Source)").check()
    page.set_viewport_size({"width": 700, "height": 900})
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator(".picture")).to_be_visible()
    expect(page.locator(".causes label:visible")).to_have_text(["host(Source)360 nodes"])
    expect(page.get_by_label("Group by")).to_be_hidden()
    expect(details(page)).to_be_hidden()
    assert page.locator(".picture .closing").evaluate("each => getComputedStyle(each).stroke") == "rgb(0, 0, 0)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


def test_without_scripts_there_is_a_table_of_groups(open_page: Open) -> None:
    page = open_page(racks(500, 200), java_script_enabled=False)
    expect(page.locator("table.groups")).to_have_count(3)
    assert page.locator("table.groups").first.is_visible()


def test_hostile_names_are_texts_in_the_overview(open_page: Open) -> None:
    page = open_page(hostile())
    by = page.get_by_label("Group by")
    assert by.locator("option").all_text_contents() == ["zone", "rack", "nothing"]
    for grouping in ("zone", "rack"):
        by.select_option(grouping)
        assert len(heads(page)) == len(HOSTILE)
    page.locator(".squares").focus()
    seen = set()
    for _ in HOSTILE:
        seen.add(details(page).locator("bdi").first.inner_text())
        page.keyboard.press("PageDown")
    assert {*HOSTILE[:5]} <= seen
    assert page.evaluate("window.hostile") is None


@pytest.mark.parametrize("document", [small(), refused(), racks(500, 200)], ids=["small", "refused", "racks"])
def test_the_overview_has_a_name_and_a_description(open_page: Open, document: PlanDocument) -> None:
    page = open_page(document)
    overview = page.get_by_role("application", name="Overview of")
    expect(overview).to_have_accessible_description(details(page).inner_text())


@pytest.mark.parametrize("document", [large(), racks(5_000, 1_000)], ids=["pool", "racks"])
def test_thousands_of_squares_are_drawn_in_no_time(open_page: Open, document: PlanDocument) -> None:
    page = open_page(document)
    first = page.evaluate("performance.getEntriesByName('overview')[0].duration")
    took = []
    for label in ["nothing", "HostPool"] * TRIES:
        change = f"""() => new Promise(done => {{
          const by = document.getElementById('group-by');
          by.value = [...by.options].findIndex(each => each.textContent === '{label}');
          const from = performance.now();
          by.dispatchEvent(new Event('change'));
          document.body.offsetHeight;
          requestAnimationFrame(() => setTimeout(() => done(performance.now() - from)));
        }})"""
        took.append(page.evaluate(change))
    shown = f"the first time {first:.0f} ms, until the next frame {min(took):.0f} to {max(took):.0f} ms"
    print(shown)  # noqa: T201 -- shown with -s
    assert first < DRAWN
    assert min(took) < DRAWN
