"""The specs of a Job and of a ProcessingElement (Streams instance operator) as values, and the inheritance of options.

The fields are described in ``docs/jobs.md``. Nothing is checked here; see ``placement/jobs/problems.py``.
"""

from typing import Any, Final

from msgspec import Struct

from webhook.placement.inventory.pool_spec import HostPoolSpec
from webhook.placement.kube.pod import Resources

ELEMENT_LIMIT: Final = 1000
"""Processing elements of one job (``docs/operations.md``, limits)."""

_SPEC = {"frozen": True, "gc": False, "forbid_unknown_fields": True, "rename": "camel", "omit_defaults": True}


class CertificationAuthority(Struct, **_SPEC):
    """A root certificate for downloads of a bundle: the ConfigMap that has it, and the path in it."""

    config_map_name: str = ""
    sub_path: str | None = None


class HttpSource(Struct, **_SPEC):
    """A bundle at an URL."""

    url: str = ""
    certification_authority: CertificationAuthority | None = None


class FileSource(Struct, **_SPEC):
    """A bundle at a path of the container."""

    path: str = ""


class GithubSource(Struct, **_SPEC):
    """A bundle in a GitHub repository; ``secret`` names the Secret with the token."""

    url: str | None = None
    secret: str | None = None


class Bundle(Struct, **_SPEC):
    """The application bundle (SAB): its name, and where it is fetched from."""

    name: str = ""
    pull_policy: str | None = None
    http: HttpSource | None = None
    file: FileSource | None = None
    github: GithubSource | None = None


class Fusion(Struct, **_SPEC):
    """How operators are fused into processing elements; at most one of automatic, legacy and manual."""

    type: str | None = None
    automatic: bool | None = None
    legacy: bool | None = None
    manual: int | None = None


class DynamicThreading(Struct, **_SPEC):
    """The dynamic threading model."""

    elastic: bool | None = None
    thread_count: int | None = None


class ThreadingModel(Struct, **_SPEC):
    """The threading model; at most one of the four."""

    automatic: bool | None = None
    dedicated: bool | None = None
    dynamic: DynamicThreading | None = None
    manual: bool | None = None


class DataVolumeClaim(Struct, **_SPEC):
    """A PersistentVolumeClaim, and a path in it."""

    name: str = ""
    sub_path: str | None = None


class FileSystemRepository(Struct, **_SPEC):
    """Checkpoints in a file system: the path at which the claim is mounted."""

    path: str = ""
    volume_claim: DataVolumeClaim | None = None


class RedisRepository(Struct, **_SPEC):
    """Checkpoints in Redis servers behind a Service."""

    replica_count: int | None = None
    restricted_property: str | None = None
    service: str | None = None
    shard_count: int | None = None
    shuffle: bool | None = None


class CheckpointRepository(Struct, **_SPEC):
    """Where processing elements keep checkpoints; at most one of the two."""

    file_system: FileSystemRepository | None = None
    redis: RedisRepository | None = None


class ElementOptions(Struct, **_SPEC, kw_only=True):
    """The options of processing elements, of one or, in ``spec.processingElement`` of a Job, of all.

    An option that is ``None`` is inherited (:func:`effective`).
    """

    build_type: str | None = None
    image_pull_policy: str | None = None
    image_pull_secret: str | None = None
    sab_name: str | None = None
    transport_security_type: str | None = None
    resources: Resources | None = None
    allow_ptrace: bool | None = None
    run_with_valgrind: bool | None = None
    app_trace_level: str | None = None
    runtime_trace_level: str | None = None
    delete_failed_pod: bool | None = None
    restart_completed_pod: bool | None = None
    restart_deleted_pod: bool | None = None
    restart_failed_pod: bool | None = None
    initial_probe_delay_in_seconds: int | None = None
    probe_failure_threshold: int | None = None
    probe_interval_in_seconds: int | None = None
    data_path: str | None = None
    data_volume_claim: DataVolumeClaim | None = None
    checkpoint_repository: CheckpointRepository | None = None
    app_properties_secret: str | None = None
    restricted_properties_secret: str | None = None


DEFAULTS: Final = ElementOptions(
    build_type="debug",
    image_pull_policy="Always",
    transport_security_type="none",
    allow_ptrace=False,
    run_with_valgrind=False,
    runtime_trace_level="INFO",
    delete_failed_pod=True,
    restart_completed_pod=False,
    restart_deleted_pod=False,
    initial_probe_delay_in_seconds=30,
    probe_failure_threshold=1,
    probe_interval_in_seconds=10,
)
"""What holds where nobody says anything; ``None`` for options that have no default.

``restartFailedPod`` has none: whether a failed pod is restarted is up to the operators then (:func:`restartable`).
"""


class OperatorSpec(Struct, **_SPEC):
    """An operator that is fused into a processing element: its placement clauses, and whether it can be restarted."""

    name: str = ""
    placement: str | None = None
    restartable: bool | None = None


class ElementSpec(ElementOptions, **_SPEC, kw_only=True):
    """A processing element in the model of a Job; ``template`` is a ``PodTemplateSpec`` as JSON."""

    name: str | None = None
    operators: tuple[OperatorSpec, ...] | None = None
    template: Any = None


class JobSpec(Struct, **_SPEC, kw_only=True):
    """The spec of a Job: options, and the model of the application."""

    bundle: Bundle | None = None
    fusion: Fusion | None = None
    image_pull_policy: str | None = None
    image_pull_secret: str | None = None
    processing_element: ElementOptions | None = None
    submission_time_out_in_seconds: int | None = None
    submission_time_values: dict[str, str] | None = None
    threading_model: ThreadingModel | None = None
    transport_certificate_validity_in_days: int | None = None
    resources: Resources | None = None
    host_pools: tuple[HostPoolSpec, ...] | None = None
    processing_elements: tuple[ElementSpec, ...] | None = None


SUBMISSION_SECONDS: Final = 300
CERTIFICATE_DAYS: Final = 30
"""Defaults of ``submissionTimeOutInSeconds`` and ``transportCertificateValidityInDays``."""


class ProcessingElementSpec(ElementSpec, **_SPEC, kw_only=True):
    """The spec of a ProcessingElement object.

    ``job`` names its Job. A ``launch_count`` that is raised, and another ``content_id``, make its pod be replaced.
    """

    job: str = ""
    launch_count: int = 1
    content_id: str | None = None


def element_name(job: str, place: int, element: ElementSpec) -> str:
    """The name of the processing element at that place of the Job's list."""
    return element.name or f"{job}-{place}"


def effective(element: ElementOptions, job: JobSpec) -> ElementOptions:
    """All options of a processing element: its own, else those of the Job for all, else the Job's own, else defaults.

    ``runWithValgrind`` implies ``allowPtrace`` and ``buildType: debug``, whatever these say.
    """
    own = ElementOptions(
        image_pull_policy=job.image_pull_policy,
        image_pull_secret=job.image_pull_secret,
        sab_name=job.bundle.name or None if job.bundle else None,
    )
    levels = (element, job.processing_element or ElementOptions(), own, DEFAULTS)
    chosen: dict[str, Any] = {
        field: next((value for level in levels if (value := getattr(level, field)) is not None), None)
        for field in ElementOptions.__struct_fields__
    }
    if chosen["run_with_valgrind"]:
        chosen |= {"allow_ptrace": True, "build_type": "debug"}
    return ElementOptions(**chosen)


def restartable(element: ElementSpec) -> bool:
    """Whether all of its operators can be restarted; an operator that does not say so can, as in SPL."""
    return all(operator.restartable is not False for operator in element.operators or ())
