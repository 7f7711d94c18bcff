"""The settings of an installation, read from environment variables and flags, with defaults (``docs/operations.md``).

Every field is an environment variable and also a flag of the commands that use it, so name, default and help text have
one source.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from webhook.placement.elements.pod_manifest import RUNTIME_IMAGE
from webhook.placement.inventory.foreign_pods import parse_namespaces
from webhook.placement.inventory.policy import POOLS, Policy
from webhook.placement.inventory.quota import parse_quota
from webhook.placement.kube.selection.selector_text import parse_selector
from webhook.placement.nodegroups.node_shapes import node_shapes
from webhook.placement.objects.jobs.job_resources import parse_requests
from webhook.placement.text.problem import quote

PREFIX: Final = "STREAMS_PLACEMENT_"
"""Prefix of every environment variable of the product."""


_URL: Final = re.compile(r"https?://[^\s/]+(/\S*)?")


class Settings(BaseSettings):
    """The settings of one installation. An unset or empty variable stands for the default."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True)

    host: str = Field("127.0.0.1", min_length=1, description="Listen address of the webhook.")
    port: int = Field(8443, ge=0, le=65535, description="Listen port of the webhook; 0 picks a free one.")
    health_host: str = Field("127.0.0.1", min_length=1, description="Listen address of health checks and metrics.")
    health_port: int = Field(
        8081, ge=0, le=65535, description="Listen port of health checks and metrics; 0 picks a free one."
    )
    tls_cert: Path | None = Field(None, description="PEM file with the serving certificate and its chain.")
    tls_key: Path | None = Field(None, description="PEM file with the private key of the certificate.")
    client_ca: Path | None = Field(
        None,
        description="PEM file with the authorities that must have signed client certificates; without it any client "
        "may connect.",
    )
    tls_self_signed: bool = Field(
        default=False, description="Create a self-signed certificate for loopback, for trials."
    )
    tls_dir: Path = Field(Path(".certs"), description="Folder for the certificate that --tls-self-signed creates.")
    snapshot: Path | None = Field(
        None, description="Folder of YAML or JSON, as kubectl prints it, to use in place of a cluster."
    )
    context: str | None = Field(
        None,
        description="Context of the kubeconfig to use; without it the cluster that this runs in, else the current one.",
    )
    stale_after: float = Field(
        300.0,
        ge=0,
        le=86_400,
        description="Seconds without news from the API server after which decisions stop; 0 for never.",
    )
    drain: float = Field(
        5.0, ge=0, le=3600, description="Seconds for which a stopping server reports itself unready and still answers."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level that is logged; debug also logs admitted objects."
    )
    max_connections: int = Field(
        1000, ge=1, le=100_000, description="Connections that clients may have open at the same time."
    )
    mode: Literal["enforce", "audit"] = Field(
        "enforce", description="Whether constraints are enforced, or only reported as warnings and metrics."
    )
    host_binding: Literal["auto", "nodeName", "nodeAffinity"] = Field(
        "auto", description="How a pod is bound to the host that it names; auto decides by the pod's creator."
    )
    unknown_annotations: Literal["refuse", "warn"] = Field(
        "refuse", description="What an unknown annotation under streams.ibm.com/ does to a pod."
    )
    elastic: bool = Field(
        default=False, description="Nodes are added on demand: a pool without hosts is a warning, not a refusal."
    )
    scale_up: Literal["auto", "off"] = Field(
        "off",
        description="Whether a pod that no node can run waits for a node group that can make one; else it is refused.",
    )
    node_shapes: str = Field(
        "",
        max_length=65_536,
        description="Nodes that an autoscaler makes which has no objects in the cluster, as a JSON list of shapes.",
    )
    unsatisfiable_pods: Literal["wait", "refuse"] = Field(
        "wait",
        description="What happens to a pod that a controller creates while no node can run it.",
    )
    controller_account: str = Field(
        "",
        max_length=1024,
        description="User name of the controller that creates the pods of ProcessingElements; if empty, no account "
        "may.",
    )
    reviewed_kinds: str = Field(
        "",
        max_length=4096,
        description="Kinds of other operators whose objects are reviewed, such as RayCluster.ray.io; their pods wait.",
    )
    operator_accounts: str = Field(
        "",
        max_length=16_384,
        description="User names under which operators create the pods of these kinds, separated by commas.",
    )
    element_requests: str = Field(
        "cpu=100m,memory=128Mi",
        max_length=4096,
        description="Default requests of the container of a processing element.",
    )
    claim_templates: bool = Field(
        default=True,
        description="Whether the controller makes ResourceClaimTemplates of devices that requirements describe.",
    )
    kueue: bool = Field(
        default=False, description="Whether the controller answers admission checks of Kueue (docs/kueue.md)."
    )
    provisioning_requests: bool = Field(
        default=False,
        description="Whether the controller asks the cluster autoscaler for room for Jobs that wait for new nodes.",
    )
    job_seconds: float = Field(
        1.0,
        ge=0,
        le=10,
        description="Time limit of the check that a whole Job can run; a Job whose check takes longer is admitted.",
    )
    job_process: bool = Field(
        default=True,
        description="Whether whole Jobs are checked in a process of their own, so that other reviews need not wait.",
    )
    verify_pods: bool = Field(
        default=True,
        description="Whether /validate refuses pods from which another plugin removed what their constraints require.",
    )
    exclusive_effect: Literal["NoSchedule", "NoExecute"] = Field(
        "NoSchedule", description="Effect of the taint on hosts of exclusive pools."
    )
    exclusive_strangers: Literal["streams", "all"] = Field(
        "streams",
        description="Pods that count as strangers on exclusive hosts: those of Streams jobs, or all except "
        "DaemonSets'.",
    )
    excluded_namespaces: str = Field(
        "kube-system",
        max_length=65_536,
        description="Namespaces, such as kube-system,monitoring, whose pods are not strangers, except pods of Streams "
        "jobs.",
    )
    poolable_nodes: str = Field(
        "!node-role.kubernetes.io/control-plane",
        max_length=4096,
        description="Label selector, as kubectl takes it, of the nodes that pools may use.",
    )
    exclusive_quota: str = Field(
        "",
        max_length=16_384,
        description="Exclusive hosts that a namespace may hold, such as 20,team-a=40,team-b=0; unlimited if empty.",
    )
    pool_quota: str = Field(
        str(POOLS), max_length=16_384, description="HostPools that a namespace may have, such as 100,team-a=400."
    )
    guard_nodes: Literal["warn", "refuse", "off"] = Field(
        "warn", description="What happens to node changes that break a HostPool."
    )
    guard_bindings: bool = Field(
        default=False, description="Refuse bindings that bypass an exclusive host or a HostPool."
    )
    strict: bool = Field(
        default=False,
        description="Close every path onto exclusive hosts: implies --guard-bindings and --exclusive-strangers all.",
    )

    authorize_pools: bool = Field(
        default=False, description="Require the RBAC verb use on a HostPool to name it in a pod."
    )
    replace_unusable_after: float = Field(
        0.0,
        ge=0,
        le=604_800,
        description="Seconds after which the controller replaces a host that is cordoned or not ready; 0 for never.",
    )
    replace_unlabelled: bool = Field(default=False, description="Replace a host that lost a tag of its pool.")
    name_degraded_pools: bool = Field(
        default=False,
        description="Name degraded HostPools in metrics; every reader of the metrics then sees the names.",
    )
    runtime_image: str = Field(
        RUNTIME_IMAGE,
        min_length=1,
        max_length=1024,
        description="Image of the Streams runtime, for processing elements without a template; {buildType} is debug or "
        "release.",
    )
    lease_namespace: str | None = Field(
        None,
        max_length=63,
        description="Namespace of the leader-election Lease; by default that of the pod, else default.",
    )
    lease_name: str = Field(
        "streams-placement-controller",
        min_length=1,
        max_length=253,
        description="Name of the leader-election Lease of the controllers.",
    )

    placement_review: bool = Field(
        default=False,
        description="Answer PlacementReviews to users of the cluster, on a port that the API server calls for them.",
    )
    placement_review_port: int = Field(
        8444, ge=0, le=65535, description="Listen port of PlacementReviews; 0 picks a free one."
    )
    debug_profile: bool = Field(
        default=False, description="Serve /debug/profile on the port of health checks, a profile of the process."
    )
    traces_endpoint: str = Field(
        "",
        max_length=2048,
        description="URL of an OpenTelemetry collector for traces by OTLP over HTTP, such as "
        "http://collector:4318/v1/traces; if empty, there are no traces.",
    )
    traces_ratio: float = Field(
        0.01,
        ge=0,
        le=1,
        json_schema_extra={"metavar": "RATIO"},
        description="Part of the traces that begin here which are sent; a review of a traced request is always traced.",
    )

    @field_validator("element_requests")
    @classmethod
    def _are_requests(cls, text: str) -> str:
        parse_requests(text)
        return text

    @field_validator("traces_endpoint")
    @classmethod
    def _is_a_url(cls, text: str) -> str:
        if text and not _URL.fullmatch(text):
            raise ValueError("it should be a URL such as http://collector:4318/v1/traces")
        return text

    @field_validator("poolable_nodes")
    @classmethod
    def _is_a_selector(cls, text: str) -> str:
        parse_selector(text)
        return text

    @field_validator("excluded_namespaces")
    @classmethod
    def _are_namespaces(cls, text: str) -> str:
        parse_namespaces(text)
        return text

    @field_validator("node_shapes")
    @classmethod
    def _are_shapes(cls, text: str) -> str:
        node_shapes(text)
        return text

    @field_validator("exclusive_quota", "pool_quota")
    @classmethod
    def _is_a_quota(cls, text: str) -> str:
        parse_quota(text)
        return text


