"""A cluster's objects as the API server, or ``kubectl get``, writes them: exactly the fields that are used.

Decoded straight from JSON by msgspec, or converted from what a YAML file holds. Every field is optional, and ``null``
counts as absent: an object is refused for what it says, never for what it leaves out.
"""

from typing import Any

from msgspec import Struct, field

from webhook.admission.opt_in import MIRROR
from webhook.placement.kube.pod import Amount, PodSpec, Resources, Toleration
from webhook.placement.objects.jobs.job_fusion import JobFusion
from webhook.placement.objects.pool_spec import HostPoolSpec
from webhook.placement.pod_defaults.limit_range import LimitRangeItem
from webhook.placement.text.keys import BIND, HARDWARE, PLACEMENT, PREFERRED, UNIFORM, WAITS


class Annotations(Struct, frozen=True, gc=False):
    """The annotations of a running pod that decisions about other pods read; all others are skipped."""

    placement: str | None = field(name=PLACEMENT, default=None)
    preferred: str | None = field(name=PREFERRED, default=None)
    bind: str | None = field(name=BIND, default=None)
    uniform: str | None = field(name=UNIFORM, default=None)
    waits: str | None = field(name=WAITS, default=None)
    mirror: str | None = field(name=MIRROR, default=None)
    hardware: str | None = field(name=HARDWARE, default=None)


class Owner(Struct, frozen=True, gc=False, rename="camel"):
    """An owner reference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMetadata(Struct, frozen=True, gc=False, rename="camel"):
    """The metadata of an object, as far as it is read."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    labels: dict[str, str] | None = None
    annotations: Annotations | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[Owner, ...] | None = None
    resource_version: str | None = None


class DatedMetadata(ObjectMetadata, frozen=True, gc=False, rename="camel"):
    """The metadata of a HostPool or DeviceClass, with the time of its creation, which is read of no other kind."""

    creation_timestamp: str | None = None


class NodeTaint(Struct, frozen=True, gc=False):
    """A taint in the spec of a node."""

    key: str | None = None
    value: str | None = None
    effect: str | None = None


class NodeSpec(Struct, frozen=True, gc=False):
    """The spec of a node: what keeps pods away from it."""

    taints: tuple[NodeTaint, ...] | None = None
    unschedulable: bool | None = None


class Condition(Struct, frozen=True, gc=False):
    """A condition of a node or a host pool; ``status`` is True, False or Unknown."""

    type: str = ""
    status: str = ""
    reason: str | None = None
    message: str | None = None


class NodeAddress(Struct, frozen=True, gc=False):
    """An address of a node, of whatever type: cloud providers invent their own."""

    address: str | None = None


class NodeStatus(Struct, frozen=True, gc=False):
    """The status of a node: amounts, addresses and conditions."""

    allocatable: dict[str, Amount] | None = None
    capacity: dict[str, Amount] | None = None
    addresses: tuple[NodeAddress, ...] | None = None
    conditions: tuple[Condition, ...] | None = None


class NodeObject(Struct, frozen=True, gc=False):
    """``v1 Node``."""

    metadata: ObjectMetadata | None = None
    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class PodObjectStatus(Struct, frozen=True, gc=False):
    """How far a pod has come: Pending, Running, Succeeded, Failed or Unknown."""

    phase: str | None = None


class PodObject(Struct, frozen=True, gc=False):
    """``v1 Pod``."""

    metadata: ObjectMetadata | None = None
    spec: PodSpec | None = None
    status: PodObjectStatus | None = None


class PodEvent(Struct, frozen=True, gc=False):
    """An event of a watch of pods, whose pod is decoded in the same pass."""

    type: str
    object: PodObject


class AssignedHost(Struct, frozen=True, gc=False):
    """A host in the status of a HostPoolObject."""

    index: int
    name: str
    uid: str | None = None


class HostPoolStatus(Struct, frozen=True, gc=False):
    """The status of a HostPool: its phase, its hosts and its conditions."""

    phase: str | None = None
    hosts: tuple[AssignedHost, ...] | None = None
    conditions: tuple[Condition, ...] | None = None


class HostPoolObject(Struct, frozen=True, gc=False):
    """``streams.ibm.com/v1 HostPool``."""

    metadata: DatedMetadata | None = None
    spec: HostPoolSpec | None = None
    status: HostPoolStatus | None = None


class Operator(Struct, frozen=True, gc=False):
    """An operator of a processing element, with its placement text."""

    name: str | None = None
    placement: str | None = None


class Template(Struct, frozen=True, gc=False):
    """The template of a processing element's pod."""

    metadata: ObjectMetadata | None = None


class ProcessingElement(Struct, frozen=True, gc=False):
    """A processing element of a job's model."""

    name: str | None = None
    operators: tuple[Operator, ...] | None = None
    template: Template | None = None
    resources: Resources | None = None


class ElementDefaults(Struct, frozen=True, gc=False):
    """The options of a Job for all of its processing elements."""

    resources: Resources | None = None


class StreamsJobSpec(Struct, frozen=True, gc=False, rename="camel"):
    """The model of a job."""

    processing_elements: tuple[ProcessingElement, ...] | None = None
    processing_element: ElementDefaults | None = None
    resources: Resources | None = None
    operators: Any = None
    parallel_regions: Any = None


class StreamsJobStatus(Struct, frozen=True, gc=False):
    """How the operators of a job are fused."""

    fusion: JobFusion | None = None


class JobObject(Struct, frozen=True, gc=False):
    """``streams.ibm.com/v1 Job``; not the Job of ``batch/v1``."""

    metadata: ObjectMetadata | None = None
    spec: StreamsJobSpec | None = None
    status: StreamsJobStatus | None = None


class HPAIntentObject(Struct, frozen=True, gc=False):
    """``streams.ibm.com/v1 HPAIntent``; its spec is read as it stands, as that of an annotation is."""

    metadata: ObjectMetadata | None = None
    spec: Any = None


class NamespaceObject(Struct, frozen=True, gc=False):
    """``v1 Namespace``."""

    metadata: ObjectMetadata | None = None


class LimitRangeSpec(Struct, frozen=True, gc=False):
    """The spec of a LimitRange."""

    limits: tuple[LimitRangeItem, ...] | None = None


class LimitRangeObject(Struct, frozen=True, gc=False):
    """``v1 LimitRange``."""

    metadata: ObjectMetadata | None = None
    spec: LimitRangeSpec | None = None


class RuntimeClassOverhead(Struct, frozen=True, gc=False, rename="camel"):
    """What a pod of the class takes beside its containers."""

    pod_fixed: dict[str, Amount] | None = None


class RuntimeClassScheduling(Struct, frozen=True, gc=False, rename="camel"):
    """Where pods of the class can run."""

    node_selector: dict[str, str] | None = None
    tolerations: tuple[Toleration, ...] | None = None


class RuntimeClassObject(Struct, frozen=True, gc=False):
    """``node.k8s.io/v1 RuntimeClass``."""

    metadata: ObjectMetadata | None = None
    overhead: RuntimeClassOverhead | None = None
    scheduling: RuntimeClassScheduling | None = None


class PriorityClassObject(Struct, frozen=True, gc=False, rename="camel"):
    """``scheduling.k8s.io/v1 PriorityClass``."""

    metadata: ObjectMetadata | None = None
    value: int | None = None
    global_default: bool | None = None
    preemption_policy: str | None = None
