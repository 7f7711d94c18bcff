"""What random scenarios have beside pods: volumes that are bound to nodes, and DaemonSets.

Each is thrown by dice of its own, so that the rest of a scenario stays the same.
"""

import copy
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tests.fidelity.scenario import FidelityScenario
from tests.scheduling.pod_defaults import with_defaults
from tests.scheduling.scheduler import objections
from tests.scheduling.selectors import node_selected, untolerated
from tests.scheduling.state import Cluster
from webhook.placement.text import keys

Json = Mapping[str, Any]
Object = dict[str, Any]

_CLASS: Final = "bound-by-hand"
"""A StorageClass that there is not: claims of it are bound to volumes that name them."""

_CLAUSES: Final = (
    {keys.PLACEMENT: 'hostColocation("t")'},
    {keys.PLACEMENT: 'hostExlocation("t")'},
    {keys.UNIFORM: "all-same-node"},
    {keys.UNIFORM: "all-separate-nodes"},
)
"""What DaemonSets of random scenarios ask for."""

_TOLERATED: Final = tuple(
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect}
    for name, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)
"""What the DaemonSet controller adds (Kubernetes, DaemonSets)."""


def with_volumes(scenario: FidelityScenario, dice: random.Random) -> FidelityScenario:
    """The scenario; in one of four with one or two claims, bound to volumes, that some of its pods use."""
    holders = list(templates(scenario.subject))
    if dice.random() > 1 / 4 or not holders:
        return scenario
    subject = copy.deepcopy(scenario.subject)
    space, mark = scenario.space, scenario.mark
    made: list[Object] = []
    for at in range(dice.choice((1, 1, 2))):
        node = dice.choice(scenario.nodes)
        labels = {key: value for key, value in node["metadata"]["labels"].items() if key != "case"}
        key = keys.HOSTNAME if keys.HOSTNAME in labels and dice.random() < 1 / 2 else dice.choice([*labels, "case"])
        made += bound_claim(f"{mark}-c{at}", space, key, node["metadata"]["labels"][key])
        spec = dice.choice(list(templates(subject)))
        claim = {"name": f"v{at}", "persistentVolumeClaim": {"claimName": f"{mark}-c{at}"}}
        spec["volumes"] = [*spec.get("volumes", ()), claim]
    return replace(scenario, subject=subject, volumes=tuple(made))


def templates(subject: Object) -> Iterator[Object]:
    """The specs of its pods; nothing for pods of elements that say nothing of their own."""
    spec = subject["spec"]
    if "processingElements" in spec:
        yield from (one["template"]["spec"] for one in spec["processingElements"])
    else:
        yield spec["template"]["spec"] if "template" in spec else spec


def bound_claim(name: str, space: str, key: str, value: str) -> list[Object]:
    """A volume of nodes with that label, and the claim that is bound to it."""
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
    stored = {"storageClassName": _CLASS, "accessModes": ["ReadWriteOnce"]}
    volume = {
        **stored,
        "capacity": {"storage": "1Gi"},
        "local": {"path": "/x"},
        "claimRef": {"name": name, "namespace": space},
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
    }
    claim = {**stored, "volumeName": name, "resources": {"requests": {"storage": "1Gi"}}}
    meta = {"name": name, "namespace": space}
    return [
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": volume},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": claim},
    ]


def everywhere(workload: Object, dice: random.Random) -> Object:
    """The workload; one of four as a DaemonSet of the same template."""
    if dice.random() > 1 / 4:
        return workload
    template = copy.deepcopy(workload["spec"]["template"])
    template["spec"].pop("restartPolicy", None)
    labels = template["metadata"]["labels"]
    if dice.random() < 3 / 4:  # most templates choose among nodes, which a DaemonSet must not
        template["metadata"]["annotations"] = dict(dice.choice(_CLAUSES))
    spec = {"selector": {"matchLabels": {"app": labels["app"]}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": workload["metadata"], "spec": spec}


def daemon_pods(found: Json, cluster: Cluster) -> list[Object]:
    """The pods that the DaemonSet controller makes, but those that could not run for what the template asks of a node.

    These wait for other nodes, or for room, whatever its clauses are (``docs/workloads.md``).
    """
    name, template = found["metadata"]["name"], found["spec"]["template"]
    made = []
    for node in cluster.nodes:
        pod = _daemon_pod(found, node, len(made))
        if (
            not node_selected(template["spec"], node)
            or _closed(pod, node)
            or any(objections(with_defaults(_plain(pod), cluster), node, cluster))
        ):
            continue
        pod["metadata"] |= {"name": f"{name}-{len(made)}", "uid": f"uid-of-{name}-{len(made)}"}
        made.append(pod)
    return made


def _daemon_pod(found: Json, node: Json, at: int) -> Object:
    template = copy.deepcopy(found["spec"]["template"])
    spec = template["spec"]
    own = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node["metadata"]["name"]]}]}
    affinity = spec.setdefault("affinity", {}) or {}
    nodes = affinity.get("nodeAffinity") or {}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [own]}}
    spec["affinity"] = {**affinity, "nodeAffinity": {**nodes, **required}}
    spec["tolerations"] = [*(spec.get("tolerations") or ()), *_TOLERATED]
    name = found["metadata"]["name"]
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name, "uid": "w", "controller": True}
    metadata = {**template["metadata"], "namespace": found["metadata"]["namespace"], "ownerReferences": [owner]}
    metadata |= {"name": f"{name}-{at}", "uid": f"uid-of-{name}-{at}"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def _closed(pod: Json, node: Json) -> bool:
    """Whether the DaemonSet controller makes no pod for the node: it does not look at cordons."""
    taints = (node.get("spec") or {}).get("taints") or ()
    return bool(untolerated(taints, pod["spec"]["tolerations"], ("NoSchedule", "NoExecute")))


def _plain(pod: Object) -> Object:
    """The pod without what it says of other pods."""
    spec = {key: value for key, value in pod["spec"].items() if key != "topologySpreadConstraints"}
    spec["affinity"] = {"nodeAffinity": spec["affinity"]["nodeAffinity"]}
    return {**pod, "spec": spec}