def policy_of(settings: Settings) -> Policy:
    """The settings that change decisions, as the core takes them; ``ValueError`` for an invalid selector."""
    everybody = settings.strict or settings.exclusive_strangers == "all"
    excluded = parse_namespaces(settings.excluded_namespaces)
    return Policy(
        host_binding=settings.host_binding,
        unknown_annotations=settings.unknown_annotations,
        elastic=settings.elastic,
        scale_up=settings.scale_up,
        node_shapes=node_shapes(settings.node_shapes),
        unsatisfiable_pods=settings.unsatisfiable_pods,
        audit=settings.mode == "audit",
        verify_pods=settings.verify_pods,
        exclusive_effect=settings.exclusive_effect,
        poolable=parse_selector(settings.poolable_nodes),
        quota=parse_quota(settings.exclusive_quota),
        pool_quota=parse_quota(settings.pool_quota),
        guard_nodes=settings.guard_nodes,
        guard_bindings=settings.guard_bindings or settings.strict,
        strict=settings.strict,
        spared=excluded if everybody else None,
        excluded=excluded,
        controller_account=settings.controller_account,
        element_requests=parse_requests(settings.element_requests),
        described_devices=settings.claim_templates,
        reviewed=frozenset(map(_group_and_kind, _listed(settings.reviewed_kinds))),
        operator_accounts=frozenset(_listed(settings.operator_accounts)),
    )


