"""Check of a HostPool: whether it can get all of its hosts now, or why not and what would help (``docs/hostpool.md``).

Tenants read the text, so it names no node that the pool does not name itself, and nothing of other namespaces.
"""

import bisect
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.checks.eligibility import HostRule, best_fix, hurdles, labelling, ruled_out
from webhook.placement.checks.pool_devices import device_doubt, fewer_devices, look_at_devices, unmet_devices
from webhook.placement.checks.pool_growth import pool_growth
from webhook.placement.constraints.constraint import Reason
from webhook.placement.decision.refusal.cluster_change import labels_of_new
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.inventory.quota import HostQuotaExcess, excess, surplus, wanted
from webhook.placement.kube.bits import union
from webhook.placement.kube.selection.selector import matching_all, requirements_of
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_labels import labels_of, tags_of
from webhook.placement.pools.allocation import eligible
from webhook.placement.pools.host_list import entries, retainable
from webhook.placement.request.world import World
from webhook.placement.text.fix import LARGER_QUOTA, AddNode, Advice, Fix, Lower, Partly
from webhook.placement.text.problem import CLAUSE_LIMIT, REASON_LIMIT, shorten

_UNMATCHED: Final = Advice("change the selector, which no node can match")


class Completion(Struct, frozen=True):
    """The hosts that a pool would have now: ``hosts`` are the names of nodes, by index.

    ``refusal`` says why the pool cannot be completed, and is ``None`` if it can. ``reasons`` say why nodes are out,
    each node under one reason. ``warning`` is for a pool that may be completed later, when nodes come or recover;
    ``doubt`` says which hosts may lack devices.
    """

    hosts: tuple[str, ...] = ()
    refusal: Refusal | None = None
    reasons: tuple[Reason, ...] = ()
    warning: str = ""
    doubt: str = ""


def complete(pool: Pool, world: World) -> Completion:
    """Whether the pool could have all of its hosts now; the pool need not be in the inventory."""
    if too_many := surplus(pool, world.inventory, world.policy.pool_quota):
        return Completion(refusal=_refusal(pool, str(too_many), (), too_many.remedy))
    if not pool.sized:
        return _unsized(pool, world)
    over = excess(pool, world.inventory, world.policy.quota, wanted)
    if over and not world.complete(pool):
        reasons = tuple(ruled_out(hurdles(pool, world), world))
        return Completion(refusal=_refusal(pool, str(over), (), *_within_quota(pool, over, world)), reasons=reasons)
    completion = _literal(pool, world) if pool.hosts is not None else _sized(pool, world)
    if completion.refusal and (later := world.recovered()):
        return _in_time(completion.refusal, completion, complete(pool, later))
    if completion.refusal and (pool.elastic or world.policy.elastic):
        return _growing(completion, completion.refusal, pool, world)
    return completion


def _within_quota(pool: Pool, over: HostQuotaExcess, world: World) -> Iterator[Fix]:
    """What helps a pool over the quota of exclusive hosts: a larger one, if nodes are enough, or a lower size."""
    unlimited = world.without_quotas()
    short = complete(pool, unlimited).refusal
    most = next((fix.to for fix in short.fixes if isinstance(fix, Lower)), 0) if short else over.left
    eligible_now = f"{unlimited.allocation(pool).eligible} of {pool.size} would be eligible"
    yield Partly(LARGER_QUOTA, eligible_now) if short else LARGER_QUOTA
    if size := min(over.left, most):
        yield Lower("size", size)


def _growing(completion: Completion, refusal: Refusal, pool: Pool, world: World) -> Completion:
    """The completion of an elastic pool that lacks nodes: a warning, or the refusal if no node groups can make them."""
    growth = pool_growth(pool, (pool.size or 0) - world.allocation(pool).eligible, world)
    if growth and growth.reasons:
        fixes = _sizing(pool, hurdles(pool, world), world, growth.nodes)
        return replace(completion, refusal=refusal.with_reasons(growth.reasons, tuple(fixes)))
    more = f" {growth.notice}." if growth else ""
    return replace(completion, refusal=None, warning=f"no hosts yet: {refusal.headline}{more}")


def _in_time(refusal: Refusal, now: Completion, later: Completion) -> Completion:
    """The completion of a pool that is refused ``now``, given that of the world without passing conditions.

    A pool that could be completed then is not refused, but gets a warning.
    """
    if later.refusal or later.warning:
        return later
    return replace(now, refusal=None, warning=f"no hosts until nodes recover: {refusal.headline}")


