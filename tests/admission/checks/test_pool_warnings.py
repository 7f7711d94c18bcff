"""A HostPool that cannot have its hosts now: when that is a warning, and what else it may be refused for."""

from typing import Any, Final

import pytest

from tests.admission.submitted_pools import ELASTIC, host_pool, validated
from tests.answers import refused, response, warnings
from tests.builders import UID, bound_pod, cluster, nodes, pool, review, sleeper
from tests.placement.devices.clusters import GPU, equipped
from webhook.admission.validate import validate
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import Quota
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Phase
from webhook.placement.text import keys

SLEEPERS: Final = (
    "2 pending pods tolerate its taint and may be bound to its hosts: only the setting strict keeps such pods off"
)

# More nodes are expected


@pytest.mark.parametrize(
    ("spec", "policy"), [({"elastic": True}, Policy()), ({}, ELASTIC)], ids=["an elastic pool", "an elastic cluster"]
)
def test_where_nodes_may_still_come_it_is_a_warning(spec: dict[str, Any], policy: Policy) -> None:
    found = validated(host_pool(name="P1", size=4, **spec), nodes=nodes(3), policy=policy)
    assert warnings(found) == [
        "no hosts yet: HostPool P1 cannot be completed: it needs 4 hosts and 3 nodes are eligible."
    ]
    assert response(found)["allowed"]


@pytest.mark.parametrize(
    ("mode", "policy", "expected"),
    [
        pytest.param("Exclusive", Policy(), [SLEEPERS], id="an exclusive pool"),
        pytest.param("Shared", Policy(), [], id="a shared one"),
        pytest.param("Exclusive", Policy(guard_bindings=True), [], id="one that they cannot come to"),
    ],
)
def test_sleepers_are_warned_of(mode: str, policy: Policy, expected: list[str]) -> None:
    body = review(host_pool(name="P1", size=2, mode=mode), kind="HostPool", group="streams.ibm.com")
    there = cluster(nodes(2), pods=[sleeper(name="one"), sleeper(name="two")])
    found = validate(body, there, policy)
    assert (response(found)["allowed"], response(found).get("warnings", [])) == (True, expected)


UNSIZED: dict[str, tuple[dict[str, Any], str]] = {
    "a tag": (
        {"tags": ["ib"]},
        "HostPool P1 has no host now: no node has the tag ib; label one node streams.ibm.com/hostpool=ib",
    ),
    "tags": (
        {"tags": ["ib", "blue"]},
        (
            "HostPool P1 has no host now: no node has the tags blue, ib; "
            "label one node hostpool.streams.ibm.com/blue=true and hostpool.streams.ibm.com/ib=true"
        ),
    ),
    "a tag and a selector": (
        {"tags": ["ib"], "selector": {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["8"]}]}},
        (
            "HostPool P1 has no host now: no node has the tag ib and meets the selector; "
            "add a node with the labels cores=9 and streams.ibm.com/hostpool=ib"
        ),
    ),
    "a tag and a selector that some nodes meet": (
        {
            "tags": ["ib"],
            "selector": {"matchExpressions": [{"key": keys.HOSTNAME, "operator": "NotIn", "values": ["node-a"]}]},
        },
        (
            "HostPool P1 has no host now: no node has the tag ib and meets the selector; "
            "label one node streams.ibm.com/hostpool=ib (only 1 of 2 nodes helps)"
        ),
    ),
    "a selector that no known label meets": (
        {"selector": {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["8"]}]}},
        "HostPool P1 has no host now: no node meets the selector; add a node with the label cores=9",
    ),
    "a selector that no node can match": (
        {"selector": {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}},
        "HostPool P1 has no host now: no node meets the selector; change the selector, which no node can match",
    ),
    "a selector that forbids what all nodes have": (
        {"selector": {"matchExpressions": [{"key": keys.HOSTNAME, "operator": "DoesNotExist"}]}},
        "HostPool P1 has no host now: no node meets the selector",
    ),
}


@pytest.mark.parametrize(("spec", "expected"), UNSIZED.values(), ids=UNSIZED.keys())
def test_an_unsized_pool_is_warned_of_having_no_node(spec: dict[str, Any], expected: str) -> None:
    found = validated(host_pool(name="P1", **spec), nodes=nodes(2))
    assert (warnings(found), response(found)["allowed"]) == ([expected], True)


