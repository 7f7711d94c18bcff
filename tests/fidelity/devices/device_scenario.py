"""``DeviceScenario``: nodes, their devices, and what wants some of them, as plain data."""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.fidelity.preparation import job_pods
from tests.scheduling.state import Cluster, manifests
from webhook.placement.text import keys

Json = Mapping[str, Any]
Object = dict[str, Any]

VERSION: Final = "resource.k8s.io/v1"

_KINDS: Final = {"Pod": "pod", "Job": "job", "HostPool": "pool"}

ADMINISTRATION: Final = "resource.kubernetes.io/admin-access"
"""Label of namespaces whose claims may have devices that others use."""


@dataclass(frozen=True, repr=False)
class DeviceScenario:
    """``devices`` are classes, slices, templates and claims; allocated ones have a status.

    All names of the scenario contain the ``mark``, so scenarios do not affect one another. ``subject`` is a pod, a
    Deployment all of whose pods want the same, a Job whose elements want devices, or a HostPool that asks for some.
    """

    number: int
    mark: str
    nodes: tuple[Object, ...]
    devices: tuple[Object, ...]
    subject: Object

    def __repr__(self) -> str:
        """The number, and everything in YAML."""
        return f"scenario {self.number}: {self.manifest()}"

    @property
    def kind(self) -> str:
        """``pod``, ``workload``, ``job`` or ``pool``."""
        return _KINDS.get(self.subject["kind"], "workload")

    @property
    def cluster(self) -> Cluster:
        """The cluster before any pod is created."""
        return Cluster(self.nodes, namespaces={self.mark: {ADMINISTRATION: "true"}}, devices=self.devices)

    @property
    def pods(self) -> tuple[Object, ...]:
        """The pods that are created; none for a HostPool."""
        if self.kind == "pod":
            return (self.subject,)
        if self.kind == "pool":
            return ()
        if self.kind == "job":
            return tuple(job_pods(self.subject, self.mark, self.mark))
        spec = self.subject["spec"]
        return tuple(_pod_of(self.subject, at) for at in range(spec["replicas"]))

    @property
    def held(self) -> bool:
        """Whether a claim has devices already."""
        return any("status" in one for one in self.devices)

    def manifest(self) -> str:
        """Everything in YAML, as ``explain --snapshot`` and ``kubectl`` read it."""
        return manifests(json.loads(json.dumps([*self.nodes, *self.devices, self.subject])))

    def families(self) -> frozenset[str]:
        """What of devices it has something of."""
        return frozenset(_families(self))


def _pod_of(deployment: Json, at: int) -> Object:
    template = copy.deepcopy(deployment["spec"]["template"])
    name = f"{deployment['metadata']['name']}-{at}"
    metadata = {**template["metadata"], "name": name, "uid": f"uid-of-{name}"}
    metadata |= {"namespace": deployment["metadata"]["namespace"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


_OF_REQUESTS: Final = {
    "firstAvailable": "alternatives",
    '"All"': "all of a kind",
    "adminAccess": "administration",
    "matchAttribute": "same attribute",
    "distinctAttribute": "distinct attributes",
    '"capacity": {"requests"': "consumed capacity",
    '"tolerations"': "tolerations of taints",
}
"""What words of claims and templates say."""

_OF_SLICES: Final = {
    "sharedCounters": "partitions",
    "allowMultipleAllocations": "shared devices",
    '"taints"': "taints",
    "allNodes": "pools of several nodes",
    "nodeSelector": "pools of several nodes",
    "perDeviceNodeSelection": "pools of several nodes",
}
"""What words of slices say."""


def _families(scenario: DeviceScenario) -> Iterator[str]:
    yield f"a {scenario.kind}"
    if scenario.held:
        yield "held devices"
    for pod in scenario.pods:
        wanted = pod["spec"].get("resourceClaims", ())
        if len(wanted) > 1:
            yield "several claims"
        yield from ("claims by name" for one in wanted if "resourceClaimName" in one)
        if keys.HARDWARE in pod["metadata"].get("annotations", {}):
            yield "described devices"
        if any(one.get("resources") for one in pod["spec"]["containers"]):
            yield "mapped resources"
    for one in scenario.devices:
        words = _OF_SLICES if one["kind"] == "ResourceSlice" else _OF_REQUESTS
        said = json.dumps(one["spec"])
        yield from (family for word, family in words.items() if word in said)
