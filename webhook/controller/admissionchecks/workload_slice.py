"""``WorkloadSlice``: what a Workload says of the one that it replaces, when a job of Kueue grows while it runs.

With ``ElasticJobsViaWorkloadSlices`` Kueue makes a new Workload with all pods of the larger job, and keeps the pods
that run (Kueue, ``pkg/workloadslicing/workloadslicing.go``).
"""

from typing import Final

import msgspec
from msgspec import Struct

from webhook.cluster.objects import wire
from webhook.controller.admissionchecks.records import REPLACED
from webhook.placement.kube.names import is_object_name

REPLACES: Final = "kueue.x-k8s.io/workload-slice-replacement-for"
"""The annotation with namespace and name of the Workload that is replaced."""


class _SliceOwner(Struct, frozen=True, gc=False):
    uid: str = ""
    controller: bool | None = None


class _SliceMetadata(Struct, frozen=True, gc=False, rename="camel"):
    annotations: dict[str, str] | None = None
    owner_references: tuple[_SliceOwner, ...] | None = None


class _SliceStatus(Struct, frozen=True, gc=False):
    conditions: tuple[wire.Condition, ...] | None = None


class WorkloadSlice(Struct, frozen=True, gc=False):
    """The part of a Workload that says whether it grows another one."""

    metadata: _SliceMetadata = _SliceMetadata()
    status: _SliceStatus = _SliceStatus()

    def replaces(self, namespace: str) -> str:
        """The name of the Workload of that namespace which it replaces; empty if it says none that can be."""
        home, _, name = (self.metadata.annotations or {}).get(REPLACES, "").partition("/")
        return name if home == namespace and is_object_name(name) else ""

    def grows(self, other: "WorkloadSlice") -> bool:
        """Whether the pods of the other one, which it replaces, are its own already: both are of one job that runs.

        Kueue ends the other one, as replaced, when this one gets its quota. A job that has ended runs no more, and
        one whose larger Workload was evicted was stopped, with all of its pods.
        """
        true = {condition.type: condition.reason for condition in other.status.conditions or () if _holds(condition)}
        runs = "Admitted" in true and "Evicted" not in true and true.get("Finished", REPLACED) == REPLACED
        stopped = any(condition.type == "Evicted" for condition in self.status.conditions or ())
        return self.job != "" and self.job == other.job and runs and not stopped

    @property
    def job(self) -> str:
        """The uid of the job."""
        return next((owner.uid for owner in self.metadata.owner_references or () if owner.controller), "")


def _holds(condition: wire.Condition) -> bool:
    return condition.status == "True"


def read_slice(text: bytes) -> WorkloadSlice:
    """A Workload from JSON; raises one of :data:`decoding.ERRORS`."""
    return msgspec.json.decode(text, type=WorkloadSlice)
