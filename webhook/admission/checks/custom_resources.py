"""HostPools and HPAIntents at ``/validate``: all that can be wrong with them before a pod uses them.

A new HostPool must follow its own rules, have a name that is free, and find hosts (``docs/hostpool.md``); one that
exists must keep its fields. An HPAIntent must be readable (``docs/hpaintent.md``).
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

from webhook.admission.answer import Answer
from webhook.admission.responses import CheckResult, Objection, allowed, answered
from webhook.admission.review import Review
from webhook.placement.checks.completion import complete
from webhook.placement.checks.unbound_pods import sleepers, sleepers_text
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.bits import union
from webhook.placement.kube.pod import Metadata
from webhook.placement.objects.intent import read_intent
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_spec import HostPoolSpec, pool_of_spec, problems_of_spec
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault, Problem, quote
from webhook.placement.text.rule import Rule

_DEFAULTS: Final[dict[str, Any]] = {
    "name": None, "job": None, "hosts": None, "size": None, "tags": (), "selector": None,
    "devices": (), "mode": "Shared",
}  # fmt: skip
"""The fields that cannot be changed, and what each means where nothing is said."""


class SubmittedHostPool(Struct, frozen=True, gc=False):
    """``streams.ibm.com/v1 HostPool`` as a user submits it."""

    metadata: Metadata = Metadata()
    spec: HostPoolSpec = HostPoolSpec()


_POOL: Final = msgspec.json.Decoder(SubmittedHostPool)


def submitted_pool(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Check a HostPool that is created: its own rules, its name, and whether it could have its hosts now."""
    new = _POOL.decode(review.object)
    if new.metadata.deletion_timestamp:
        return allowed(review)
    problems = [*problems_of_spec(new.spec), *_name_conflicts(new, review.namespace, inventory)]
    if problems:
        return answered(review, problems, policy)
    return answered(review, _completed(_value(new, review.namespace), World(inventory, policy)), policy)


def changed_pool(review: Review, _inventory: Inventory, policy: Policy) -> Answer:
    """Check an updated HostPool: the fields of its spec must stay as they are."""
    new = _POOL.decode(review.object)
    if new.metadata.deletion_timestamp:
        return allowed(review)
    return answered(review, _changes(_POOL.decode(review.old), new), policy)


def _changes(old: SubmittedHostPool, new: SubmittedHostPool) -> Iterator[Problem]:
    for field, default in _DEFAULTS.items():
        if (getattr(old.spec, field) or default) != (getattr(new.spec, field) or default):
            yield Problem(f"spec.{field}", "cannot be changed: create another HostPool instead")


def _completed(pool: Pool, world: World) -> Iterator[CheckResult]:
    completion = complete(pool, world)
    yield from filter(None, (completion.warning, completion.doubt))
    if completion.refusal:
        yield Objection(completion.refusal.text, Rule.POOL)
    elif not world.policy.guard_bindings:
        count = sleepers(pool, union(map(world.named, completion.hosts)), world.inventory, world.policy)
        if count:
            yield f"{sleepers_text(count)}: only the setting strict keeps such pods off"


def _value(new: SubmittedHostPool, namespace: str) -> Pool:
    """The pool as placement knows it, without any host; the API server may yet have to make up its name."""
    return pool_of_spec(new.spec, namespace, new.metadata.name or new.metadata.generate_name or "")


def _name_conflicts(new: SubmittedHostPool, namespace: str, inventory: Inventory) -> Iterator[Problem]:
    """One SPL name means one pool: within the namespace, or within the job that the pool belongs to."""
    name = new.spec.name or new.metadata.name or ""
    job = new.spec.job or None
    for pool in inventory.pools.named(namespace, name):
        if pool.job == job and pool.name != new.metadata.name:
            whose = f"job {job}" if job else "this namespace"
            message = f"{quote(name)} is the name of HostPool object {pool.name} of {whose} already"
            yield Problem("spec.name", message, fault=Fault.FORBIDDEN)


class SubmittedHPAIntent(Struct, frozen=True, gc=False):
    """``streams.ibm.com/v1 HPAIntent`` as a user submits it; ``read_intent`` reads its spec."""

    metadata: Metadata = Metadata()
    spec: Any = None


_INTENT: Final = msgspec.json.Decoder(SubmittedHPAIntent)


def submitted_intent(review: Review, _inventory: Inventory, policy: Policy) -> Answer:
    """Check an HPAIntent that is created or updated; pods that exist keep what they were given."""
    new = _INTENT.decode(review.object)
    if new.metadata.deletion_timestamp:
        return allowed(review)
    return answered(review, read_intent(review.namespace, "", {} if new.spec is None else new.spec).problems, policy)
