"""Scores of nodes: the cost of putting a pod on each node; the cheapest node is the best one (``docs/scoring.md``).

The cost model is that of the Poseidon node affinity design: a base from the use of cpu and memory after placing the
pod, plus 1000 minus the weights of the preferences that the node meets, and more for every further pod of one template.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from webhook.placement.inventory.capacity import Capacity, Row
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import to_slots
from webhook.placement.kube.pod import PreferredNodeTerm
from webhook.placement.kube.selection.selector import Nodes, matching_term

CONSTANT = 1000
"""Added to every cost: weights are at most 100 a term and rarely make the sum negative (Poseidon node affinity)."""

LOAD = 100
"""Cost of a further pod above the pod before it on the same node (Poseidon node affinity: 100, 200, ...)."""

_RESOURCES = ("cpu", "memory")

_MOST = 2**50
"""Largest amount in the arithmetic: thousandths of a sum of two fit into an ``int64``. No node has a pebibyte."""

Slots = npt.NDArray[np.intp] | slice
"""The slots to score, in order; ``ALL`` for every slot."""

ALL = slice(None)
"""Every slot."""


def base(capacity: Capacity, requests: Tally, slots: Slots = ALL, copies: Row | int = 1) -> Row:
    """The cost of each slot before preferences: from 1000 for an empty node to 2000 for one with full cpu and memory.

    ``requests`` are those of one pod, and ``copies`` is the number of such pods to put on each of the ``slots``. A
    resource that a node does not offer counts as full.
    """
    shares = [_share(capacity, resource, requests.get(resource, 0), slots, copies) for resource in _RESOURCES]
    return CONSTANT + sum(shares[1:], shares[0]) // len(shares)


def worth(capacity: Capacity, preferred: Iterable[PreferredNodeTerm], nodes: Nodes) -> Row:
    """For each slot, the sum of the weights of the preferred node terms that its node matches.

    Terms count as in the scheduler: an empty term adds nothing, and a duplicate term counts twice.
    """
    worths = np.zeros_like(capacity.rows(_RESOURCES[0])[0])
    for term in preferred:
        worths[to_slots(matching_term(nodes, term.preference))] += term.weight
    return worths


def costs(capacity: Capacity, requests: Tally, worths: Row, slots: Slots = ALL, copies: Row | int = 1) -> Row:
    """The cost on each slot of the pod number ``copies`` of one template, counted from 1 on each node.

    ``worths`` are the results of :func:`worth`, which lower the cost. Each pod before this one adds ``LOAD``, so the
    cost always grows with ``copies``.
    """
    return base(capacity, requests, slots, copies) - worths[slots] + LOAD * (copies - 1)


def _share(capacity: Capacity, resource: str, amount: int, slots: Slots, copies: Row | int) -> Row:
    """Use of one resource after adding ``copies`` of ``amount``, in thousandths of the allocatable amount."""
    allocatable, used = (row[slots] for row in capacity.rows(resource))
    asked = np.minimum(min(amount, _MOST) * copies, _MOST)
    using = np.minimum(used, _MOST) + asked
    return np.where(allocatable > 0, CONSTANT * using // np.maximum(allocatable, 1), CONSTANT)
