"""An assignment problem that no count and no first search decides, and that takes HiGHS many seconds."""

import random

import numpy as np

from webhook.placement.planning.search.assignment import AssignmentProblem, Block

NODES, ROOM = 40, 1000


def hard_problem() -> AssignmentProblem:
    """Three blocks for each node, which together fill it: all fit, but for this nothing may be left free anywhere."""
    chance = random.Random(1)  # noqa: S311 -- the same problem each time
    amounts = []
    for _ in range(NODES):
        first, second = chance.randint(260, 400), chance.randint(260, 330)
        amounts.extend((first, second, ROOM - first - second))
    chance.shuffle(amounts)
    every = np.ones(NODES, np.bool_)
    blocks = tuple(Block(1, every, (amount,)) for amount in amounts)
    return AssignmentProblem(np.arange(NODES), np.full((1, NODES), ROOM, np.int64), blocks)
