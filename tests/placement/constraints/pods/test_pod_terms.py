"""Live pods of the job, their terms, and host names: what the scheduler keeps from both sides."""

import pytest

from tests.builders import Json, bound_pod, cluster, decided, node, nodes, pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.text import keys

TOKEN = keys.EXLOCATION + keys.digest("a"), "a"
WORKER = keys.WORKER, "true"
TOGETHER = keys.COLOCATION + keys.digest("t"), "t"
HOSTNAMED = NodeTerm(match_expressions=(Requirement("kubernetes.io/hostname", "Exists"),))
APART = 'hostExlocation("a")'
SEPARATE, SAME = {keys.UNIFORM: "all-separate-nodes"}, {keys.UNIFORM: "all-same-node"}


def live(*marks: tuple[str, str], requires: bool = True, on: str = "node-a") -> Inventory:
    """A cluster whose first node has a pod of the job with these labels, which may keep others that have them away."""
    there = bound_pod(on, labels=dict(marks), repels=marks if requires else ())
    return cluster(nodes(1), pods=[there])


REFUSED: dict[str, tuple[Json, tuple[str, str], str, str]] = {
    "preferred exlocation": (
        pod(APART, annotations={keys.PREFERRED: "hostExlocation"}), TOKEN, APART, f"a pod of {APART}",
    ),
    "preferred separate nodes": (
        pod(annotations=SEPARATE | {keys.PREFERRED: "uniform"}),
        WORKER, "uniform all-separate-nodes", "a worker of all-separate-nodes",
    ),
    "same node": (pod(annotations=SAME), WORKER, "uniform all-same-node", "a worker of all-separate-nodes"),
    "preferred same node": (
        pod(annotations=SAME | {keys.PREFERRED: "uniform"}),
        WORKER, "uniform all-same-node", "a worker of all-separate-nodes",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("found", "mark", "clause", "whom"), REFUSED.values(), ids=REFUSED)
def test_a_neighbour_that_requires_its_distance_is_a_wall(
    found: Json, mark: tuple[str, str], clause: str, whom: str
) -> None:
    assert decided(found, live(mark)).message == (
        f"{clause} cannot hold: 0 of 1 node can run this pod.\n"
        f"  1 node runs {whom}, which excludes this pod\n"
        f"Nearest fix: drop {clause} (1 node would fit)."
    )


def test_a_neighbour_that_only_prefers_it_is_none() -> None:
    preferred = pod(APART, annotations={keys.PREFERRED: "hostExlocation"})
    assert decided(preferred, live(TOKEN, requires=False)).warnings == (
        f"{APART} is preferred, but no node that can run this pod meets it",
    )


def test_a_wall_falls_with_the_pod() -> None:
    preferred, inventory = pod(APART, annotations={keys.PREFERRED: "hostExlocation"}), live(TOKEN)
    assert decided(preferred, inventory).refused
    inventory.remove_pod("uid-of-parallel-parallel-1-node-a")
    assert not decided(preferred, inventory).refused


@pytest.mark.parametrize("found", [pod(APART), pod('hostColocation("t")'), pod("hostIsolation"), pod(annotations=SAME)])
def test_with_scale_up_there_is_no_term_on_host_names_that_karpenter_would_take_amiss(found: Json) -> None:
    """It makes no node for a pod with such a term. A node without a host name of its own needs the term."""
    auto = Policy(scale_up="auto")
    for inventory, policy, there in (
        (cluster(nodes(2)), auto, False),
        (cluster(nodes(2)), Policy(), True),
        (cluster([*nodes(2), node("odd", hostname=None)]), auto, True),
    ):
        additions = decided(found, inventory, policy).additions
        assert additions
        assert (HOSTNAMED in additions.terms) == there


@pytest.mark.parametrize(
    ("hostnames", "open_"),
    [
        pytest.param(("shared", "shared"), 0b100, id="nodes of one host name are one host"),
        pytest.param((None, "own"), 0b111, id="without a host name nobody is seen"),
        pytest.param(("one", "two"), 0b110, id="only its own host"),
    ],
)
def test_the_wall_is_around_a_host_name(hostnames: tuple[str | None, str], open_: int) -> None:
    there = bound_pod("node-a", labels=dict([TOKEN]), repels=[TOKEN])
    first, second = (node(f"node-{name}", hostname=host) for name, host in zip("ab", hostnames, strict=True))
    inventory = cluster([first, second, node("node-c")], pods=[there])
    verdict = decided(pod(APART, annotations={keys.PREFERRED: "hostExlocation"}), inventory).verdict
    assert verdict
    assert verdict.candidates == open_


ABOUT_PODS: dict[str, Json] = {
    "hostExlocation": pod('hostExlocation("t")'),
    "hostColocation": pod('hostColocation("t")'),
    "hostIsolation": pod("hostIsolation"),
    "all-separate-nodes": pod(annotations=SEPARATE),
    "all-same-node": pod(annotations=SAME),
    "run-with": pod(annotations={keys.RUN_WITH: "app=db"}),
    "run-apart-from": pod(annotations={keys.RUN_APART_FROM: "app=db"}),
}


@pytest.mark.parametrize("found", ABOUT_PODS.values(), ids=ABOUT_PODS)
def test_a_pod_that_asks_about_others_keeps_to_nodes_with_a_host_name(found: Json) -> None:
    """On any other the scheduler would not see who is there, and put the pod beside whom it must not meet."""
    additions = decided(found, cluster([node("node-a"), node("node-b", hostname=None)])).additions
    assert additions
    assert additions.terms == (HOSTNAMED,)


@pytest.mark.parametrize("wish", ["hostExlocation", "hostColocation", "hostIsolation"])
def test_a_preference_needs_no_host_name(wish: str) -> None:
    clause = wish if wish == "hostIsolation" else f'{wish}("t")'
    additions = decided(pod(clause, annotations={keys.PREFERRED: wish}), cluster(nodes(1))).additions
    assert additions
    assert additions.terms == ()


@pytest.mark.parametrize("found", ABOUT_PODS.values(), ids=ABOUT_PODS)
def test_a_pod_that_asks_about_others_keeps_off_nodes_of_a_shared_host_name(found: Json) -> None:
    hosts = [node("node-a"), *(node(f"node-{host}-{at}", hostname=host) for host in ("y", "x") for at in (1, 2))]
    additions = decided(found, cluster([*hosts, node("node-b", labels={keys.HOSTNAME: ""})])).additions
    own = Requirement("kubernetes.io/hostname", "NotIn", ("", "x", "y"))
    assert additions
    assert additions.terms == (NodeTerm(match_expressions=(*(HOSTNAMED.match_expressions or ()), own)),)


@pytest.mark.parametrize("found", ABOUT_PODS.values(), ids=ABOUT_PODS)
def test_a_host_name_that_is_no_longer_shared_is_not_excluded(found: Json) -> None:
    inventory = cluster([node("node-a", hostname="x"), node("node-b", hostname="x"), node("node-c")])
    assert decided(found, inventory).additions != decided(found, cluster([node("node-c")])).additions
    inventory.set_node(node("node-b"))
    assert decided(found, inventory).additions == decided(found, cluster([node("node-c")])).additions


MANY = [node(f"node-{host}-{at}", hostname=f"host-{host}") for host in range(101) for at in (1, 2)]
"""Nodes of so many shared host names that no term excludes them all."""


@pytest.mark.parametrize(
    ("found", "warned"),
    [
        pytest.param(ABOUT_PODS["hostColocation"], True, id="hostColocation"),
        pytest.param(ABOUT_PODS["all-same-node"], True, id="all-same-node"),
        pytest.param(ABOUT_PODS["run-with"], True, id="run-with"),
        pytest.param(ABOUT_PODS["hostExlocation"], False, id="pods that lie apart are apart there, too"),
        pytest.param(pod('hostColocation("t")', annotations={keys.PREFERRED: "hostColocation"}), False, id="a wish"),
    ],
)
def test_too_many_shared_host_names_are_told_of_where_pods_share_a_host(found: Json, *, warned: bool) -> None:
    warning = (
        "202 nodes share their kubernetes.io/hostname label with another: "
        "Kubernetes treats these as one host, and may split pods between them that are to share a host"
    )
    decision = decided(found, cluster([node("node-a"), *MANY]))
    assert (warning in decision.warnings) is warned
    assert decision.additions
    assert decision.additions.terms in ((HOSTNAMED,), ())


def test_as_many_shared_host_names_as_a_term_may_list_are_excluded() -> None:
    decision = decided(ABOUT_PODS["hostColocation"], cluster([node("node-a"), *MANY[:200]]))
    assert (decision.warnings, decision.additions and decision.additions.terms != (HOSTNAMED,)) == ((), True)


ENDING = (
    "{}: the pods that this one belongs to are being deleted; "
    "if it does not fit beside them, it may wait for up to five minutes after the last of them is gone"
)


@pytest.mark.parametrize(
    ("found", "mark", "clause"),
    [
        pytest.param(ABOUT_PODS["hostColocation"], TOGETHER, 'hostColocation("t")', id="hostColocation"),
        pytest.param(ABOUT_PODS["all-same-node"], WORKER, "uniform all-same-node", id="all-same-node"),
    ],
)
def test_a_group_that_is_only_ending_is_told_of(found: Json, mark: tuple[str, str], clause: str) -> None:
    ending = bound_pod("node-a", uid="ending", labels=dict([mark]), terminating=True)
    inventory = cluster(nodes(2), pods=[ending])
    assert decided(found, inventory).warnings == (ENDING.format(clause),)
    inventory.set_pod(bound_pod("node-b", uid="live", labels=dict([mark])))
    assert decided(found, inventory).warnings == ()


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"labels": {"streams.ibm.com/x": "y"}}, id="of no group"),
        pytest.param({"labels": dict([TOGETHER]), "job": "other"}, id="of another job"),
        pytest.param({"labels": dict([TOGETHER]), "namespace": "other"}, id="of another namespace"),
    ],
)
def test_pods_that_end_elsewhere_are_no_warning(other: Json) -> None:
    ending = bound_pod("node-a", terminating=True, **other)
    assert decided(ABOUT_PODS["hostColocation"], cluster(nodes(2), pods=[ending])).warnings == ()
