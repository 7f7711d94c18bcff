"""Labels compared as whole numbers."""

import pytest

from tests.builders import node
from webhook.placement.inventory.index import NodeIndex
from webhook.placement.kube.numbers import integer
from webhook.placement.objects.node import Node


def index(*found: Node) -> NodeIndex:
    """An index of these nodes, in slots 0, 1, ..."""
    made = NodeIndex()
    for one in found:
        made.put(one)
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0", 0, id="zero"),
        pytest.param("-12", -12, id="negative"),
        pytest.param("+7", 7, id="with a plus"),
        pytest.param("007", 7, id="leading zeros"),
        pytest.param("0" * 60 + "7", 7, id="more zeros than digits of any number"),
        pytest.param("+", None, id="a sign alone"),
        pytest.param("9223372036854775807", 2**63 - 1, id="largest"),
        pytest.param("9223372036854775808", None, id="one too large"),
        pytest.param("-9223372036854775808", -(2**63), id="smallest"),
        pytest.param("", None, id="empty"),
        pytest.param("1.5", None, id="fraction"),
        pytest.param("1_000", None, id="underscore"),
        pytest.param(" 1", None, id="blank"),
        pytest.param("\u0661", None, id="Arabic digit"),
        pytest.param("1" * 5000, None, id="thousands of digits"),
    ],
)
def test_numbers_are_read_as_go_reads_them(text: str, expected: int | None) -> None:
    assert integer(text) == expected


@pytest.mark.parametrize(
    ("bound", "above", "expected"),
    [
        pytest.param(4, True, 0b0010, id="above"),
        pytest.param(4, False, 0b0001, id="below"),
        pytest.param(8, True, 0b0000, id="equal is not above"),
        pytest.param(2, False, 0b0000, id="equal is not below"),
    ],
)
def test_nodes_are_found_by_whole_numbers_alone(bound: int, *, above: bool, expected: int) -> None:
    found = index(*(node(name, labels={"size": name}) for name in ("2", "8", "big")), node("d"))
    assert found.beyond("size", bound, above=above) == expected


def test_no_number_is_compared_where_no_node_has_the_label() -> None:
    assert index(node("a")).beyond("size", 1, above=True) == 0


def test_numbers_follow_a_changed_label() -> None:
    found = index(node("a", labels={"size": "2"}))
    before = found.beyond("size", 4, above=True)
    found.put(node("a", labels={"size": "8"}))
    assert (before, found.beyond("size", 4, above=True)) == (0, 1)


def test_numbers_follow_a_new_node() -> None:
    found = index(node("a", labels={"size": "2"}))
    before = found.beyond("size", 4, above=True)
    found.put(node("b", labels={"size": "8"}))
    assert (before, found.beyond("size", 4, above=True)) == (0, 0b10)


def test_comparing_many_labels_keeps_few_of_them_and_stays_right() -> None:
    found = index(node("a", labels={f"size{at}": str(at) for at in range(100)}))
    assert [found.beyond(f"size{at}", 49, above=True) for at in range(100)] == [0] * 50 + [1] * 50
    assert found.beyond("size0", -1, above=True) == 1
