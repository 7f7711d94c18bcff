"""How ``host("name")`` ties a pod to its node: past the scheduler only where that has nothing to arbitrate."""

from typing import Any

import pytest

from tests.builders import NAMESPACE, OUTRIGHT, Json, bound_pod, cluster, decided, job, node, nodes, pod, typed
from tests.fake_clock import FakeClock
from webhook.placement.decision.decision import Decision, decide
from webhook.placement.inventory.assumed_pods import LIMIT, SECONDS, AssumedPods
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HOST = 'host("node-a")'
KNOWN = job({"parallel-0": "", "parallel-1": ""})
TWO = cluster(nodes(2, labels={"zone": "z"}), jobs=[KNOWN])
APP = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
RACE = (
    "host-binding nodeName goes past the scheduler: of pods that are created at the same moment, "
    "more may be bound to the node than it has room for"
)


def terms(kind: str, field: str) -> Json:
    """An affinity with one term about other pods."""
    term = APP if field == REQUIRED else {"weight": 1, "podAffinityTerm": APP}
    return {"affinity": {kind: {field: [term]}}}


def container(**fields: Any) -> Json:
    return {"name": "c", **fields}


def claims(name: str, **source: Any) -> Json:
    return {"volumes": [{"name": "v", name: source}]}


KEPT: dict[str, tuple[str, Json, Json, str]] = {
    "exlocation": ('hostExlocation("t")', {}, {}, 'hostExlocation("t")'),
    "colocation": ('hostColocation("t")', {}, {}, 'hostColocation("t")'),
    "isolation": ("hostIsolation", {}, {}, "hostIsolation"),
    "workers on separate nodes": ("", {keys.UNIFORM: "all-separate-nodes"}, {}, "uniform all-separate-nodes"),
    "workers on one node": ("", {keys.UNIFORM: "all-same-node"}, {}, "uniform all-same-node"),
    "run-with": ("", {keys.RUN_WITH: "app=db"}, {}, "run-with app=db"),
    "run-apart-from": ("", {keys.RUN_APART_FROM: "app=db"}, {}, "run-apart-from app=db"),
    "own affinity": ("", {}, terms("podAffinity", REQUIRED), "the pod's own required podAffinity"),
    "own anti-affinity": ("", {}, terms("podAntiAffinity", REQUIRED), "the pod's own required podAntiAffinity"),
    "spread": ("", {}, {"topologySpreadConstraints": [SPREAD]}, 'topologySpreadConstraints on "zone"'),
    "host port": ("", {}, {"containers": [container(ports=[{"hostPort": 80}, {}])]}, "hostPort 80"),
    "host port of a sidecar": (
        "",
        {},
        {"initContainers": [container(ports=[{"hostPort": 81, "containerPort": 1}], restartPolicy="Always")]},
        "hostPort 81",
    ),
    "port on the host's network": (
        "", {}, {"hostNetwork": True, "containers": [container(ports=[{"containerPort": 82}])]}, "hostPort 82",
    ),
    "resource claim": ("", {}, {"resourceClaims": [{"name": "gpu"}]}, "resourceClaims"),
    "claim of a volume": (
        "", {}, claims("persistentVolumeClaim", claimName="data"), "a volume of persistentVolumeClaim",
    ),
    "volume that is made for the pod": ("", {}, claims("ephemeral"), "a volume of ephemeral"),
    "disk": ("", {}, claims("awsElasticBlockStore", volumeID="x"), "a volume of awsElasticBlockStore"),
    "another scheduler": ("", {}, {"schedulerName": "volcano"}, 'schedulerName "volcano"'),
    "gang": ("", {}, {"schedulingGroup": {"podGroupName": "g"}}, "schedulingGroup"),
}  # fmt: skip
"""What only the scheduler keeps: clauses, annotations, the pod's own spec, and how it is named."""

