"""Pods that are refused because of topology domains cannot run on the real scheduler, and admitted ones can."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from msgspec import Struct

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, namespace, pod, pod_spec
from webhook.admission.checks.templates import pods_of
from webhook.cluster.snapshot.snapshot import read_snapshot
from webhook.placement.decision.decision import Decision
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.workload.workload import decide_replicas

SPACE: Final = "topology"
HOST: Final = "kubernetes.io/hostname"
JOB: Final = "streams.ibm.com/job"
REVISION: Final = ["pod-template-hash"]
CLOSED: Final = ({"key": "dedicated", "value": "x", "effect": "NoSchedule"},)
SETTLED: Final = 2.0
"""Seconds without a change after which the scheduler has done what it will do: it binds within 30 milliseconds."""

FITTING: Final = re.compile(r": ([0-9]+) of [0-9]+ pods fits?\b")


class Case(Struct, frozen=True):
    """Nodes by what they carry, what pods of the job run on some, and a Deployment of ``count`` of which ``fit`` run.

    ``Z`` in what the pods say stands for a topology key of the case's own, so that cases do not see one another.
    """

    nodes: tuple[Object, ...]
    count: int
    fit: int
    spec: Object
    held: tuple[int, ...] = ()
    everywhere: bool = False


def zoned(*zones: str, closed: str = "", pods: Mapping[str, str] = {}) -> tuple[Object, ...]:
    """Nodes of the case, each in one of the zones; of one the nodes are tainted."""
    return tuple(
        {
            "labels": {"Z": zone} if zone else {},
            "taints": CLOSED if zone and zone == closed else (),
            "capacity": {"pods": pods.get(zone, "110")},
        }
        for zone in zones
    )


def named(*hosts: str) -> tuple[Object, ...]:
    """Nodes of these host names, which several may have, or none."""
    return tuple({"labels": {HOST: host}, "capacity": {"pods": "2"}} for host in hosts)


def away(*keys: str, **more: Any) -> Object:
    """A required anti-affinity against pods of the case."""
    term = {"labelSelector": {"matchLabels": {"app": "CASE"}}} | more
    required = [{"topologyKey": key, **term} for key in keys]
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def spread(*keys: str, by: str = JOB, skew: int = 1, **more: Any) -> Object:
    """Spread constraints over pods of the case."""
    found = {"maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule"}
    found |= {"labelSelector": {"matchLabels": {by: "CASE"}} if by else {}} | more
    return {"topologySpreadConstraints": [{**found, "topologyKey": key} for key in keys]}


TRAP = zoned("a", "b", closed="b")
CASES: Final[dict[str, Case]] = {
    "apart-by-host": Case(zoned("", "", ""), 5, 3, away(HOST)),
    "apart-by-shared-hosts": Case(named("shared-x", "shared-x", "single-x"), 3, 2, away(HOST)),
    "apart-without-host-name": Case(named("lone-x", ""), 5, 3, away(HOST)),
    "apart-by-zone": Case(zoned("a", "a", "b", "", pods={"": "3"}), 7, 5, away("Z")),
    "apart-by-zone-and-host": Case(zoned("a", "a", "b"), 3, 2, away("Z", HOST)),
    "apart-by-revision": Case(zoned("a", "b"), 3, 2, away("Z", matchLabelKeys=REVISION)),
    "apart-from-other-revisions": Case(zoned("a", "b"), 4, 4, away("Z", mismatchLabelKeys=REVISION)),
    "apart-elsewhere": Case(zoned("a", "b"), 4, 4, away("Z", namespaces=["kube-system"])),
    "apart-everywhere": Case(zoned("a", "b"), 4, 2, away("Z", namespaceSelector={})),
    "closed-zone": Case(TRAP, 3, 1, spread("Z")),
    "closed-zone-more-skew": Case(TRAP, 4, 2, spread("Z", skew=2)),
    "closed-zone-not-counted": Case(TRAP, 4, 4, spread("Z", nodeTaintsPolicy="Honor")),
    "closed-zone-by-revision": Case(TRAP, 3, 1, spread("Z", by="app", matchLabelKeys=REVISION)),
    "closed-zone-nobody-counts": Case(TRAP, 4, 4, spread("Z", by="")),
    "closed-zone-with-pods": Case(TRAP, 3, 2, spread("Z"), held=(1,)),
    "ahead-already": Case(TRAP, 1, 0, spread("Z"), held=(0,)),
    "made-up-for": Case(zoned("a", "b"), 3, 3, spread("Z"), held=(0, 0)),
    "few-domains": Case(zoned("a", "b"), 3, 2, spread("Z", by="app", minDomains=3)),
    "enough-domains": Case(zoned("a", "b", "c"), 6, 6, spread("Z", minDomains=3)),
    "small-zone": Case(zoned("a", "b", pods={"b": "1"}), 5, 3, spread("Z")),
    "no-key": Case(zoned("", ""), 1, 0, spread("Z")),
    "zones-and-hosts": Case(zoned("a", "a", "b", closed="b"), 4, 2, spread("Z", HOST, skew=2)),
    "other-nodes-count": Case(zoned("a"), 3, 1, spread("Z", nodeAffinityPolicy="Ignore"), everywhere=True),
    "other-nodes-do-not-count": Case(zoned("a"), 3, 3, spread("Z"), everywhere=True),
}  # fmt: skip


def own(said: Object, name: str) -> Object:
    """What a case says, with names of its own."""
    text = json.dumps(said).replace('"Z"', f'"example.com/{name}"').replace('"CASE"', f'"{name}"')
    found: Object = json.loads(text)
    return found


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A plane of its own with the nodes of all cases, and nobody who reviews anything."""
    with ControlPlane(tmp_path_factory.mktemp("topology")) as running:
        nodes = []
        for name, case in CASES.items():
            for at, found in enumerate(case.nodes):
                said = own(found, name)
                nodes.append(node(f"{name}-{at}", {"case": name} | said.pop("labels"), **said))
            if case.everywhere:
                nodes.append(node(f"{name}-beside", own({"Z": "beside"}, name)))
        create_nodes(running.admin, nodes)
        namespace(running.admin, SPACE)
        yield running


