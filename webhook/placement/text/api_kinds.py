"""Every kind of object that is watched, listed, reviewed, read or written, as the API server names it.

A kind is listed here once; ``cluster/objects/kinds.py`` says how the watched ones become values, and
``admission/validate.py`` how the reviewed ones are checked. All of them are read in version ``v1`` of their group; one
that is not served in ``v1`` everywhere has ``older`` versions, too.
"""

from typing import Final

from msgspec import Struct

from webhook.placement.text.keys import API_GROUP

VERSION: Final = "v1"
"""The version of every kind, where the API server serves it."""


class ApiKind(Struct, frozen=True, gc=False):
    """A kind of object: its ``group`` (empty for the core group), ``name`` (``Pod``) and ``resource`` (``pods``).

    ``older`` are versions in which it is read where the API server does not serve :data:`VERSION`, the best first.
    """

    group: str
    name: str
    resource: str
    older: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        """What objects state as their apiVersion: ``v1``, ``apps/v1``."""
        return f"{self.group}/{VERSION}" if self.group else VERSION

    @property
    def full_resource(self) -> str:
        """The name in RBAC rules: ``pods``, or ``streamsjobs.streams.ibm.com``."""
        return f"{self.resource}.{self.group}" if self.group else self.resource

    @property
    def api_versions(self) -> tuple[str, ...]:
        """What objects may state as their apiVersion, the best first."""
        return (self.api_version, *(f"{self.group}/{version}" for version in self.older))

    @property
    def path(self) -> str:
        """Where the API server has all of them."""
        return f"{self._version_path}/{self.resource}"

    @property
    def paths(self) -> tuple[str, ...]:
        """Where the API server may have all of them: one path for each version."""
        return (self.path, *(f"/apis/{self.group}/{version}/{self.resource}" for version in self.older))

    def path_in(self, namespace: str) -> str:
        """Where the API server has those of a namespace; the name is to be quoted if it may be anything."""
        return f"{self._version_path}/namespaces/{namespace}/{self.resource}"

    def paths_in(self, namespace: str) -> tuple[str, ...]:
        """Where the API server may have those of a namespace: one path for each version, as :attr:`paths`."""
        older = (f"/apis/{self.group}/{version}/namespaces/{namespace}/{self.resource}" for version in self.older)
        return (self.path_in(namespace), *older)

    @property
    def _version_path(self) -> str:
        return f"/apis/{self.group}/{VERSION}" if self.group else f"/api/{VERSION}"


NODE: Final = ApiKind("", "Node", "nodes")
POD: Final = ApiKind("", "Pod", "pods")
BINDING: Final = ApiKind("", "Binding", "bindings")
NAMESPACE: Final = ApiKind("", "Namespace", "namespaces")
LIMIT_RANGE: Final = ApiKind("", "LimitRange", "limitranges")
RUNTIME_CLASS: Final = ApiKind("node.k8s.io", "RuntimeClass", "runtimeclasses")
PRIORITY_CLASS: Final = ApiKind("scheduling.k8s.io", "PriorityClass", "priorityclasses")

HOST_POOL: Final = ApiKind(API_GROUP, "HostPool", "streamshostpools")
STREAMS_JOB: Final = ApiKind(API_GROUP, "Job", "streamsjobs")
"""The Job of Streams; that of ``batch`` is another kind."""
PROCESSING_ELEMENT: Final = ApiKind(API_GROUP, "ProcessingElement", "streamspes")
PARALLEL_REGION: Final = ApiKind(API_GROUP, "ParallelRegion", "streamsparallelregions")
HPA_INTENT: Final = ApiKind(API_GROUP, "HPAIntent", "streamshpaintents")

SCALE: Final = ApiKind("autoscaling", "Scale", "scale")
"""What the subresource ``scale`` of an object is."""

