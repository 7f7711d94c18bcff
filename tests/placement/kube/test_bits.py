"""Sets of nodes as integers."""

import numpy as np
import pytest

from webhook.placement.kube.bits import from_mask, slots, to_slots


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        pytest.param([], 0, id="no slot"),
        pytest.param([False, False], 0, id="none"),
        pytest.param([True, False, True], 0b101, id="first slot is the lowest bit"),
        pytest.param([False] * 8 + [True], 1 << 8, id="beyond one byte"),
    ],
)
def test_a_mask_becomes_the_set_of_its_true_slots(mask: list[bool], expected: int) -> None:
    assert from_mask(np.array(mask, np.bool_)) == expected


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param(0, [], id="empty set"),
        pytest.param(0b1101, [0, 2, 3], id="several"),
        pytest.param(1 << 14_999, [14_999], id="one far slot"),
    ],
)
def test_slots_come_in_ascending_order(nodes: int, expected: list[int]) -> None:
    assert (list(slots(nodes)), to_slots(nodes).tolist()) == (expected, expected)
