"""An assignment problem that no count and no first search decides, and that takes HiGHS many seconds."""

import random

import numpy as np

from webhook.placement.planning.search.assignment import AssignmentProblem, Block

NODES, BLOCKS, ROOM = 60, 100, 100


def hard_problem() -> AssignmentProblem:
    """A hundred blocks of a third to three quarters of a node, on half of the nodes each, apart in groups of eight."""
    chance = random.Random(1)  # noqa: S311 -- the same problem each time
    blocks = []
    for at in range(BLOCKS):
        nodes = np.array([chance.random() < 0.5 for _ in range(NODES)])
        key = frozenset((f"t{at // 8}",))
        blocks.append(Block(1, nodes, (chance.randint(30, 75),), key, key))
    return AssignmentProblem(np.arange(NODES), np.full((1, NODES), ROOM, np.int64), tuple(blocks))