WISHED: dict[str, tuple[str, Json, Json, str]] = {
    "preferred exlocation": (
        'hostExlocation("t")', {keys.PREFERRED: "hostExlocation"}, {}, 'hostExlocation("t")',
    ),
    "preferred uniform": (
        "", {keys.PREFERRED: "uniform", keys.UNIFORM: "all-same-node"}, {}, "uniform all-same-node",
    ),
    "own preferred affinity": ("", {}, terms("podAffinity", PREFERRED), "the pod's own preferred podAffinity"),
    "spread that only counts": (
        "",
        {},
        {"topologySpreadConstraints": [SPREAD | {"whenUnsatisfiable": "ScheduleAnyway"}]},
        'topologySpreadConstraints on "zone"',
    ),
}  # fmt: skip

HARDWARE = '[{"name": "nvidia.com/gpu", "limits": 1, "mandatory": %s}]'

HARMLESS: dict[str, Json] = {
    "a port of its own": {"containers": [container(ports=[{"containerPort": 80}])]},
    "the default scheduler": {"schedulerName": "default-scheduler"},
    "an empty folder": claims("emptyDir"),
    "empty lists": {
        "affinity": {"podAffinity": {REQUIRED: []}, "podAntiAffinity": None},
        "topologySpreadConstraints": [],
        "resourceClaims": None,
    },
}


def asking(clause: str, annotations: Json, spec: Json) -> Json:
    """A pod that names its host and says that, too."""
    return pod(", ".join(filter(None, (HOST, clause))), annotations=annotations, **spec)


def bound(found: Decision) -> str:
    """The node that the pod is bound to, empty for one that the scheduler places."""
    assert found.additions, found.message
    return found.additions.node_name


@pytest.mark.parametrize(
    ("clause", "annotations", "spec", "_name"), [*KEPT.values(), *WISHED.values()], ids=[*KEPT, *WISHED]
)
def test_what_the_scheduler_keeps_is_left_to_it(clause: str, annotations: Json, spec: Json, _name: str) -> None:
    found = decided(asking(clause, annotations, spec), TWO)
    assert bound(found) == ""
    assert found.additions
    assert found.additions.terms


@pytest.mark.parametrize(
    ("mandatory", "gpus", "expected"),
    [("false", 8, ""), ("false", 0, ""), ("true", 8, "node-a"), ("true", 3, "")],
    ids=["wanted and there", "wanted and gone", "required with ample room", "required with little room"],
)
def test_hardware_that_another_may_get_as_well_is_left_to_the_scheduler(
    mandatory: str, gpus: int, expected: str
) -> None:
    source = pod(HOST, annotations={keys.HARDWARE: HARDWARE % mandatory})
    with_gpus = [node("node-a", **{"nvidia.com/gpu": gpus}), node("node-b")]
    assert bound(decided(source, cluster(with_gpus, jobs=[KNOWN]))) == expected


@pytest.mark.parametrize("spec", HARMLESS.values(), ids=HARMLESS)
def test_what_it_need_not_keep_is_bound(spec: Json) -> None:
    assert bound(decided(asking("", {}, spec), TWO)) == "node-a"


@pytest.mark.parametrize(("clause", "annotations", "spec", "name"), KEPT.values(), ids=KEPT)
def test_whoever_wants_to_be_bound_all_the_same_is_told_what_would_be_lost(
    clause: str, annotations: Json, spec: Json, name: str
) -> None:
    found = decided(asking(clause, annotations | OUTRIGHT, spec), TWO)
    assert found.fault is Fault.INVALID
    assert found.message == (
        "metadata.annotations[streams.ibm.com/host-binding]: "
        f"nodeName goes past the scheduler, which alone keeps {name}: set it to auto, or do without"
    )


def test_an_installation_that_always_binds_says_so_too() -> None:
    found = decided(pod(f'{HOST}, hostExlocation("t")'), TWO, Policy(host_binding="nodeName"))
    assert found.message == (
        "metadata.annotations[streams.ibm.com/host-binding]: "
        'nodeName goes past the scheduler, which alone keeps hostExlocation("t"): set it to auto, or do without'
    )
    advised = pod(f'{HOST}, hostExlocation("t")', annotations={keys.HOST_BINDING: "auto"})
    assert not decided(advised, TWO, Policy(host_binding="nodeName")).refused


def test_everything_that_would_be_lost_is_named() -> None:
    spec: Json = {"schedulerName": "volcano", "resourceClaims": [{"name": "gpu"}], **claims("ephemeral")}
    found = decided(pod(f'{HOST}, hostIsolation, hostExlocation("t")', annotations=OUTRIGHT, **spec), TWO)
    assert (
        'keeps hostIsolation, hostExlocation("t"), resourceClaims, a volume of ephemeral and 1 more: set'
        in found.message
    )


