"""The page of a plan: its texts, its tables, what it allows, and what hostile texts become in it."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from tests.cli.planpage.plan_documents import HOSTILE, fused, hostile, large, racks, refused, small
from webhook.cli.planpage.markup import Markup, tag
from webhook.cli.planpage.page import render
from webhook.placementreview.plans.document import (
    ClosedNodes,
    Conflict,
    NodeResource,
    PlanDocument,
    PlannedElement,
    PlannedNode,
    PlannedPool,
    PoolHostNode,
    RuleTable,
    Subject,
    pool_titles,
    ranges,
)


class Reader(HTMLParser):
    """The elements of a page with their attributes, and the text that a reader without scripts and styles sees."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.sources: dict[str, str] = {}
        self._raw: str | None = None
        self.feed(page)
        self.close()

    @property
    def text(self) -> str:
        return "|".join(word.strip() for word in self.words if word.strip())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in {"style", "script"}:
            self._raw = dict(attrs).get("type") or tag
            self.sources[self._raw] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in {"style", "script"}:
            self._raw = None

    def handle_data(self, data: str) -> None:
        if self._raw:
            self.sources[self._raw] += data
        else:
            self.words.append(data)


def texts(value: Any) -> list[str]:
    """All texts in a value of JSON, keys of mappings excluded."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in texts(part)]


def subject(*elements: PlannedElement, **others: Any) -> Subject:
    said = {"file": "job.yaml", "origin": "Job job", "namespace": "default", "verdict": "admitted"} | others
    return Subject(elements=elements, **said)


def shown(*subjects: Subject, **others: Any) -> str:
    """What a reader without scripts sees of a plan."""
    return Reader(render(PlanDocument(title="Plan", cluster="", subjects=subjects, nodes=(), **others))).text


# One file, and nothing else


@pytest.mark.parametrize("build", [small, refused, large, hostile])
def test_the_same_document_gives_the_same_bytes(build: Callable[[], PlanDocument]) -> None:
    assert render(build()) == render(build())


def test_the_policy_allows_exactly_the_style_and_the_script() -> None:
    reader = Reader(render(small()))
    policy = next(each["content"] for _, each in reader.elements if each.get("http-equiv") == "Content-Security-Policy")
    hashes = {
        name: base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        for name, source in reader.sources.items()
    }
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes['style']}'; script-src 'sha256-{hashes['module']}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


@pytest.mark.parametrize("document", [small(), refused(), hostile()], ids=["small", "refused", "hostile"])
def test_nothing_in_the_page_leads_out_of_it(document: PlanDocument) -> None:
    page = render(document)
    attributes = [(key, value) for _, each in Reader(page).elements for key, value in each.items()]
    assert {value for key, value in attributes if key in {"href", "src", "action", "srcset", "data"}} == {"#nodes"}
    assert [key for key, _ in attributes if key.startswith("on") or key == "style"] == []
    assert re.findall(r"(?:https?:)?//[\w.]+\.\w+|@import|url\(", page.replace("http://www.w3.org/2000/svg", "")) == []


def test_ids_are_not_given_twice() -> None:
    ids = [each["id"] for _, each in Reader(render(refused())).elements if "id" in each]
    assert len(ids) == len(set(ids))


def test_headings_skip_no_level() -> None:
    levels = [int(name[1]) for name, _ in Reader(render(refused())).elements if re.fullmatch(r"h[1-6]", name)]
    assert levels[0] == 1
    assert all(next_level <= level + 1 for level, next_level in pairwise(levels))


# Texts that may hold anything


def test_hostile_texts_make_no_elements() -> None:
    names = {name for name, _ in Reader(render(hostile())).elements}
    assert names & {"img", "svg", "iframe", "object", "a", "form", "input", "button"} == {"a"}


def test_scripts_end_where_the_page_ends_them() -> None:
    page = render(hostile())
    assert page.count("<script") == page.count("</script>") == 2
    assert "<!--" not in page


def test_hostile_texts_are_shown_as_they_are() -> None:
    text = Reader(render(hostile())).text
    assert [each for each in HOSTILE[:5] if each not in text] == []


def test_what_html_cannot_have_is_replaced() -> None:
    page = render(hostile())
    assert "half \ufffd of a pair, and \ufffd" in page
    assert page.encode().decode() == page


def test_placeholders_in_texts_are_texts() -> None:
    page = render(PlanDocument(title="$data $$ ${script}", cluster="$nodes", subjects=(), nodes=()))
    assert "<title>$data $$ ${script}</title>" in page
    assert '<p class="cluster">$nodes</p>' in page


def test_attributes_are_escaped_and_left_out() -> None:
    made = tag("b", "<", Markup("<i></i>"), data_x='"', class_="c", hidden=True, id=None, open=False)
    assert made == '<b data-x="&quot;" class="c" hidden>&lt;<i></i></b>'


# The data


@pytest.mark.parametrize("document", [small(), refused(), hostile()], ids=["small", "refused", "hostile"])
def test_the_data_is_the_document(document: PlanDocument) -> None:
    data = json.loads(Reader(render(document)).sources["application/json"])
    for node in data["nodes"]:
        node["resources"] = [data["resources"][place] for place in node["resources"]]
    assert msgspec.convert(data, PlanDocument) == document


def test_equal_resources_of_nodes_are_stored_once_with_their_amounts_in_one_unit() -> None:
    used = NodeResource("cpu", "8", "100m", "100m", "7800m", 12, 12)
    nodes = tuple(PlannedNode(name, (used,)) for name in "ab")
    page = render(PlanDocument(title="Plan", cluster="", subjects=(), nodes=nodes))
    data = json.loads(Reader(page).sources["application/json"])
    assert [node["resources"] for node in data["nodes"]] == [[0], [0]]
    assert [each["amounts"] for each in data["resources"]] == [["8", "0.1", "0.1", "7.8"]]


def test_the_data_of_five_thousand_nodes_and_a_thousand_elements_stays_small() -> None:
    assert len(render(large())) < 1_500_000


def test_names_in_json_are_in_camel_case() -> None:
    data = msgspec.to_builtins(small())
    assert {"totalCost", "undecided"} <= data.keys()
    assert {"usedPermille", "plannedPermille"} <= data["nodes"][0]["resources"][0].keys()


def test_equal_rules_have_one_place() -> None:
    rules = RuleTable()
    taint, label = ClosedNodes("", "is tainted", ((0, 1),)), ClosedNodes("c", "has no label", ((2, 2),))
    assert [rules.add(rule) for rule in (taint, label, taint)] == [0, 1, 0]
    assert rules.rules == (taint, label)


def test_ascending_places_become_ranges() -> None:
    assert ranges([1, 2, 3, 7, 9, 10]) == ((1, 3), (7, 7), (9, 10))
    assert ranges([]) == ()


# What is read without scripts


@pytest.mark.parametrize("document", [small(), refused()], ids=["small", "refused"])
def test_every_text_about_subjects_elements_and_pools_is_there(document: PlanDocument) -> None:
    text = Reader(render(document)).text
    data = msgspec.to_builtins(document)
    wanted = [data["title"], data["cluster"]]
    for each in data["subjects"]:
        wanted += [each["origin"], each["file"], each["namespace"], *each["warnings"], *each["message"].splitlines()]
        wanted += [part for element in each["elements"] for part in texts(element)]
    wanted += [part for pool in data["pools"] for part in texts(pool) if part != pool["namespace"]]
    assert [each for each in wanted if each.strip() not in text] == []


def test_the_head_says_what_became_of_the_whole_plan() -> None:
    text = Reader(render(refused())).text
    assert "2 refused|1 not decided in time|1 admitted|Not everything was decided in time." in text
    assert "with a node|4 of 9 elements|nodes that get something|3 of 5|total cost|3,293" in text


def test_a_plan_that_may_not_be_the_cheapest_is_decided_all_the_same() -> None:
    text = shown(subject(), total_cost=7, cheapest=False)
    assert "total cost|7 (the cheapest found in time)" in text
    assert "Not everything was decided" not in text


def test_a_plan_without_costs_and_pools_says_nothing_of_them() -> None:
    text = shown(subject())
    assert "cost|" not in text
    assert "HostPool" not in text
    assert "Refused" not in text


def test_an_element_has_its_node_and_its_cost_in_a_row() -> None:
    text = Reader(render(small())).text
    assert 'apps-parallel-1|worker-8|790|hostColocation("work")|cpu 1, memory 2Gi, nvidia.com/gpu 1|' in text
    assert "apps-parallel-3|worker-2 (runs there)|801|hostIsolation|" in text


def test_replicas_are_counted_by_node() -> None:
    element = PlannedElement(name="web", replicas=3, placed={"a": 2, "b": 1})
    assert "web \u00d7 3|a \u00d7 2, b|" in shown(subject(element))


def test_replicas_on_one_node_need_no_mapping() -> None:
    assert "web \u00d7 3|a \u00d7 3|" in shown(subject(PlannedElement(name="web", replicas=3, node="a")))


def test_an_element_without_a_node_says_so() -> None:
    assert "pe|no node|" in shown(subject(PlannedElement(name="pe")))


def test_beyond_fifty_nodes_are_counted() -> None:
    element = PlannedElement(name="web", replicas=60, placed={f"n{place}": 1 for place in range(60)})
    assert "n48, n49 and 10 more|" in shown(subject(element))


def test_hosts_of_a_pool_have_their_index() -> None:
    sized = PlannedPool("default", "P", "Exclusive", 1_000, (PoolHostNode(0, "a"), PoolHostNode(1, "b")))
    waiting = PlannedPool("default", "Q", "Shared", 1, ())
    text = shown(subject(), pools=(sized, waiting))
    assert "P|namespace default|Exclusive|1,000|[0] a, [1] b|none|Q|namespace default|Shared|1|none yet|none" in text


def test_hosts_of_a_pool_without_a_size_are_its_eligible_nodes() -> None:
    text = Reader(render(small())).text
    assert "MyPool|namespace default|Shared|none|2 eligible nodes: worker-1, worker-2|apps-parallel-0|" in text


def test_a_pool_that_no_node_is_eligible_for_says_so() -> None:
    assert "|none|no eligible node|none|" in shown(subject(), pools=(PlannedPool("default", "Q", "Shared", None, ()),))


def test_elements_of_a_pool_are_those_that_name_it_and_have_a_node() -> None:
    pool = PlannedPool("default", "Q", "Shared", None, ())
    elements = [
        PlannedElement(name="placed", node="a", replicas=2, pools=(0,)),
        PlannedElement(name="waiting", pools=(0,)),
        PlannedElement(name="elsewhere", node="a"),
    ]
    assert "no eligible node|placed \u00d7 2|" in shown(subject(*elements), pools=(pool,))


def test_pools_of_one_name_are_told_apart_by_their_jobs() -> None:
    pools = [PlannedPool("default", "P", "Shared", 1, (), job=job) for job in ("one", "two", "")]
    text = shown(subject(), pools=tuple(pools))
    rows = ["P|Job one|Shared", "P|Job two|Shared", "P|namespace default|Shared"]
    assert sorted(rows, key=text.index) == rows
    others = shown(subject(), pools=(*pools, PlannedPool("prod", "P", "Shared", 1, (), job="two")))
    assert others.index("P|Job two in namespace default|") < others.index("P|Job two in namespace prod|")
    assert pool_titles([*pools, PlannedPool("default", "Q", "Shared", 1, (), job="one")]) == (
        "P (Job one)",
        "P (Job two)",
        "P (namespace default)",
        "Q",
    )


def test_nodes_that_get_something_show_what_stays_free() -> None:
    text = Reader(render(small())).text
    assert "worker-8|cpu 2 of 8, memory 20Gi of 32Gi, pods 104 of 110|apps-parallel-1, apps-parallel-2" in text
    assert "worker-9|" not in text


def test_nodes_are_counted_by_pool_zone_and_rack() -> None:
    text = Reader(render(racks(90, 6))).text
    assert "Nodes by HostPool|Group|Nodes|Get something|Elements|none|60|0|0|Source|30|2|6|" in text
    by_rack = "rack-0|40|2|6|rack-1|40|0|0|rack-2|10|0|0|"
    assert f"Nodes by topology.example.com/rack|Group|Nodes|Get something|Elements|{by_rack}" in text
    by_zone = "central|30|2|6|east|30|0|0|west|30|0|0|"
    assert f"Nodes by topology.kubernetes.io/zone|Group|Nodes|Get something|Elements|{by_zone}" in text


def test_nodes_of_a_pool_with_a_size_are_its_hosts() -> None:
    pools = (PlannedPool("default", "P", "Shared", 1, (PoolHostNode(0, "a"),), ((0, 1),)),)
    nodes = (PlannedNode("a", ()), PlannedNode("b", ()))
    text = Reader(render(PlanDocument(title="Plan", cluster="", subjects=(), nodes=nodes, pools=pools))).text
    assert "Nodes by HostPool|Group|Nodes|Get something|Elements|none|1|0|0|P|1|0|0|" in text


def test_nodes_that_are_all_in_one_group_are_not_counted() -> None:
    nodes = tuple(PlannedNode(name, (), labels={"rack": "r"}) for name in "ab")
    assert "Nodes by" not in Reader(render(PlanDocument(title="Plan", cluster="", subjects=(), nodes=nodes))).text


def test_a_refusal_comes_before_everything_else_with_its_conflict() -> None:
    text = Reader(render(refused())).text
    conflict = 'Cannot hold together|host(MyPool)|hostExlocation("shard")|Elements|shards-0|shards-1|shards-2|'
    assert text.index("2 of 3 fit.") < text.index(conflict) < text.index("Element|Node|Cost|Constraints|Requests|")


@pytest.mark.parametrize(
    ("message", "fix", "says"),
    [
        ("does not fit\nNearest fix: add a node.", "add a node", False),
        ("does not fit", "add a node", True),
        ("does not fit", "", False),
    ],
    ids=["in the message", "not in the message", "none"],
)
def test_the_nearest_fix_is_said_once(message: str, fix: str, *, says: bool) -> None:
    refusal = subject(verdict="refused", message=message, conflicts=(Conflict(("a",), (), fix),))
    assert ("Nearest fix|add a node" in shown(refusal)) is says


def test_a_refusal_without_a_message_has_its_conflict() -> None:
    refusal = subject(verdict="refused", conflicts=(Conflict(("a", "b"), (), ""),))
    assert "Job job|in namespace default, from job.yaml|Cannot hold together|a|b|" in shown(refusal)


def test_one_clause_holds_by_itself_or_not() -> None:
    refusal = subject(verdict="refused", conflicts=(Conflict(("a",), ("j-0",), ""),))
    assert "Cannot hold|a|Elements|j-0|" in shown(refusal)


def test_operators_are_inside_their_elements_with_what_separates_them() -> None:
    text = Reader(render(fused())).text
    assert "|Fused (manual) into 3 elements (4 asked for): 10 % of the traffic stays inside, 90 % leaves" in text
    first = (
        "apps-0|Source|apart from Work:|Source: partitionIsolation|Log|apart from Work, to balance the elements|Quiet"
    )
    assert f"|{first}|worker-1|" in text
    assert "|Op49|and 10 more|" in text
    assert "Fused" not in Reader(render(small())).text
