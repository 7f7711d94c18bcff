"""``World``: the inventory of the cluster and the policy of the installation that one decision is made against.

A ``World`` answers selectors as the node index does, but counts the membership labels of HostPools as if the nodes had
these labels already: the controller is about to write the labels, and a pod of a pool that does not have its hosts yet
waits for the labels.
"""

import copy
import enum
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from typing import Final, TypeVar, cast

from msgspec.structs import replace

from webhook.placement.devices.published.devices import Devices
from webhook.placement.devices.selectors.selector import DeviceBudget
from webhook.placement.inventory.assumed_pods import AssumedPods
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.job_pods import JobPods
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.inventory.priorities import LowerPods
from webhook.placement.inventory.quota import Quota
from webhook.placement.kube.bits import Bits
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.pools.allocation import Allocation, eligible
from webhook.placement.pools.host_list import nodes_of_host
from webhook.placement.pools.pool_plan import granted
from webhook.placement.text.keys import MEMBERSHIP

_Part = TypeVar("_Part")
_Judged = TypeVar("_Judged")

_NO_PODS: Final = JobPods()


class Preemption(enum.Enum):
    """How much of what pods of lower priorities hold counts as free for a group of pods.

    ``SURE`` counts what the scheduler surely frees, whatever the order of the pods. ``POSSIBLE`` counts all that the
    pods of the highest priority could take, for all pods of the group; the scheduler may free less.
    """

    NONE = enum.auto()
    SURE = enum.auto()
    POSSIBLE = enum.auto()


