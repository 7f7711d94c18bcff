"""Equal pods over nodes, each to whichever is cheapest by then."""

import numpy as np
import pytest

from webhook.placement.inventory.capacity import Row
from webhook.placement.pools.score import LOAD
from webhook.placement.workload.ranking import Cost, spread


def row(*numbers: int) -> Row:
    return np.array(numbers, np.int64)


def loaded(*first: int) -> Cost:
    """Nodes whose first pod costs so much, and every further one a hundred more."""
    return lambda copies: row(*first) + LOAD * (copies - 1)


@pytest.mark.parametrize(
    ("count", "room", "first", "expected"),
    [
        pytest.param(6, (9, 9, 9), (0, 0, 0), [2, 2, 2], id="three equal nodes share six pods two by two"),
        pytest.param(7, (9, 9, 9), (0, 0, 0), [3, 2, 2], id="one more goes to the first of equal nodes"),
        pytest.param(2, (9, 9, 9), (0, 0, 0), [1, 1, 0], id="fewer pods than nodes"),
        pytest.param(5, (9, 1, 9), (0, 0, 0), [2, 1, 2], id="a node that is full is passed over"),
        pytest.param(4, (9, 0, 9), (0, -500, 0), [2, 0, 2], id="a node without room gets none, however cheap"),
        pytest.param(4, (9, 9), (200, 0), [1, 3], id="a cheaper node gets more"),
        pytest.param(3, (9, 9), (201, 0), [0, 3], id="a much cheaper node gets them all"),
        pytest.param(1, (9, 9), (10, 0), [0, 1], id="one pod goes to the cheapest node"),
        pytest.param(9, (2, 3), (0, 0), [2, 3], id="more pods than there is room for"),
        pytest.param(5, (2, 3), (0, 0), [2, 3], id="as many as there is room for"),
        pytest.param(0, (2, 3), (0, 0), [0, 0], id="no pod"),
        pytest.param(3, (), (), [], id="no node"),
    ],
)
def test_pods_go_to_the_node_that_is_cheapest_by_then(
    count: int, room: tuple[int, ...], first: tuple[int, ...], expected: list[int]
) -> None:
    assert spread(count, row(*room), loaded(*first)).tolist() == expected


def test_the_room_that_it_was_given_stays_as_it_is() -> None:
    room = row(2, 2)
    spread(3, room, loaded(0, 0))
    assert room.tolist() == [2, 2]


def test_thousands_of_pods_on_thousands_of_nodes_need_few_looks_at_all_of_them() -> None:
    """The levels of cost are halved (at most 2**20 of them), and for each the numbers of pods (at most 2**12)."""
    first = np.arange(5000) % 97
    looks = 0

    def cost(copies: Row) -> Row:
        nonlocal looks
        looks += 1
        return first + LOAD * (copies - 1)

    assert spread(4000, np.full(5000, 110, np.int64), cost).sum() == 4000
    assert looks < 20 * 12


def test_the_largest_number_that_a_workload_can_ask_for_is_spread_too() -> None:
    """``replicas`` is an ``int32``."""
    assert spread(2**31 - 1, np.full(2, 2**40, np.int64), loaded(0, 0)).tolist() == [2**30, 2**30 - 1]
