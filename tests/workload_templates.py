"""Minimal workloads with one keyword per tweak, what becomes of them, and live pods of theirs."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tests.builders import NAMESPACE, Json, bound_pod, pod, typed
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.pod import PodInfo
from webhook.placement.text import keys
from webhook.placement.workload.workload import decide_replicas

NUMBERS = {"Job": "parallelism", "CronJob": "parallelism"}
"""What a kind calls its number of pods, if not ``replicas``."""


def template(placement: str | None = None, **tweaks: Any) -> Json:
    """A pod's template: what :func:`tests.builders.pod` says, without what only pods have."""
    found = pod(placement, **tweaks)
    metadata = {key: value for key, value in found["metadata"].items() if key in {"labels", "annotations"}}
    return {"metadata": metadata, "spec": found["spec"]}


def workload(
    kind: str = "Deployment",
    placement: str | None = None,
    *,
    count: int | None = None,
    name: str = "w",
    metadata: Mapping[str, object] = {},
    spec: Mapping[str, object] = {},
    **tweaks: Any,
) -> Json:
    """A workload whose ``count`` pods say this; ``spec`` and ``metadata`` are added to its own, ``tweaks`` to them."""
    made: Json = {"template": template(placement, **tweaks)} | dict(spec)
    if count is not None:
        made[NUMBERS.get(kind, "replicas")] = count
    if kind == "CronJob":
        made = {"schedule": "@daily", "jobTemplate": {"spec": made}}
    return {
        "apiVersion": f"{group(kind)}/v1".lstrip("/"),
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE} | dict(metadata),
        **(made if kind == "PodTemplate" else {"spec": made}),
    }


def group(kind: str) -> str:
    """The API group of a kind of workloads."""
    return "" if kind in {"ReplicationController", "PodTemplate"} else "batch" if kind in NUMBERS else "apps"


def crowded(
    placement: str | None, count: int, inventory: Inventory, policy: Policy | None = None, **tweaks: Any
) -> Decision:
    """What becomes of a Deployment of so many pods; ``spare`` and ``leaving`` make it a rollout.

    With ``in_turn`` or ``suspended`` it is a Job.
    """
    spare, leaving = tweaks.pop("spare", False), tweaks.pop("leaving", "")
    in_turn, suspended = tweaks.pop("in_turn", False), tweaks.pop("suspended", False)
    field = "parallelism" if in_turn or suspended else "replicas"
    found = typed(pod(placement, **{"owner": "ReplicaSet", **tweaks}))
    how = {"spare": spare, "owner": leaving, "in_turn": in_turn, "suspended": suspended}
    replicas = Replicas(count, f"{field} {count}", field=field, **how)
    return decide_replicas(found, NAMESPACE, inventory, policy or Policy(), replicas)


def replica(on: str, owner: str = "Deployment/w", *, apart: str = "", together: str = "", **tweaks: Any) -> PodInfo:
    """A live pod of the workload, with the labels of the tokens that it says."""
    labels = {}
    if apart:
        labels[keys.EXLOCATION + keys.digest(apart)] = apart
    if together:
        labels[keys.COLOCATION + keys.digest(together)] = together
    tweaks = {"labels": labels, "uid": f"uid-of-{owner}-{on}"} | tweaks
    return replace(bound_pod(on, **tweaks), owner=owner)
