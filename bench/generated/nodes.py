"""Node objects as ``kubectl get nodes -o json`` prints them: some 20 labels each, taints on a few."""

from collections.abc import Iterator
from typing import Any

from bench.generated.topology import DOMAIN, NAMESPACE, SEVERAL_TAGS, TAGGED, Topology, node_name, pick, state, uid
from webhook.placement.text import keys

_SIZES = ((16, 64), (32, 128), (64, 256))
"""Cores and GiB of the machine types."""

_TAGS = sorted({tag for tags in SEVERAL_TAGS for tag in tags})

FPGAS = 8
"""One of so many nodes has an accelerator that pods may want."""

_TAINTS = {
    "control-plane": {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
    "gpu": {"key": f"{DOMAIN}/dedicated", "value": "gpu", "effect": "NoSchedule"},
    "cordoned": {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
    "unready": {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
}

_INFO = {
    "architecture": "amd64", "bootID": "0d1f7c0e-7b1f-4c53-9d0c-5a3a1f0f8e11", "containerRuntimeVersion":
    "containerd://2.1.4", "kernelVersion": "6.12.41", "kubeProxyVersion": "", "kubeletVersion": "v1.34.2",
    "machineID": "ec2d1f5b9f1b4ad0b0b6a7f0c7b7c0de", "operatingSystem": "linux", "osImage": "Example Linux 12",
    "systemUUID": "ec2d1f5b-9f1b-4ad0-b0b6-a7f0c7b7c0de",
}  # fmt: skip

_IMAGES = [
    {"names": [f"registry.{DOMAIN}/{name}@sha256:{at:064x}", f"registry.{DOMAIN}/{name}:1.{at}"], "sizeBytes": 10**7}
    for at, name in enumerate(("pause", "proxy", "dns", "runtime", "agent", "exporter"), 40)
]


def node_objects(count: int, shape: Topology) -> Iterator[dict[str, Any]]:
    """All nodes, in the order of their index."""
    members = {
        (pool, index): place for pool, hosts in shape.hosts.items() for place, index in enumerate(hosts)
    }  # fmt: skip
    pools: dict[int, list[tuple[str, int]]] = {}
    for (pool, index), place in members.items():
        pools.setdefault(index, []).append((pool, place))
    for index in range(count):
        yield _node(index, pools.get(index, []))


def _node(index: int, pools: list[tuple[str, int]]) -> dict[str, Any]:
    cores, memory = _SIZES[pick(index, 1, len(_SIZES))]
    special = state(index)
    spec: dict[str, Any] = {"podCIDR": f"10.{index >> 8 & 255}.{index & 255}.0/24", "providerID": f"x:///{index:x}"}
    taints = [_TAINTS[special]] if special else []
    taints += [
        {"key": keys.EXCLUSIVE, "value": keys.exclusive(NAMESPACE, pool), "effect": "NoSchedule"}
        for pool, _ in pools
        if pool.startswith("closed")
    ]
    if taints:
        spec["taints"] = taints
    if special == "cordoned":
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": _labels(index, cores, special, pools),
            "name": node_name(index),
            "resourceVersion": str(10**6 + index),
            "uid": uid(1, index),
        },
        "spec": spec,
        "status": _status(index, cores, memory, special),
    }


def _labels(index: int, cores: int, special: str, pools: list[tuple[str, int]]) -> dict[str, str]:
    zone = f"region-1{'abc'[index % 3]}"
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/instance-type": f"m{cores}.standard",
        "beta.kubernetes.io/os": "linux",
        "failure-domain.beta.kubernetes.io/region": "region-1",
        "failure-domain.beta.kubernetes.io/zone": zone,
        "feature.node.kubernetes.io/cpu-cpuid.AVX512F": "true",
        "feature.node.kubernetes.io/cpu-model.family": "6",
        "feature.node.kubernetes.io/kernel-version.major": "6",
        "kubernetes.io/arch": "amd64",
        keys.HOSTNAME: node_name(index),
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": f"m{cores}.standard",
        "topology.kubernetes.io/region": "region-1",
        "topology.kubernetes.io/zone": zone,
        f"{DOMAIN}/disk": ("ssd", "nvme", "hdd")[pick(index, 2, 3)],
        f"{DOMAIN}/generation": str(1 + pick(index, 3, 6)),
        f"{DOMAIN}/network": ("25g", "100g")[pick(index, 4, 2)],
        f"{DOMAIN}/rack": f"rack-{index // 40:03d}",
        f"node-role.kubernetes.io/{'control-plane' if special == 'control-plane' else 'worker'}": "",
    }
    if special != "control-plane":
        if index % (2 * TAGGED) < TAGGED:
            labels[keys.TAG] = f"kind-{index % (2 * TAGGED)}"
        labels |= {keys.TAGS + tag: "true" for at, tag in enumerate(_TAGS) if pick(index, 5 + at, 5) == 0}
    return labels | {keys.membership(NAMESPACE, pool): str(place) for pool, place in pools}


def _status(index: int, cores: int, memory: int, special: str) -> dict[str, Any]:
    amounts = {
        "ephemeral-storage": "95551679124",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{memory * 1024**2 - 1_250_000}Ki",
        "pods": "110",
        **({f"{DOMAIN}/gpu": "4"} if special == "gpu" else {}),
        **({f"{DOMAIN}/fpga": "2"} if index % FPGAS == 3 else {}),
    }
    return {
        "addresses": [
            {"address": f"10.{128 + (index >> 16)}.{index >> 8 & 255}.{index & 255}", "type": "InternalIP"},
            {"address": node_name(index), "type": "Hostname"},
        ],
        "allocatable": {"cpu": f"{cores * 1000 - 110}m", **amounts},
        "capacity": {"cpu": str(cores), **amounts, "memory": f"{memory}Gi"},
        "conditions": [
            _condition("MemoryPressure", "False"),
            _condition("DiskPressure", "False"),
            _condition("PIDPressure", "False"),
            _condition("Ready", "False" if special == "unready" else "True"),
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "images": _IMAGES,
        "nodeInfo": _INFO,
    }


def _condition(kind: str, status: str) -> dict[str, str]:
    return {
        "lastHeartbeatTime": "2026-01-02T00:00:00Z",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "message": f"kubelet reports {kind}={status}",
        "reason": f"Kubelet{kind}",
        "status": status,
        "type": kind,
    }