@pytest.fixture(scope="module")
def verdicts(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Decision]:
    """What the webhook says of each workload; they are created all the same."""
    for name, case in CASES.items():
        for at, place in enumerate(case.held):
            spec = pod_spec(nodeName=f"{name}-{place}")
            plane.admin.create(pod(f"{name}-held-{at}", SPACE, spec, labels={JOB: name}))
    inventory = snapshot(plane.admin, tmp_path_factory.mktemp("snapshot"))
    found = {}
    for name, case in CASES.items():
        workload = asked(name, case)
        [made] = pods_of(workload)
        found[name] = decide_replicas(msgspec.convert(made.pod, Pod), SPACE, inventory, Policy(), made.replicas)
        plane.admin.create(workload)
    return found


def asked(name: str, case: Case) -> Object:
    """The Deployment of a case, whose pods go to its nodes."""
    spec = pod_spec(nodeSelector={"case": name}, **own(case.spec, name))
    return deployment(name, SPACE, case.count, spec=spec, labels={JOB: name})


def snapshot(api: Api, folder: Path) -> Inventory:
    """The nodes and pods of the API server, as ``explain`` reads them."""
    for kind, path in (("NodeList", "nodes"), ("PodList", "pods")):
        items = api.get(f"/api/v1/{path}")["items"]
        (folder / f"{path}.json").write_text(json.dumps({"apiVersion": "v1", "kind": kind, "items": items}))
    inventory = Inventory()
    assert not read_snapshot(folder, inventory).skipped
    return inventory


def running(api: Api, name: str) -> int:
    """How many pods of the case the scheduler has bound, once it has looked at all of them."""
    pods = api.get(f"/api/v1/namespaces/{SPACE}/pods?labelSelector=app%3D{name}")["items"]
    return sum(bool(one["spec"].get("nodeName")) for one in pods)


def looked_at(api: Api, name: str, count: int) -> bool:
    """Whether the scheduler has looked at so many pods."""
    pods = api.get(f"/api/v1/namespaces/{SPACE}/pods?labelSelector=app%3D{name}")["items"]
    said = [any(one["type"] == "PodScheduled" for one in each["status"].get("conditions", ())) for each in pods]
    return said.count(True) == count


@pytest.fixture(scope="module")
def settled(plane: ControlPlane, verdicts: Mapping[str, Decision]) -> Mapping[str, Decision]:
    """The verdicts, when the scheduler has done with the workloads of all cases, which are there at the same time."""

    def left() -> list[str]:
        return [name for name, case in CASES.items() if not looked_at(plane.admin, name, case.count)]

    until(lambda: not left(), "the scheduler has looked at all pods", 120)
    time.sleep(SETTLED)
    return verdicts


@pytest.mark.parametrize("name", CASES)
def test_so_many_run_as_the_webhook_says(plane: ControlPlane, settled: Mapping[str, Decision], name: str) -> None:
    case, decision = CASES[name], settled[name]
    until(lambda: running(plane.admin, name) >= case.fit, f"{case.fit} pods of {name} are bound", 60)
    assert running(plane.admin, name) == case.fit
    assert decision.refused == (case.fit < case.count), decision.message
    found = FITTING.search(decision.headline)
    assert (int(found[1]) if found else 0) == (case.fit if decision.refused else 0), decision.message
