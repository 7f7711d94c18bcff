"""``explain`` judges manifests by all that surrounds their pods: defaults, classes, priorities, volumes and pools.

The cluster has the nodes a and c with four devices each, and b with one device and more cores.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Explain

Json = dict[str, Any]

GPU = "nvidia.com/gpu"
APART = {"streams.ibm.com/placement": 'hostExlocation("a")'}


def node(name: str, cpu: int, devices: int, **spec: Any) -> Json:
    offers = {"cpu": cpu, "memory": "64Gi", "pods": 110, GPU: devices}
    ready = [{"type": "Ready", "status": "True"}]
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    status = {"allocatable": offers, "capacity": offers, "conditions": ready}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def nodes(**spec: Any) -> list[Json]:
    return [node("a", 8, 4, **spec), node("b", 64, 1, **spec), node("c", 8, 4, **spec)]


def thing(kind: str, name: str, api: str = "v1", **fields: Any) -> Json:
    metadata = {"name": name, "namespace": "default", **fields.pop("metadata", {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def containers(requests: Json | None = None, devices: int = 0) -> list[Json]:
    resources: Json = {"requests": requests} if requests else {}
    resources |= {"limits": {GPU: devices}} if devices else {}
    return [{"name": "main", "image": "i", **({"resources": resources} if resources else {})}]


def pod(name: str, annotations: Json, **spec: Any) -> Json:
    metadata = {"labels": {"streams.ibm.com/job": f"of-{name}"}, "annotations": annotations}
    return thing("Pod", name, metadata=metadata, spec={"containers": containers(), **spec})


def workload(kind: str, name: str, annotations: Json, **spec: Any) -> Json:
    labels = {"app": name, "streams.ibm.com/job": f"of-{name}"}
    template = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": {"containers": containers(), **spec},
    }
    return thing(kind, name, "apps/v1", spec={"selector": {"matchLabels": {"app": name}}, "template": template})


def element(name: str, placement: str = "", annotations: Json | None = None, **spec: Any) -> Json:
    template: Json = {"spec": {"containers": containers(), **spec}}
    if annotations:
        template["metadata"] = {"annotations": annotations}
    operators = (
        {"operators": [{"name": name.replace("-", "").capitalize(), "placement": placement}]} if placement else {}
    )
    return {"name": name, "template": template, **operators}


def job(name: str, *elements: Json, **spec: Any) -> Json:
    return thing("Job", name, "streams.ibm.com/v1", spec={"processingElements": elements, **spec})


DEFAULT = thing("LimitRange", "defaults", spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": 100}}]})
HEAVY = thing("RuntimeClass", "heavy", "node.k8s.io/v1", handler="h", overhead={"podFixed": {"cpu": 100}})
TOLERANT = thing(
    "RuntimeClass", "tolerant", "node.k8s.io/v1", handler="h",
    scheduling={"tolerations": [{"operator": "Exists", "key": "vm"}]},
)  # fmt: skip
PRIORITIES = [
    thing("PriorityClass", "low", "scheduling.k8s.io/v1", value=1),
    thing("PriorityClass", "high", "scheduling.k8s.io/v1", value=1000),
]
LOW = [
    thing("Pod", f"low-{at}", spec={"nodeName": at, "priority": 1, "containers": containers(devices=4)}) for at in "ac"
]
ON_A = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["a"]}
VOLUME = [
    thing(
        "PersistentVolume", "on-a",
        spec={
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "manual",
            "claimRef": {"name": "c", "namespace": "default"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [ON_A]}]}},
        },
    ),
    thing("PersistentVolumeClaim", "c", spec={"storageClassName": "manual", "volumeName": "on-a"}),
]  # fmt: skip
CLAIMING = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
SOFT = {"streams.ibm.com/preferred": "host"}
HAND = {"streams.ibm.com/placement": "host(Own)", **SOFT}
HERE = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
OWN = {"name": "Own", "size": 1, "mode": "Exclusive", "selector": {"matchLabels": HERE["nodeSelector"]}}
WISH = {"streams.ibm.com/hpa-requirements": f'[{{"name": "{GPU}", "limits": 3, "mandatory": false}}]'}
MUCH = {"containers": containers({"cpu": 1, "memory": "1Gi"}, devices=3)}
PAIR = {"name": "P", "size": 2, "selector": {"matchExpressions": [{**ON_A, "values": ["a", "c"]}]}}
NO_POOL = 'this namespace has no HostPool "Nope" that the pod may use; there are none'

CASES: dict[str, tuple[list[Json], list[Json], list[str]]] = {
    "requests that a LimitRange gives": (
        [*nodes(), DEFAULT],
        [workload("Deployment", "lr", APART), job("lrj", element("lrj-0")), pod("lr-bare", APART)],
        [
            "requests cpu 100 (LimitRange defaults) cannot hold: 0 of 3 nodes can run this pod.",
            (
                "requests cpu 100, memory 128Mi (LimitRange defaults) cannot hold: "
                "0 of 1 processing element fits (lrj-0)."
            ),
            "requests cpu 100 (LimitRange defaults) cannot hold: 0 of 3 nodes can run this pod.",
        ],
    ),
    "the overhead of a RuntimeClass": (
        [*nodes(), HEAVY],
        [
            workload("Deployment", "rc", APART, runtimeClassName="heavy", containers=containers({"cpu": 1})),
            job("rcj", element("rcj-0", runtimeClassName="heavy", containers=containers({"cpu": 1}))),
        ],
        [
            "No node is open to this pod: 0 of 3 nodes can run this pod.",
            "The processing elements cannot all run: 0 of 1 processing element fits (rcj-0).",
        ],
    ),
    "the tolerations of a RuntimeClass": (
        [*nodes(taints=[{"key": "vm", "value": "yes", "effect": "NoSchedule"}]), TOLERANT],
        [
            workload("Deployment", "rt", APART, runtimeClassName="tolerant"),
            pod("rt-bare", APART, runtimeClassName="tolerant"),
        ],
        ["admitted, 3 of 3 nodes can run it", "admitted, 3 of 3 nodes can run it"],
    ),
    "elements that share a node with enough devices": (
        nodes(),
        [
            job(
                "grp",
                *(
                    element(f"grp-{at}", 'hostColocation("a")', containers=containers({"cpu": 1}, devices=1))
                    for at in range(3)
                ),
            )
        ],
        ["admitted"],
    ),
    "optional devices that not all elements can have": (
        nodes(),
        [job("wish", *(element(f"wish-{at}", annotations=WISH) for at in range(3)))],
        [
            (
                f"admitted\n  warning: hardware {GPU} 3 is not requested by wish-2: "
                "no plan for the whole Job has it free for them"
            )
        ],
    ),
    "pods of lower priority that make room": (
        [*nodes(), *PRIORITIES, *LOW],
        [
            job("high", element("high-0", priorityClassName="high", containers=containers({"cpu": 1}, devices=2))),
            pod("high-bare", APART, priorityClassName="high", containers=containers(devices=2)),
        ],
        [
            "admitted\n  warning: there is room only if the scheduler preempts pods of lower priority",
            "admitted, 2 of 3 nodes can run it",
        ],
    ),
    "a DaemonSet of which only one pod can run": (
        nodes(),
        [workload("DaemonSet", "ds", {"streams.ibm.com/placement": 'hostColocation("a")'})],
        ['hostColocation("a") and one pod on every node cannot both hold: 1 of 3 pods can run.'],
    ),
    "a claim whose volume is on another node": (
        [*nodes(), *VOLUME],
        [
            pod("vol", {"streams.ibm.com/placement": 'host("c")'}, volumes=CLAIMING),
            job("volj", element("volj-0", 'host("c")', volumes=CLAIMING)),
        ],
        [
            'host("c") and PersistentVolumeClaim c cannot both hold: 0 of 3 nodes can run this pod.',
            (
                'processing element volj-0: host("c") and PersistentVolumeClaim c cannot both hold: '
                "0 of 3 nodes can run this pod."
            ),
        ],
    ),
    "a pool that does not exist and is only preferred": (
        nodes(),
        [
            pod("soft", {"streams.ibm.com/placement": "host(Nope)", **SOFT}),
            job("softj", element("softj-0", "host(Nope)", SOFT)),
        ],
        [
            f"warning: host(Nope): {NO_POOL}",
            f"admitted\n  warning: processing element softj-0: host(Nope): {NO_POOL}",
        ],
    ),
    "an exclusive pool of the Job that an element only prefers": (
        nodes(),
        [job("soft", element("soft-0", "host(Own)", SOFT, **HERE), hostPools=[OWN])],
        ["admitted"],
    ),
    "an exclusive pool that a pod only prefers": (
        nodes(),
        [thing("HostPool", "own", "streams.ibm.com/v1", spec=OWN), pod("by-hand", HAND, **HERE)],
        ["admitted, 1 of 3 nodes could be its hosts", "admitted, 1 of 3 nodes can run it"],
    ),
    "two elements of a pool of which each fills a host": (
        nodes(),
        [
            job(
                "labels",
                element("fixed", "host(P[0])", **MUCH),
                element("any", "host(P)", **MUCH),
                hostPools=[PAIR],
            )
        ],
        ["admitted"],
    ),
}


@pytest.mark.parametrize(("there", "manifests", "expected"), CASES.values(), ids=CASES)
def test_manifests_are_judged_by_what_surrounds_them(
    explain: Explain, tmp_path: Path, there: list[Json], manifests: list[Json], expected: list[str]
) -> None:
    (tmp_path / "snapshot").mkdir()
    (tmp_path / "snapshot" / "all.yaml").write_text(yaml.safe_dump_all(there))
    file = tmp_path / "manifests.yaml"
    file.write_text(yaml.safe_dump_all(manifests))
    _, out, _ = explain("-f", str(file), "--snapshot", str(tmp_path / "snapshot"))
    for manifest, text in zip(manifests, expected, strict=True):
        _, _, about = out.partition(f"{file}: {manifest['kind']} {manifest['metadata']['name']} in namespace default\n")
        said, *_ = about.partition(f"{file}: ")
        assert f"  {text}\n" in said, said