def test_an_unsized_pool_of_any_nodes_is_warned_where_there_are_none() -> None:
    assert warnings(validated(host_pool(name="P1"))) == ["HostPool P1 has no host now: no node is there"]


def test_an_unsized_pool_with_a_node_is_allowed_in_silence() -> None:
    found = validated(host_pool(tags=["ib"]), nodes=nodes(1, labels={keys.TAG: "ib"}))
    assert response(found) == {"uid": UID, "allowed": True}


# The quota of exclusive hosts


QUOTA: Final = Policy(quota=Quota(20))
TAKEN: Final = pool("Other", size=18, mode="Exclusive", phase=Phase.PENDING)


def test_a_pool_over_the_quota_of_its_namespace_is_refused() -> None:
    found = validated(host_pool(name="P1", size=5, mode="Exclusive"), TAKEN, nodes=nodes(26), policy=QUOTA)
    assert refused(found) == (
        403,
        (
            "HostPool P1 cannot be completed: namespace default may have 20 exclusive hosts, "
            "its HostPools have 18 already, and this one asks for 5.\n"
            "Nearest fix: ask for a larger quota of exclusive hosts, or lower size to 2."
        ),
    )


def test_with_nothing_left_only_a_larger_quota_helps() -> None:
    none = Policy(quota=Quota(20, {"default": 0}))
    found = validated(host_pool(name="P1", size=1, mode="Exclusive"), nodes=nodes(9), policy=none)
    assert refused(found)[1] == (
        "HostPool P1 cannot be completed: namespace default may have 0 exclusive hosts and this HostPool asks for 1.\n"
        "Nearest fix: ask for a larger quota of exclusive hosts."
    )


def test_nodes_that_may_still_come_are_no_larger_quota() -> None:
    policy = Policy(quota=Quota(1), elastic=True)
    assert refused(validated(host_pool(size=2, mode="Exclusive", elastic=True), policy=policy))[0] == 403


# Around it


def test_a_pool_that_makes_no_sense_is_not_looked_at_further() -> None:
    assert refused(validated(host_pool(size=0))) == (422, "spec.size: 0 is not between 1 and 5000")


def test_in_audit_mode_the_first_line_is_a_warning() -> None:
    found = validated(host_pool(name="P1", size=4), nodes=nodes(3), policy=Policy(audit=True))
    assert warnings(found) == [
        "audit: this would be refused: HostPool P1 cannot be completed: it needs 4 hosts and 3 nodes are eligible."
    ]


def test_a_pool_whose_name_is_yet_to_be_made_up_is_judged_as_well() -> None:
    found = validated(host_pool(None, size=1))
    assert refused(found)[1].startswith("HostPool p- cannot be completed: it needs 1 host and 0 nodes are eligible.\n")


def test_a_pool_that_is_being_deleted_is_left_alone() -> None:
    leaving = host_pool(size=9)
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert response(validated(leaving)) == {"uid": UID, "allowed": True}


def test_changing_what_may_be_changed_asks_for_no_hosts() -> None:
    found = validated(host_pool(size=9, elastic=True), old=host_pool(size=9))
    assert response(found) == {"uid": UID, "allowed": True}


@pytest.mark.parametrize(
    "pod", [bound_pod("node-b", pools=["P1"]), bound_pod("node-b", job="")], ids=["its own", "of others, no element"]
)
def test_who_may_stay_on_an_exclusive_host(pod: PodInfo) -> None:
    body = review(host_pool("p1", name="P1", size=2, mode="Exclusive"), kind="HostPool", group="streams.ibm.com")
    assert response(validate(body, cluster(nodes(2), pods=[pod]), Policy()))["allowed"]


def test_devices_that_cannot_be_judged_are_warned_of() -> None:
    """The pool is admitted as well as one whose devices are known, and said to wait if it lacks nodes."""
    spec = {"name": "P1", "size": 2, "devices": [{"class": GPU, "selector": "device.nothing("}]}
    found = validate(review(host_pool(**spec), kind="HostPool", group="streams.ibm.com"), equipped(), Policy())
    why = 'since "device.nothing(" cannot be evaluated'
    assert warnings(found) == [f"HostPool P1: devices of 2 hosts are not judged, {why}"]
    assert response(found)["allowed"]
