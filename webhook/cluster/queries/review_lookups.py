"""``ReviewLookups``: what finds out at the API server what answers to reviews depend on, by kind of question."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from webhook.cluster.queries.lookups.authorization import Authorization
from webhook.cluster.queries.lookups.job_workloads import LIST_BYTES, JobWorkloads
from webhook.cluster.queries.lookups.job_workloads import SECONDS as LIST_SECONDS
from webhook.cluster.queries.lookups.pod_classes import SECONDS as CLASS_SECONDS
from webhook.cluster.queries.lookups.pod_classes import PodClasses
from webhook.cluster.queries.lookups.pod_owners import SECONDS as OWNER_SECONDS
from webhook.cluster.queries.lookups.pod_owners import PodOwners
from webhook.cluster.queries.lookups.promised_objects import SECONDS as PROMISED_SECONDS
from webhook.cluster.queries.lookups.promised_objects import PromisedObjects
from webhook.cluster.queries.lookups.referenced_objects import SECONDS as REFERENCE_SECONDS
from webhook.cluster.queries.lookups.referenced_objects import ReferencedObjects
from webhook.cluster.queries.lookups.scaled_jobs import ScaledJobs
from webhook.cluster.queries.lookups.streams_jobs import SECONDS as JOB_SECONDS
from webhook.cluster.queries.lookups.streams_jobs import StreamsJobs
from webhook.cluster.queries.lookups.template_fields import SECONDS as FIELD_SECONDS
from webhook.cluster.queries.lookups.template_fields import TemplateFields
from webhook.cluster.queries.lookups.unknown_pods import SECONDS as POD_SECONDS
from webhook.cluster.queries.lookups.unknown_pods import UnknownPods
from webhook.cluster.queries.lookups.volume_lookups import SECONDS as VOLUME_SECONDS
from webhook.cluster.queries.lookups.volume_lookups import VolumeLookups
from webhook.cluster.queries.lookups.workload_sizes import SECONDS as SIZE_SECONDS
from webhook.cluster.queries.lookups.workload_sizes import WorkloadSizes


class ReviewLookups(Struct, frozen=True, eq=False):
    """One lookup for each kind of question; ``None`` for kinds that are not asked."""

    sizes: WorkloadSizes | None = None
    pods: UnknownPods | None = None
    rights: Authorization | None = None
    jobs: StreamsJobs | None = None
    workloads: JobWorkloads | None = None
    volumes: VolumeLookups | None = None
    classes: PodClasses | None = None
    fields: TemplateFields | None = None
    regions: ScaledJobs | None = None
    owners: PodOwners | None = None
    references: ReferencedObjects | None = None
    promised: PromisedObjects | None = None

    @classmethod
    def of(
        cls,
        connection: Connection,
        *,
        authorize: bool = False,
        unknown: Callable[[str], object] = lambda _: None,
        namespace: str = "",
    ) -> "ReviewLookups":
        """A lookup for every kind; rights to use HostPools are looked up only with ``authorize``.

        ``unknown`` is called with the reason why the workloads of a job could not be listed. ``namespace`` is that of
        the product, in which dry runs find out which fields the API server knows; without it no field is looked up.
        """
        return cls(
            sizes=WorkloadSizes(ObjectClient(connection, seconds=SIZE_SECONDS)),
            pods=UnknownPods(ObjectClient(connection, seconds=POD_SECONDS)),
            rights=Authorization(ObjectClient(connection)) if authorize else None,
            jobs=StreamsJobs(ObjectClient(connection, seconds=JOB_SECONDS)),
            workloads=JobWorkloads(ObjectClient(connection, seconds=LIST_SECONDS, limit=LIST_BYTES), unknown),
            volumes=VolumeLookups(ObjectClient(connection, seconds=VOLUME_SECONDS)),
            fields=TemplateFields(ObjectClient(connection, seconds=FIELD_SECONDS), namespace) if namespace else None,
            classes=PodClasses(ObjectClient(connection, seconds=CLASS_SECONDS)),
            regions=ScaledJobs(ObjectClient(connection, seconds=JOB_SECONDS)),
            owners=PodOwners(ObjectClient(connection, seconds=OWNER_SECONDS)),
            references=ReferencedObjects(ObjectClient(connection, seconds=REFERENCE_SECONDS)),
            promised=PromisedObjects(ObjectClient(connection, seconds=PROMISED_SECONDS)),
        )


NO_LOOKUPS: Final = ReviewLookups()
"""The lookups of a snapshot, which has no API server."""
