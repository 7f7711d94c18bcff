"""Members whose own anti-affinity is about pods of other members: who is apart, and when nobody knows."""

from typing import Any

import pytest

from tests.builders import NAMESPACE, cluster, node, nodes, pod, typed
from tests.placement.planning.at_once import AtOnce, all_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.planning import mutual_avoidance
from webhook.placement.planning.group import Group
from webhook.placement.planning.members import Member, member_of
from webhook.placement.planning.refusal.group_refusal import refuse_group
from webhook.placement.planning.search.solver import finished
from webhook.placement.request.world import World
from webhook.placement.text import keys

ONE = cluster(nodes(1))
TWO = cluster(nodes(2))


def away(key: str = keys.HOSTNAME, *, selector: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    about = {"matchLabels": {"app": "web"}} if selector is None else selector
    term = {"topologyKey": key, "labelSelector": about, **fields}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def group(inventory: Inventory, *pods: dict[str, Any], names: tuple[tuple[str, ...], ...] = ()) -> Group:
    """A group of single pods, or of the elements with these names."""
    world = World(inventory, Policy())
    members = []
    for at, found in enumerate(pods):
        mine = names[at] if names else (f"pe-{at}",)
        member = member_of(mine, len(mine), typed(found), found["metadata"]["namespace"], world, ())
        assert isinstance(member, Member), member
        members.append(member)
    return Group(members, world, (), AtOnce())


def fits(inventory: Inventory, *pods: dict[str, Any], names: tuple[tuple[str, ...], ...] = ()) -> bool:
    return finished(group(inventory, *pods, names=names).place()).placed is not None


def left_to_scheduler(found: Group) -> list[str]:
    return all_of(mutual_avoidance.unplanned(found.members, found.world))


SHY = pod(labels={"app": "db"}, affinity=away())
WEB = pod(pe="parallel-1", labels={"app": "web"})
OTHER = pod(pe="parallel-1", labels={"app": "other"})


def test_those_that_a_term_is_about_are_elsewhere() -> None:
    assert not fits(ONE, SHY, WEB)
    assert not fits(ONE, WEB, SHY)
    assert fits(TWO, SHY, WEB)
    assert fits(ONE, SHY, OTHER)
    assert fits(ONE, WEB, OTHER)


def test_the_refusal_names_the_field() -> None:
    text = finished(refuse_group(group(ONE, SHY, WEB), (), "pod")).text
    assert text == (
        "the pod's own anti-affinity on kubernetes.io/hostname cannot hold: 1 of 2 pods fits (pe-0, pe-1).\n"
        "Nearest fix: add a node, or drop the pod's own anti-affinity on kubernetes.io/hostname (all 2 would fit), "
        "or run 1 of these 2."
    )


FREE = {
    "another topology": pod(affinity=away("zone")),
    "no selector": pod(
        affinity={
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": keys.HOSTNAME}]
            }
        }
    ),
    "another namespace": pod(affinity=away(namespaces=["elsewhere"])),
    "its own node": pod(nodeName="node-a", affinity=away()),
    "another value": pod(labels={"color": "red"}, affinity=away(matchLabelKeys=["color"])),
    "the same value": pod(labels={"color": "blue"}, affinity=away(mismatchLabelKeys=["color"])),
    "a preference": pod(
        affinity={
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "podAffinityTerm": {"topologyKey": keys.HOSTNAME, "labelSelector": {}}}
                ]
            }
        }
    ),
}  # fmt: skip

BLUE = pod(pe="parallel-1", labels={"app": "web", "color": "blue"})


@pytest.mark.parametrize("case", FREE)
def test_terms_that_repel_no_pod(case: str) -> None:
    assert fits(ONE, FREE[case], BLUE)


@pytest.mark.parametrize(
    "shy",
    [
        pod(labels={"color": "blue"}, affinity=away(matchLabelKeys=["color", "size"])),
        pod(labels={"color": "red"}, affinity=away(mismatchLabelKeys=["color", "size"])),
        pod(affinity=away(namespaces=[NAMESPACE])),
        pod(affinity=away(namespaceSelector={})),
    ],
    ids=["the same value", "another value", "the namespace", "every namespace"],
)
def test_what_keeps_them_away(shy: dict[str, Any]) -> None:
    assert not fits(ONE, shy, BLUE)


def test_who_is_bound_outright_is_kept_from_nowhere() -> None:
    bound = pod('host("node-a")', pe="parallel-1", labels={"app": "web"}, annotations={keys.HOST_BINDING: "nodeName"})
    assert fits(ONE, SHY, bound)


def test_pods_of_another_namespace_are_not_meant() -> None:
    elsewhere = {**WEB, "metadata": {**WEB["metadata"], "namespace": "elsewhere"}}
    assert fits(ONE, SHY, elsewhere)
    assert not fits(ONE, pod(affinity=away(namespaces=["elsewhere"])), elsewhere)


def test_a_term_that_is_also_about_the_pod_itself_keeps_others_away() -> None:
    shy = pod(labels={"app": "web"}, affinity=away())
    assert not fits(ONE, shy, WEB)
    assert not fits(ONE, shy, shy)
    assert fits(TWO, shy, shy)


