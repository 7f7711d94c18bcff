"""The number of processing elements that a scheme asks for."""

from typing import Any

import pytest

from tests.fusion_jobs import job_of
from webhook.placement.fusion.application import application_of
from webhook.placement.fusion.graph import Graph, graph_of
from webhook.placement.fusion.rules.mark import Setting
from webhook.placement.fusion.scheme import asked_elements, nearest_first
from webhook.placement.kube.quantity import NANO

ROW = [{"from": f"Op{at}", "to": f"Op{at + 1}"} for at in range(99)]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"fusion": {"manual": 7}}, 7, id="manual"),
        pytest.param({"fusion": {"legacy": True}}, 100, id="legacy"),
        pytest.param({}, 7, id="one source and a hundred operators: 50.5 CPU"),
        pytest.param({"streams": []}, 13, id="a hundred sources: 100 CPU"),
        pytest.param({"cost": "160m"}, 2, id="16 CPU"),
        pytest.param({"cost": "1m"}, 1, id="light operators"),
        pytest.param({"cost": "64"}, 50, id="two operators of each element"),
    ],
)
def test_a_scheme_asks_for_a_number(spec: dict[str, Any], expected: int) -> None:
    """A hundred operators in a row, on nodes of eight cores."""
    cost = spec.pop("cost", None)
    operators = [{"name": f"Op{at}"} | ({"cost": cost} if cost else {}) for at in range(100)]
    stated = job_of({"streams": ROW, **spec, "operators": operators})
    graph = graph_of(application_of(stated), Setting())
    assert isinstance(graph, Graph)
    assert asked_elements(stated, graph, 8 * NANO) == expected


def test_numbers_that_are_as_near_come_smaller_first() -> None:
    stated = job_of({"operators": [f"Op{at}" for at in range(5)]})
    graph = graph_of(application_of(stated), Setting())
    assert isinstance(graph, Graph)
    assert list(nearest_first(stated, graph, 3)) == [3, 2, 4, 1, 5]


def test_numbers_among_which_devices_do_not_divide_are_left_out() -> None:
    stated = job_of({"operators": [f"Op{at}" for at in range(5)], "resources": {"limits": {"nvidia.com/gpu": 4}}})
    graph = graph_of(application_of(stated), Setting())
    assert isinstance(graph, Graph)
    assert list(nearest_first(stated, graph, 3)) == [2, 4, 1]