DEPLOYMENT: Final = ApiKind("apps", "Deployment", "deployments")
REPLICA_SET: Final = ApiKind("apps", "ReplicaSet", "replicasets")
STATEFUL_SET: Final = ApiKind("apps", "StatefulSet", "statefulsets")
DAEMON_SET: Final = ApiKind("apps", "DaemonSet", "daemonsets")
BATCH_JOB: Final = ApiKind("batch", "Job", "jobs")
CRON_JOB: Final = ApiKind("batch", "CronJob", "cronjobs")
CLAIM: Final = ApiKind("", "PersistentVolumeClaim", "persistentvolumeclaims")
PERSISTENT_VOLUME: Final = ApiKind("", "PersistentVolume", "persistentvolumes")
STORAGE_CLASS: Final = ApiKind("storage.k8s.io", "StorageClass", "storageclasses")

DEVICE_CLASS: Final = ApiKind("resource.k8s.io", "DeviceClass", "deviceclasses")
"""Served since Kubernetes 1.34, as the three that follow."""
RESOURCE_SLICE: Final = ApiKind("resource.k8s.io", "ResourceSlice", "resourceslices")
RESOURCE_CLAIM: Final = ApiKind("resource.k8s.io", "ResourceClaim", "resourceclaims")
CLAIM_TEMPLATE: Final = ApiKind("resource.k8s.io", "ResourceClaimTemplate", "resourceclaimtemplates")
DEVICE_TAINT_RULE: Final = ApiKind("resource.k8s.io", "DeviceTaintRule", "devicetaintrules", ("v1beta2", "v1alpha3"))
"""Served in ``v1beta2`` by Kubernetes 1.36, and before in ``v1alpha3``, if an administrator turns that on."""

NODE_POOL: Final = ApiKind("karpenter.sh", "NodePool", "nodepools")
NODE_CLAIM: Final = ApiKind("karpenter.sh", "NodeClaim", "nodeclaims")
MACHINE_DEPLOYMENT: Final = ApiKind(
    "cluster.x-k8s.io", "MachineDeployment", "machinedeployments", ("v1beta2", "v1beta1")
)
MACHINE_SET: Final = ApiKind("cluster.x-k8s.io", "MachineSet", "machinesets", ("v1beta2", "v1beta1"))
MACHINE_POOL: Final = ApiKind("cluster.x-k8s.io", "MachinePool", "machinepools", ("v1beta2", "v1beta1"))
"""Not served in ``v1`` by any version of Cluster API, as the two before."""
NODE_TOPOLOGY: Final = ApiKind(
    "topology.node.k8s.io", "NodeResourceTopology", "noderesourcetopologies", ("v1alpha2", "v1alpha1")
)
"""NUMA zones of nodes, as agents publish them; no version of them is stable yet."""

KUEUE_WORKLOAD: Final = ApiKind("kueue.x-k8s.io", "Workload", "workloads", ("v1beta2", "v1beta1"))
ADMISSION_CHECK: Final = ApiKind("kueue.x-k8s.io", "AdmissionCheck", "admissionchecks", ("v1beta2", "v1beta1"))
RESOURCE_FLAVOR: Final = ApiKind("kueue.x-k8s.io", "ResourceFlavor", "resourceflavors", ("v1beta2", "v1beta1"))
"""What Kueue queues, who decides on it beside its quota, and the nodes that a quota is of; in no stable version yet."""

PROVISIONING_REQUEST: Final = ApiKind(
    "autoscaling.x-k8s.io", "ProvisioningRequest", "provisioningrequests", ("v1beta1",)
)
"""A question to the cluster autoscaler about pods that do not exist yet."""

REPLICATION_CONTROLLER: Final = ApiKind("", "ReplicationController", "replicationcontrollers")
POD_TEMPLATE: Final = ApiKind("", "PodTemplate", "podtemplates")

WORKLOADS: Final = (
    DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, BATCH_JOB, CRON_JOB, REPLICATION_CONTROLLER, POD_TEMPLATE,
)  # fmt: skip
"""Kinds with a template of pods, which are judged when they are submitted."""

REVIEWED: Final = (
    POD,
    BINDING,
    NODE,
    HOST_POOL,
    STREAMS_JOB,
    PROCESSING_ELEMENT,
    PARALLEL_REGION,
    SCALE,
    HPA_INTENT,
    *WORKLOADS,
)
"""Kinds of which reviews are looked into."""
