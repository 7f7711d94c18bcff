"""The specs of a Job and of a ProcessingElement (Streams instance operator) as values, and the inheritance of options.

The fields are described in ``docs/jobs.md``. What a field may say stands on the field: the CustomResourceDefinitions
and ``placement/jobs/problems.py``, which has the rules about several fields, are made of it.
"""

from typing import Annotated, Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from webhook.placement.field_rules.element_patterns import ABSOLUTE_PATH, RELATIVE_PATH
from webhook.placement.field_rules.hostpool_patterns import VALUE
from webhook.placement.field_rules.rules import NumberRule, SwitchRule, TextMapRule, TextRule, object_name
from webhook.placement.kube.names import NAME_LIMIT
from webhook.placement.kube.pod import Resources
from webhook.placement.objects.jobs.job_operators import (
    IDENTIFIER_LIMIT,
    OPERATOR_NAME,
    JobOperator,
    RegionSpec,
    StreamSpec,
)
from webhook.placement.objects.pool_spec import HostPoolSpec
from webhook.placement.spl.placement import TEXT_LIMIT
from webhook.placement.text.keys import LABEL_LIMIT

ELEMENT_LIMIT: Final = 1000
"""Processing elements of one job (``docs/operations.md``, limits)."""

PATH_LIMIT: Final = 4096
"""Characters of a path (Linux, ``PATH_MAX``)."""

SUBMISSION_SECONDS: Final = 300
CERTIFICATE_DAYS: Final = 30
"""Defaults of ``submissionTimeOutInSeconds`` and ``transportCertificateValidityInDays``."""

_SUBMISSION_LIMIT: Final = 604_800
"""The longest submission in seconds: a week."""

_CERTIFICATE_LIMIT: Final = 3650
"""The longest validity of a certificate in days: ten years."""

_COUNT_LIMIT: Final = 1000
"""Submission-time values of a Job; replicas and shards of Redis servers."""

_URL_LIMIT: Final = 2048
"""Characters of an URL."""

_PULL_POLICIES: Final = ("Always", "IfNotPresent")
_TRACE_LEVELS: Final = ("OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE")
"""Values of options, as the Streams instance operator and SPL have them."""

FUSION_TYPES: Final = ("noChannelInfluence", "channelIsolation", "channelExlocation")
"""Values of ``fusion.type``, as SPL has them."""

_WHERE: Final = "the location of the bundle"


def _pull_policy(about: str) -> TextRule:
    return TextRule(about=about, words=_PULL_POLICIES)


def _path(about: str, needed: str = "") -> TextRule:
    return TextRule(about=about, least=1, most=PATH_LIMIT, needed=needed)


def _absolute(about: str) -> TextRule:
    return TextRule(about=about, most=PATH_LIMIT, pattern=ABSOLUTE_PATH, form="is not an absolute path")


def _url(about: str, scheme: str, needed: str = "") -> TextRule:
    form = "is not a URL of " + scheme.replace("s?", " or https")
    return TextRule(about=about, most=_URL_LIMIT, pattern=f"^{scheme}://[^ ]+$", form=form, needed=needed)


_SPEC = {"frozen": True, "gc": False, "forbid_unknown_fields": True, "rename": "camel", "omit_defaults": True}


class CertificationAuthority(Struct, **_SPEC):
    """A root certificate for downloads of a bundle: the ConfigMap that has it, and the path in it."""

    config_map_name: Annotated[
        str, object_name("The ConfigMap with the certificate.", needed="the name of a ConfigMap")
    ] = ""
    sub_path: Annotated[str | None, _path("The path in the ConfigMap.")] = None


class HttpSource(Struct, **_SPEC):
    """A bundle at an URL."""

    url: Annotated[str, _url("The URL of the bundle.", "https?", _WHERE)] = ""
    certification_authority: CertificationAuthority | None = None


class FileSource(Struct, **_SPEC):
    """A bundle at a path of the container."""

    path: Annotated[str, _path("The path of the bundle.", _WHERE)] = ""


class GithubSource(Struct, **_SPEC):
    """A bundle in a GitHub repository; ``secret`` names the Secret with the token."""

    url: Annotated[str | None, _url("The URL of the bundle.", "https")] = None
    secret: Annotated[str | None, object_name("Secret with the personal access token for the URL.")] = None


class Bundle(Struct, **_SPEC):
    """The application bundle (SAB): its name, and where it is fetched from."""

    name: Annotated[
        str, TextRule(about="The name of the bundle.", least=1, most=NAME_LIMIT, needed="a bundle has a name")
    ] = ""
    pull_policy: Annotated[str | None, _pull_policy("When the bundle is fetched; IfNotPresent if absent.")] = None
    http: HttpSource | None = None
    file: FileSource | None = None
    github: GithubSource | None = None


class Fusion(Struct, **_SPEC):
    """How operators are fused into processing elements; at most one of automatic, legacy and manual."""

    type: Annotated[str | None, TextRule(about="How fusion treats parallel regions.", words=FUSION_TYPES)] = None
    automatic: Annotated[bool | None, SwitchRule("Automatic fusion.")] = None
    legacy: Annotated[bool | None, SwitchRule("Legacy fusion.")] = None
    manual: Annotated[int | None, NumberRule("The number of processing elements.", 1, ELEMENT_LIMIT)] = None


