"""Which widths parallel regions have: what the Job states, or what they were scaled to."""

from typing import Any

import msgspec
import pytest

from tests.builders import NAMESPACE, bound_pod, cluster, nodes
from webhook.placement.jobs.operators.fused_job import as_fused
from webhook.placement.jobs.operators.region_widths import (
    fused_widths,
    made_widths,
    region_widths,
    regions_around,
    wanted_widths,
    with_widths,
)
from webhook.placement.jobs.operators.scaling import scaling_of
from webhook.placement.objects.jobs.job_fusion import FusedElement, JobFusion, RegionWidth
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec, region_object_name


def job(width: int = 2, **more: Any) -> JobSpec:
    operators = [{"name": "Src"}, {"name": "Work", "region": "work"}]
    regions = [{"name": "work", "width": width, **more}]
    return msgspec.convert({"operators": operators, "parallelRegions": regions}, JobSpec)


def fusion(width: int, stated: int = 2) -> JobFusion:
    return JobFusion(regions=(RegionWidth("work", width, stated),))


def scaled(width: int, job_width: int | None = 2) -> dict[str, ParallelRegionSpec]:
    return {"work": ParallelRegionSpec("apps", "work", width, None, job_width)}


@pytest.mark.parametrize(
    ("stated", "made", "region", "wanted"),
    [
        pytest.param(job(), None, {}, 2, id="nothing is made yet"),
        pytest.param(job(), fusion(4), {}, 4, id="the object was deleted: as made"),
        pytest.param(job(3), fusion(4), {}, 3, id="it was deleted, and the Job has changed"),
        pytest.param(job(), fusion(4), scaled(8), 8, id="scaled"),
        pytest.param(job(3), fusion(4), scaled(8), 3, id="the Job has changed since"),
        pytest.param(job(3), fusion(5, 3), scaled(8), 5, id="the Job has changed, and was fused"),
        pytest.param(job(), fusion(4), scaled(8, None), 4, id="an object that the controller has not written"),
        pytest.param(job(maxWidth=6), fusion(4), scaled(8), 6, id="at most what the Job allows"),
        pytest.param(job(), fusion(4), scaled(0), 1, id="one channel at least"),
        pytest.param(job(9, maxWidth=3), fusion(4, 9), scaled(2, 9), 9, id="what breaks the Job's own rule stays"),
        pytest.param(JobSpec(), fusion(4), scaled(8), None, id="a Job without regions"),
    ],
)
def test_the_width_that_is_wanted(
    stated: JobSpec, made: JobFusion | None, region: dict[str, ParallelRegionSpec], wanted: int | None
) -> None:
    assert wanted_widths(stated, made, region) == ({} if wanted is None else {"work": wanted})


def test_widths_that_were_made() -> None:
    assert made_widths(job(maxWidth=3), fusion(4)) == {"work": 3}
    assert made_widths(job(3), fusion(4)) == made_widths(job(), None) == {}
    assert fused_widths(job(3), fusion(4)) == {"work": 4}
    assert fused_widths(job(3), JobFusion()) == {"work": 3}
    assert region_widths(job(), with_widths(job(), {"work": 7})) == (RegionWidth("work", 7, 2),)


def test_a_job_with_the_widths_that_it_has_is_the_same() -> None:
    stated = job()
    assert with_widths(stated, {}) is with_widths(stated, {"work": 2}) is stated
    assert with_widths(JobSpec(), {"work": 2}) == JobSpec()


def test_regions_that_are_nested_even_in_themselves() -> None:
    regions = [
        {"name": "A", "width": 1, "within": "B"},
        {"name": "B", "width": 1},
        {"name": "C", "width": 1, "within": "C"},
    ]
    spec = msgspec.convert({"parallelRegions": regions}, JobSpec)
    assert regions_around(spec) == {"A": {"A", "B"}, "B": {"B"}, "C": {"C"}}


@pytest.mark.parametrize(
    ("region", "name"),
    [("work", "apps-work"), ("w2", "apps-w2"), ("Work_A", "apps-work-a-0f4928"), ("_", "apps-d2e2ad")],
)
def test_names_of_objects(region: str, name: str) -> None:
    assert region_object_name("apps", region) == name


def test_what_runs_and_does_not_change_stays() -> None:
    """An element whose pod has no node, or is being deleted, may go elsewhere; so may one with other streams."""
    stated = msgspec.convert(
        {"operators": [{"name": "Src"}, {"name": "Work", "region": "work"}, {"name": "Log"}, {"name": "End"}],
         "streams": [{"from": "Src", "to": "Work"}],
         "parallelRegions": [{"name": "work", "width": 1}],
         "fusion": {"type": "channelIsolation"}}, JobSpec)  # fmt: skip
    elements = tuple(FusedElement(f"apps-{at}", (name,)) for at, name in enumerate(("Src", "Work[0]", "Log", "End")))
    made = JobFusion(processing_elements=elements, regions=(RegionWidth("work", 1, 1),))
    pods = [bound_pod("node-a", job="apps", pe=f"apps-{at}", uid=f"u{at}", terminating=at == 3) for at in range(4)]
    pods.append(bound_pod("node-a", job="apps", pe="apps-9", uid="u9"))
    found = scaling_of((NAMESPACE, "apps"), as_fused(stated, made), cluster(nodes(1), pods=pods))
    assert found.kept == {"Src": "apps-0", "Work[0]": "apps-1", "Log": "apps-2", "End": "apps-3"}
    assert found.nodes == dict.fromkeys(("apps-0", "apps-1", "apps-2"), "node-a")
    assert found.requests == dict.fromkeys(found.nodes, pods[0].requests)
    wider = as_fused(stated, JobFusion(processing_elements=elements, regions=(RegionWidth("work", 2, 1),)))
    assert found.staying(wider) == dict.fromkeys(("apps-1", "apps-2"), "node-a")
    assert found.known(["Work[1]", "Log"])
    assert not found.known(["Work[1]"])
