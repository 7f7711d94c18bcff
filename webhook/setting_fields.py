"""The settings of an installation as they are declared: name, type, default, bounds and help text of each.

Flags and help are made of these declarations, and so are completions of shells, for which importing pydantic would take
too long; ``webhook/settings.py`` makes the model of them that reads and checks values.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args, get_type_hints

from msgspec import Struct

from webhook.placement.text.defaults import POOLS, RUNTIME_IMAGE

PREFIX: Final = "STREAMS_PLACEMENT_"
"""Prefix of every environment variable of the product."""


class SettingRule(Struct, frozen=True):
    """What a setting is for, as help shows it, and the bounds of its value.

    ``metavar`` is the name of the value in usage lines where its type does not say enough.
    """

    description: str
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    metavar: str = ""

    def bounds(self) -> dict[str, float]:
        """The bounds that are stated, by the names that pydantic has for them."""
        names = ("ge", "gt", "le", "min_length", "max_length")
        return {name: bound for name in names if (bound := getattr(self, name)) is not None}

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:  # noqa: ANN401 -- pydantic's
        """The schema of the type with the bounds, which pydantic asks for."""
        schema = handler(source)
        (schema["schema"] if schema["type"] == "nullable" else schema).update(self.bounds())
        return schema


class SettingFields:
    """The settings of one installation. An unset or empty variable stands for the default."""

    host: Annotated[str, SettingRule("Listen address of the webhook.", min_length=1)] = "127.0.0.1"
    port: Annotated[int, SettingRule("Listen port of the webhook; 0 picks a free one.", ge=0, le=65535)] = 8443
    health_host: Annotated[str, SettingRule("Listen address of health checks and metrics.", min_length=1)] = "127.0.0.1"
    health_port: Annotated[
        int, SettingRule("Listen port of health checks and metrics; 0 picks a free one.", ge=0, le=65535)
    ] = 8081
    tls_cert: Annotated[Path | None, SettingRule("PEM file with the serving certificate and its chain.")] = None
    tls_key: Annotated[Path | None, SettingRule("PEM file with the private key of the certificate.")] = None
    client_ca: Annotated[
        Path | None,
        SettingRule(
            "PEM file with the authorities that must have signed client certificates; without it any client "
            "may connect."
        ),
    ] = None
    tls_self_signed: Annotated[bool, SettingRule("Create a self-signed certificate for loopback, for trials.")] = False
    tls_dir: Annotated[Path, SettingRule("Folder for the certificate that --tls-self-signed creates.")] = Path(".certs")
    snapshot: Annotated[
        Path | None, SettingRule("Folder of YAML or JSON, as kubectl prints it, to use in place of a cluster.")
    ] = None
    context: Annotated[
        str | None,
        SettingRule(
            "Context of the kubeconfig to use; without it the cluster that this runs in, else the current one."
        ),
    ] = None
    stale_after: Annotated[
        float,
        SettingRule(
            "Seconds without news from the API server after which decisions stop; 0 for never.", ge=0, le=86_400
        ),
    ] = 300.0
    drain: Annotated[
        float,
        SettingRule("Seconds for which a stopping server reports itself unready and still answers.", ge=0, le=3600),
    ] = 5.0
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        SettingRule("Lowest level that is logged; debug also logs admitted objects."),
    ] = "info"
    max_connections: Annotated[
        int, SettingRule("Connections that clients may have open at the same time.", ge=1, le=100_000)
    ] = 1000
    mode: Annotated[
        Literal["enforce", "audit"],
        SettingRule("Whether constraints are enforced, or only reported as warnings and metrics."),
    ] = "enforce"
    host_binding: Annotated[
        Literal["auto", "nodeName", "nodeAffinity"],
        SettingRule("How a pod is bound to the host that it names; auto decides by the pod's creator."),
    ] = "auto"
    unknown_annotations: Annotated[
        Literal["refuse", "warn"], SettingRule("What an unknown annotation under streams.ibm.com/ does to a pod.")
    ] = "refuse"
    elastic: Annotated[
        bool, SettingRule("Nodes are added on demand: a pool without hosts is a warning, not a refusal.")
    ] = False
    scale_up: Annotated[
        Literal["auto", "off"],
        SettingRule("Whether a pod that no node can run waits for a node group that can make one; else it is refused."),
    ] = "off"
    node_shapes: Annotated[
        str,
        SettingRule(
            "Nodes made by an autoscaler that has no objects in the cluster, as a JSON list of shapes.",
            max_length=65_536,
        ),
    ] = ""
    unsatisfiable_pods: Annotated[
        Literal["wait", "refuse"],
        SettingRule("What happens to a pod that a controller creates while no node can run it."),
    ] = "wait"
    controller_account: Annotated[
        str,
        SettingRule(
            "User name of the controller that creates the pods of ProcessingElements; if empty, no account may.",
            max_length=1024,
        ),
    ] = ""
    reviewed_kinds: Annotated[
        str,
        SettingRule(
            "Kinds of other operators whose objects are reviewed, such as RayCluster.ray.io; their pods wait.",
            max_length=4096,
        ),
    ] = ""
    operator_accounts: Annotated[
        str,
        SettingRule(
            "User names under which operators create the pods of these kinds, separated by commas.", max_length=16_384
        ),
    ] = ""
    element_requests: Annotated[
        str, SettingRule("Default requests of the container of a processing element.", max_length=4096)
    ] = "cpu=100m,memory=128Mi"
    claim_templates: Annotated[
        bool, SettingRule("Whether the controller makes ResourceClaimTemplates of devices that requirements describe.")
    ] = True
    kueue: Annotated[bool, SettingRule("Whether the controller answers admission checks of Kueue (docs/kueue.md).")] = (
        False
    )
    provisioning_requests: Annotated[
        bool,
        SettingRule("Whether the controller asks the cluster autoscaler for room for Jobs that wait for new nodes."),
    ] = False
    job_seconds: Annotated[
        float,
        SettingRule(
            "Time limit of the check that a whole Job can run; a Job whose check takes longer is admitted.", ge=0, le=10
        ),
    ] = 1.0
    job_process: Annotated[
        bool,
        SettingRule("Whether whole Jobs are checked in a process of their own, so that other reviews need not wait."),
    ] = True
    verify_pods: Annotated[
        bool,
        SettingRule("Whether /validate refuses pods from which another plugin removed what their constraints require."),
    ] = True
    exclusive_effect: Annotated[
        Literal["NoSchedule", "NoExecute"], SettingRule("Effect of the taint on hosts of exclusive pools.")
    ] = "NoSchedule"
    exclusive_strangers: Annotated[
        Literal["streams", "all"],
        SettingRule(
            "Pods that count as strangers on exclusive hosts: those of Streams jobs, or all except DaemonSets'."
        ),
    ] = "streams"
    excluded_namespaces: Annotated[
        str,
        SettingRule(
            "Namespaces, such as kube-system,monitoring, whose pods are not strangers, except pods of Streams jobs.",
            max_length=65_536,
        ),
    ] = "kube-system"
    poolable_nodes: Annotated[
        str, SettingRule("Label selector, as kubectl takes it, of the nodes that pools may use.", max_length=4096)
    ] = "!node-role.kubernetes.io/control-plane"
    exclusive_quota: Annotated[
        str,
        SettingRule(
            "Exclusive hosts that a namespace may hold, such as 20,team-a=40,team-b=0; unlimited if empty.",
            max_length=16_384,
        ),
    ] = ""
    pool_quota: Annotated[
        str, SettingRule("HostPools that a namespace may have, such as 100,team-a=400.", max_length=16_384)
    ] = str(POOLS)
    guard_nodes: Annotated[
        Literal["warn", "refuse", "off"], SettingRule("What happens to node changes that break a HostPool.")
    ] = "warn"
    guard_bindings: Annotated[bool, SettingRule("Refuse bindings that bypass an exclusive host or a HostPool.")] = False
    strict: Annotated[
        bool,
        SettingRule("Close every path onto exclusive hosts: implies --guard-bindings and --exclusive-strangers all."),
    ] = False
    authorize_pools: Annotated[bool, SettingRule("Require the RBAC verb use on a HostPool to name it in a pod.")] = (
        False
    )
    replace_unusable_after: Annotated[
        float,
        SettingRule(
            "Seconds after which the controller replaces a host that is cordoned or not ready; 0 for never.",
            ge=0,
            le=604_800,
        ),
    ] = 0.0
    replace_unlabelled: Annotated[bool, SettingRule("Replace a host that lost a tag of its pool.")] = False
    name_degraded_pools: Annotated[
        bool, SettingRule("Name degraded HostPools in metrics; every reader of the metrics then sees the names.")
    ] = False
    runtime_image: Annotated[
        str,
        SettingRule(
            "Image of the Streams runtime, for processing elements without a template; {buildType} is debug or "
            "release.",
            min_length=1,
            max_length=1024,
        ),
    ] = RUNTIME_IMAGE
    lease_namespace: Annotated[
        str | None,
        SettingRule("Namespace of the leader-election Lease; by default that of the pod, else default.", max_length=63),
    ] = None
    lease_name: Annotated[
        str, SettingRule("Name of the leader-election Lease of the controllers.", min_length=1, max_length=253)
    ] = "streams-placement-controller"
    placement_review: Annotated[
        bool,
        SettingRule("Answer PlacementReviews to users of the cluster, on a port that the API server calls for them."),
    ] = False
    placement_review_port: Annotated[
        int, SettingRule("Listen port of PlacementReviews; 0 picks a free one.", ge=0, le=65535)
    ] = 8444
    debug_profile: Annotated[
        bool, SettingRule("Serve /debug/profile on the port of health checks, a profile of the process.")
    ] = False
    traces_endpoint: Annotated[
        str,
        SettingRule(
            "URL of an OpenTelemetry collector for traces by OTLP over HTTP, such as "
            "http://collector:4318/v1/traces; if empty, no traces are sent.",
            max_length=2048,
        ),
    ] = ""
    traces_ratio: Annotated[
        float,
        SettingRule(
            "Fraction of the traces begun here that are sent; a review of a traced request is always traced.",
            ge=0,
            le=1,
            metavar="RATIO",
        ),
    ] = 0.01


class Declared(Struct, frozen=True):
    """A setting as it is declared: the type of its value, its default and its rule."""

    kind: Any
    default: Any
    rule: SettingRule


_DECLARED: Final[dict[type[SettingFields], Mapping[str, Declared]]] = {}
"""The settings that each class declares, once they were asked for: reading type hints takes a millisecond."""


def declared(fields: type[SettingFields] = SettingFields) -> Mapping[str, Declared]:
    """The settings that the class declares, by their names, in the order of their declarations."""
    if fields not in _DECLARED:
        hints = {name: get_args(hint) for name, hint in get_type_hints(fields, include_extras=True).items()}
        stated = {name: Declared(kind, getattr(fields, name), rule) for name, (kind, rule) in hints.items()}
        _DECLARED[fields] = MappingProxyType(stated)
    return _DECLARED[fields]


def flag(field: str) -> str:
    """The command-line flag of a field: ``--pool-quota``."""
    return f"--{field.replace('_', '-')}"


def variable(field: str) -> str:
    """The environment variable of a field: ``STREAMS_PLACEMENT_POOL_QUOTA``."""
    return PREFIX + field.upper()
