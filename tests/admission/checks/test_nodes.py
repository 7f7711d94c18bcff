"""Nodes under review: changes that break a pool."""

from typing import Any, Final, Literal

import pytest

from tests.answers import refused, response, warnings
from tests.builders import UID, Json, bound_pod, cluster, node, pool, review
from webhook.admission.answer import Answer
from webhook.admission.validate import validate
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

IB: Final = {keys.TAG: "ib"}
THERE: Final = cluster(
    [node("node-a", labels=IB), node("node-b", labels=IB)],
    [pool("P", size=1, tags=["ib"], assigned=["node-a"])],
    [bound_pod("node-a", pools=["P"])],
)
LOSES: Final = "HostPool default/p: its host 0 would lose the tag ib; 1 of its pods runs there"
VANISHES: Final = "HostPool default/p: its host 0 would vanish; 1 of its pods runs there"
CORDONED: Final = "node node-a is a host of HostPool default/p: no new pods are scheduled to it until it is uncordoned"

Guard = Literal["warn", "refuse", "off"]


def object_of(labels: dict[str, str] | None = None, name: str = "node-a", **spec: Any) -> Json:
    """A node as JSON."""
    return {"kind": "Node", "metadata": {"name": name, "uid": f"uid-of-{name}", "labels": labels}, "spec": spec}


def changed(new: Json | None, *, guard: Guard = "warn", old: Json | None = None, **fields: Any) -> Answer:
    """The answer to a node that is changed, or deleted if there is no new one."""
    operation = "UPDATE" if new else "DELETE"
    policy = Policy(guard_nodes=guard, audit=bool(fields.pop("audit", False)))
    named = {"kind": "Node", "namespace": "", "name": "node-a"}
    return validate(review(new, operation, old=old or object_of(IB), **named | fields), THERE, policy)


def test_whoever_breaks_a_pool_is_warned() -> None:
    found = changed(object_of())
    assert (response(found)["allowed"], warnings(found)) == (True, [LOSES])


def test_a_deletion_tells_of_all_that_goes() -> None:
    assert warnings(changed(None)) == [VANISHES, "1 processing element runs there"]


def test_a_cordon_is_one_warning() -> None:
    assert warnings(changed(object_of(IB, unschedulable=True))) == [CORDONED]


def test_a_node_that_was_cordoned_is_not_news() -> None:
    cordoned = object_of(IB, unschedulable=True)
    assert response(changed(cordoned, old=cordoned)) == {"uid": UID, "allowed": True}


def test_a_taint_is_read_as_it_stands() -> None:
    taints = [
        {"key": "dedicated", "effect": "NoSchedule"},
        {"key": "other", "value": None, "effect": "PreferNoSchedule"},
    ]
    said = "HostPool default/p: its host 0 would get the taint dedicated:NoSchedule; 1 of its pods runs there"
    assert warnings(changed(object_of(IB, taints=taints))) == [said]


def test_a_change_through_the_status_counts_as_well() -> None:
    assert warnings(changed(object_of(), subresource="status")) == [LOSES]


def test_an_installation_may_refuse_it() -> None:
    assert refused(changed(object_of(), guard="refuse")) == (
        403,
        (
            f"node node-a cannot be changed so: {LOSES}\n"
            "Nearest fix: delete the HostPool first, or let the setting guard_nodes be warn."
        ),
    )


def test_it_may_refuse_deletions() -> None:
    assert refused(changed(None, guard="refuse"))[1].startswith(f"node node-a cannot be deleted: {VANISHES}\n")


def test_a_cordon_is_never_refused() -> None:
    """What runs goes on, and an uncordon undoes it; a drain begins so."""
    found = changed(object_of(IB, unschedulable=True), guard="refuse")
    assert (response(found)["allowed"], warnings(found)) == (True, [CORDONED])


def test_in_audit_mode_it_is_a_warning() -> None:
    said = f"audit: this would be refused: node node-a cannot be changed so: {LOSES}"
    assert warnings(changed(object_of(), guard="refuse", audit=True)) == [said]


LEFT_ALONE: dict[str, tuple[Json, dict[str, Any]]] = {
    "a change of something else": (object_of(IB | {"a": "b"}), {}),
    "a node that is on its way out": (
        {"metadata": {"name": "node-a", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
        {},
    ),
    "a node that is no host": (
        object_of(name="node-b"),
        {"old": object_of(IB, name="node-b"), "name": "node-b"},
    ),
    "any, where nobody wants to know": (object_of(), {"guard": "off"}),
}


@pytest.mark.parametrize(("new", "fields"), LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_nothing_is_said_of(new: Json, fields: dict[str, Any]) -> None:
    assert response(changed(new, **fields)) == {"uid": UID, "allowed": True}


def test_a_node_that_cannot_be_read_is_let_through() -> None:
    found = changed({"metadata": {"name": "node-a"}, "spec": 7}, guard="refuse")
    assert warnings(found) == ["the Node is not readable: spec: 7 is a whole number, expected a mapping"]
