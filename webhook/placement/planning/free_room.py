"""The free amount of each resource on each node for a group of pods."""

from collections.abc import Collection, Mapping
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from webhook.placement.inventory.pool_index import Name
from webhook.placement.request.world import World

MOST: Final = 2**50
"""Largest amount in the arithmetic: sums of thousands of such amounts fit into an ``int64``. No node has a pebibyte."""

Restarting: TypeAlias = Collection[Name] | Mapping[Name, Collection[str]]
"""Jobs whose pods make room; as a mapping it has, for each job, processing elements whose pods stay."""


def free_room(
    world: World,
    resources: Collection[str],
    slots: npt.NDArray[np.intp],
    restarting: Restarting,
    level: int | None = None,
) -> npt.NDArray[np.int64]:
    """What is free of each resource on each node, with what pods leave that are deleted, or to be restarted.

    With a ``level`` what pods of lower priorities hold is free as well.
    """
    inventory = world.inventory
    leaving = [(inventory.nodes.slot_of[pod.node], pod.requests, uid) for uid, pod in inventory.leaving.items()]
    ending = [(pod.slot, pod.requests, uid) for uid, pod in inventory.ending.items()]
    stays = restarting if isinstance(restarting, Mapping) else dict.fromkeys(restarting, ())
    own = [
        (slot, pod.requests, pod.uid)
        for job, elements in stays.items()
        if (pods := world.leavers(*job))
        for slot, pod in pods.pods.values()
        if pod.pe not in elements
    ]
    priorities = inventory.priorities
    # Of pods that go, those of lower priorities are counted by their priorities.
    going = [(slot, requests) for slot, requests, uid in (*leaving, *ending, *own)
             if level is None or priorities.of(uid) >= level]  # fmt: skip
    rows = []
    for resource in resources:
        allocatable, used = inventory.nodes.capacity.rows(resource)
        row = allocatable - used
        if level is not None:
            row += priorities.below(level, resource, inventory.nodes.capacity, len(row))
        for slot, requests in going:
            row[slot] += requests.get(resource, 0)
        rows.append(np.clip(row[slots], -MOST, MOST))
    return np.array(rows, np.int64).reshape(len(rows), len(slots))
