"""What the controller's account may do, what an admission policy keeps it from, and what a kubelet may not do."""

from typing import Any, Final

import pytest

from tests.e2e.chart.policies.test_rights import OUT_OF_REACH, READ, WRITE, may
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.chart.tenant import by_policy
from tests.e2e.client.api import STRATEGIC, Api, Object
from tests.e2e.controller.rights import ACCOUNT
from tests.e2e.controlplane.plane import ControlPlane
from webhook.placement.text.keys import EXCLUSIVE, membership
from webhook.placement.text.keys import exclusive as exclusive_value

pytestmark = pytest.mark.usefixtures("installed")

USER: Final = f"system:serviceaccount:{ACCOUNT.replace('/', ':')}"
OWN: Final = f"{RELEASE}-controller"

RIGHTS: Final[dict[str, tuple[str, ...]]] = {
    "/pods": (*READ, "create", "delete"),
    "/nodes": (*READ, "patch"),
    "streams.ibm.com/streamshostpools": (*READ, "create", "patch", "delete"),
    "streams.ibm.com/streamshostpools/status": ("patch",),
    "streams.ibm.com/streamsjobs": READ,
    "streams.ibm.com/streamsjobs/status": ("patch",),
    "streams.ibm.com/streamsjobs/finalizers": ("update",),
    "streams.ibm.com/streamspes": (*READ, "create", "patch", "delete"),
    "streams.ibm.com/streamspes/status": ("patch",),
    "streams.ibm.com/streamspes/finalizers": ("update",),
    "streams.ibm.com/streamsparallelregions": (*READ, "create", "patch", "delete"),
    "streams.ibm.com/streamsparallelregions/status": ("patch",),
    "events.k8s.io/events": ("create", "patch"),
}
"""All of them; its Lease aside."""

NO_BUSINESS: Final = (
    *(set(OUT_OF_REACH) - RIGHTS.keys()),
    "/events",
    "/nodes/status",
    "/pods/status",
    "/pods/eviction",
)


@pytest.mark.parametrize(("resource", "verbs"), RIGHTS.items(), ids=RIGHTS.keys())
def test_it_may_do_what_it_does(admin: Api, resource: str, verbs: tuple[str, ...]) -> None:
    assert [verb for verb in (*READ, *WRITE) if may(admin, verb, resource, USER)] == list(verbs)


@pytest.mark.parametrize("resource", sorted(NO_BUSINESS))
def test_it_has_no_business_with(admin: Api, resource: str) -> None:
    spaces = ("default", "kube-system", *(() if "leases" in resource else (NAMESPACE,)))
    assert not [
        (verb, space) for space in spaces for verb in (*READ, *WRITE) if may(admin, verb, resource, USER, space)
    ]


def test_it_may_take_and_keep_its_own_lease_and_no_other(admin: Api) -> None:
    def verbs(own: str) -> list[str]:
        return [
            verb for verb in (*READ, *WRITE) if may(admin, verb, "coordination.k8s.io/leases", USER, NAMESPACE, own)
        ]

    assert verbs(OWN) == ["get", "watch", "create", "update"]
    assert verbs("another") == ["create"]


# What it may write on a node

NODE: Final = "node-7"
PATH: Final = f"/api/v1/nodes/{NODE}?dryRun=All"
MEMBER: Final = membership("default", "p")
TAINT: Final = {"key": EXCLUSIVE, "value": exclusive_value("default", "p"), "effect": "NoSchedule"}


@pytest.fixture
def controller(plane: ControlPlane) -> Api:
    """Whoever has its token."""
    return plane.api(ACCOUNT)


def labels(**entries: Any) -> Object:
    return {"metadata": {"labels": {key.replace("__", "/"): value for key, value in entries.items()}}}


def test_label_and_taint_of_a_pool_are_its_own(controller: Api) -> None:
    change = {"metadata": {"labels": {MEMBER: "0"}}, "spec": {"taints": [TAINT]}}
    answer = controller.call("PATCH", PATH, change, content=STRATEGIC)
    assert (answer.body["metadata"]["labels"][MEMBER], answer.body["spec"]["taints"]) == ("0", [TAINT])
    assert answer.warnings == ()


