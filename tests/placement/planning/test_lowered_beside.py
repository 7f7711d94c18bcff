"""To what requests have to be lowered beside pods that request other amounts."""

import pytest

from tests.builders import bound_pod, cluster, node
from tests.placement.planning.at_once import element, job_spec, judged
from webhook.placement.decision.refusal.lowered_requests import steps_below


def advice(*cpus: str, cores: int = 8) -> str:
    """The last line of the refusal of a Job of elements that request so much, on one node."""
    spec = job_spec(*(element("", cpu, name=f"pe-{at}") for at, cpu in enumerate(cpus)))
    return judged(spec, cluster([node("node-a", cpu=1000 * cores)])).text.splitlines()[-1]


def test_the_amount_need_not_be_a_share_of_a_node() -> None:
    """Beside the element of 1 CPU, 7 are free for two others: 3 for each, though a third of 8 is 2."""
    assert "lower cpu 4 (resources of processing elements pe-1, pe-2) to cpu 3 (all 3 would fit)" in advice(
        "1", "4", "4"
    )


def test_requests_of_which_something_may_be_left_come_first() -> None:
    """Only without any request of its own the element of 1 CPU would fit beside the others."""
    assert "lower cpu 1 " not in advice("1", "4", "4")
    assert "lower cpu 1 (resources of processing element pe-0) (it would fit)" not in advice("1", "8")


def test_where_nothing_may_be_left_of_any_that_is_still_said() -> None:
    full = cluster([node("node-a", cpu=8000)], pods=[bound_pod("node-a", job="other", requests={"cpu": 8000})])
    said = judged(job_spec(element("", "1", name="pe-0")), full).text.splitlines()[-1]
    assert said.endswith("or lower cpu 1 (resources of processing element pe-0) (it would fit).")


@pytest.mark.parametrize(
    ("resource", "requested", "expected"),
    [
        ("cpu", 3000, {*range(10, 1000, 10), 1000, 2000}),
        ("cpu", 1000, {*range(10, 1000, 10)}),
        ("cpu", 50, {10, 20, 30, 40}),
        ("cpu", 5, {1, 2, 3, 4}),
        ("example.com/gpu", 3, {1, 2}),
        ("example.com/gpu", 1, set()),
        ("memory", 123456789, None),
    ],
)
def test_the_amounts_below_a_request_are_rounded_as_it_is(
    resource: str, requested: int, expected: set[int] | None
) -> None:
    assert steps_below(resource, requested) == expected