def _sized(pool: Pool, world: World) -> Completion:
    """The completion of a pool with a size and no list of hosts."""
    look_at_devices(pool, world)
    allocation = world.allocation(pool)
    hosts = tuple(host.name for host in allocation.hosts)
    rules = hurdles(pool, world)
    reasons = tuple(ruled_out(rules, world))
    if not allocation.reason:
        return Completion(hosts, reasons=reasons, doubt=device_doubt(pool, union(map(world.named, hosts)), world))
    refusal = _refusal(pool, allocation.reason, reasons, *_sizing(pool, rules, world))
    return Completion(hosts, refusal, reasons)


def _sizing(pool: Pool, rules: tuple[HostRule, ...], world: World, new: int = 0) -> Iterator[Fix]:
    """What helps a pool that lacks nodes, although node groups can make ``new`` ones for it."""
    has = world.allocation(pool).eligible
    yield enlarging(pool, rules, world, has + new)
    if most := _most(pool, world, has) + new:
        yield Lower("size", most)
    yield from fewer_devices(pool, world)


def _most(pool: Pool, world: World, has: int) -> int:
    """The largest size with which the pool could have all of its hosts; ``has`` of its present size are eligible.

    A pool that shrinks loses the hosts at the last indices, whichever hosts these are.
    """
    free = eligible(pool, world.inventory, world.policy)
    keepable = retainable(pool, world.inventory, world.policy)
    own = [(index, nodes & keepable) for index, nodes in world.inventory.pools.hosts(pool).items()]

    def missing(size: int) -> int:
        return size - (free | union(nodes for index, nodes in own if index < size)).bit_count()

    return bisect.bisect_right(range(1, has + 1), 0, key=missing)


def enlarging(pool: Pool, rules: tuple[HostRule, ...], world: World, has: int) -> Fix:
    """The change that makes most nodes eligible for the pool, for which so many are; no more than needed."""
    size = pool.size or 0
    missing, best = size - has, best_fix(rules, world)
    if best is None:
        return _added(pool, world, missing)
    more = min(missing, best.nodes.bit_count())
    change = replace(best.fix, more=more)
    return Partly(change, f"{has + more} of {size} would be eligible") if more < missing else change


def _added(pool: Pool, world: World, missing: int) -> Fix:
    """Nodes to add that are eligible for the pool."""
    if pool.devices and (advice := unmet_devices(pool, world)):
        return advice
    labels = labels_of_new((*labels_of(pool), *requirements_of(world.policy.poolable)))
    if labels is None:
        return _UNMATCHED
    return AddNode(count=missing, labels=labels, having=" and ".join(map(str, pool.devices)))


def _literal(pool: Pool, world: World) -> Completion:
    """The completion of a pool that lists its hosts."""
    allocation = world.allocation(pool)
    hosts = tuple(host.name for host in allocation.hosts)
    if not allocation.reason:
        return Completion(hosts)
    faulty = [entry for entry in entries(pool, world.inventory, world.policy) if entry.fault]
    which = " that is exclusive to no other HostPool" if any(entry.claimed for entry in faulty) else ""
    fix = Advice(f"list each host once, by the name or an address of a node{which}")
    return Completion(hosts, _refusal(pool, allocation.reason, [entry.fault for entry in faulty], fix))


def _unsized(pool: Pool, world: World) -> Completion:
    """The completion of a pool without a size: all nodes with its labels are its hosts; a warning if there are none."""
    needs = labels_of(pool)
    reasons = tuple(ruled_out(hurdles(pool, world)[:1], world))
    if matching_all(world.inventory.nodes, needs):
        return Completion(reasons=reasons)
    rules = [f"has the {tags_of(pool)}"] if pool.tags else []
    rules += ["meets the selector"] if pool.selector else []
    fix = _first_host(pool, world)
    helps = f"; {fix}" if fix else ""
    missing = shorten(" and ".join(rules) or "is there", REASON_LIMIT)
    return Completion(reasons=reasons, warning=f"HostPool {_name(pool)} has no host now: no node {missing}{helps}")


def _first_host(pool: Pool, world: World) -> Fix | None:
    """What gives a pool without a size its first host; ``None`` if no labels do."""
    if best := labelling(pool, world.everything, world):
        return best.fix
    labels = labels_of_new(labels_of(pool))
    if labels is None:
        return _UNMATCHED
    return AddNode(labels=labels) if labels else None


def _refusal(pool: Pool, why: str, reasons: Sequence[object], *fixes: Fix) -> Refusal:
    """The refusal of the pool."""
    return Refusal.of_pools(f"HostPool {_name(pool)} cannot be completed: {why}.", reasons, fixes)


def _name(pool: Pool) -> str:
    """The SPL name of the pool, shortened."""
    return shorten(pool.spl_name, CLAUSE_LIMIT)
