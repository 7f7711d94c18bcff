"""DaemonSets at ``/guard``: refused if a toleration of every taint newly lets their pods onto exclusive hosts.

See ``docs/hostpool.md``.

The chart sends DaemonSets of users without the right to tolerate exclusive hosts, where such a toleration, or the
selection of nodes beside it, is new. A toleration of ``streams.ibm.com/exclusive`` by name is checked by an admission
policy of the chart, which needs no inventory.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from webhook.admission.answer import Answer
from webhook.admission.responses import answered
from webhook.admission.review import Review
from webhook.placement.decision.tolerated_hosts import opened, opening, toleration_field
from webhook.placement.decision.verdict import constraints_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import Metadata, Pod
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.text.api_kinds import HOST_POOL
from webhook.placement.text.keys import EXCLUSIVE
from webhook.placement.text.problem import Fault, Problem

RIGHT: Final = f"the verb tolerate on {HOST_POOL.full_resource} in the whole cluster"
"""The right that lets pods tolerate exclusive hosts, in the words of the chart's policies."""

_WAYS: Final = "name the taints that are meant, or choose other nodes"


class _SubmittedDaemonSetSpec(Struct, frozen=True, gc=False):
    template: Pod = Pod()


class _SubmittedDaemonSet(Struct, frozen=True, gc=False):
    """``apps/v1 DaemonSet``: exactly those fields that say where its pods may run."""

    metadata: Metadata = Metadata()
    spec: _SubmittedDaemonSetSpec = _SubmittedDaemonSetSpec()


_DAEMON_SET: Final = msgspec.json.Decoder(_SubmittedDaemonSet)


def guarded(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Check a DaemonSet that is created or updated: its pods must not get onto exclusive hosts."""
    return answered(review, _opened(review, World(inventory, policy)), policy)


def tolerates_exclusive(ask: Ask, world: World) -> bool:
    """Whether a workload whose pods ask for this takes the right: these tolerate exclusive hosts."""
    if any(toleration.key == EXCLUSIVE for toleration in ask.spec.tolerations or ()):
        return True
    return bool(opened(ask, constraints_of(ask, world).constraints, world))


def _opened(review: Review, world: World) -> Iterator[Problem]:
    """A problem for each toleration of every taint, if these open exclusive hosts that were not open before."""
    daemon_set = _DAEMON_SET.decode(review.object)
    if daemon_set.metadata.deletion_timestamp:
        return
    ask, hosts = _hosts(daemon_set, review, world)
    before = _hosts(_DAEMON_SET.decode(review.old), review, world)[1] if review.operation == "UPDATE" else 0
    if hosts & ~before:
        message = f"a toleration of everything would let the pods onto exclusive hosts, which takes {RIGHT}: {_WAYS}"
        for at in opening(ask, world):
            yield Problem(f"spec.template.{toleration_field(ask, at)}", message, fault=Fault.FORBIDDEN)


def _hosts(daemon_set: _SubmittedDaemonSet, review: Review, world: World) -> tuple[Ask, Bits]:
    """What a pod of the DaemonSet asks for, and the exclusive hosts of HostPools that it could get onto.

    With the policy ``strict`` nodes count too that may become exclusive later: pods of a DaemonSet that come then are
    not asked about.
    """
    template = world.inventory.pod_defaults.completed(daemon_set.spec.template, review.namespace)
    ask, _ = read(template, review.namespace, world)
    return ask, opened(ask, constraints_of(ask, world).constraints, world, ever=world.policy.strict)
