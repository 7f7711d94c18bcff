"""Bindings under review: a pod that is put onto a node past what its pools, or those of others, say."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from webhook.admission.findings import Finding, Objection
from webhook.admission.responses import unreadable_object
from webhook.admission.review import MALFORMED, Review
from webhook.placement.binding import obstacle, waiting
from webhook.placement.inventory import Inventory
from webhook.placement.pod import Metadata
from webhook.placement.policy import Policy
from webhook.placement.world import World


class _Target(Struct, frozen=True, gc=False):
    name: str = ""


class _Binding(Struct, frozen=True, gc=False):
    """``v1 Binding``: which pod goes to which node; schedulers say the pod's uid as well."""

    metadata: Metadata = Metadata()
    target: _Target = _Target()


_BINDING = msgspec.json.Decoder(_Binding)


def bound(review: Review, cluster: Inventory, policy: Policy) -> Iterator[Finding]:
    """A pod of a job that is known to wait; any other may be bound anywhere."""
    if not policy.guard_bindings:
        return
    try:
        binding = _BINDING.decode(review.object)
    except MALFORMED as error:
        yield unreadable_object("Binding", error)
        return
    name = binding.metadata.name or review.name
    pod = waiting(binding.metadata.uid or "", review.namespace, name, cluster)
    why = obstacle(pod, binding.target.name, World(cluster, policy)) if pod else ""
    if why:
        yield Objection(f"pod {name} cannot be bound: {why}")
