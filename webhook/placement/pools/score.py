"""What putting a pod on a node costs: the cheapest node is the best one (``docs/scoring.md``).

The cost model of the Poseidon node affinity design: a base from the use of cpu and memory after placing the pod,
plus 1000 minus the weights of the preferences that the node meets, and more for every further pod of the same kind.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from webhook.placement.inventory.capacity import Capacity, Row
from webhook.placement.inventory.objects import Tally
from webhook.placement.kube.bits import to_slots
from webhook.placement.kube.pod import PreferredNodeTerm
from webhook.placement.kube.selector import Nodes, matching_term

CONSTANT = 1000
"""Added to every cost so that weights, at most 100 a term, rarely make it negative (Poseidon node affinity)."""

LOAD = 100
"""What each further pod costs more than the one before it on the same node (Poseidon node affinity: 100, 200, ...)."""

_RESOURCES = ("cpu", "memory")

_MOST = 2**50
"""Amounts are cut to it, so that thousands of a sum of two fit into an ``int64``; a pebibyte is not a node's."""

Slots = npt.NDArray[np.intp] | slice
"""Which slots are asked about, in which order; ``ALL`` for each of them."""

ALL = slice(None)


def base(capacity: Capacity, requests: Tally, slots: Slots = ALL, copies: Row | int = 1) -> Row:
    """The cost of each slot: 1000 for an empty node, 2000 for one that cpu and memory would fill.

    ``requests`` are the amounts of the pod to place, ``copies`` how many of them there would be then, on each of the
    ``slots``; a resource that a node does not offer counts as full.
    """
    shares = [_share(capacity, resource, requests.get(resource, 0), slots, copies) for resource in _RESOURCES]
    return CONSTANT + sum(shares[1:], shares[0]) // len(shares)


def worth(capacity: Capacity, preferred: Iterable[PreferredNodeTerm], nodes: Nodes) -> Row:
    """The weights of the preferred node terms that each slot's node matches, added up.

    As Kubernetes scores them: a term that says nothing adds nothing, and one that is there twice counts twice.
    """
    found = np.zeros_like(capacity.rows(_RESOURCES[0])[0])
    for term in preferred:
        found[to_slots(matching_term(nodes, term.preference))] += term.weight
    return found


def costs(capacity: Capacity, requests: Tally, worths: Row, slots: Slots = ALL, copies: Row | int = 1) -> Row:
    """What one more pod costs on each slot, if it is the first, second, ... of such pods there: ``copies``.

    Less by what the slot is ``worth``, more by ``LOAD`` for each copy before it: it always grows with ``copies``.
    """
    return base(capacity, requests, slots, copies) - worths[slots] + LOAD * (copies - 1)


def _share(capacity: Capacity, resource: str, amount: int, slots: Slots, copies: Row | int) -> Row:
    """Use of one resource after adding ``copies`` of ``amount``, in thousandths of what each slot offers."""
    allocatable, used = (row[slots] for row in capacity.rows(resource))
    asked = np.minimum(min(amount, _MOST) * copies, _MOST)
    using = np.minimum(used, _MOST) + asked
    return np.where(allocatable > 0, CONSTANT * using // np.maximum(allocatable, 1), CONSTANT)
