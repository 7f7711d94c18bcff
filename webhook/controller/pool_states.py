"""How a HostPool stands, in the words of its status (``docs/hostpool.md``). Pure."""

from msgspec.structs import replace

from webhook.controller.pool_status import State
from webhook.placement.cluster import Phase, Pool
from webhook.placement.inventory import Inventory
from webhook.placement.policy import Policy
from webhook.placement.pool_health import troubles
from webhook.placement.pool_labels import labels_of
from webhook.placement.pool_plan import PoolPlan, plan
from webhook.placement.problem import counted
from webhook.placement.selector import matching_all


def invalid(fault: str) -> State:
    """It breaks rules, so it gets no hosts."""
    return State(Phase.FAILED, "Invalid", fault)


def unsized(pool: Pool, cluster: Inventory) -> State:
    """It has no hosts of its own."""
    needs = labels_of(pool)
    count = matching_all(cluster.nodes, needs).bit_count()
    what = "its hosts are the nodes that carry its tags and labels" if needs else "all nodes are its hosts"
    return State(Phase.READY, "Unsized", what, eligible=count)


def short(pool: Pool, found: PoolPlan, cluster: Inventory, policy: Policy) -> State:
    """There are not enough nodes, so it has no host; it waits for those that come, or only have to recover."""
    waits = pool.elastic or policy.elastic or _recovering(pool, cluster, policy)
    phase, reason = (Phase.PENDING, "WaitingForNodes") if waits else (Phase.FAILED, "NotEnoughNodes")
    return State(phase, reason, found.reason, eligible=found.eligible, ready=0)


def _recovering(pool: Pool, cluster: Inventory, policy: Policy) -> bool:
    """Whether there are enough nodes once conditions have passed that pass by themselves."""
    later = cluster.recovered()
    return later is not None and not plan(pool, later, policy).reason


def settling(found: PoolPlan) -> State:
    """Its hosts are marked; whether somebody slipped in is yet to be seen."""
    what = f"{counted(len(found.hosts), 'host')} marked, and given to it unless somebody slips in"
    return State(Phase.PENDING, "Settling", what, eligible=found.eligible, ready=0)


def ready(pool: Pool, found: PoolPlan, cluster: Inventory) -> State:
    """It has its hosts, all of them or, if some cannot be replaced, the rest."""
    wrong = list(troubles(replace(pool, given=found.hosts), cluster))
    out = {trouble.host.index for trouble in wrong if trouble.kind in {"gone", "unusable"}}
    missing = [f"{found.reason}, so a host that is gone has not been replaced"] if found.reason else []
    return State(
        Phase.READY,
        "HostsAssigned",
        f"it has {counted(len(found.hosts), 'host')}",
        hosts=found.hosts,
        ready=len(found.hosts) - len(out),
        eligible=found.eligible,
        degraded=(*missing, *map(str, wrong)),
    )


def releasing(pool: Pool, busy: int) -> State:
    """It is deleted, and pods that name it are still there."""
    what = f"pods of the pool still run on {counted(busy, 'host')}"
    return State(Phase.RELEASING, "PodsLeft", what, hosts=pool.given, ready=len(pool.given))