@pytest.mark.parametrize(("clause", "annotations", "spec", "name"), WISHED.values(), ids=WISHED)
def test_preferences_of_a_pod_that_is_bound_have_no_effect(
    clause: str, annotations: Json, spec: Json, name: str
) -> None:
    found = decided(asking(clause, annotations | OUTRIGHT, spec), TWO)
    assert (bound(found), found.warnings) == (
        "node-a",
        (RACE, f"{name} has no effect: host-binding nodeName goes past the scheduler"),
    )


def test_who_asks_to_be_bound_is_warned_of_the_moment() -> None:
    assert decided(pod(HOST, annotations=OUTRIGHT), TWO).warnings == (RACE,)


def test_where_no_host_is_named_there_is_nothing_to_warn_of() -> None:
    assert decided(pod('hostExlocation("t")', annotations=OUTRIGHT), TWO).warnings == ()


@pytest.mark.parametrize(
    ("clause", "annotations", "text"),
    [
        pytest.param('hostExlocation("t")', {}, 'hostExlocation("t") is', id="one clause"),
        pytest.param(
            'hostExlocation("t"), hostIsolation', {}, 'hostExlocation("t"), hostIsolation are', id="two clauses"
        ),
        pytest.param("", {keys.RUN_WITH: "app=db"}, "run-with app=db is", id="company"),
    ],
)
def test_a_pod_that_names_its_node_itself_cannot_ask_about_others(clause: str, annotations: Json, text: str) -> None:
    found = decided(pod(clause or None, annotations=annotations, nodeName="node-a"), TWO)
    assert found.message == (
        f"spec.nodeName: {text} kept by the scheduler, which this pod goes past: use nodeSelector instead"
    )


def test_it_may_prefer_something_about_them() -> None:
    found = pod('hostExlocation("t")', annotations={keys.PREFERRED: "hostExlocation"}, nodeName="node-a")
    assert not decided(found, TWO).refused


@pytest.mark.parametrize(
    ("inventory", "tweaks", "expected"),
    [
        pytest.param(TWO, {}, "node-a", id="nobody of the job is alone"),
        pytest.param(cluster(nodes(2)), {}, "", id="nobody knows the job"),
        pytest.param(cluster(nodes(2)), {"job": None, "pe": None}, "node-a", id="no job"),
        pytest.param(cluster(nodes(2), jobs=[job({"parallel-1": "hostIsolation"})]), {}, "", id="one is to be alone"),
        pytest.param(
            cluster(nodes(2), pods=[bound_pod("node-b", isolated=["Sink"])], jobs=[KNOWN]), {}, "", id="one is alone"
        ),
    ],
)
def test_a_pod_that_its_job_may_shun_is_left_to_the_scheduler(
    inventory: Inventory, tweaks: Json, expected: str
) -> None:
    assert bound(decided(pod(HOST, **tweaks), inventory)) == expected


@pytest.mark.parametrize(
    ("used", "requests", "expected", "waits"),
    [
        pytest.param({}, {"cpu": "2"}, "node-a", False, id="four times as much is free"),
        pytest.param({"cpu": 1}, {"cpu": "2"}, "", False, id="a little less than that"),
        pytest.param({"cpu": 6000}, {"cpu": "2"}, "", False, id="just enough"),
        pytest.param({"cpu": 6001}, {"cpu": "2"}, "", True, id="not enough"),
        pytest.param({"memory": 2**30}, {"cpu": "1", "memory": "8Gi"}, "", False, id="another resource is short"),
        pytest.param({"pods": 106}, {}, "node-a", False, id="room for four pods"),
        pytest.param({"pods": 107}, {}, "", False, id="room for three"),
    ],
)
def test_a_pod_is_bound_where_there_is_ample_room(used: Json, requests: Json, expected: str, *, waits: bool) -> None:
    inventory = cluster([node("node-a")], pods=[bound_pod(job="", requests={"pods": 0} | used)], jobs=[KNOWN])
    found = decided(pod(HOST, requests=requests), inventory)
    warning = f"{HOST}: the node has no room for this pod now, so it waits for others to end"
    assert (bound(found), found.warnings) == (expected, (warning,) * waits)


