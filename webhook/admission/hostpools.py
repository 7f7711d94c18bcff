"""HostPool objects under review: their own rules, one name for one pool, and whether there are hosts for it."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

from webhook.admission.findings import Finding, Objection
from webhook.admission.review import Review
from webhook.placement.checks.completion import complete
from webhook.placement.checks.sleepers import in_words, sleepers
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import Pool
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_spec import HostPoolSpec, pool_of_spec, problems_of_spec
from webhook.placement.kube.bits import union
from webhook.placement.kube.pod import Metadata
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault, Problem, quote

DEFAULTS: Final[dict[str, Any]] = {
    "name": None, "job": None, "hosts": None, "size": None, "tags": (), "selector": None, "mode": "Shared",
}  # fmt: skip
"""The fields that cannot be changed, and what each means where nothing is said."""


class HostPool(Struct, frozen=True, gc=False):
    """A HostPool object as it is submitted."""

    metadata: Metadata = Metadata()
    spec: HostPoolSpec = HostPoolSpec()


_POOL = msgspec.json.Decoder(HostPool)


def submitted_pool(review: Review, cluster: Inventory, policy: Policy) -> Iterator[Finding]:
    """A pool that is created: it makes sense, its name is free, and it could have its hosts now."""
    new = _POOL.decode(review.object)
    if new.metadata.deletion_timestamp:
        return
    problems = [*problems_of_spec(new.spec), *_taken(new, review.namespace, cluster)]
    yield from problems
    if not problems:
        yield from _completed(_value(new, review.namespace), World(cluster, policy))


def changed_pool(review: Review, _cluster: Inventory, _policy: Policy) -> Iterator[Finding]:
    """A pool that is there already stays what it is."""
    new = _POOL.decode(review.object)
    if new.metadata.deletion_timestamp:
        return
    old = _POOL.decode(review.old)
    for field, default in DEFAULTS.items():
        if (getattr(old.spec, field) or default) != (getattr(new.spec, field) or default):
            yield Problem(f"spec.{field}", "cannot be changed: create another HostPool instead")


def _completed(pool: Pool, world: World) -> Iterator[Finding]:
    found = complete(pool, world)
    if found.warning:
        yield found.warning
    if found.refusal:
        yield Objection(found.refusal)
    elif not world.policy.guard_bindings:
        count = sleepers(pool, union(map(world.named, found.hosts)), world.inventory, world.policy)
        if count:
            yield f"{in_words(count)}: only the setting strict keeps such pods off"


def _value(new: HostPool, namespace: str) -> Pool:
    """The pool as placement knows it, without any host; its name may be yet to be made up."""
    return pool_of_spec(new.spec, namespace, new.metadata.name or new.metadata.generate_name or "")


def _taken(new: HostPool, namespace: str, cluster: Inventory) -> Iterator[Problem]:
    """One SPL name means one pool: within the namespace, or within the job that the pool belongs to."""
    name = new.spec.name or new.metadata.name or ""
    job = new.spec.job or None
    for pool in cluster.pools.named(namespace, name):
        if pool.job == job and pool.name != new.metadata.name:
            whose = f"job {job}" if job else "this namespace"
            message = f"{quote(name)} is the name of HostPool object {pool.name} of {whose} already"
            yield Problem("spec.name", message, fault=Fault.FORBIDDEN)
