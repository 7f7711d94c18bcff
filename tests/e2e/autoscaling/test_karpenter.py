"""Random pods and NodePools: what Karpenter makes of them is what the product says.

Karpenter runs with its own provider of kwok nodes. The product is called as by the API server, about the objects that
the API server returns; then the pod is created as the product patched it, or, if it is refused, as it would be patched
where nobody is refused.
"""

import contextlib
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from tests.e2e.autoscaling import karpenter
from tests.e2e.autoscaling.machines import Machine, has_machine, machines
from tests.e2e.autoscaling.random_cases import CASE, SPACE, ScalingCase, scaling_cases
from tests.e2e.client.api import MERGE, Api, Object
from tests.e2e.client.watch_cache import Watching
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import TooLateError, until
from tests.e2e.programs import binaries
from tests.e2e.progress import say
from tests.e2e.scheduling.batch import chunks
from tests.e2e.workloads import namespace
from tests.scheduling.product_answers import ELASTIC, Replica, admitted
from tests.scheduling.state import Cluster
from webhook.cluster.objects.kinds import NODE_CLAIMS, NODE_POOLS
from webhook.placement.inventory.policy import Policy

pytestmark = pytest.mark.long

COUNT: Final = int(os.environ.get("SCALING_CASES", "150"))
"""Cases of two pods each."""

_FIRST: Final = int(os.environ.get("FIRST", "0"))

_SIDE_BY_SIDE: Final = 25
_SECONDS: Final = 90.0
"""In which Karpenter makes the nodes of so many cases, and their pods are bound."""

_GRACE: Final = 12.0
"""Karpenter looks at a pod again that waits for so long."""

AUTO: Final = Policy(scale_up="auto")
STARTUP: Final = "startup"
"""The startup taint, which an agent on the node takes away."""


class Asked:
    """A pod of a case, what the product said of it, and the NodePools as they were then."""

    def __init__(self, pod: Object, said: str, text: str, node_pools: Sequence[Object]) -> None:
        self.pod, self.said, self.text, self.node_pools = pod, said, text, node_pools

    @property
    def name(self) -> str:
        """The pod's name with its namespace."""
        return f"{SPACE}/{self.pod['metadata']['name']}"


class ScalingRun:
    """What is there while Karpenter works."""

    def __init__(self, plane: ControlPlane, known: tuple[Machine, ...]) -> None:
        self.api = plane.admin
        self.machines = known
        self.pods = Watching(self.api, f"/api/v1/namespaces/{SPACE}/pods", lambda: None)
        self.nodes = Watching(self.api, "/api/v1/nodes", self._start_nodes)
        self.events = Watching(self.api, f"/api/v1/namespaces/{SPACE}/events", lambda: None)

    def _start_nodes(self) -> None:
        """Take startup taints away from nodes that have joined."""
        for node in self.nodes.objects.values():
            taints = node["spec"].get("taints", [])
            if any(taint["key"] == STARTUP for taint in taints) and _is_registered(node):
                left = [taint for taint in taints if taint["key"] != STARTUP]
                self.api.send("PATCH", f"/api/v1/nodes/{node['metadata']['name']}", {"spec": {"taints": left}},
                              content=MERGE)  # fmt: skip

    def ask(self, case: ScalingCase, at: int) -> Asked:
        """What the product says of a pod in the cluster as it is now, and the pod as it is created then."""
        stated = case.pods[at]
        names = [node_pool["metadata"]["name"] for node_pool in case.node_pools]
        node_pools = [self.api.get(f"{karpenter.GROUP}/nodepools/{name}") for name in names]
        own = [
            one for one in self.api.get("/api/v1/nodes")["items"] if one["metadata"]["labels"].get(CASE) == case.mark
        ]
        pods = self.api.get(f"/api/v1/namespaces/{SPACE}/pods", labelSelector=f"{CASE}={case.mark}")["items"]
        live = Cluster(tuple(own), tuple(one for one in pods if one["spec"].get("nodeName")), namespaces={SPACE: {}})
        moment = Replica(live)
        for found in node_pools:
            group, notes = NODE_POOLS.read(found)
            assert group is not None
            assert not notes
            moment.world.node_groups.put_node_pool(group)
        for found in self.api.get(f"{karpenter.GROUP}/nodeclaims")["items"]:
            claim, _ = NODE_CLAIMS.read(found)
            assert claim is not None
            moment.world.node_groups.put_claim(claim)
        moment.world.node_groups.claims_listed(readable=True)
        completed = self.api.send("POST", f"/api/v1/namespaces/{SPACE}/pods?dryRun=All", stated).body
        reviewed = {**stated, "spec": completed["spec"]}
        ruling = admitted(reviewed, live, AUTO, moment=moment)
        if ruling.pod is None:
            waiting = admitted(reviewed, live, ELASTIC, moment=Replica(live)).pod
            return Asked(waiting or stated, "never", ruling.message, node_pools)
        later = [warning for warning in ruling.warnings if "can make one" in warning]
        return Asked(ruling.pod, "later" if later else "now", " ".join(ruling.warnings), node_pools)

    def has_machine(self, asked: Asked) -> bool:
        """Whether Karpenter has a machine for the pod in one of the NodePools that the product has named."""
        able = (one for one in asked.node_pools if f"NodePool {one['metadata']['name']}" in asked.text)
        return any(has_machine(self.machines, one, asked.pod) for one in able)

    def decided(self, name: str) -> bool:
        """Whether the pod is bound, or Karpenter has said that it makes no node for it."""
        return self.place(name) != "" or any(
            one["involvedObject"]["name"] == name.partition("/")[2]
            and one["reason"] == "FailedScheduling"
            and "karpenter" in (one.get("reportingComponent"), one.get("source", {}).get("component"))
            for one in self.events.objects.values()
        )

    def place(self, name: str) -> str:
        """The node that the pod is bound to, if it is."""
        return str(self.pods.objects.get(name, {"spec": {}})["spec"].get("nodeName", ""))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScalingRun]:
    """A control plane of its own with Karpenter, without nodes."""
    files = binaries.karpenter()
    with ControlPlane(tmp_path_factory.mktemp("karpenter")) as plane, karpenter.running(plane, files):
        namespace(plane.admin, SPACE)
        found = ScalingRun(plane, machines(files["instance_types.json"]))
        watches = (found.pods, found.nodes, found.events)
        for watch in watches:
            watch.start()
        yield found
        for watch in watches:
            watch.stop()


