"""The kinds that the controller of Jobs watches, for a :class:`~webhook.cluster.watch.live.LiveCluster`.

Jobs and HostPools are watched once: each object goes to the inventory, by which hosts are chosen, and to the store.
"""

from msgspec import Raw
from msgspec.structs import replace

from kubeapi.client import decoding
from kubeapi.client.api_types import Identity
from webhook.cluster.objects.kinds import JOBS, AnyKind, Kind
from webhook.cluster.objects.metadata import NAMESPACE, MalformedError, Notes, json_of
from webhook.cluster.objects.sink import Sink
from webhook.controller.hostpools.pool_object import OWN_POOLS, reason_of
from webhook.controller.jobstore.pod_reader import read_element_pod
from webhook.controller.jobstore.records import (
    StoredElement,
    StoredHostPool,
    StoredJob,
    StoredRegion,
    read_element,
    read_host_pool,
    read_job,
    read_region,
)
from webhook.controller.jobstore.store import JobStore
from webhook.placement.elements.element_pod import ElementPod
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.pool import Pool
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import PARALLEL_REGION, POD, PROCESSING_ELEMENT

ReadJob = tuple[StreamsJob | None, StoredJob]
ReadPool = tuple[Pool, StoredHostPool]


def job_kinds(store: JobStore) -> tuple[AnyKind, ...]:
    """HostPools, Jobs, ParallelRegions, ProcessingElements, and the pods of the latter."""
    return (_pools(store), _jobs(store), _regions(store), _elements(store), _pods(store))


def _pools(store: JobStore) -> AnyKind:
    def read(item: Raw) -> tuple[ReadPool, Notes]:
        pool, notes = OWN_POOLS.read(item)
        assert pool is not None  # noqa: S101 -- for the type: a HostPool always holds something
        return (pool, read_host_pool(item)), notes

    def put(sink: Sink, read_value: ReadPool) -> None:
        sink.set_pool(read_value[0])
        store.pools.put(read_value[1])

    def drop(sink: Sink, key: str) -> None:
        OWN_POOLS.drop(sink, key)
        store.pools.drop(_named(key))

    return replace(OWN_POOLS, read=read, put=put, drop=drop, value_key=lambda read_value: _key(read_value[1]))


def _jobs(store: JobStore) -> AnyKind:
    inherited: AnyKind = JOBS

    def read(item: Raw) -> tuple[ReadJob, Notes]:
        stored = read_job(item)
        try:
            model, notes = inherited.read(item)
        except (MalformedError, *decoding.ERRORS) as error:
            return (None, stored), [reason_of(error)]
        return (model, stored), notes

    def put(sink: Sink, job: ReadJob) -> None:
        model, stored = job
        if model is None:
            sink.remove_job(*stored.key)
        else:
            sink.set_job(model)
        store.jobs.put(stored)

    def drop(sink: Sink, key: str) -> None:
        inherited.drop(sink, key)
        store.jobs.drop(_named(key))

    return replace(inherited, read=read, put=put, drop=drop, value_key=lambda job: _key(job[1]))


def _elements(store: JobStore) -> AnyKind:
    return Kind(
        api=PROCESSING_ELEMENT,
        optional=True,
        read=lambda item: (read_element(json_of(item)), []),
        key=_full_name,
        value_key=_key,
        put=lambda _, element: store.elements.put(element),
        drop=lambda _, key: store.elements.drop(_named(key)),
    )


def _regions(store: JobStore) -> AnyKind:
    return Kind(
        api=PARALLEL_REGION,
        optional=True,
        read=lambda item: (read_region(json_of(item)), []),
        key=_full_name,
        value_key=_key,
        put=lambda _, region: store.regions.put(region),
        drop=lambda _, key: store.regions.drop(_named(key)),
    )


def _pods(store: JobStore) -> AnyKind:
    def read(item: object) -> tuple[ElementPod | None, Notes]:
        return read_element_pod(json_of(item)), []

    return Kind(
        api=POD,
        labels=keys.PE,
        title="Pod of a ProcessingElement",
        read=read,
        key=lambda identity: identity.uid or _full_name(identity),
        value_key=lambda pod: pod.uid,
        put=lambda _, pod: store.put_pod(pod),
        drop=lambda _, key: store.drop_pod(key),
        kept=lambda _: store.pod_uids,
    )


def _full_name(identity: Identity) -> str:
    return f"{identity.namespace or NAMESPACE}/{identity.name}"


def _key(record: StoredJob | StoredElement | StoredHostPool | StoredRegion) -> str:
    return f"{record.namespace}/{record.name}"


def _named(key: str) -> tuple[str, str]:
    namespace, _, name = key.partition("/")
    return namespace, name
