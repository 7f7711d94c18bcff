"""A proof that no fusion fits: even the costs of single operators find no room."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.builders import NAMESPACE, bound_pod, cluster, nodes, pod
from tests.fusion_jobs import job_of
from tests.placement.planning.at_once import AtOnce
from webhook.placement.fusion.application import application_of
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.applied_job import applied_world
from webhook.placement.jobs.operators.fusion_bound import CostBound
from webhook.placement.jobs.operators.fusion_search import FusionSearch
from webhook.placement.jobs.whole_job import pinned_members
from webhook.placement.kube.pod import Pod
from webhook.placement.objects.jobs.job_spec import Bundle, ElementSpec, JobSpec
from webhook.placement.objects.pod import PodInfo
from webhook.placement.planning.search.solver import Solving, finished
from webhook.placement.request.world import World

PLAIN = {"containers": [{"name": "own", "image": "own:1"}]}
OPENING = {**PLAIN, "tolerations": [{"key": "a", "operator": "Exists"}]}


def proved(
    operators: list[dict[str, Any]],
    *,
    pods: Iterable[PodInfo] = (),
    policy: Policy | None = None,
    solving: Solving | None = None,
    **spec: Any,
) -> bool | None:
    """Whether it is certain that no fusion runs on two nodes of 4 CPUs; ``None`` if one does."""
    stated = job_of({"operators": operators, "fusion": {"manual": 2}, **spec})
    inventory = cluster(nodes(2, cpu=4000), pods=pods)
    search = FusionSearch((NAMESPACE, "apps"), World(inventory, policy or Policy()), solving or AtOnce())
    outcome = finished(search.find(stated, application_of(stated)))
    return None if outcome.found else outcome.decided


def many(count: int = 9, **more: Any) -> list[dict[str, Any]]:
    return [{"name": f"Op{at}", "cost": "1"} | more for at in range(count)]


@pytest.mark.untraced
def test_costs_that_find_no_room_prove_it() -> None:
    assert proved(many()) is True
    assert proved(many(memory="1Mi")) is True
    assert proved([*many(), {"name": "Free", "template": {"spec": {**PLAIN, "nodeSelector": {"a": "b"}}}}]) is True
    assert proved(many(8)) is None


@pytest.mark.untraced
@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"template": {"spec": OPENING}}, id="tolerations may open nodes"),
        pytest.param({"template": {"metadata": {"labels": {"a": "b"}}, "spec": PLAIN}}, id="labels may match"),
    ],
)
def test_nothing_is_proved_where_an_element_may_have_more_nodes(more: dict[str, Any]) -> None:
    assert proved(many(**more)) is False


def test_isolated_operators_need_their_costs_at_least() -> None:
    """Others might share a processing element with one that is isolated, but not its CPU."""
    isolated = {"placement": "hostIsolation, partitionIsolation"}
    assert proved(many(**isolated)) is True
    assert proved(many(8, **isolated)) is True  # every fusion of eight operators is tried
    assert proved(many(9, **isolated, cost="100m")) is False


@pytest.mark.untraced
def test_nothing_is_proved_of_a_job_that_divides_its_resources() -> None:
    assert proved(many(), resources={"requests": {"cpu": "18"}}) is False


def test_what_preemption_frees_counts_as_room() -> None:
    there = bound_pod("node-a", uid="there", requests={"cpu": 4000})
    assert proved(many(8), pods=[replace(there, priority=-1)]) is None
    assert proved(many(9), pods=[replace(there, priority=-1)]) is True
    assert proved(many(8), pods=[replace(there, priority=1)]) is not None


def test_where_nodes_are_added_on_demand_nothing_is_proved() -> None:
    assert proved(many(), policy=Policy(elastic=True)) is not True


class Hurried(AtOnce):
    """Time is over after so many looks at the clock."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def left(self) -> float:
        self.looks -= 1
        return float(self.looks > 0)


@pytest.mark.untraced
def test_whenever_time_ends_nothing_wrong_is_proved() -> None:
    for count, whole in ((8, None), (9, True)):
        patient = Hurried(10**6)
        assert proved(many(count), solving=patient) is whole
        looks = 10**6 - patient.looks + 2
        ends = range(1, looks, max(1, (looks - 2) // 8))
        assert {proved(many(count), solving=Hurried(end)) for end in (*ends, looks)} == {whole, False}


def test_where_a_pod_requests_less_than_its_costs_nothing_is_proved() -> None:
    """Something else decides what it requests, such as an HPAIntent."""
    finest = JobSpec(bundle=Bundle(name="a.sab"), processing_elements=(ElementSpec(name="apps-0"),))
    world, pools = finished(applied_world(NAMESPACE, "apps", finest, cluster(nodes(1)), Policy(), AtOnce()))
    bound = CostBound((NAMESPACE, "apps"), finest, {"apps-0": {"cpu": 99_000}}, pools, {})
    assert not finished(bound.no_room(world, AtOnce()))


def test_what_runs_and_cannot_be_read_any_more_pins_nothing() -> None:
    found = msgspec.convert(pod("nonsense("), Pod)
    world = World(cluster(nodes(1)), Policy())
    assert list(pinned_members(["apps-0"], found, NAMESPACE, world, [], {"apps-0": "node-a"})) == []
