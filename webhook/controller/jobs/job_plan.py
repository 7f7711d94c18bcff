"""Which objects of a Job to create, change and delete: its spec compared with the stored objects. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from kubeapi.client import decoding
from webhook.controller.jobstore.records import StoredElement, StoredHostPool, StoredJob, of_a_job
from webhook.controller.jobstore.store import JobStore
from webhook.placement.elements.content import content_id
from webhook.placement.elements.element_order import most_constrained_first
from webhook.placement.elements.element_status import FINAL
from webhook.placement.jobs.problems import pool_object_name
from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, element_name, restartable
from webhook.placement.objects.pool_spec import HostPoolSpec, pool_of_spec

Json = dict[str, Any]


class MadeElement(Struct, frozen=True):
    """A ProcessingElement to be created or changed: its name and the ``spec`` of the object."""

    name: str
    spec: Json


class JobPlan(Struct, frozen=True):
    """The actions for a Job, in the order of the fields; ``names`` are those of all of its elements.

    ``foreign`` names an object that has one of the Job's names and another owner. ``leftover`` names one of an
    earlier Job of the same name, which the garbage collector has not deleted yet.
    """

    names: tuple[str, ...]
    pools_made: Mapping[str, Json]
    pools_changed: tuple[tuple[StoredHostPool, Json], ...]
    elements_made: tuple[MadeElement, ...]
    elements_changed: tuple[tuple[StoredElement, Json], ...]
    elements_removed: tuple[StoredElement, ...]
    pools_removed: tuple[StoredHostPool, ...]
    foreign: str = ""
    leftover: str = ""

    @property
    def empty(self) -> bool:
        """Whether everything is as the Job says."""
        return not any(
            (self.pools_made, self.pools_changed, self.elements_made, self.elements_changed, self.elements_removed,
             self.pools_removed)
        )  # fmt: skip


def owned_pools(job: StoredJob, store: JobStore) -> list[StoredHostPool]:
    """The HostPools whose controller is the Job."""
    return [pool for pool in store.pools_of(job.key) if pool.owner_uid == job.uid]


def owned_elements(job: StoredJob, store: JobStore) -> list[StoredElement]:
    """The ProcessingElements whose controller is the Job."""
    return [element for element in store.elements_of(job.key) if element.owner_uid == job.uid]


def plan_of(job: StoredJob, spec: JobSpec, store: JobStore, *, submitted: bool) -> JobPlan:
    """The plan for a Job that is not being deleted.

    Once it was ``submitted``, nothing is changed any more, so that what people change by hand stays; and an element
    that is missing was deleted, and is created again only if it is restartable.
    """
    pools = {pool_object_name(job.name, pool.name or ""): pool for pool in spec.host_pools or ()}
    listed = spec.processing_elements or ()
    elements = {element_name(job.name, place, element): element for place, element in enumerate(listed)}
    there = {name: store.elements.all.get((job.namespace, name)) for name in elements}
    stored_pools = {name: store.pools.all.get((job.namespace, name)) for name in pools}
    missing = {name: elements[name] for name, stored in there.items() if stored is None}
    wanted = {name: element for name, element in missing.items() if not submitted or restartable(element)}
    return JobPlan(
        names=tuple(elements),
        pools_made={name: _pool_spec(job, pools[name]) for name, pool in stored_pools.items() if pool is None},
        pools_changed=() if submitted else tuple(_changed_pools(job, pools, stored_pools)),
        elements_made=tuple(
            MadeElement(name, _element_spec(job, spec, element))
            for name, element in most_constrained_first(wanted.items())
        ),
        elements_changed=() if submitted else tuple(_changed(job, spec, elements, there)),
        elements_removed=tuple(
            element for element in owned_elements(job, store) if element.name not in elements and not element.deleting
        ),
        pools_removed=tuple(pool for pool in owned_pools(job, store) if pool.name not in pools and not pool.deleting),
        **_of_others(job, [*stored_pools.values(), *there.values()]),
    )


def _of_others(job: StoredJob, stored: list[StoredHostPool | StoredElement | None]) -> Json:
    """The first object that has a name of the Job's, and is not the Job's own."""
    for record in stored:
        if record is None or record.owner_uid == job.uid:
            continue
        kind = "HostPool" if isinstance(record, StoredHostPool) else "ProcessingElement"
        if record.deleting or of_a_job(record) == job.name:
            return {"leftover": f"{kind} {record.name}"}
        return {"foreign": f"{kind} {record.name}"}
    return {}


def _changed(
    job: StoredJob, spec: JobSpec, elements: Mapping[str, ElementSpec], there: Mapping[str, StoredElement | None]
) -> Iterator[tuple[StoredElement, Json]]:
    for name, element in elements.items():
        stored = there[name]
        if stored is not None and not stored.deleting and stored.content_id != content_id(element, spec):
            # One that has ended has no pod whose content could be compared.
            launch = stored.launch + (stored.phase in FINAL)
            yield stored, {**_element_spec(job, spec, element), "launchCount": launch}


def _changed_pools(
    job: StoredJob, pools: Mapping[str, HostPoolSpec], stored_pools: Mapping[str, StoredHostPool | None]
) -> Iterator[tuple[StoredHostPool, Json]]:
    for name, stated in pools.items():
        stored = stored_pools[name]
        if stored is not None and not stored.deleting and stored.owner_uid == job.uid:
            wanted = _pool_spec(job, stated)
            if _meaning(stored, msgspec.convert(wanted, HostPoolSpec)) != _meaning(stored, _read(stored)):
                yield stored, wanted


def _meaning(stored: StoredHostPool, spec: HostPoolSpec | None) -> object:
    """The pool of a spec, in which a default that is stated equals one that is not."""
    return spec and pool_of_spec(spec, stored.namespace, stored.name)


def _read(stored: StoredHostPool) -> HostPoolSpec | None:
    try:
        return stored.stated()
    except decoding.ERRORS:
        return None


def _pool_spec(job: StoredJob, stated: HostPoolSpec) -> Json:
    spec: Json = msgspec.to_builtins(stated)
    return {**{field: value for field, value in spec.items() if value is not None}, "job": job.name}


def _element_spec(job: StoredJob, spec: JobSpec, element: ElementSpec) -> Json:
    """The spec of the element's object: the element as the Job lists it, with its owner."""
    own: Json = msgspec.to_builtins(element)
    own.pop("name", None)
    return {**own, "job": job.name, "contentId": content_id(element, spec), "launchCount": 1}