def test_pods_get_a_node_from_karpenter_if_and_only_if_the_product_says_so(run: ScalingRun) -> None:
    """Nobody is refused for whom a node is made; who waits gets a node, unless Karpenter lacks such a machine."""
    wrong: list[str] = []
    figures: Counter[str] = Counter()
    for some in chunks([*scaling_cases(_FIRST, COUNT)], _SIDE_BY_SIDE):
        with _node_pools(run.api, some):
            rounds = [_round(run, some, at) for at in (0, 1)]
            time.sleep(_GRACE)
            for asked in (one for found in rounds for one in found):
                figure = _compared(run, asked)
                figures[figure] += 1
                if figure.startswith("wrong"):
                    wrong.append(f"{figure}: {asked.name}: {asked.text}")
        say(f"{sum(figures.values())} pods: {dict(sorted(figures.items()))}")
    assert not wrong, "\n".join(wrong)
    assert figures["later: bound to a new node"] > COUNT // 10
    assert figures["never: no node"] > COUNT // 10


def _compared(run: ScalingRun, asked: Asked) -> str:
    """What the product said, and what came of it."""
    place = run.place(asked.name)
    if asked.said == "never":
        said = "no node" if run.decided(asked.name) else "no node, and no word of Karpenter"
        return "wrong: refused, but bound" if place else f"never: {said}"
    if place:
        node = run.nodes.objects[f"/{place}"]
        maker = node["metadata"]["labels"]["karpenter.sh/nodepool"]
        if asked.said == "later" and f"NodePool {maker}" not in asked.text:
            return f"wrong: bound to a node of {maker}, which was not named"
        return f"{asked.said}: bound to a {'new ' * (asked.said == 'later')}node"
    if asked.said == "later" and not run.has_machine(asked):
        return "later: no node, as there is no such machine"
    return f"wrong: {asked.said}, but no node"


def _round(run: ScalingRun, some: Sequence[ScalingCase], at: int) -> list[Asked]:
    """Create a pod of each case, and wait until Karpenter has decided about all of them."""
    with ThreadPoolExecutor(4) as pool:
        asked = list(pool.map(lambda case: run.ask(case, at), some))
        list(pool.map(lambda one: run.api.create(one.pod), asked))
    names = [one.name for one in asked]
    with contextlib.suppress(TooLateError):
        until(lambda: all(map(run.decided, names)), "Karpenter has decided about all pods", _SECONDS)
    hopeful = [one.name for one in asked if one.said == "now" or (one.said == "later" and run.has_machine(one))]
    with contextlib.suppress(TooLateError):  # what is not bound then is told of with all else that is wrong
        until(lambda: all(map(run.place, hopeful)), "the pods are bound", _SECONDS)
    return asked


@contextlib.contextmanager
def _node_pools(api: Api, some: Sequence[ScalingCase]) -> Iterator[None]:
    """The NodePools of these cases are ready; afterwards they are gone with their nodes, and all pods."""
    paths = [f"{karpenter.GROUP}/nodepools/{one['metadata']['name']}" for case in some for one in case.node_pools]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(api.create, [one for case in some for one in case.node_pools]))
    until(lambda: all(_is_ready(api.get(path)) for path in paths), "the NodePools are ready", 60)
    yield
    api.delete(f"/api/v1/namespaces/{SPACE}/pods", gracePeriodSeconds="0")
    for path in paths:
        api.delete(path)
    until(lambda: not api.get(f"{karpenter.GROUP}/nodeclaims")["items"], "the NodeClaims are gone", 120)
    until(lambda: not api.get("/api/v1/nodes")["items"], "the nodes are gone", 60)


def _is_ready(node_pool: Object) -> bool:
    conditions = {one["type"]: one["status"] for one in (node_pool.get("status") or {}).get("conditions", ())}
    return conditions.get("Ready") == "True"


def _is_registered(node: Object) -> bool:
    return node["metadata"]["labels"].get("karpenter.sh/registered") == "true"
