"""Pods made by dice: what they say of placement, and everything else of a pod that decides where it can run."""

import json
from collections.abc import Sequence
from typing import Any

from tests.placement.properties.random_choices import RandomChoices
from tests.scheduling.nodes import DEDICATED, DEVICE, DISK, GENERATION, ZONE
from webhook.placement.text import keys

Object = dict[str, Any]

POD_BYTES = 70
TOPOLOGIES = (keys.HOSTNAME, ZONE)

_SOFT = ("host", "hostColocation", "hostExlocation", "hostIsolation", "mapping", "uniform")
_MAPPINGS: tuple[list[Object], ...] = (
    [{"key": DISK, "operator": "In", "values": ["ssd"]}],
    [{"key": GENERATION, "operator": "Gt", "values": ["2"]}],
    [{"key": ZONE, "operator": "Exists"}, {"key": DISK, "operator": "DoesNotExist"}],
)
_HARDWARE: tuple[Object, ...] = (
    {"name": DEVICE, "allocatable": True, "limits": 1},
    {"name": DISK, "allocatable": False, "value": "ssd"},
    {"name": DISK, "allocatable": False, "value": "ssd", "mandatory": False, "weight": 5},
    {"name": "cpu", "allocatable": True, "requests": 1, "limits": 2},
    {"name": "hugepages-2Mi", "allocatable": True, "limits": "2Mi"},
    {"name": DEVICE, "allocatable": True, "limits": 1, "mandatory": False, "weight": 2},
)
_TERMS: tuple[Object, ...] = (
    {"matchExpressions": [{"key": "case", "operator": "Exists"}]},
    {"matchExpressions": [{"key": DISK, "operator": "In", "values": ["ssd"]}]},
    {"matchExpressions": [{"key": ZONE, "operator": "Exists"}, {"key": DISK, "operator": "NotIn", "values": ["ssd"]}]},
    {"matchExpressions": [{"key": GENERATION, "operator": "Gt", "values": ["2"]}]},
    {"matchExpressions": [{"key": GENERATION, "operator": "Exists"}]},
    {"matchExpressions": [{"key": GENERATION, "operator": "Lt", "values": ["x"]}]},
    {"matchExpressions": [{"key": GENERATION, "operator": "Lt", "values": ["9223372036854775808"]}]},
    {"matchExpressions": [{"key": GENERATION, "operator": "DoesNotExist"}]},
    {"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["nowhere"]}]},
    {},
)
"""Terms of node affinity; three of them never do."""

_SIZES: tuple[Object, ...] = (
    {},
    {"requests": {"cpu": "500m"}},
    {"requests": {"cpu": "1", "memory": "1Gi"}},
    {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}},
    {"limits": {"memory": "3Gi"}},
    {"limits": {DEVICE: "1"}},
    {"requests": {"cpu": "1"}, "limits": {"cpu": "1", DEVICE: "1"}},
)


class Names:
    """The names of one cluster; all start with its mark."""

    def __init__(self, mark: str, nodes: Sequence[str], pools: Sequence[str]) -> None:
        self.mark, self.nodes, self.pools = mark, nodes, pools
        self.spaces = (mark, f"{mark}-b")
        self.jobs = (f"{mark}-j", f"{mark}-k")
        self.apps = (f"{mark}-web", f"{mark}-db")


def asking(choices: RandomChoices, names: Names, at: int, *, calm: bool = False) -> Object:
    """A pod of a job, or of none, that says where it is to run; a ``calm`` one says nothing else."""
    whole = choices.part(POD_BYTES - 30)
    found = ordinary(RandomChoices(b"") if calm else whole, names, f"{names.mark}-p{at}")
    metadata, spec = found["metadata"], found["spec"]
    job = choices.face(24)
    if job < 19:
        metadata["labels"][keys.JOB] = names.jobs[job > 15]
    element = choices.face(16)
    if element < 15:
        metadata["labels"][keys.PE] = f"pe-{element % 3}"
    # What is about other pods needs a job.
    metadata["annotations"] = annotations(choices, names, lonely=job > 19)
    controller = choices.face(6)
    if controller > 3:
        kind = ["ReplicaSet", "ProcessingElement"][controller - 4]
        version = ["apps/v1", "streams.ibm.com/v1"][controller - 4]
        owner = {"apiVersion": version, "kind": kind, "name": f"{names.mark}-o", "uid": "o", "controller": True}
        metadata["ownerReferences"] = [owner]
    if choices.face(20) == 19:
        spec["nodeName"] = choices.pick(names.nodes)
    return found