LABELS: Final = (
    "metadata.labels: the controller of HostPools may only change the labels that assign a node to a HostPool"
)
TAINTS: Final = f"spec.taints: the controller of HostPools may only change the taint {EXCLUSIVE}"
ELSE: Final = "the controller of HostPools may only change labels and taints of nodes"

FOREIGN: Final[dict[str, tuple[Object, str]]] = {
    "a label added": (labels(team="x"), LABELS),
    "a label changed": (labels(kubernetes__io="x") | labels(**{"kubernetes.io__os": "other"}), LABELS),
    "a label removed": (labels(**{"kubernetes.io__os": None}), LABELS),
    "a tag added": (labels(**{"streams.ibm.com__hostpool": "ib"}), LABELS),
    "a label beside its own": (labels(**{MEMBER.replace("/", "__"): "0", "team": "x"}), LABELS),
    "another label under the protected prefix": (
        labels(**{"other.node-restriction.kubernetes.io__hostpool": "x"}),
        LABELS,
    ),
    "a taint": ({"spec": {"taints": [{"key": "example.com/x", "effect": "NoExecute"}]}}, TAINTS),
    "a taint beside its own": ({"spec": {"taints": [TAINT, {"key": "a", "effect": "NoSchedule"}]}}, TAINTS),
    "a cordon": ({"spec": {"unschedulable": True}}, ELSE),
    "an annotation": ({"metadata": {"annotations": {"example.com/x": "y"}}}, ELSE),
    "a finalizer": ({"metadata": {"finalizers": ["example.com/x"]}}, ELSE),
    "an owner": (
        {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "x"}]}},
        ELSE,
    ),
    "a provider": ({"spec": {"providerID": "example://x"}}, ELSE),
    "a network": ({"spec": {"podCIDR": "10.9.9.0/24", "podCIDRs": ["10.9.9.0/24"]}}, ELSE),
}


@pytest.mark.parametrize(("change", "said"), FOREIGN.values(), ids=FOREIGN.keys())
def test_its_token_cannot_give_a_node(controller: Api, change: Object, said: str) -> None:
    answer = controller.send("PATCH", PATH, change, content=STRATEGIC)
    assert (answer.code, answer.message) == (403, by_policy(f'nodes "{NODE}"', "controller", said))


def test_its_token_cannot_remove_the_taints_of_others(controller: Api, admin: Api) -> None:
    foreign = {"key": "example.com/x", "value": "y", "effect": "NoSchedule"}
    path = PATH.partition("?")[0]
    admin.patch(path, {"spec": {"taints": [foreign]}})
    try:
        answer = controller.send("PATCH", PATH, {"spec": {"taints": None}}, content="application/merge-patch+json")
    finally:
        admin.patch(path, {"spec": {"taints": None}})
    assert (answer.code, answer.message) == (403, by_policy(f'nodes "{NODE}"', "controller", TAINTS))


# Kubelets


@pytest.fixture
def kubelet(plane: ControlPlane) -> Api:
    """That of node-1."""
    return plane.api("node")


@pytest.mark.parametrize("part", ["", "/status"], ids=["nodes", "nodes/status"])
def test_a_kubelet_cannot_label_its_node_into_a_pool(kubelet: Api, part: str) -> None:
    change = {"metadata": {"labels": {MEMBER: "0"}}}
    answer = kubelet.send("PATCH", f"/api/v1/nodes/node-1{part}?dryRun=All", change, content=STRATEGIC)
    assert answer.code == 403
    assert answer.message == f'nodes "node-1" is forbidden: is not allowed to modify labels: {MEMBER}'


def test_a_kubelet_cannot_change_taints_of_its_node(kubelet: Api) -> None:
    change = {"spec": {"taints": [TAINT]}}
    answer = kubelet.send("PATCH", "/api/v1/nodes/node-1?dryRun=All", change, content=STRATEGIC)
    assert answer.code == 403
    assert 'node "node-1" is not allowed to modify taints' in answer.message
