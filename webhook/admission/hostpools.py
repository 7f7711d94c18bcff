"""HostPool objects under review: the rules of one object, its immutability, and one name for one pool."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from webhook.placement.inventory import Inventory
from webhook.placement.pod import Metadata
from webhook.placement.pool_spec import HostPoolSpec, problems_of_spec
from webhook.placement.problem import Fault, Problem, quote

DEFAULTS: Final[dict[str, Any]] = {
    "name": None, "job": None, "hosts": None, "size": None, "tags": (), "selector": None, "mode": "Shared",
}  # fmt: skip
"""The fields that cannot be changed, and what each means where nothing is said."""


class HostPool(Struct, frozen=True, gc=False):
    """A HostPool object as it is submitted."""

    metadata: Metadata = Metadata()
    spec: HostPoolSpec = HostPoolSpec()


def problems_of_pool(new: HostPool, old: HostPool | None, namespace: str, cluster: Inventory) -> Iterator[Problem]:
    """What is wrong with a pool that is created, or changed from ``old``."""
    if old is None:
        yield from problems_of_spec(new.spec)
        yield from _taken(new, namespace, cluster)
        return
    for field, default in DEFAULTS.items():
        if (getattr(old.spec, field) or default) != (getattr(new.spec, field) or default):
            yield Problem(f"spec.{field}", "cannot be changed: create another HostPool instead")


def _taken(new: HostPool, namespace: str, cluster: Inventory) -> Iterator[Problem]:
    """One SPL name means one pool: within the namespace, or within the job that the pool belongs to."""
    name = new.spec.name or new.metadata.name or ""
    job = new.spec.job or None
    for pool in cluster.pools_named(namespace, name):
        if pool.job == job and pool.name != new.metadata.name:
            whose = f"job {job}" if job else "this namespace"
            message = f"{quote(name)} is the name of HostPool object {pool.name} of {whose} already"
            yield Problem("spec.name", message, fault=Fault.FORBIDDEN)
