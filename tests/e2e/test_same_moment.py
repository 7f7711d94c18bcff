"""Two pods that are created at the same moment are judged by the same state; their constraints hold."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.client.api import Object, RefusedError
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, is_ready, namespace, pod, pod_spec
from tests.suite.example_count import some_of

PREFIX: Final = "streams.ibm.com/"
UNIFORM: Final = f"{PREFIX}kubernetes.worker.mapping.uniform"
PAIRS: Final = some_of(50, every_day=20)
"""Of each kind; 50 in ``make e2e-long``."""
WEB: Final = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
REPELLING: Final = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [WEB]}}


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A plane of its own with a node for each pair, one without a host name, and the chart with its two replicas."""
    with ControlPlane(tmp_path_factory.mktemp("moment")) as plane:
        nodes = [node(f"pair-{at}") for at in range(PAIRS)]
        gpus = [("big", "64", "1"), ("small", "16", "4")]
        nodes += [
            node(f"group-{name}", {"group": "yes"}, capacity={"cpu": cpu, "example.com/gpu": gpu})
            for name, cpu, gpu in gpus
        ]
        nodes.append(node("nameless", {"kubernetes.io/hostname": "", "nameless": "yes"}))
        create_nodes(plane.admin, nodes)
        with kubelet(plane) as running:
            install(plane, running, QUICK)
            yield plane


def labelled(job: str, pe: str) -> dict[str, str]:
    return {f"{PREFIX}job": job, f"{PREFIX}pe": pe}


def asking(name: str, space: str, placement: str, *, spec: Object | None = None, **metadata: Object) -> Object:
    annotations = {f"{PREFIX}placement": placement} | metadata.pop("annotations", {})
    return pod(name, space, spec, annotations=annotations, **metadata)


def pair(kind: str, at: int) -> tuple[Object, Object]:
    """Two pods for one host, at most one of which may be there."""
    host, job = f'host("pair-{at}")', f"{kind}-{at}"
    said = {
        "exlocation": [f'{host}, hostExlocation("apart")'] * 2,
        "isolation": [f"{host}, hostIsolation"] * 2,
        "isolation-of-one": [f"{host}, hostIsolation", host],
    }.get(kind, [host, host])
    more: Object = {"labels": {"app": "web"}}
    spec = None
    if kind in {"exlocation", "isolation", "isolation-of-one", "workers"}:
        more = {}
    if kind == "workers":
        more = {"annotations": {UNIFORM: "all-separate-nodes"}}
    if kind == "room":
        spec = pod_spec()
        spec["containers"][0]["resources"] = {"requests": {"cpu": "5"}}
    if kind == "own-terms":
        spec = pod_spec(affinity=REPELLING)
    if kind == "ports":
        spec = pod_spec()
        spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    one, two = (
        asking(f"{kind}-{at}-{pe}", kind, said[which], spec=spec, **({"labels": labelled(job, pe)} | more))
        for which, pe in enumerate("ab")
    )
    return one, two


def at_once(plane: ControlPlane, both: tuple[Object, Object]) -> list[str]:
    """Create both in one moment; the refusals, of which there is at most one: whoever comes second may be told so."""
    start = threading.Barrier(len(both))

    def create(wanted: Object) -> str:
        start.wait()
        try:
            plane.admin.create(wanted)
        except RefusedError as refused:
            return refused.message
        return ""

    with ThreadPoolExecutor(len(both)) as pool:
        return [text for text in pool.map(create, both) if text]


def bound(plane: ControlPlane, space: str) -> dict[str, list[str]]:
    """The pods on each node of the pairs."""
    found: dict[str, list[str]] = {}
    for one in plane.admin.get(f"/api/v1/namespaces/{space}/pods")["items"]:
        if where := one["spec"].get("nodeName"):
            found.setdefault(where, []).append(one["metadata"]["name"])
    return found


def looked_at(plane: ControlPlane, space: str) -> int:
    """How many pods have a node, or were told by the scheduler that there is none: it knows where those before went."""
    pods = plane.admin.get(f"/api/v1/namespaces/{space}/pods")["items"]
    told = [any(one["type"] == "PodScheduled" for one in each["status"].get("conditions", ())) for each in pods]
    return sum(bool(each["spec"].get("nodeName")) or done for each, done in zip(pods, told, strict=True))


KINDS = ("exlocation", "isolation", "isolation-of-one", "workers", "room", "own-terms", "ports")


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_that_exclude_each_other_are_together(plane: ControlPlane, kind: str) -> None:
    namespace(plane.admin, kind)
    refused = [text for at in range(PAIRS) for text in at_once(plane, pair(kind, at))]
    assert len(refused) <= PAIRS, refused
    until(lambda: looked_at(plane, kind) == 2 * PAIRS - len(refused), f"the scheduler has looked at all of {kind}", 60)
    until(lambda: len(bound(plane, kind)) == PAIRS, f"one pod of each pair {kind} is bound", 60)
    together = {where: names for where, names in bound(plane, kind).items() if len(names) > 1}
    assert together == {}
    plane.admin.delete(f"/api/v1/namespaces/{kind}/pods", gracePeriodSeconds="0")
    until(lambda: bound(plane, kind) == {}, f"the pods of {kind} are gone", 60)


def test_the_first_pod_of_a_group_leaves_room_for_the_others(plane: ControlPlane) -> None:
    """Three pods of 1 cpu and 1 device: one node has 64 cpus and 1 device, the other 16 cpus and 4 devices."""
    space = namespace(plane.admin, "group")
    spec = pod_spec(nodeSelector={"group": "yes"})
    spec["containers"][0]["resources"] = {"requests": {"cpu": "1"}, "limits": {"example.com/gpu": "1"}}
    metadata = {
        "labels": {f"{PREFIX}job": "group"},
        "annotations": {f"{PREFIX}placement": 'hostColocation("a")'},
    }
    for at in range(5):
        plane.admin.create(deployment(f"group-{at}", space, 3, spec=spec, **metadata))

        def running() -> list[Object]:
            found = plane.admin.get(f"/api/v1/namespaces/{space}/pods")["items"]
            return [one for one in found if is_ready(one) and "deletionTimestamp" not in one["metadata"]]

        until(lambda: len(running()) == 3, "all three run", 60)
        assert {one["spec"]["nodeName"] for one in running()} == {"group-small"}
        plane.admin.delete(f"/apis/apps/v1/namespaces/{space}/deployments/group-{at}", propagationPolicy="Foreground")
        until(lambda: not plane.admin.get(f"/api/v1/namespaces/{space}/pods")["items"], "they are gone", 60)


CLAUSES = ('hostExlocation("t")', 'hostColocation("t")', "hostIsolation")


@pytest.mark.parametrize("placement", CLAUSES)
def test_a_node_without_a_host_name_gets_no_pod_that_asks_about_others(plane: ControlPlane, placement: str) -> None:
    """The pod would rather be there than anywhere else."""
    space = namespace(plane.admin, f"nameless-{CLAUSES.index(placement)}")
    wish = {"matchExpressions": [{"key": "nameless", "operator": "Exists"}]}
    terms = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": wish}]}
    spec = pod_spec(affinity={"nodeAffinity": terms})
    plane.admin.create(asking("plain", space, "partitionIsolation", spec=spec, labels=labelled("other", "b")))
    plane.admin.create(asking("choosy", space, placement, spec=spec, labels=labelled("nameless", "a")))
    until(lambda: len(bound(plane, space)) > 1, "both are bound", 30)
    found = bound(plane, space)
    assert found.pop("nameless") == ["plain"]
    assert list(found.values()) == [["choosy"]]
