"""Workloads made by dice, the pods that controllers make of them, and every way in which those can be placed."""

from collections.abc import Mapping
from typing import Any

from tests.placement.properties.random_choices import RandomChoices
from tests.scheduling.passing_conditions import allowed, opened
from tests.scheduling.pods import POD_BYTES, Names, asking
from tests.scheduling.state import Cluster

Json = Mapping[str, Any]
Object = dict[str, Any]

WORKLOAD_BYTES = POD_BYTES + 8
_KINDS = ("Deployment", "Deployment", "StatefulSet", "ReplicaSet", "Job", "Job")
_MAKERS = {"Deployment": ("apps/v1", "ReplicaSet")}


def workload(choices: RandomChoices, names: Names) -> Object:
    """A Deployment, StatefulSet, ReplicaSet or Job of some pods that say where they are to run."""
    pod = asking(choices.part(POD_BYTES), names, 9)
    spec = {key: value for key, value in pod["spec"].items() if key != "schedulingGates"}
    kind = choices.pick(_KINDS)
    template = {"metadata": {key: pod["metadata"][key] for key in ("labels", "annotations")}, "spec": spec}
    count = 1 + choices.face(4)
    group, said = ("batch", _parallel(choices, count)) if kind == "Job" else ("apps", {"replicas": count})
    if kind == "Job":
        spec["restartPolicy"] = "Never"
    else:
        said["selector"] = {"matchLabels": {"app": template["metadata"]["labels"]["app"]}}
    metadata = {"name": f"{names.mark}-w", "namespace": names.spaces[0]}
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": metadata, "spec": {**said, "template": template}}


def _parallel(choices: RandomChoices, count: int) -> Object:
    found: Object = {"parallelism": count, "completions": count}
    if choices.face(8) == 7:
        found["completionMode"] = "Indexed"
    return found


def count_of(found: Json) -> int:
    """How many pods it wants at the same time."""
    spec = found["spec"]
    return int(spec.get("replicas", spec.get("parallelism", 1)))


def all_at_once(found: Json) -> bool:
    """Whether it is not enough that its pods run one after the other."""
    return found["kind"] != "Job" or found["spec"].get("completionMode") == "Indexed"


def labels_of(found: Json, number: int) -> dict[str, str]:
    """The labels that the controller gives to that pod (``k8s.io/api``: ``apps/v1`` and ``batch/v1``, types.go)."""
    name, kind = found["metadata"]["name"], found["kind"]
    if kind == "Deployment":
        return {"pod-template-hash": "5d9c"}
    if kind == "StatefulSet":
        return {
            "apps.kubernetes.io/pod-index": str(number),
            "controller-revision-hash": f"{name}-5d9c",
            "statefulset.kubernetes.io/pod-name": f"{name}-{number}",
        }
    if kind == "Job":
        own = {"job-name": name, "controller-uid": "w"}
        index = {"batch.kubernetes.io/job-completion-index": str(number)}
        both = own | {f"batch.kubernetes.io/{key}": value for key, value in own.items()}
        return both | (index if found["spec"].get("completionMode") == "Indexed" else {})
    return {}


def pod_of(found: Json, number: int) -> Object:
    """The pod that its controller makes, as it comes to the webhook."""
    name, template = found["metadata"]["name"], found["spec"]["template"]
    version, kind = _MAKERS.get(found["kind"], (found["apiVersion"], found["kind"]))
    owner = {"apiVersion": version, "kind": kind, "name": name, "uid": "w", "controller": True}
    metadata = {
        **template["metadata"],
        "labels": {**template["metadata"]["labels"], **labels_of(found, number)},
        "name": f"{name}-{number}",
        "namespace": found["metadata"]["namespace"],
        "uid": f"uid-of-{name}-{number}",
        "ownerReferences": [owner],
    }
    status = {"phase": "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"], "status": status}


def most_placed(found: Json, cluster: Cluster) -> int:
    """How many of its pods can run together, in any order and on any nodes that a person would let them have.

    Every way is tried: pods are alike, so a way is how many of them each node has.
    """
    wanted, seen = count_of(found), set[frozenset[tuple[str, int]]]()

    def tried(state: Cluster, shares: dict[str, int]) -> int:
        key, placed = frozenset(shares.items()), sum(shares.values())
        if placed == wanted or key in seen:
            return placed
        seen.add(key)
        pod = opened(pod_of(found, placed), state)
        best = placed
        for name in allowed(pod, state):
            more = {**shares, name: shares.get(name, 0) + 1}
            best = max(best, tried(state.plus(pod, name), more))
            if best == wanted:
                break
        return best

    return tried(cluster, {})