class DynamicThreading(Struct, **_SPEC):
    """The dynamic threading model."""

    elastic: Annotated[bool | None, SwitchRule("Whether the number of threads adapts at run time.")] = None
    thread_count: Annotated[int | None, NumberRule("The number of threads.", 1)] = None


class ThreadingModel(Struct, **_SPEC):
    """The threading model; at most one of the four."""

    automatic: Annotated[bool | None, SwitchRule("The automatic threading model.")] = None
    dedicated: Annotated[bool | None, SwitchRule("The dedicated threading model.")] = None
    dynamic: DynamicThreading | None = None
    manual: Annotated[bool | None, SwitchRule("The manual threading model.")] = None


_SUB_PATH: Final = TextRule(
    about="Path in the claim; its root if absent.",
    least=1,
    most=PATH_LIMIT,
    pattern=RELATIVE_PATH,
    form="is not a path within the claim",
)


class DataVolumeClaim(Struct, **_SPEC):
    """A PersistentVolumeClaim, and a path in it."""

    name: Annotated[str, object_name("The PersistentVolumeClaim.", needed="the name of a PersistentVolumeClaim")] = ""
    sub_path: Annotated[str | None, _SUB_PATH] = None


class FileSystemRepository(Struct, **_SPEC):
    """Checkpoints in a file system: the path at which the claim is mounted."""

    path: Annotated[str, _absolute("Mount path in the container.")] = ""
    volume_claim: DataVolumeClaim | None = None


class RedisRepository(Struct, **_SPEC):
    """Checkpoints in Redis servers behind a Service."""

    replica_count: Annotated[int | None, NumberRule("Number of replicas.", 1, _COUNT_LIMIT)] = None
    restricted_property: Annotated[
        str | None,
        TextRule(about="Name of the restricted property that holds the password.", least=1, most=IDENTIFIER_LIMIT),
    ] = None
    service: Annotated[str | None, object_name("The Service of the servers.", LABEL_LIMIT)] = None
    shard_count: Annotated[int | None, NumberRule("Number of shards per replica.", 1, _COUNT_LIMIT)] = None
    shuffle: Annotated[bool | None, SwitchRule("Whether servers are chosen in random order.")] = None


class CheckpointRepository(Struct, **_SPEC):
    """Where processing elements keep checkpoints; at most one of the two."""

    file_system: FileSystemRepository | None = None
    redis: RedisRepository | None = None


class ElementOptions(Struct, **_SPEC, kw_only=True):
    """The options of processing elements, of one or, in ``spec.processingElement`` of a Job, of all.

    An option that is ``None`` is inherited (:func:`effective`).
    """

    build_type: Annotated[
        str | None, TextRule(about="Build of the runtime; debug by default.", words=("debug", "release"))
    ] = None
    image_pull_policy: Annotated[
        str | None, _pull_policy("When the image is pulled; defaults to that of the Job, or Always.")
    ] = None
    image_pull_secret: Annotated[
        str | None, object_name("Secret for pulling the image; defaults to that of the Job, if any.")
    ] = None
    sab_name: Annotated[
        str | None, TextRule(about="Application bundle; that of the Job.", least=1, most=NAME_LIMIT)
    ] = None
    transport_security_type: Annotated[
        str | None,
        TextRule(
            about="Encryption of connections between processing elements; none by default.",
            words=("none", "TLSv1.2"),
        ),
    ] = None
    resources: Resources | None = None
    allow_ptrace: Annotated[
        bool | None, SwitchRule("Whether the container has the capability SYS_PTRACE; false by default.")
    ] = None
    run_with_valgrind: Annotated[
        bool | None,
        SwitchRule(
            "Whether the runtime runs in valgrind, which implies buildType debug and allowPtrace; false by default."
        ),
    ] = None
    app_trace_level: Annotated[
        str | None,
        TextRule(about="Trace level of the application; defaults to that of the bundle.", words=_TRACE_LEVELS),
    ] = None
    runtime_trace_level: Annotated[
        str | None, TextRule(about="Trace level of the runtime; INFO by default.", words=_TRACE_LEVELS)
    ] = None
    delete_failed_pod: Annotated[bool | None, SwitchRule("Whether a failed pod is deleted; true by default.")] = None
    restart_completed_pod: Annotated[
        bool | None, SwitchRule("Whether a completed pod is restarted; false by default.")
    ] = None
    restart_deleted_pod: Annotated[bool | None, SwitchRule("Whether a deleted pod is recreated; false by default.")] = (
        None
    )
    restart_failed_pod: Annotated[
        bool | None,
        SwitchRule("Whether a failed pod is restarted; by default, whether all operators are restartable."),
    ] = None
    initial_probe_delay_in_seconds: Annotated[
        int | None, NumberRule("Seconds before the first liveness probe; 30 by default.", 0)
    ] = None
    probe_failure_threshold: Annotated[
        int | None, NumberRule("Failed probes after which the container is killed; 1 by default.", 1)
    ] = None
    probe_interval_in_seconds: Annotated[int | None, NumberRule("Seconds between probes; 10 by default.", 1)] = None
    data_path: Annotated[str | None, _absolute("Data path of the runtime; defaults to that of the image.")] = None
    data_volume_claim: DataVolumeClaim | None = None
    checkpoint_repository: CheckpointRepository | None = None
    app_properties_secret: Annotated[str | None, object_name("The Secret with application properties.")] = None
    restricted_properties_secret: Annotated[str | None, object_name("The Secret with restricted properties.")] = None


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
"""Defaults of the options; ``None`` for options without one.

``restartFailedPod`` has none: whether a failed pod is restarted is up to the operators then (:func:`restartable`).
"""


