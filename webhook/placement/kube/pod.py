"""The Kubernetes Pod (core/v1) as msgspec Structs, with exactly the fields that placement reads.

msgspec decodes the JSON of a review straight into these types. All other fields of the pod are skipped, and patches do
not touch them. Fields mean what Kubernetes says of them.
"""

from typing import Literal

from msgspec import Struct, field

Amount = str | int | float
"""A Kubernetes quantity as JSON carries it: text, or a bare number."""


class Requirement(Struct, frozen=True, gc=False, omit_defaults=True):
    """One expression of a selector over labels or, in ``matchFields``, over fields."""

    key: str
    operator: str
    values: tuple[str, ...] | None = None


class NodeTerm(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A node selector term: all requirements must hold, and a term without requirements matches no node."""

    match_expressions: tuple[Requirement, ...] | None = None
    match_fields: tuple[Requirement, ...] | None = None

    @property
    def empty(self) -> bool:
        """Whether the term has no requirements, so that it matches no node."""
        return not self.match_expressions and not self.match_fields


class NodeSelector(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """Node selector terms of which at least one must match."""

    node_selector_terms: tuple[NodeTerm, ...] | None = None


class PreferredNodeTerm(Struct, frozen=True, gc=False):
    """A node selector term that adds its weight (1 to 100) to the score of the nodes it matches."""

    weight: int
    preference: NodeTerm


class NodeAffinity(Struct, frozen=True, gc=False, omit_defaults=True):
    """Required and preferred node selector terms."""

    required: NodeSelector | None = field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)
    preferred: tuple[PreferredNodeTerm, ...] | None = field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=None
    )


class LabelSelector(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A selector over labels: both parts must hold, and an empty selector matches everything."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[Requirement, ...] | None = None


class PodTerm(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A pod affinity term: pods to share a topology domain with or, in anti-affinity, to share none with."""

    label_selector: LabelSelector | None = None
    topology_key: str = ""
    namespaces: tuple[str, ...] | None = None
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    mismatch_label_keys: tuple[str, ...] | None = None


class WeightedPodTerm(Struct, frozen=True, gc=False, rename="camel"):
    """A pod affinity term that adds its weight (1 to 100) to the score of the nodes where it holds."""

    weight: int
    pod_affinity_term: PodTerm


class PodAffinity(Struct, frozen=True, gc=False, omit_defaults=True):
    """Required and preferred pod affinity terms, of ``podAffinity`` or of ``podAntiAffinity``."""

    required: tuple[PodTerm, ...] | None = field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)
    preferred: tuple[WeightedPodTerm, ...] | None = field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=None
    )


class Affinity(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """Node affinity, pod affinity and pod anti-affinity of a pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A toleration of taints. No effect stands for every effect; no key, with ``Exists``, for every key."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None

    @property
    def of_everything(self) -> bool:
        """Whether the toleration matches every taint, or every taint of its effect if it names one."""
        return not self.key and self.operator == "Exists"


class ContainerClaim(Struct, frozen=True, gc=False, omit_defaults=True):
    """A claim of the pod that a container uses, by its name in the pod: all of its requests, or one."""

    name: str = ""
    request: str | None = None


class Resources(Struct, frozen=True, gc=False, omit_defaults=True):
    """Requests and limits by resource name, of a container or of a whole pod; ``claims`` are those of a container."""

    requests: dict[str, Amount] | None = None
    limits: dict[str, Amount] | None = None
    claims: tuple[ContainerClaim, ...] | None = None


class ContainerPort(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A port of a container; with ``hostPort`` the container also takes that port of its node."""

    host_port: int | None = None
    container_port: int | None = None
    protocol: str | None = None
    host_ip: str | None = field(default=None, name="hostIP")


class Container(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A container or init container; an init container with ``restartPolicy: Always`` is a sidecar."""

    name: str = ""
    resources: Resources | None = None
    restart_policy: str | None = None
    ports: tuple[ContainerPort, ...] | None = None


class SchedulingGate(Struct, frozen=True, gc=False, omit_defaults=True):
    """A scheduling gate: the scheduler leaves the pod alone until all gates are removed."""

    name: str = ""


class Present(Struct, frozen=True, gc=False):
    """An object that is present; none of its fields is read."""


class ClaimSource(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """The PersistentVolumeClaim of a volume, in the pod's namespace."""

    claim_name: str = ""


class EphemeralClaimSpec(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """The spec of a claim that is made with the pod: its StorageClass, absent for the default one."""

    storage_class_name: str | None = None


class EphemeralClaim(Struct, frozen=True, gc=False, omit_defaults=True):
    """The template of a claim that is made with the pod."""

    spec: EphemeralClaimSpec | None = None


class EphemeralSource(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A volume whose claim is made with the pod, and goes with it."""

    volume_claim_template: EphemeralClaim | None = None

    @property
    def storage_class(self) -> str | None:
        """The StorageClass of the claim; ``None`` for the default one."""
        template = self.volume_claim_template
        return template.spec.storage_class_name if template and template.spec else None


class Volume(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A volume, with the sources that may tie the pod to nodes: claims, and disks attached to one node at a time.

    Its name is left out: the API server makes up that of the token, another one for each pod of a template.
    """

    persistent_volume_claim: ClaimSource | None = None
    ephemeral: EphemeralSource | None = None
    csi: Present | None = None
    aws_elastic_block_store: Present | None = field(name="awsElasticBlockStore", default=None)
    gce_persistent_disk: Present | None = None
    azure_disk: Present | None = None
    cinder: Present | None = None
    iscsi: Present | None = None
    rbd: Present | None = None


class PodClaim(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A ResourceClaim of the pod: one by name, or one that is made for the pod from a ResourceClaimTemplate."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


HARD = "DoNotSchedule"
"""The ``whenUnsatisfiable`` of spread constraints that the scheduler enforces."""


class SpreadConstraint(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A topology spread constraint: how evenly the pods of a selector are spread over the domains of a topology key."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


class PodSpec(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
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
    resource_claims: tuple[PodClaim, ...] | None = None
    volumes: tuple[Volume, ...] | None = None
    runtime_class_name: str | None = None
    priority_class_name: str | None = None
    priority: int | None = None
    preemption_policy: str | None = None


class OwnerReference(Struct, frozen=True, gc=False, rename="camel"):
    """An owner of the object; ``controller`` marks the one that manages it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class Metadata(Struct, frozen=True, gc=False, rename="camel"):
    """Object metadata; a pod from a controller has a ``generateName`` and no ``name`` when it is reviewed."""

    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[OwnerReference, ...] | None = None


class PodStatus(Struct, frozen=True, gc=False):
    """The phase of a pod."""

    phase: Literal["Pending", "Running", "Succeeded", "Failed", "Unknown", ""] | None = None


class Pod(Struct, frozen=True, gc=False):
    """A pod, or the pod template of a workload."""

    metadata: Metadata | None = None
    spec: PodSpec | None = None
    status: PodStatus | None = None


class OperatorPod(Pod, frozen=True, gc=False):
    """A pod that an operator makes: it adds the containers named in ``added``, whose requests no user writes."""

    added: frozenset[str] = frozenset()


def required_terms(spec: PodSpec) -> tuple[NodeTerm, ...] | None:
    """Terms of the pod's required node affinity, of which its node must match one; ``None`` without such affinity.

    The result is empty for required node affinity that has no terms: no node meets it.
    """
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required if affinity else None
    return (required.node_selector_terms or ()) if required else None
