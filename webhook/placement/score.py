"""What putting a pod on a node costs: the cheapest node is the best one.

The cost model of the Poseidon node affinity design: a base from the use of cpu and memory after placing the pod,
plus 1000 minus the weights of the preferences that the node meets.
"""

import numpy as np
import numpy.typing as npt

from webhook.placement.capacity import Capacity
from webhook.placement.cluster import Tally

CONSTANT = 1000
"""Added to every cost so that weights, at most 100 a term, rarely make it negative (Poseidon node affinity)."""

_RESOURCES = ("cpu", "memory")


def base(capacity: Capacity, requests: Tally) -> npt.NDArray[np.int64]:
    """The cost of each slot: 1000 for an empty node, 2000 for one that cpu and memory would fill.

    ``requests`` are the amounts of the pod to place; a resource that a node does not offer counts as full.
    """
    shares = [_share(capacity, resource, requests.get(resource, 0)) for resource in _RESOURCES]
    return CONSTANT + sum(shares[1:], shares[0]) // len(shares)


def _share(capacity: Capacity, resource: str, amount: int) -> npt.NDArray[np.int64]:
    """Use of one resource after adding ``amount``, in thousandths of what each slot offers."""
    allocatable, used = capacity.rows(resource)
    return np.where(allocatable > 0, CONSTANT * (used + amount) // np.maximum(allocatable, 1), CONSTANT)
