"""The status of a HostPool: its states in words, and the merge patch that writes one (``docs/hostpool.md``). Pure."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.controller.conditions import merged_conditions
from webhook.controller.hostpools.pool_object import StoredPool
from webhook.placement.checks.pool_health import OUT, guests, troubles
from webhook.placement.checks.unbound_pods import sleepers, sleepers_text
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.selection.selector import matching_all
from webhook.placement.objects.condition import ConditionState
from webhook.placement.objects.pool import Phase, Pool, PoolHost
from webhook.placement.objects.pool_labels import labels_of
from webhook.placement.pools.host_list import entries
from webhook.placement.pools.pool_plan import PoolPlan, plan
from webhook.placement.text.problem import counted, enumerated

NAMED: Final = 20
"""Workloads on exclusive hosts that a message names; a cluster has a handful of agents."""

Document = dict[str, Any]


class State(Struct, frozen=True):
    """The state of a pool that its status reports: phase, reason, hosts, and what is wrong with hosts."""

    phase: Phase
    reason: str
    message: str
    hosts: tuple[PoolHost, ...] = ()
    ready: int | None = None
    """Number of hosts that exist and are marked; ``None`` for a pool without assigned hosts."""
    eligible: int | None = None
    degraded: Sequence[str] = ()
    """Sentences without full stops about hosts in trouble; empty if there are none."""
    sleepers: int = 0
    """Number of pods, of any owner, that wait and may be bound to the hosts; the message says so."""
    guests: tuple[str, ...] | None = None
    """Foreign workloads that tolerate the taint and run on the hosts; ``None`` for a pool without exclusive hosts."""


def status_of(stored: StoredPool, state: State, now: str) -> Document | None:
    """The merge patch of the status; ``None`` if the stored status equals it."""
    wanted: Document = {
        "name": stored.pool and stored.pool.spl_name,
        "phase": state.phase.value,
        "hosts": [{"index": host.index, "name": host.name, "uid": host.uid} for host in state.hosts],
        "readyHosts": state.ready,
        "eligible": state.eligible,
        "conditions": _conditions(stored, state, now),
        "observedGeneration": stored.metadata.generation,
    }
    said = {**dict.fromkeys(wanted), "hosts": [], **stored.status}
    if all(said[field] == value for field, value in wanted.items()):
        return None
    return {"metadata": {"resourceVersion": stored.metadata.resource_version}, "status": wanted}


def _conditions(stored: StoredPool, state: State, now: str) -> list[Document]:
    """The conditions to write."""
    degraded = "; ".join(state.degraded)
    states = {
        "Ready": ConditionState(state.phase is Phase.READY, state.reason, state.message),
        "Degraded": ConditionState(bool(degraded), "HostsInTrouble" if degraded else "HostsServe", degraded),
    }
    if state.guests is not None:
        reason = "OthersTolerate" if state.guests else "NobodyElse"
        states["Exclusive"] = ConditionState(not state.guests, reason, shared(state))
    return merged_conditions(stored.status.get("conditions"), states, stored.metadata.generation, now)


def shared(state: State) -> str:
    """A sentence without full stop that names foreign workloads on the hosts; empty if there are none."""
    if not state.guests:
        return ""
    return f"these tolerate its taint and run on its hosts: {enumerated(state.guests, NAMED)}"


WAITING: Final = frozenset({"WaitingForNodes", "NotEnoughNodes"})
"""Reasons of pools that get hosts once there are more nodes."""


def invalid(fault: str) -> State:
    """State of a pool whose object breaks rules: it gets no hosts."""
    return State(Phase.FAILED, "Invalid", fault)


def unsized(pool: Pool, inventory: Inventory) -> State:
    """State of a pool without a size and a list of hosts: pods use every eligible node."""
    needs = labels_of(pool)
    count = matching_all(inventory.nodes, needs).bit_count()
    what = "its hosts are the nodes that carry its tags and labels" if needs else "all nodes are its hosts"
    return State(Phase.READY, "Unsized", what, eligible=count)


def surplus(reason: str) -> State:
    """State of a pool beyond its namespace's limit of pools: it gets no hosts."""
    return State(Phase.FAILED, "TooManyPools", reason)