def annotations(choices: RandomChoices, names: Names, *, lonely: bool = False) -> dict[str, str]:
    """What a pod says to us: mostly one clause about other pods of its job, unless it is ``lonely``, and of nodes."""
    clauses, said = _about_pods(choices)
    if lonely:
        clauses, said = [f'host("{choices.pick(names.nodes)}")'], {}
    else:
        clauses += _about_nodes(choices, names)
    if choices.face(12) == 11:
        clauses += _about_pods(choices)[0]
    if clauses:
        said[keys.PLACEMENT] = ", ".join(dict.fromkeys(clauses))
    if choices.face(5) == 4:
        said[keys.PREFERRED] = ", ".join(choices.some(_SOFT, 3, 1))
    if choices.face(12) == 11:
        said[keys.HOST_BINDING] = choices.pick(["nodeName", "nodeAffinity"])
    if choices.face(10) == 9:
        said |= {keys.MAPPED: "true", keys.MAPPING: json.dumps(choices.pick(_MAPPINGS))}
    if choices.face(24) == 23:
        said[keys.RUN_APART_FROM] = f"app={choices.pick(names.apps)}"
    if choices.face(10) == 9:
        said[keys.HARDWARE] = json.dumps([choices.pick(_HARDWARE)])
    return said or {keys.PLACEMENT: "partitionIsolation"}


def _about_pods(choices: RandomChoices) -> tuple[list[str], dict[str, str]]:
    """How it lies to other pods: by a clause, or by another annotation."""
    which = choices.face(16)
    if which < 5:
        return [f'hostExlocation("{choices.pick("ab")}")'], {}
    if which < 10:
        return [f'hostColocation("{choices.pick("tu")}")'], {}
    if which < 13:
        return ["hostIsolation"], {}
    if which == 13:
        return [], {keys.UNIFORM: choices.pick(["all-separate-nodes", "all-same-node"])}
    return [], {}


def _about_nodes(choices: RandomChoices, names: Names) -> list[str]:
    """Which nodes it may run on."""
    which = choices.face(8)
    if which == 7 and names.pools:
        pool = choices.pick(names.pools)
        return [f"host({pool}[0])" if pool == "Listed" and choices.chance(4) else f"host({pool})"]
    if which == 6:
        return [f'host("10.1.0.{1 + choices.face(len(names.nodes))}")']
    return [f'host("{choices.pick(names.nodes)}")'] if which > 3 else []