def test_a_neighbour_may_object_to_the_newcomer() -> None:
    guard = bound_pod("node-a", job="", uid="guard", guards=[keys.HOSTNAME])
    other = bound_pod("node-a", job="", uid="other", guards=["rack", keys.HOSTNAME])
    inventory = cluster(nodes(2), pods=[guard, other], jobs=[KNOWN])
    assert bound(decided(pod(HOST), inventory)) == ""
    inventory.remove_pod("guard")
    assert bound(decided(pod(HOST), inventory)) == ""
    inventory.remove_pod("other")
    assert bound(decided(pod(HOST), inventory)) == "node-a"


@pytest.mark.parametrize(
    ("key", "there", "here", "expected"),
    [
        pytest.param("zone", {"zone": "z1"}, {"zone": "z1"}, "", id="the same zone"),
        pytest.param("zone", {"zone": "z1"}, {"zone": "z2"}, "node-a", id="another zone"),
        pytest.param("zone", {"zone": "z1"}, {}, "node-a", id="no zone"),
        pytest.param("zone", {}, {"zone": "z1"}, "node-a", id="no zone there"),
        pytest.param(keys.HOSTNAME, {}, {}, "node-a", id="another host"),
        pytest.param(
            keys.HOSTNAME, {keys.HOSTNAME: "h"}, {keys.HOSTNAME: "h"}, "", id="a host name that is not one of its own"
        ),
    ],
)
def test_a_neighbour_in_the_zone_may_object_to_the_newcomer(key: str, there: Json, here: Json, expected: str) -> None:
    nodes = [node("node-a", labels=here), node("node-b", labels=there)]
    guard = bound_pod("node-b", job="", uid="guard", guards=[key])
    assert bound(decided(pod(HOST), cluster(nodes, pods=[guard], jobs=[KNOWN]))) == expected


def test_two_hosts_that_are_not_one_node_are_no_node() -> None:
    found = decided(pod('A: host("node-a"); B: host("node-b")'), TWO)
    assert found.message.startswith('host("node-a") and host("node-b") cannot both hold')


def after(assumed: AssumedPods, requests: Json) -> str:
    world = World(TWO, Policy(), assumed=assumed)
    return bound(decide(typed(pod(HOST, requests=requests)), NAMESPACE, world))


def test_what_was_promised_counts_as_taken_for_a_while() -> None:
    clock = FakeClock()
    assumed = AssumedPods(clock)
    assert after(assumed, {"cpu": "1"}) == "node-a"
    assumed.assume("first", "node-a", {"cpu": 1000, "pods": 1})
    assert after(assumed, {"cpu": "1"}) == "node-a"
    assumed.assume("second", "node-a", {"cpu": 1000, "pods": 1})
    assert after(assumed, {"cpu": "1"}) == ""
    clock.now = SECONDS + 1
    assert after(assumed, {"cpu": "1"}) == "node-a"


def test_replicas_that_decide_from_one_state_promise_no_more_than_there_is() -> None:
    """Four of them, none of which sees what the others promise: eight pods of one cpu for a node of eight."""
    given = 0
    for _ in range(4):
        assumed = AssumedPods(FakeClock())
        while after(assumed, {"cpu": "1"}):
            assumed.assume(f"{given}", "node-a", {"cpu": 1000, "pods": 1})
            given += 1
    assert given == 8


def test_a_review_that_is_repeated_promises_once() -> None:
    assumed = AssumedPods(FakeClock())
    for _ in range(3):
        assumed.assume("same", "node-a", {"cpu": 1000})
    assert assumed.on("node-a") == {"cpu": 1000}
    assumed.assume("same", "node-b", {"cpu": 500})
    assert (assumed.on("node-a"), assumed.on("node-b")) == ({}, {"cpu": 500})


def test_promises_are_bounded() -> None:
    assumed = AssumedPods(FakeClock())
    for at in range(LIMIT + 5):
        assumed.assume(f"{at}", "node-a", {"pods": 1})
    assert assumed.on("node-a") == {"pods": LIMIT}