def test_too_many_terms_are_left_to_the_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutual_avoidance, "PAIRS", 2)
    assert not fits(ONE, SHY, WEB)
    assert fits(ONE, SHY, WEB, OTHER)


def test_labels_of_elements_are_known_of_single_ones_only() -> None:
    shy = pod(affinity=away(selector={"matchLabels": {keys.PE: "parallel-1"}}))
    assert not fits(ONE, shy, WEB)
    assert fits(ONE, shy, WEB, names=(("parallel-0",), ("parallel-1", "parallel-2")))


def test_the_pods_of_one_member_are_for_its_own_constraint() -> None:
    shy = pod(labels={"app": "web"}, affinity=away())
    assert not fits(ONE, shy, names=(("parallel-0", "parallel-1"),))
    assert fits(TWO, shy, names=(("parallel-0", "parallel-1"),))


@pytest.mark.parametrize(
    "hostnames", [("node-a", None), ("node-a", "node-a")], ids=["a node without a name", "one name for two nodes"]
)
def test_where_nodes_have_no_names_of_their_own_nothing_is_known(hostnames: tuple[str | None, str | None]) -> None:
    some = cluster([node("node-a", hostname=hostnames[0]), node("node-b", hostname=hostnames[1], pods=0)])
    assert fits(some, SHY, WEB)


# What is left to the scheduler


def near(key: str = keys.HOSTNAME, **fields: Any) -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "web"}}, **fields}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


OF_JOB = {"matchLabels": {"app": "web", keys.JOB: "parallel"}}


def spread(when: str = "DoNotSchedule", **fields: Any) -> dict[str, Any]:
    about = {"matchLabels": {"app": "web"}}
    one = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when, "labelSelector": about, **fields}
    return {"topologySpreadConstraints": [one]}


@pytest.mark.parametrize(
    ("one", "left"),
    [
        (pod(labels={"app": "db"}), []),
        (SHY, ["pe-0"]),
        (pod(labels={"app": "db"}, affinity=away(selector=OF_JOB)), []),
        (pod(labels={"app": "db"}, affinity=away(matchLabelKeys=[keys.JOB])), []),
        (pod(labels={"app": "db"}, affinity=away("zone")), ["pe-0"]),
        (pod(labels={"app": "db"}, affinity=near()), ["pe-0"]),
        (pod(labels={"app": "db"}, affinity=near(namespaces=["elsewhere"])), ["pe-0"]),
        (pod(labels={"app": "db"}, affinity=away(selector={"matchLabels": {"app": "elsewhere"}})), ["pe-0"]),
        (pod(labels={"app": "db"}, affinity={"podAffinity": {}, "podAntiAffinity": {}}), []),
        (pod(labels={"app": "db"}, **spread()), ["pe-0"]),
        (pod(labels={"app": "db"}, **spread(matchLabelKeys=[keys.JOB])), ["pe-0"]),
        (pod(labels={"app": "db"}, **spread(labelSelector=None)), []),
        (pod(labels={"app": "db"}, **spread(labelSelector={"matchLabels": {"app": "db"}})), ["pe-0"]),
        (pod(labels={"app": "db"}, **spread(labelSelector={"matchLabels": {"app": "db", keys.JOB: "parallel"}})), []),
        (pod(labels={"app": "db"}, **spread("ScheduleAnyway")), []),
        (pod(labels={"app": "db"}, affinity=near(), nodeName="node-a"), []),
    ],
    ids=[
        "no terms", "about pods of any job", "planned", "planned by keys", "by zone", "affinity", "other namespaces",
        "about others", "empty", "spread", "spread about another element", "spread about nobody",
        "spread about pods of any job", "spread of its own", "soft spread", "bound",
    ],
)  # fmt: skip
def test_terms_about_others_that_are_not_planned_are_known(one: dict[str, Any], left: list[str]) -> None:
    found = group(TWO, one, WEB)
    assert left_to_scheduler(found) == left


def test_nodes_without_host_names_leave_every_term_to_the_scheduler() -> None:
    found = group(cluster([node(), node("node-b", hostname=None)]), SHY, WEB)
    assert left_to_scheduler(found) == ["pe-0"]


def test_colocation_with_those_who_only_prefer_it_is_left_to_the_scheduler() -> None:
    firm = pod(placement='hostColocation("t")')
    soft = pod(pe="parallel-1", placement='hostColocation("t")', annotations={keys.PREFERRED: "hostColocation"})
    found = group(TWO, firm, soft)
    assert left_to_scheduler(found) == ["pe-0"]
    apart = pod(pe="parallel-1", placement='hostExlocation("t")', annotations={keys.PREFERRED: "hostExlocation"})
    assert left_to_scheduler(group(TWO, firm, firm, apart)) == []


def test_equal_elements_that_run_apart_from_pods_like_themselves_take_a_node_each() -> None:
    lonely = pod(labels={"app": "web"}, annotations={keys.RUN_APART_FROM: "app=web"})
    assert fits(TWO, lonely, names=(("pe-0", "pe-1"),))
    assert not fits(ONE, lonely, names=(("pe-0", "pe-1"),))
