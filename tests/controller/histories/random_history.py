"""A cluster where anything happens: nodes, pools and pods come and go, people meddle, and controllers die or stall."""

import asyncio
from collections.abc import Callable
from typing import Any

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import NODES, PODS, POOLS
from tests.controller.controller_process import ControllerProcess, wall_clock
from tests.controller.histories.random_cluster import RandomCluster
from tests.controller.histories.random_nodes import RandomNodes
from tests.controller.histories.random_pods import RandomPods
from tests.controller.histories.random_pools import RandomPools
from webhook.controller.reconciler_settings import ReconcilerSettings, Replacement
from webhook.placement.inventory.policy import Policy

Json = dict[str, Any]


class History:
    """One of them; everything follows from the seed. ``story`` tells what happened."""

    def __init__(self, seed: int) -> None:
        self.random_cluster = RandomCluster(seed)
        self.kube, self.story = self.random_cluster.kube, self.random_cluster.story
        self._dice = self.random_cluster.random
        replacing = self._dice.random() < 0.3
        self.rules = ReconcilerSettings(Policy(), Replacement(3.0, unlabelled=True) if replacing else Replacement())
        self.candidates: list[ControllerProcess] = []
        self.now: Callable[[], float] = wall_clock
        self._standby: ControllerProcess | None = None
        self._interference = self._dice.choice([0.0, 0.02, 0.1])
        self._nodes, self._pools, self._pods = (
            RandomNodes(self.random_cluster),
            RandomPools(self.random_cluster),
            RandomPods(self.random_cluster),
        )
        nodes, pools, pods = self._nodes, self._pools, self._pods
        self._happenings: list[Callable[[], None]] = [
            nodes.node_comes, nodes.node_comes, nodes.node_goes, nodes.node_is_made_anew, nodes.node_is_cordoned,
            nodes.node_is_retagged, nodes.node_is_tainted, nodes.node_is_about_to_go, nodes.label_is_lost,
            nodes.taint_is_lost, nodes.label_is_set, nodes.taint_is_set, nodes.address_moves,
            self.pool_comes, self.pool_comes, pools.pool_goes, pools.pool_is_edited, pools.pool_loses_its_finalizer,
            pools.pool_becomes_elastic, pods.stranger_comes, pods.stranger_comes, pods.pod_comes, pods.pod_goes,
            pods.pod_goes, pods.pod_terminates, self.candidate_dies, self.candidate_dies, self.candidate_stalls,
            self.watch_ends, self.requests_fail,
        ]  # fmt: skip

    async def run(self) -> None:
        """Let it happen."""
        for _ in range(self._dice.randint(1, 6)):
            self._nodes.node_comes()
        for _ in range(self._dice.randint(0, 2)):
            self.pool_comes()
        self.new_leader()
        for _ in range(self._dice.randint(4, 24)):
            await asyncio.sleep(self._dice.choice([0.0, 0.004, 0.02, 0.06, 0.3, 1.1, 1.1, 4.0, 12.0]))
            self.look_after_candidates()
            self._dice.choice(self._happenings)()
        await asyncio.sleep(self._dice.choice([0.0, 0.5, 2.0]))
        self.look_after_candidates()
        self.calm()

    def calm(self) -> None:
        """From now on nothing happens any more."""
        self._interference = 0.0
        for candidate in self.candidates:
            candidate.line.ends = float("inf")
            candidate.line.going.set()
        for node in self.kube.all(NODES):
            if node["metadata"].get("deletionTimestamp"):
                self._nodes.removed(node)
        if self.leader is None:
            self.new_leader()

    async def end(self) -> None:
        self.random_cluster.end()
        for candidate in (*self.candidates, *filter(None, [self._standby])):
            await candidate.end()

    def pool_comes(self) -> None:
        """At the same time as others who want the nodes."""
        self._pools.pool_comes()
        for _ in range(self._dice.choice([0, 0, 0, 1, 3])):
            self._pods.stranger_comes()

    # Controllers

    @property
    def leader(self) -> ControllerProcess | None:
        return next((one for one in self.candidates if not one.line.deposed and not one.ended), None)

    def new_leader(self) -> None:
        """The one that stood by, whose caches are as late as its watches, and another one stands by."""
        leader, self._standby = self._standby or self._candidate(), self._candidate()
        self.candidates.append(leader)
        leader.begin()

    def _candidate(self) -> ControllerProcess:
        delays = {kind: self._dice.choice([0.0, 0.0, 0.003, 0.05, 0.7, 6.0]) for kind in (NODES, PODS, POOLS)}
        candidate = ControllerProcess(self.kube, rules=self.rules, delays=delays, now=self.now)
        candidate.line.before = candidate.line.after = self._meanwhile
        return candidate

    def _meanwhile(self, path: str) -> None:
        """Somebody else writes to the same node at the same moment, or ends it."""
        if path in self.kube.objects and path.startswith(NODES) and self._dice.random() < self._interference:
            node, nodes = self.kube.objects[path], self._nodes
            what: tuple[Callable[[Json], None], ...] = (
                nodes.node_is_tainted,
                nodes.node_is_cordoned,
                nodes.node_is_retagged,
                nodes.removed,
            )
            self._dice.choice(what)(node)

    def look_after_candidates(self) -> None:
        """The lease of one that died or stalls runs out."""
        if self.leader is None:
            self.new_leader()

    def candidate_dies(self) -> None:
        if self.leader is not None:
            self.leader.line.ends = self.leader.line.requests + self._dice.randint(1, 8)
            self.leader.line.obeyed_at_the_end = self._dice.random() < 0.5
            self.random_cluster.tell(
                f"the leader dies {self.leader.line.ends - self.leader.line.requests} requests later"
            )

    def candidate_stalls(self) -> None:
        """It is paused, and deposed meanwhile; what it had in hand comes later."""
        if self.leader is not None:
            candidate = self.leader
            candidate.line.going.clear()
            candidate.depose()
            self.random_cluster.soon(self._dice.choice([0.5, 2.0, 9.0]), candidate.line.going.set)
            self.new_leader()
            self.random_cluster.tell("the leader stalls")

    def watch_ends(self) -> None:
        if self.leader is not None:
            self.leader.relist(self._dice.choice([NODES, PODS, POOLS]))

    def requests_fail(self) -> None:
        """Some requests do not arrive, or their answers do not."""
        if self.leader is not None:
            for failures in (self.leader.line.failures, self.leader.line.lost):
                lost = [ApiError(Cause.UNREACHABLE, "no answer")] * self._dice.randint(0, 2)
                failures.extend(lost)
