"""Jobs of operators for tests: specs as users write them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tests.builders import NAMESPACE
from tests.placement.planning.at_once import AtOnce
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.operators.fused_job import ModelVerdict, judge_model
from webhook.placement.jobs.operators.scaling import EarlierFusion
from webhook.placement.jobs.problems import problems_of_job
from webhook.placement.objects.jobs.job_fusion import FusedElement
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.planning.search.solver import Solving, finished
from webhook.placement.request.world import World

BUNDLE = {"name": "apps.A.sab"}


def problems_of(spec: Mapping[str, Any], name: str = "apps") -> list[str]:
    """What is wrong with the spec of a Job, as ``path: message``."""
    stated = msgspec.convert(spec, JobSpec)
    return [f"{problem.field}: {problem.message}" for problem in problems_of_job(name, stated)]


def job_of(spec: Mapping[str, Any]) -> JobSpec:
    """The spec of a Job with a bundle; an operator may be given by its name alone, or as name and placement."""
    operators = [
        one
        if isinstance(one, Mapping)
        else {"name": one}
        if isinstance(one, str)
        else {"name": one[0], "placement": one[1]}
        for one in spec["operators"]
    ]
    return msgspec.convert({"bundle": BUNDLE, **spec, "operators": operators}, JobSpec)


def fused_job(
    spec: Mapping[str, Any],
    inventory: Inventory,
    previous: Sequence[FusedElement] = (),
    solving: Solving | None = None,
) -> ModelVerdict:
    """The verdict on the Job ``apps`` of the default namespace."""
    world, earlier = World(inventory, Policy()), EarlierFusion(tuple(previous))
    return finished(judge_model((NAMESPACE, "apps"), job_of(spec), world, solving or AtOnce(), earlier))


def elements(model: ModelVerdict) -> list[list[str]]:
    """The operators of each processing element."""
    assert model.fusion is not None
    return [list(one.operators) for one in model.fusion.processing_elements]