def short(pool: Pool, chosen: PoolPlan, inventory: Inventory, policy: Policy) -> State:
    """State of a pool without enough nodes: Pending if nodes may come or recover, else Failed."""
    faults = [entry.fault for entry in entries(pool, inventory, policy) if entry.fault]
    waits = pool.elastic or policy.elastic or _recovering(pool, inventory, policy)
    phase, reason = (Phase.PENDING, "WaitingForNodes") if waits else (Phase.FAILED, "NotEnoughNodes")
    return State(phase, reason, chosen.reason, eligible=chosen.eligible, ready=0, degraded=faults)


def _recovering(pool: Pool, inventory: Inventory, policy: Policy) -> bool:
    """Whether there will be enough nodes once passing conditions, such as not-ready, are over."""
    later = inventory.recovered()
    return later is not None and not plan(pool, later, policy).reason


def settling(chosen: PoolPlan) -> State:
    """State of a pool whose hosts are marked and still have to be checked for pods that were bound meanwhile."""
    what = f"{counted(len(chosen.hosts), 'host')} marked; assigned next, unless another pod is found there"
    return State(Phase.PENDING, "Settling", what, eligible=chosen.eligible, ready=0)


def ready(pool: Pool, chosen: PoolPlan, inventory: Inventory, policy: Policy) -> State:
    """State of a pool with hosts: Ready, even if some hosts are gone; Failed if another pool has taken all of them."""
    asleep = 0 if policy.guard_bindings else sleepers(pool, _nodes(chosen, inventory), inventory, policy)
    assigned = replace(pool, assigned=chosen.hosts)
    wrong = list(troubles(assigned, inventory))
    out = {trouble.host.index for trouble in wrong if trouble.kind == "gone" or trouble.kind in OUT}
    stolen = sum(trouble.kind == "taken" for trouble in wrong)
    lost = stolen == len(chosen.hosts)
    missing = [f"{chosen.reason}, so a host that is gone has not been replaced"] if chosen.reason else []
    return State(
        Phase.FAILED if lost else Phase.READY,
        "HostsTaken" if lost else "HostsAssigned",
        f"it has {counted(len(chosen.hosts), 'host')}{_of_which(stolen, len(chosen.hosts))}{_asleep(asleep)}",
        hosts=chosen.hosts,
        ready=len(chosen.hosts) - len(out),
        eligible=chosen.eligible,
        degraded=(*missing, *map(str, wrong)),
        sleepers=asleep,
        guests=guests(assigned, inventory) if pool.exclusive else None,
    )


def _of_which(stolen: int, hosts: int) -> str:
    """A clause that counts the hosts taken by another pool; empty if none is."""
    if not stolen:
        return ""
    number = "" if hosts == 1 else "all of " if stolen == hosts else f"{stolen} of "
    return f", {number}which {'is' if stolen == 1 else 'are'} exclusive to another HostPool"


def _asleep(number: int) -> str:
    """A clause that counts sleepers; empty if there are none."""
    return f"; {sleepers_text(number)}" if number else ""


def _nodes(chosen: PoolPlan, inventory: Inventory) -> Bits:
    return union(inventory.nodes.named(host.name) for host in chosen.hosts)


def releasing(pool: Pool, busy: int) -> State:
    """State of a pool that is being deleted while pods that name it still run."""
    what = f"pods of the pool still run on {counted(busy, 'host')}"
    return State(Phase.RELEASING, "PodsLeft", what, hosts=pool.assigned, ready=len(pool.assigned))


def returned() -> State:
    """State of a pool whose hosts the ``release`` command, or the uninstallation, has released."""
    return State(Phase.PENDING, "HostsReturned", "its hosts were released; a running controller assigns others")
