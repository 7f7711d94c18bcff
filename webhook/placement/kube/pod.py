"""A pod as far as placement reads it: exactly those fields, in the wire's own shape.

Decoded straight from JSON by msgspec, so a review costs no translation. Everything else in the pod is skipped, and a
patch touches none of it. Field meanings are those of the Kubernetes Pod (core/v1).
"""

from typing import Literal

from msgspec import Struct, field

Amount = str | int | float
"""A Kubernetes quantity as JSON carries it: text, or a bare number."""


class Requirement(Struct, frozen=True, gc=False, omit_defaults=True):
    """One expression of a selector over labels (or, in ``matchFields``, over fields)."""

    key: str
    operator: str
    values: tuple[str, ...] | None = None


class NodeTerm(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """Requirements that must all hold; a term without any matches no node."""

    match_expressions: tuple[Requirement, ...] | None = None
    match_fields: tuple[Requirement, ...] | None = None

    @property
    def empty(self) -> bool:
        """Whether the term matches nothing."""
        return not self.match_expressions and not self.match_fields


class NodeSelector(Struct, frozen=True, gc=False, rename="camel"):
    """Terms of which one must match."""

    node_selector_terms: tuple[NodeTerm, ...] | None = None


class PreferredNodeTerm(Struct, frozen=True, gc=False):
    """A term that adds its weight (1..100) to a node's score."""

    weight: int
    preference: NodeTerm


class NodeAffinity(Struct, frozen=True, gc=False):
    """Required and preferred node terms."""

    required: NodeSelector | None = field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)
    preferred: tuple[PreferredNodeTerm, ...] | None = field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=None
    )


class LabelSelector(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A selector over labels; both parts must hold, and an empty one matches everything."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[Requirement, ...] | None = None


class PodTerm(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """Pods to be near to, or away from, within one topology domain."""

    label_selector: LabelSelector | None = None
    topology_key: str = ""
    namespaces: tuple[str, ...] | None = None
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    mismatch_label_keys: tuple[str, ...] | None = None


class WeightedPodTerm(Struct, frozen=True, gc=False, rename="camel"):
    """A pod term that adds its weight (1..100) to the score of the nodes where it holds."""

    weight: int
    pod_affinity_term: PodTerm


class PodAffinity(Struct, frozen=True, gc=False):
    """Required and preferred pod terms: of ``podAffinity`` or of ``podAntiAffinity``."""

    required: tuple[PodTerm, ...] | None = field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)
    preferred: tuple[WeightedPodTerm, ...] | None = field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=None
    )


class Affinity(Struct, frozen=True, gc=False, rename="camel"):
    """The three kinds of affinity."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """What a pod puts up with; an empty effect or key stands for all of them."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None

    @property
    def of_everything(self) -> bool:
        """Whether it covers every taint, of its effect if it names one."""
        return not self.key and self.operator == "Exists"


class Resources(Struct, frozen=True, gc=False):
    """Requests and limits by resource name."""

    requests: dict[str, Amount] | None = None
    limits: dict[str, Amount] | None = None


class ContainerPort(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A port of a container; with ``hostPort`` it takes that port of the node."""

    host_port: int | None = None
    container_port: int | None = None


class Container(Struct, frozen=True, gc=False, rename="camel"):
    """A container or init container; ``restartPolicy: Always`` makes the latter a sidecar."""

    name: str = ""
    resources: Resources | None = None
    restart_policy: str | None = None
    ports: tuple[ContainerPort, ...] | None = None


class SchedulingGate(Struct, frozen=True, gc=False):
    """A reason not to schedule the pod yet."""

    name: str = ""


class Present(Struct, frozen=True, gc=False):
    """An object of which it only matters that it is there."""


class Volume(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A volume, as far as it ties the pod to nodes: a claim, or a disk that is attached to one node at a time."""

    persistent_volume_claim: Present | None = None
    ephemeral: Present | None = None
    csi: Present | None = None
    aws_elastic_block_store: Present | None = field(name="awsElasticBlockStore", default=None)
    gce_persistent_disk: Present | None = None
    azure_disk: Present | None = None
    cinder: Present | None = None
    iscsi: Present | None = None
    rbd: Present | None = None


HARD = "DoNotSchedule"
"""The ``whenUnsatisfiable`` of a spread constraint that keeps pods off nodes."""


class SpreadConstraint(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """How evenly pods that the selector matches are spread over the domains of a topology key."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


class PodSpec(Struct, frozen=True, gc=False, rename="camel"):
    """The parts of a pod's spec that decide where it can run."""

    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    resources: Resources | None = None
    overhead: dict[str, Amount] | None = None
    node_name: str | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    scheduling_gates: tuple[SchedulingGate, ...] | None = None
    scheduler_name: str | None = None
    scheduling_group: Present | None = None
    topology_spread_constraints: tuple[SpreadConstraint, ...] | None = None
    host_network: bool | None = None
    resource_claims: tuple[Present, ...] | None = None
    volumes: tuple[Volume, ...] | None = None


class OwnerReference(Struct, frozen=True, gc=False, rename="camel"):
    """Who made the object."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class Metadata(Struct, frozen=True, gc=False, rename="camel"):
    """Object metadata; pods made by controllers have a ``generateName`` and no name yet."""

    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[OwnerReference, ...] | None = None


class PodStatus(Struct, frozen=True, gc=False):
    """How far the pod has come."""

    phase: Literal["Pending", "Running", "Succeeded", "Failed", "Unknown", ""] | None = None


class Pod(Struct, frozen=True, gc=False):
    """A pod, or the pod template of a workload."""

    metadata: Metadata | None = None
    spec: PodSpec | None = None
    status: PodStatus | None = None


def required_terms(spec: PodSpec) -> tuple[NodeTerm, ...] | None:
    """Terms of the pod's required node affinity, of which its node must match one; ``None`` without such affinity.

    The result is empty for required node affinity that has no terms: no node meets it.
    """
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required if affinity else None
    return (required.node_selector_terms or ()) if required else None
