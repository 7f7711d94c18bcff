"""What is written on nodes, and what is left as it is."""

from typing import Any

import msgspec
import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.builders import node, pool
from webhook.controller.hostpools.marks import PoolMark, StoredNode, mark_named, mark_of, read_node
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint

LABEL = "streams.ibm.com.node-restriction.kubernetes.io/hostpool.D5E93B968D44531D74A3685A5AB0709A3C12AEF3"
KEY = "streams.ibm.com/exclusive"
OWN = {"key": KEY, "value": "default.p1", "effect": "NoSchedule"}
EVICTING = {**OWN, "effect": "NoExecute"}
OTHERS = {"key": KEY, "value": "default.p2", "effect": "NoSchedule"}
FOREIGN = {"key": "dedicated", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}

SHARED = mark_of(pool(name="p1", size=1), Policy())
EXCLUSIVE = mark_of(pool(name="p1", size=1, mode="Exclusive"), Policy())
LISTED = mark_of(pool(name="p1", hosts=["node-a"]), Policy())


def stored(*taints: Any, leaving: bool = False, **labels: str) -> StoredNode:
    metadata = {"name": "node-a", "resourceVersion": "7", "labels": labels or None}
    metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z"} if leaving else {}
    return read_node(msgspec.json.encode({"metadata": metadata, "spec": {"taints": taints or None}}))


def labelled(*taints: Any, index: str = "0") -> StoredNode:
    return stored(*taints, **{LABEL: index})


def patch(taints: Any = None, *, label: str | bool | None = False) -> dict[str, Any]:
    """What is written: a label, unless it is false, and taints, unless they are ``None``."""
    metadata: dict[str, Any] = {} if label is False else {"labels": {LABEL: label}}
    return {"metadata": metadata | {"resourceVersion": "7"}} | ({} if taints is None else {"spec": {"taints": taints}})


def test_a_mark_is_a_label_and_for_an_exclusive_pool_a_taint() -> None:
    assert PoolMark(LABEL, "default.p1", Taint(KEY, "default.p1", "NoSchedule")) == EXCLUSIVE


def test_the_effect_of_the_taint_is_the_installations_choice() -> None:
    policy = Policy(exclusive_effect="NoExecute")
    assert mark_of(pool(name="p1", size=1, mode="Exclusive"), policy).taint == Taint(KEY, "default.p1", "NoExecute")


def test_marks_can_be_told_by_the_name_of_the_pool() -> None:
    assert mark_named("default", "p1") == PoolMark(LABEL, "default.p1")


@pytest.mark.parametrize(
    ("mark", "found", "expected"),
    [
        pytest.param(SHARED, stored(), patch(label="0"), id="a label"),
        pytest.param(EXCLUSIVE, stored(), patch([OWN], label="0"), id="label and taint in one"),
        pytest.param(EXCLUSIVE, stored(FOREIGN), patch([FOREIGN, OWN], label="0"), id="behind the taints of others"),
        pytest.param(EXCLUSIVE, labelled(), patch([OWN]), id="the taint alone"),
        pytest.param(EXCLUSIVE, stored(OWN), patch(label="0"), id="the label alone"),
        pytest.param(EXCLUSIVE, labelled(EVICTING), patch([OWN]), id="another effect"),
        pytest.param(EXCLUSIVE, labelled(OWN, EVICTING), patch([OWN]), id="one effect too many"),
        pytest.param(EXCLUSIVE, labelled(OWN, index="1"), patch(label="0"), id="another index"),
        pytest.param(EXCLUSIVE, labelled(FOREIGN, OWN), None, id="nothing"),
        pytest.param(SHARED, labelled(), None, id="nothing for a shared one"),
        pytest.param(SHARED, labelled(OWN, FOREIGN), patch([FOREIGN]), id="a taint from before it was shared"),
    ],
)
def test_a_claim_writes_what_is_missing(mark: PoolMark, found: StoredNode, expected: Any) -> None:
    assert mark.claim(found, 0) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(labelled(FOREIGN, OWN), patch([FOREIGN], label=None), id="both"),
        pytest.param(labelled(), patch(label=None), id="a label"),
        pytest.param(stored(EVICTING, OWN), patch([]), id="taints of any effect"),
        pytest.param(stored(FOREIGN, OTHERS), None, id="nothing of others"),
    ],
)
def test_a_release_takes_off_what_is_there(found: StoredNode, expected: Any) -> None:
    assert EXCLUSIVE.release(found) == expected


@pytest.mark.parametrize(
    ("mark", "found", "expected"),
    [
        pytest.param(EXCLUSIVE, stored(FOREIGN, OWN), False, id="a free node"),
        pytest.param(EXCLUSIVE, stored(OTHERS), True, id="another pool's"),
        pytest.param(SHARED, stored(OTHERS), True, id="another pool's, for a shared one"),
        pytest.param(LISTED, stored(OTHERS), False, id="another pool's that is listed"),
        pytest.param(LISTED, stored(leaving=True), True, id="about to go"),
    ],
)
def test_some_nodes_cannot_be_had(mark: PoolMark, found: StoredNode, *, expected: bool) -> None:
    assert mark.cannot_be_claimed(found) is expected


@pytest.mark.parametrize(
    ("mark", "labels", "taints", "expected"),
    [
        pytest.param(EXCLUSIVE, {LABEL: "0"}, [Taint(KEY, "default.p1", "NoSchedule")], True, id="label and taint"),
        pytest.param(EXCLUSIVE, {LABEL: "0"}, [], False, id="no taint"),
        pytest.param(EXCLUSIVE, {LABEL: "0"}, [Taint(KEY, "default.p1", "NoExecute")], False, id="another effect"),
        pytest.param(EXCLUSIVE, {LABEL: "1"}, [Taint(KEY, "default.p1", "NoSchedule")], False, id="another index"),
        pytest.param(SHARED, {LABEL: "0"}, [Taint("x", "y", "NoSchedule")], True, id="a label"),
        pytest.param(SHARED, {}, [], False, id="no label"),
        pytest.param(SHARED, {LABEL: "0"}, [Taint(KEY, "default.p1", "NoSchedule")], False, id="a taint too many"),
    ],
)
def test_a_node_carries_the_whole_mark_or_does_not(
    mark: PoolMark, labels: dict[str, str], taints: list[Taint], *, expected: bool
) -> None:
    assert mark.on(node(labels=labels, taints=taints), 0) is expected


@pytest.mark.parametrize("body", [b"{", b'{"metadata": {"labels": {"a": 1}}}', b"\xff"])
def test_what_is_not_a_node_is_a_failure(body: bytes) -> None:
    with pytest.raises(ApiError, match="^the node cannot be read: ") as failure:
        read_node(body)
    assert failure.value.cause is Cause.UNREADABLE