class World:
    """An inventory, a policy, and the hosts that pools have or would get; one object for each decision.

    ``leaving`` is a workload whose live pods are left out, as they make room for the pods judged. It may
    be whole jobs (their namespaces and names), which are judged as if none of their pods ran. ``assumed``
    are pods that were bound a moment ago and may not be in the inventory yet. ``patient`` tells that the pod may wait
    for what the cluster lacks, ``unbound`` that the pod is to wait, so that ``nodeName`` must not be set.
    ``preemption`` is what counts as free for groups of pods; single pods are compared with what nodes offer in all.
    The pools ``choosing`` get hosts that suit the pods: each node that is eligible counts as any host of these.
    ``everything`` is the set of all nodes.
    """

    __slots__ = (
        "_allocations", "_assumed", "_choosing", "_hosts", "_known", "_leaving", "everything", "inventory", "patient",
        "policy", "preemption", "unbound",
    )  # fmt: skip

    def __init__(
        self,
        inventory: Inventory,
        policy: Policy,
        *,
        leaving: str | Collection[Name] = "",
        assumed: AssumedPods | None = None,
        patient: bool = False,
        unbound: bool = False,
    ) -> None:
        self.preemption = Preemption.NONE
        self.inventory = inventory
        self.policy = policy
        self.patient = patient
        self.unbound = unbound
        self._leaving = leaving
        self._assumed = assumed
        self._choosing: Collection[Name] = ()
        self.everything: Bits = inventory.nodes.everything
        self._hosts: dict[Name, dict[int, Bits]] = {}
        self._allocations: dict[Name, Allocation] = {}
        self._known: dict[int, tuple[object, object]] = {}

    def once(self, part: _Part, judge: Callable[[_Part, "World"], _Judged]) -> _Judged:
        """The result of ``judge`` for that part of a pod, kept for this decision: refusals read the pod several times.

        Results are found by the identity of the part.
        """
        kept = self._known.get(id(part))
        if kept is None:
            # The part is kept as well: once it were freed, another object could have its id.
            kept = self._known[id(part)] = part, judge(part, self)
        return cast("_Judged", kept[1])

    @property
    def node_groups(self) -> list[NodeGroup]:
        """The node groups that may make nodes for what waits, in the order in which they are tried."""
        return [] if self.policy.scale_up == "off" else self.inventory.node_groups.with_shapes(self.policy.node_shapes)

    @property
    def device_budget(self) -> DeviceBudget:
        """What the decision may still spend on devices."""
        return self.once(self.inventory.devices, _new_budget)

    def recovered(self, *, unbound: bool = False) -> "World | None":
        """The world as it will be when passing conditions of nodes have ended; ``None`` if no node has one.

        Passing conditions are those that end by themselves (``kube/tolerations.py``).
        """
        inventory = self.inventory.recovered()
        return None if inventory is None else self._over(inventory, unbound=unbound)

    def preempting(self, preemption: Preemption) -> "World":
        """The world in which that counts as free for groups of pods."""
        preempting = self._over(self.inventory, unbound=self.unbound)
        preempting.preemption = preemption
        return preempting

    def choosing(self, pools: Collection[Name]) -> "World":
        """The world in which these sized pools get hosts that suit the pods, whatever the controller would choose."""
        choosing = self._over(self.inventory, unbound=self.unbound)
        choosing._choosing = pools  # noqa: SLF001 -- of this class
        return choosing

    def _over(self, inventory: Inventory, *, unbound: bool) -> "World":
        """This world over another inventory."""
        world = World(
            inventory,
            self.policy,
            leaving=self._leaving,
            assumed=self._assumed,
            patient=self.patient,
            unbound=unbound,
        )
        world._choosing = self._choosing
        return world

    def without_new_nodes(self) -> "World":
        """The world in which no node group makes nodes for pods that wait."""
        if self.policy.scale_up == "off":
            return self
        fixed = copy.copy(self)
        fixed.policy = replace(self.policy, scale_up="off")
        return fixed

    def without_quotas(self) -> "World":
        """The world in which a namespace may have any number of HostPools, and of exclusive hosts."""
        unlimited = self._over(self.inventory, unbound=self.unbound)
        unlimited.policy = replace(self.policy, quota=Quota(), pool_quota=Quota())
        return unlimited

    @property
    def predicted(self) -> bool:
        """Whether hosts were asked for that a pool is yet to get: these depend on more than nodes and pools."""
        return bool(self._allocations)

    def job_pods(self, namespace: str, job: str) -> JobPods:
        """The live pods of the job, without those of the workload that is ``leaving``."""
        if not isinstance(self._leaving, str):
            return JobPods() if (namespace, job) in self._leaving else self.inventory.job_pods(namespace, job)
        job_pods = self.inventory.job_pods(namespace, job)
        return job_pods.without(self._leaving) if self._leaving else job_pods

    def leavers(self, namespace: str, job: str) -> JobPods | None:
        """The live pods of the job that belong to the workload that is ``leaving``.

        No pods where no workload is, ``None`` where the pods have no job, so that they are not known.
        """
        if not self._leaving:
            return JobPods()
        if not isinstance(self._leaving, str):
            return self.inventory.job_pods(namespace, job) if (namespace, job) in self._leaving else JobPods()
        return self.inventory.job_pods(namespace, job).of(self._leaving) if job else None

    def gone(self, namespace: str, job: str, preempts: int | None = None) -> Container[str]:
        """The uids of pods that count as gone: those that are being deleted, and those of the job that is leaving.

        With preemption so do pods of priorities below ``preempts``.
        """
        gone = self.once(self.leavers(namespace, job) or _NO_PODS, _ended)
        if preempts is None or self.preemption is Preemption.NONE:
            return gone
        return LowerPods(self.inventory.priorities, preempts, gone)

    def assumed_requests(self, node: str) -> Mapping[str, int]:
        """What pods bound to the node in the last seconds request, by resource."""
        return self._assumed.on(node) if self._assumed else {}

    def with_key(self, key: str) -> Bits:
        """Nodes that have the label, or will have it once their pool is ready."""
        hosts = self._members(key) if key.startswith(MEMBERSHIP) else None
        if hosts is None:
            return self.inventory.nodes.with_key(key)
        nodes = 0
        for host in hosts.values():
            nodes |= host
        return nodes

    def with_label(self, key: str, values: Iterable[str]) -> Bits:
        """Nodes whose label ``key`` has one of the values, or will have once their pool is ready."""
        hosts = self._members(key) if key.startswith(MEMBERSHIP) else None
        if hosts is None:
            return self.inventory.nodes.with_label(key, values)
        wanted = frozenset(values)
        nodes = 0
        for index, host in hosts.items():
            if str(index) in wanted:
                nodes |= host
        return nodes

    def beyond(self, key: str, bound: int, *, above: bool) -> Bits:
        """Nodes whose label ``key`` is a whole number above (or below) ``bound``."""
        return self.inventory.nodes.beyond(key, bound, above=above)

    def named(self, name: str) -> Bits:
        """The set of the node of that name; empty if it does not exist."""
        return self.inventory.nodes.named(name)

    def nodes_of_host(self, text: str) -> Bits:
        """The nodes that ``host("text")`` means: by address if the text is an IP address, else by name."""
        return nodes_of_host(text, self.inventory.nodes)

    def hosts(self, pool: Pool) -> dict[int, Bits]:
        """The hosts of a sized or literal pool by index: those that it has, or those that it would get now."""
        name = pool.namespace, pool.name
        if name not in self._hosts:
            self._hosts[name] = self.inventory.pools.hosts(pool) if self.complete(pool) else self._predicted(pool)
        return self._hosts[name]

    def complete(self, pool: Pool) -> bool:
        """Whether a sized or literal pool has all of its hosts, so that these carry its label."""
        return pool.phase is Phase.READY and all(self.inventory.pools.hosts(pool).values())

    def allocation(self, pool: Pool) -> Allocation:
        """The hosts that the controller would choose for the pool now."""
        name = pool.namespace, pool.name
        if name not in self._allocations:
            self._allocations[name] = granted(pool, self.inventory, self.policy)
        return self._allocations[name]

    def shortage(self, pool: Pool) -> str:
        """Why a sized pool that is not ready cannot be completed; empty if it can, or is ready."""
        if not pool.sized or pool.phase is Phase.READY or (pool.namespace, pool.name) in self._choosing:
            return ""
        return self.allocation(pool).reason

    def _predicted(self, pool: Pool) -> dict[int, Bits]:
        """The hosts, by index, that the pool would get now."""
        if (pool.namespace, pool.name) in self._choosing:
            # A pool that no node is eligible for is refused by itself; which nodes would be is not known.
            able = eligible(pool, self.inventory, self.policy) or self.everything
            standing = self.inventory.pools.hosts(pool)
            size = len(pool.hosts) if pool.hosts is not None else pool.size or 0
            return {index: standing.get(index) or able for index in range(size)}
        allocation = self.allocation(pool)
        if allocation.reason and pool.phase is not Phase.READY and not pool.elastic:
            # A pool gets all of its hosts or none, so no node is a host of a pool that cannot be completed.
            return {}
        return {host.index: self.named(host.name) for host in allocation.hosts}

    def _members(self, key: str) -> dict[int, Bits] | None:
        """The hosts of the pool whose membership label has that key; ``None`` if it is that of no pool."""
        name = self.inventory.pools.members.get(key)
        return None if name is None else self.hosts(self.inventory.pools[name])


def _ended(leavers: JobPods, world: World) -> Collection[str]:
    return {*world.inventory.leaving, *world.inventory.ending, *leavers.pods}


def _new_budget(_devices: Devices, world: World) -> DeviceBudget:
    return DeviceBudget.unhurried() if world.policy.unhurried else DeviceBudget()