def ordinary(choices: RandomChoices, names: Names, name: str) -> Object:
    """A pod as anybody's: labels, room, terms of its own about nodes and pods, ports, tolerations."""
    labels = {"app": choices.pick([*names.apps, *names.apps, names.mark])}
    size = _SIZES[min(choices.face(12), len(_SIZES) - 1) if choices.chance(6) else 0]
    main: Object = {"name": "main", "image": "example.invalid/main", "resources": size}
    spec: Object = {"containers": [main], "nodeSelector": {"case": names.mark}}
    if choices.face(8) == 7:
        main["ports"] = [{"containerPort": 80, "hostPort": choices.pick([8080, 8081])}]
    if choices.face(8) == 7:
        always = {"restartPolicy": "Always"} if choices.chance(4) else {}
        first = {"name": "first", "image": "example.invalid/first", "resources": choices.pick(_SIZES[:4]), **always}
        spec["initContainers"] = [first]
    if choices.face(16) == 15:
        spec["resources"] = choices.pick([{"limits": {"cpu": "3"}}, {"requests": {"cpu": "3"}, "limits": {"cpu": "4"}}])
    tolerated = choices.face(6)
    if tolerated > 3:
        infra = {"key": DEDICATED, "operator": "Equal", "value": "infra", "effect": "NoSchedule"}
        spec["tolerations"] = [infra] if tolerated == 4 else [{"operator": "Exists"}]
    if choices.face(16) == 15:
        spec["nodeSelector"][DISK] = "ssd"
    affinity = _affinity(choices, names)
    if affinity:
        spec["affinity"] = affinity
    if choices.face(5) == 4:
        made = [_spread(choices, names) for _ in range(1 + choices.face(2))]
        kinds = {(one["topologyKey"], one["whenUnsatisfiable"]): one for one in made}
        spec["topologySpreadConstraints"] = list(kinds.values())
    _waiting(choices, spec)
    space = names.spaces[choices.face(16) == 15]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": space, "uid": f"uid-of-{name}", "labels": labels},
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def _waiting(choices: RandomChoices, spec: Object) -> None:
    """Things of which a pod without them is not even looked at by the scheduler, or waits for."""
    which = choices.face(32)
    if which == 19:
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    elif which == 18:
        spec["resourceClaims"] = [{"name": "device", "resourceClaimName": "device"}]
    elif which == 17:
        spec["schedulerName"] = "another"
    elif which == 16:
        spec["schedulingGates"] = [{"name": "example.com/wait"}]
    elif which == 15:
        claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
        spec["volumes"] = [{"name": "data", "ephemeral": {"volumeClaimTemplate": claim}}]


def _affinity(choices: RandomChoices, names: Names) -> Object:
    found: Object = {}
    if choices.face(5) == 4:
        terms = [choices.pick(_TERMS) for _ in range(1 + choices.face(2))]
        found["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    if choices.face(16) == 15:
        preferred = {"weight": 1 + choices.face(100), "preference": choices.pick(_TERMS)}
        found.setdefault("nodeAffinity", {})["preferredDuringSchedulingIgnoredDuringExecution"] = [preferred]
    for kind, often in (("podAntiAffinity", 6), ("podAffinity", 8)):
        if choices.face(often) == often - 1:
            terms = [pod_term(choices, names) for _ in range(1 + choices.face(4) % 2)]
            if choices.chance(6):
                found[kind] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
            else:
                soft = [{"weight": 10, "podAffinityTerm": term} for term in terms]
                found[kind] = {"preferredDuringSchedulingIgnoredDuringExecution": soft}
    return found


def pod_term(choices: RandomChoices, names: Names) -> Object:
    """A term about pods of an application, or of a job."""
    about: Object = {"matchLabels": {"app": choices.pick(names.apps)}}
    which = choices.face(8)
    if which == 6:
        about = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [names.mark]}]}
    if which == 7:
        about = {"matchLabels": {keys.JOB: choices.pick(names.jobs)}}
    found = {"labelSelector": about, "topologyKey": choices.pick(TOPOLOGIES)}
    where = choices.face(8)
    if where == 4:
        found["topologyKey"] = ZONE
    if where == 5:
        found["namespaces"] = [names.spaces[1]]
    if where == 6:
        found["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": names.spaces[0]}}
    if where == 7 and which < 6:
        found["matchLabelKeys"] = [keys.JOB]
    return found


def _spread(choices: RandomChoices, names: Names) -> Object:
    found: Object = {
        "maxSkew": 1 + choices.face(2),
        "topologyKey": choices.pick(TOPOLOGIES),
        "whenUnsatisfiable": "ScheduleAnyway" if choices.face(6) == 5 else "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": choices.pick(names.apps)}},
    }
    if found["whenUnsatisfiable"] == "DoNotSchedule" and choices.chance(2):
        found["minDomains"] = 1 + choices.face(3)
    if choices.chance(1):
        found["matchLabelKeys"] = [keys.JOB]
    if choices.chance(2):
        found["nodeTaintsPolicy"] = choices.pick(["Honor", "Ignore"])
    if choices.chance(1):
        found["nodeAffinityPolicy"] = "Ignore"
    return found
