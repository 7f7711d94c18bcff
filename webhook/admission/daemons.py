"""``/guard``: DaemonSets that tolerate everything, while some hosts are exclusive (``docs/hostpool.md``).

The chart sends those of users without the right to tolerate exclusive hosts, where such a toleration, or the choice of
nodes beside it, is new. A toleration of ``streams.ibm.com/exclusive`` by name is the business of an admission policy,
which needs no inventory.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from webhook.admission.answer import Answer
from webhook.admission.findings import answer
from webhook.admission.responses import allowed, denied, unreadable, unreadable_object
from webhook.admission.review import MALFORMED, Review, Unreadable, read_review
from webhook.placement.decision.tolerated_hosts import opened, opening
from webhook.placement.decision.verdict import constraints_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import Metadata, Pod
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.text.keys import EXCLUSIVE
from webhook.placement.text.problem import Fault, Problem

RIGHT: Final = "the verb tolerate on streamshostpools.streams.ibm.com in the whole cluster"
"""What it takes to let pods tolerate exclusive hosts, in words that the chart's policies use as well."""

_WAYS: Final = "name the taints that are meant, or choose other nodes"


class _Spec(Struct, frozen=True, gc=False):
    template: Pod = Pod()


class _DaemonSet(Struct, frozen=True, gc=False):
    """As much of a DaemonSet as says where its pods may run."""

    metadata: Metadata = Metadata()
    spec: _Spec = _Spec()


_DAEMON_SET: Final = msgspec.json.Decoder(_DaemonSet)


def guard_daemons(body: bytes, cluster: Inventory, policy: Policy) -> Answer:
    """Review one request body against the cluster; everything but a new or changed DaemonSet is allowed."""
    try:
        review = read_review(body)
    except Unreadable as error:
        return unreadable(str(error))
    if not review.what("apps", "DaemonSet", "CREATE", "UPDATE"):
        return allowed(review)
    try:
        problems = list(_opened(review, World(cluster, policy)))
    except MALFORMED as error:
        return denied(review, Fault.INVALID, unreadable_object("DaemonSet", error))
    return answer(review, problems, policy) if problems else allowed(review)


def tolerates_exclusive(ask: Ask, world: World) -> bool:
    """Whether letting pods that ask for this onto nodes takes the right: they tolerate exclusive hosts."""
    if any(toleration.key == EXCLUSIVE for toleration in ask.spec.tolerations or ()):
        return True
    return bool(opened(ask, constraints_of(ask, world).constraints, world))


def _opened(review: Review, world: World) -> Iterator[Problem]:
    """A problem for each toleration of everything, if hosts are exclusive that these open and did not open before."""
    found = _DAEMON_SET.decode(review.object)
    if found.metadata.deletion_timestamp:
        return
    ask, hosts = _hosts(found, review, world)
    before = _hosts(_DAEMON_SET.decode(review.old), review, world)[1] if review.operation == "UPDATE" else 0
    if hosts & ~before:
        message = f"a toleration of everything would let the pods onto exclusive hosts, which takes {RIGHT}: {_WAYS}"
        for at in opening(ask, world):
            yield Problem(f"spec.template.spec.tolerations[{at}]", message, fault=Fault.FORBIDDEN)


def _hosts(found: _DaemonSet, review: Review, world: World) -> tuple[Ask, Bits]:
    """What a pod of the DaemonSet asks for, and the exclusive hosts of others that it could get onto.

    Where all is strict hosts count that may be exclusive one day: the agents that come then are believed.
    """
    ask, _ = read(found.spec.template, review.namespace, world)
    return ask, opened(ask, constraints_of(ask, world).constraints, world, ever=world.policy.strict)
