"""Check whether a group contradicts itself, so that no change of the cluster would help.

The group is asked for a cluster that has everything: as many nodes as it could use, each with every label and all the
room that is wanted. What is left are the demands of pods on each other, names of nodes, and the sizes of HostPools.
"""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from webhook.placement.planning.group import Group, Sets
from webhook.placement.planning.search.assignment import AssignmentProblem, Block, HostNeed, Mask, PoolChoice, in_order
from webhook.placement.planning.search.solver import assign
from webhook.placement.planning.shared_node import named, split


async def contradictory(group: Group) -> bool:
    """Whether it is certain that no cluster could run the group."""
    blocks, owners = await group.blocks(group.counts)
    names = sorted({name for sets in owners for name in _named(group, sets)})
    used = _used(blocks)
    sizes = {pool: min(group.pools[pool].size or 0, _most(blocks, pool, indices)) for pool, indices in used.items()}
    # Nodes with a name come first; of the others there are as many as pods and hosts of pools could use.
    count = len(names) + sum(block.count for block in blocks) + sum(sizes.values())
    wanted = []
    for block, sets in zip(blocks, owners, strict=True):
        await group.solving.rest()
        hosts = in_order(_renamed(need, used) for need in block.hosts)
        wanted.append(
            replace(
                block, nodes=_nodes(group, sets, names, count), requests=(), hosts=hosts, limits=(), welcome=frozenset()
            )
        )
    every = np.ones(count, np.bool_)
    pools = tuple(PoolChoice(sizes[pool], every, group.pools[pool].exclusive) for pool in used)
    problem = AssignmentProblem(np.arange(count), np.zeros((0, count), np.int64), tuple(wanted), pools)
    answer = await assign(problem, group.solving)
    return answer.found is None and answer.decided


def _pools(block: Block) -> set[int]:
    return {need.pool for need in block.hosts}


def _most(blocks: Sequence[Block], pool: int, indices: Sequence[int]) -> int:
    """The number of hosts of the pool that could matter: one for each set of pods that needs any, and each index."""
    return sum(block.count for block in blocks if pool in _pools(block)) + len(indices)


def _used(blocks: Sequence[Block]) -> dict[int, list[int]]:
    """The pools that blocks use, in order, and the indices that they use of each."""
    by_pool: dict[int, set[int]] = {}
    for need in sorted({need for block in blocks for need in block.hosts}, key=lambda need: need.pool):
        by_pool.setdefault(need.pool, set()).update(() if need.index is None else (need.index,))
    return {pool: sorted(indices) for pool, indices in by_pool.items()}


def _renamed(need: HostNeed, used: dict[int, list[int]]) -> HostNeed:
    """The need with pools and indices renumbered, as only those that are used are there."""
    index = None if need.index is None else used[need.pool].index(need.index)
    return HostNeed([*used].index(need.pool), index)


def _named(group: Group, sets: Sets) -> set[str]:
    """The names of nodes that the pods of one of these equal sets ask for."""
    return {demand.constraint.node for at, _ in sets[0] for demand in group.members[at].conditions} - {""}


def _nodes(group: Group, sets: Sets, names: Sequence[str], count: int) -> Mask:
    """The nodes that can run the pods of one set."""
    own = _named(group, sets)
    conditions = [member.conditions for member in group.members]
    together = [at for at, _ in sets[0]]
    if (
        len(own) > 1
        or not group.welcome(together, conditions).issuperset(named(conditions, together))
        or split([(group.members[at], pods, group.members[at].conditions) for at, pods in sets[0]], group.isolated)
    ):
        return np.zeros(count, np.bool_)
    mask = np.ones(count, np.bool_)
    if own:
        mask[:] = False
        mask[names.index(own.pop())] = True
    return mask