class OperatorSpec(Struct, **_SPEC):
    """An operator that is fused into a processing element: its placement clauses, and whether it can be restarted."""

    name: Annotated[str, OPERATOR_NAME] = ""
    placement: Annotated[
        str | None,
        TextRule(
            about='Its host constraints, such as host(Pool), hostColocation("t") or hostIsolation.', most=TEXT_LIMIT
        ),
    ] = None
    restartable: Annotated[
        bool | None, SwitchRule("Whether the operator can be restarted after a failure; true if absent.")
    ] = None


class ElementSpec(ElementOptions, **_SPEC, kw_only=True):
    """A processing element in the model of a Job; ``template`` is a ``PodTemplateSpec`` as JSON."""

    name: Annotated[str | None, object_name("Name of the ProcessingElement; <job>-<index> if absent.", LABEL_LIMIT)] = (
        None
    )
    operators: tuple[OperatorSpec, ...] | None = None
    template: Any = None
    connections: Annotated[
        str | None,
        TextRule(about="Hash of the streams of the operators; a change replaces the pod.", most=LABEL_LIMIT),
    ] = None


class JobSpec(Struct, **_SPEC, kw_only=True):
    """The spec of a Job: options, and the model of the application."""

    bundle: Bundle | None = None
    fusion: Fusion | None = None
    image_pull_policy: Annotated[str | None, _pull_policy("When images are pulled; Always if absent.")] = None
    image_pull_secret: Annotated[str | None, object_name("The Secret for pulling images.")] = None
    processing_element: ElementOptions | None = None
    submission_time_out_in_seconds: Annotated[
        int | None,
        NumberRule(
            "Seconds until a submission fails unless all pools are ready and all pods have started.",
            1,
            _SUBMISSION_LIMIT,
            SUBMISSION_SECONDS,
        ),
    ] = None
    submission_time_values: Annotated[
        dict[str, str] | None, TextMapRule("Submission-time values, by name.", TextRule(most=PATH_LIMIT), _COUNT_LIMIT)
    ] = None
    threading_model: ThreadingModel | None = None
    transport_certificate_validity_in_days: Annotated[
        int | None, NumberRule("Validity of TLS certificates in days.", 1, _CERTIFICATE_LIMIT, CERTIFICATE_DAYS)
    ] = None
    resources: Resources | None = None
    host_pools: tuple[HostPoolSpec, ...] | None = None
    processing_elements: tuple[ElementSpec, ...] | None = None
    operators: tuple[JobOperator, ...] | None = None
    streams: tuple[StreamSpec, ...] | None = None
    parallel_regions: tuple[RegionSpec, ...] | None = None


class ProcessingElementSpec(ElementSpec, **_SPEC, kw_only=True):
    """The spec of a ProcessingElement object.

    ``job`` names its Job. A ``launch_count`` that is raised, and another ``content_id``, make its pod be replaced.
    """

    job: Annotated[
        str,
        object_name(
            "Job that owns the processing element.", LABEL_LIMIT, needed="a ProcessingElement belongs to a Job"
        ),
    ] = ""
    launch_count: Annotated[int, NumberRule("Desired launch; increasing it replaces the pod.", 1, None, 1)] = 1
    content_id: Annotated[
        str | None,
        TextRule(
            about="Hash of everything that determines the pod; a change replaces the pod.",
            most=LABEL_LIMIT,
            pattern=VALUE,
            form="is not a label value",
        ),
    ] = None


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
    shared = _options_of(job.processing_element) if job.processing_element else {}
    chosen = {**_DEFAULT_OPTIONS, **_options_of(own), **shared, **_options_of(element)}
    if chosen["run_with_valgrind"]:
        chosen |= {"allow_ptrace": True, "build_type": "debug"}
    return ElementOptions(**chosen)


def _options_of(stated: ElementOptions) -> dict[str, Any]:
    """The options that are stated there, by name."""
    return {name: value for name, value in asdict(stated).items() if value is not None and name in _OPTIONS}


_OPTIONS: Final = frozenset(ElementOptions.__struct_fields__)
_DEFAULT_OPTIONS: Final = _options_of(DEFAULTS)


def restartable(element: ElementSpec) -> bool:
    """Whether all of its operators can be restarted; an operator that does not say so can, as in SPL."""
    return all(operator.restartable is not False for operator in element.operators or ())
