"""Which widths of a parallel region fit beside what runs of its Job."""

import pytest
from msgspec.structs import replace

from tests.builders import NAMESPACE, bound_pod, cluster, nodes
from tests.fusion_jobs import job_of
from tests.placement.planning.at_once import AtOnce
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.operators.region_widths import with_widths
from webhook.placement.jobs.operators.width_search import FittingWidth, RegionOfJob, WidthSearch
from webhook.placement.objects.jobs.job_fusion import FusedElement, JobFusion, RegionWidth
from webhook.placement.planning.search.solver import Solving, finished


def region(width: int = 1, *, fused: bool = True, **more: str) -> RegionOfJob:
    """A region of so many channels of 3 CPUs, each in an element of its own."""
    work = {"name": "Work", "region": "work", "cost": "3", **more}
    spec = job_of(
        {
            "operators": [work],
            "parallelRegions": [{"name": "work", "width": 1}],
            "fusion": {"type": "channelIsolation"},
        }
    )
    elements = tuple(FusedElement(f"apps-{at}", (f"Work[{at}]",)) for at in range(width))
    fusion = JobFusion(processing_elements=elements, regions=(RegionWidth("work", width, 1),))
    return RegionOfJob((NAMESPACE, "apps"), "work", spec, fusion if fused else None)


def most(known: RegionOfJob, fails: int, count: int = 2, solving: Solving | None = None) -> FittingWidth:
    """The width that fits on nodes of 8 CPUs, two channels to a node; the first channel runs."""
    inventory = cluster(nodes(count), pods=[bound_pod("node-a", job="apps", pe="apps-0", requests={"cpu": 3000})])
    return finished(WidthSearch(known, inventory, Policy(), solving or AtOnce()).most(fails))


class Clock(AtOnce):
    """Time is over after so many looks at the clock."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def left(self) -> float:
        self.looks -= 1
        return float(self.looks > 0)


def test_the_largest_width_is_found_and_proved() -> None:
    assert most(region(), 7) == FittingWidth(4, proved=True)
    assert most(region(5), 7) == FittingWidth(4, proved=True)
    assert most(region(), 2) == FittingWidth(1, proved=True)


def largest(known: RegionOfJob, most: int, count: int = 2, solving: Solving | None = None) -> FittingWidth:
    inventory = cluster(nodes(count))
    return finished(WidthSearch(known, inventory, Policy(), solving or AtOnce()).largest(most))


def test_the_largest_width_up_to_a_bound_is_found() -> None:
    assert largest(region(), 100) == FittingWidth(4, proved=True)
    assert largest(region(), 3) == largest(region(), 3, 5) == FittingWidth(3, proved=True)
    assert largest(region(2), 2) == FittingWidth(2, proved=True)
    assert largest(region(7), 5) == FittingWidth(4, proved=True)
    assert largest(region(), 100, solving=AtOnce(0)) == largest(region(fused=False), 9) == FittingWidth()


@pytest.mark.untraced
def test_the_width_above_the_largest_may_not_be_decided() -> None:
    """Of nine channels that two nodes have room for not every fusion is tried."""
    isolated = region(8, cost="100m", placement="hostIsolation")
    assert largest(isolated, 20, 8) == FittingWidth(8, proved=False)


def test_a_width_that_breaks_a_rule_of_the_job_does_not_fit() -> None:
    """A Job has 5,000 operators at most."""
    plain = region(cost="1m")
    operators = [{"name": f"Op{at}", "region": "work"} for at in range(2000)]
    spec = job_of({"operators": operators, "parallelRegions": [{"name": "work", "width": 1}]})
    known = RegionOfJob(plain.job, "work", spec, plain.fusion)
    search = WidthSearch(known, cluster(nodes(1)), Policy(), AtOnce())
    assert finished(search.problem(2)) == ""
    assert finished(search.problem(3)) == "spec.operators: 6000 of them in all channels, at most 5000 are allowed"
    small = replace(
        known, stated=with_widths(spec, {"work": 2}), fusion=JobFusion(regions=(RegionWidth("work", 2, 2),))
    )
    hurried = WidthSearch(small, cluster(nodes(1)), Policy(), Clock(2))
    assert finished(hurried.largest(9)) == FittingWidth()


def test_of_a_job_that_is_not_fused_nothing_is_known() -> None:
    assert most(region(fused=False), 7) == FittingWidth()


@pytest.mark.untraced
def test_what_is_not_proved_is_not_said() -> None:
    """Of nine channels not every fusion is tried, and their costs would find room if they shared isolated elements."""
    assert most(region(cost="100m", placement="hostIsolation"), 20) == FittingWidth(2, proved=False)


def test_whenever_time_ends_no_width_is_wrong() -> None:
    patient = Clock(10**6)
    assert most(region(), 7, solving=patient).proved
    found = {most(region(), 7, solving=Clock(looks)) for looks in range(1, 10**6 - patient.looks)}
    assert {one.width for one in found} == {0, 1, 4}
    assert not any(one.proved for one in found)


@pytest.mark.parametrize(
    ("fitting", "words"),
    [
        (FittingWidth(), ""),
        (FittingWidth(0, proved=True), "not even 1 fits now"),
        (FittingWidth(1), "1 fits now"),
        (FittingWidth(1, proved=True), "at most 1 fits now"),
        (FittingWidth(4), "4 fit now"),
        (FittingWidth(4, proved=True), "at most 4 fit now"),
    ],
)
def test_words(fitting: FittingWidth, words: str) -> None:
    assert fitting.words == words
