"""How a HostPool stands, in the words of its status (``docs/hostpool.md``). Pure."""

from typing import Final

from msgspec.structs import replace

from webhook.controller.hostpools.pool_status import State
from webhook.placement.checks.pool_health import OUT, guests, troubles
from webhook.placement.checks.sleepers import in_words, sleepers
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import Phase, Pool
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_labels import labels_of
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.selector import matching_all
from webhook.placement.pools.host_list import entries
from webhook.placement.pools.pool_plan import PoolPlan, plan
from webhook.placement.text.problem import counted

WAITING: Final = frozenset({"WaitingForNodes", "NotEnoughNodes"})
"""Reasons of pools that may get hosts as soon as there are more nodes."""


def invalid(fault: str) -> State:
    """It breaks rules, so it gets no hosts."""
    return State(Phase.FAILED, "Invalid", fault)


def unsized(pool: Pool, inventory: Inventory) -> State:
    """It has no hosts of its own."""
    needs = labels_of(pool)
    count = matching_all(inventory.nodes, needs).bit_count()
    what = "its hosts are the nodes that carry its tags and labels" if needs else "all nodes are its hosts"
    return State(Phase.READY, "Unsized", what, eligible=count)


def surplus(reason: str) -> State:
    """Its namespace has too many pools, so it gets no hosts."""
    return State(Phase.FAILED, "TooManyPools", reason)


def short(pool: Pool, found: PoolPlan, inventory: Inventory, policy: Policy) -> State:
    """There are not enough nodes, so it has no host; it waits for those that come, or only have to recover."""
    faults = [entry.fault for entry in entries(pool, inventory, policy) if entry.fault]
    waits = pool.elastic or policy.elastic or _recovering(pool, inventory, policy)
    phase, reason = (Phase.PENDING, "WaitingForNodes") if waits else (Phase.FAILED, "NotEnoughNodes")
    return State(phase, reason, found.reason, eligible=found.eligible, ready=0, degraded=faults)


def _recovering(pool: Pool, inventory: Inventory, policy: Policy) -> bool:
    """Whether there are enough nodes once conditions have passed that pass by themselves."""
    later = inventory.recovered()
    return later is not None and not plan(pool, later, policy).reason


def settling(found: PoolPlan) -> State:
    """Its hosts are marked; whether somebody slipped in is yet to be seen."""
    what = f"{counted(len(found.hosts), 'host')} marked, and given to it unless somebody slips in"
    return State(Phase.PENDING, "Settling", what, eligible=found.eligible, ready=0)


def ready(pool: Pool, found: PoolPlan, inventory: Inventory, policy: Policy) -> State:
    """It has its hosts, all of them or, if some cannot be replaced, the rest; but not if all are another pool's."""
    asleep = 0 if policy.guard_bindings else sleepers(pool, _nodes(found, inventory), inventory, policy)
    assigned = replace(pool, assigned=found.hosts)
    wrong = list(troubles(assigned, inventory))
    out = {trouble.host.index for trouble in wrong if trouble.kind == "gone" or trouble.kind in OUT}
    taken = sum(trouble.kind == "taken" for trouble in wrong)
    lost = taken == len(found.hosts)
    missing = [f"{found.reason}, so a host that is gone has not been replaced"] if found.reason else []
    return State(
        Phase.FAILED if lost else Phase.READY,
        "HostsTaken" if lost else "HostsAssigned",
        f"it has {counted(len(found.hosts), 'host')}{_of_which(taken, len(found.hosts))}{_asleep(asleep)}",
        hosts=found.hosts,
        ready=len(found.hosts) - len(out),
        eligible=found.eligible,
        degraded=(*missing, *map(str, wrong)),
        sleepers=asleep,
        guests=guests(assigned, inventory) if pool.exclusive else None,
    )


def _of_which(taken: int, hosts: int) -> str:
    """How many of the hosts are another pool's, in a clause; nothing if none is."""
    if not taken:
        return ""
    number = "" if hosts == 1 else "all of " if taken == hosts else f"{taken} of "
    return f", {number}which {'is' if taken == 1 else 'are'} exclusive to another HostPool"


def _asleep(number: int) -> str:
    """How many pods that wait may come to the hosts, in a clause; nothing if there are none."""
    return f"; {in_words(number)}" if number else ""


def _nodes(found: PoolPlan, inventory: Inventory) -> Bits:
    return union(inventory.nodes.named(host.name) for host in found.hosts)


def releasing(pool: Pool, busy: int) -> State:
    """It is deleted, and pods that name it are still there."""
    what = f"pods of the pool still run on {counted(busy, 'host')}"
    return State(Phase.RELEASING, "PodsLeft", what, hosts=pool.assigned, ready=len(pool.assigned))


def returned() -> State:
    """It stays, but its hosts were given back by hand, or when the product was uninstalled."""
    return State(Phase.PENDING, "HostsReturned", "its hosts were given back, and it gets others when a controller runs")
