"""A Job as if it were applied: the world that has it and its HostPools, and none of its pods."""

from collections.abc import Iterable

from msgspec.structs import replace

from webhook.placement.elements.element_order import own_annotations, own_placement
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.problems import pool_object_name
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.objects.jobs.job_model import JobModel, clauses_of
from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, element_name
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_spec import pool_of_spec
from webhook.placement.planning.search.solver import Solving, taken
from webhook.placement.planning.search.steps import Steps
from webhook.placement.request.world import World
from webhook.placement.text import keys


async def applied_world(
    namespace: str, name: str, spec: JobSpec, inventory: Inventory, policy: Policy, solving: Solving
) -> tuple[World, list[Pool]]:
    """The world in which the Job is applied, and its pods are yet to be placed; and the HostPools that it declares."""
    pools = pools_of_job(namespace, name, spec)
    known = inventory.pools
    fresh = [pool for pool in pools if (pool.namespace, pool.name) not in known]
    model = await taken(_model(namespace, name, spec), solving)
    await solving.rest()
    applied = inventory.with_job(model, fresh)
    there = [applied.pools[pool.namespace, pool.name] for pool in pools]
    return World(applied, policy, leaving=((namespace, name),)), there


def pools_of_job(namespace: str, name: str, spec: JobSpec) -> list[Pool]:
    """The HostPools that the Job declares, as they will be created."""
    return [
        replace(pool_of_spec(pool, namespace, pool_object_name(name, pool.name or "")), job=name)
        for pool in spec.host_pools or ()
    ]


def _model(namespace: str, name: str, spec: JobSpec) -> Steps[JobModel]:
    """The Job as pods of it see it."""
    default = spec.processing_element.resources if spec.processing_element else None
    elements = []
    clauses = {}
    for at, element in enumerate(spec.processing_elements or ()):
        element_model = _element(element, element_name(name, at, element), default)
        elements.append(element_model)
        clauses[element_model.name] = clauses_of(element_model)
        yield
    return JobModel(StreamsJob(namespace, name, elements=tuple(elements), resources=spec.resources), clauses)


def _element(element: ElementSpec, name: str, default: object) -> Element:
    placements = tuple((one.name or "", one.placement) for one in element.operators or () if one.placement)
    own = own_placement(element)
    bound = own_annotations(element).get(keys.BIND) == "true"
    resources = element.resources or default
    return Element(name, (("", own), *placements) if own else placements, bound, resources)  # type: ignore[arg-type]


def open_pools(pools: Iterable[Pool], world: World) -> list[Pool]:
    """The pools whose hosts are yet to be chosen, together with the nodes of the elements."""
    return [pool for pool in pools if pool.size is not None and not pool.elastic and not world.complete(pool)]