def _listed(text: str) -> list[str]:
    """The parts between commas that are not empty."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _group_and_kind(name: str) -> tuple[str, str]:
    """Group and kind of a name such as ``RayCluster.ray.io``."""
    kind, _, group = name.partition(".")
    return group, kind


class WrongSettingError(ValueError):
    """Settings that break their rules; the text has a sentence for each, with the name of the variable or flag."""


def flag(field: str) -> str:
    """The command-line flag of a field: ``--pool-quota``."""
    return f"--{field.replace('_', '-')}"


def variable(field: str) -> str:
    """The environment variable of a field: ``STREAMS_PLACEMENT_POOL_QUOTA``."""
    return PREFIX + field.upper()


_Model = TypeVar("_Model", bound=Settings)


def read(flags: Mapping[str, str | bool]) -> Settings:
    """Settings from the flags, by field, and for all other fields from the environment.

    Raises :class:`WrongSettingError` with all mistakes.
    """
    return read_as(flags, Settings)


def read_as(flags: Mapping[str, str | bool], model: type[_Model]) -> _Model:
    """Settings of the type ``model``, read as by :func:`read`."""
    values: dict[str, Any] = dict(flags)
    try:
        return model(**values)
    except ValidationError as trouble:
        raise WrongSettingError("; ".join(_sentence(error, flags, model) for error in trouble.errors())) from None


def _sentence(error: Mapping[str, Any], flags: Mapping[str, str | bool], model: type[Settings]) -> str:
    field = str(error["loc"][0])
    name = flag(field) if field in flags else variable(field)
    return f"{name} is {quote(str(error['input']))}, but {_rule(field, error, model)}"


def _rule(field: str, error: Mapping[str, Any], model: type[Settings]) -> str:
    """The rule that a value breaks: the list of choices, the bounds of a number, or the sentence of a validator."""
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    if error["type"] == "literal_error":
        *others, last = get_args(model.model_fields[field].annotation)
        return f"it should be {', '.join(others)} or {last}"
    return f"it should {error['msg'].partition(',')[0].partition(' should ')[2]}"
