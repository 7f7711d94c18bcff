"""Pod objects as ``kubectl get pods -o json`` prints them, 2 to 4 KB each."""

from collections.abc import Iterator
from typing import Any

from bench.generated.streams import element_labels, job_name, placement
from bench.generated.topology import DOMAIN, ELEMENTS, NAMESPACE, Scale, Topology, node_name, pick, uid
from webhook.placement.text import keys

_CPU = ("50m", "100m", "150m", "200m", "250m", "500m")
_MEMORY = ("64Mi", "128Mi", "256Mi", "512Mi")

_TOKEN = {
    "name": "kube-api-access-x7k2p",
    "projected": {
        "defaultMode": 420,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
        ],
    },
}
_MOUNT = {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": _TOKEN["name"], "readOnly": True}
_CONFIG = {"configMap": {"defaultMode": 420, "name": "settings"}, "name": "settings"}
TOLERATIONS = [
    {"effect": "NoExecute", "key": f"node.kubernetes.io/{what}", "operator": "Exists", "tolerationSeconds": 300}
    for what in ("not-ready", "unreachable")
]
"""What the API server's DefaultTolerationSeconds gives to every pod."""

_CONDITIONS = [
    {"lastTransitionTime": "2026-01-02T00:00:00Z", "status": "True", "type": kind}
    for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
]


def probe(path: str, period: int) -> dict[str, Any]:
    """A probe with its defaults filled in."""
    return {
        "failureThreshold": 3, "httpGet": {"path": path, "port": 8080, "scheme": "HTTP"}, "periodSeconds": period,
        "successThreshold": 1, "timeoutSeconds": 1,
    }  # fmt: skip


_LIVE, _READY = probe("/healthz", 10), probe("/readyz", 5)


def container(name: str, cpu: str, memory: str) -> dict[str, Any]:
    """A container with environment, probes and volumes."""
    return {
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
            {"name": "LOG_LEVEL", "value": "info"},
        ],
        "livenessProbe": _LIVE,
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "readinessProbe": _READY,
        **_sidecar(name, cpu, memory),
    }


def _sidecar(name: str, cpu: str, memory: str) -> dict[str, Any]:
    """A container that has nothing but what every container has."""
    return {
        "image": f"registry.{DOMAIN}/{name}:1.42.0",
        "imagePullPolicy": "IfNotPresent",
        "name": name,
        "resources": {"limits": {"memory": memory}, "requests": {"cpu": cpu, "memory": memory}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [{"mountPath": "/etc/settings", "name": "settings"}, _MOUNT],
    }


def spec(containers: list[dict[str, Any]]) -> dict[str, Any]:
    """A pod's spec with its defaults filled in."""
    return {
        "containers": containers,
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {"fsGroup": 1000, "runAsNonRoot": True},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "tolerations": TOLERATIONS,
        "volumes": [_CONFIG, _TOKEN],
    }


def pod_objects(scale: Scale, shape: Topology) -> Iterator[dict[str, Any]]:
    """All pods: those of streams jobs first, then the strangers."""
    for index in range(scale.pods):
        job, element = divmod(index, ELEMENTS)
        yield _element(index, job, element, shape) if job < scale.jobs else _stranger(index, scale.nodes)


def _element(index: int, job: int, element: int, shape: Topology) -> dict[str, Any]:
    text = placement(job, element)
    metadata = {
        "annotations": {keys.PLACEMENT: text, keys.INJECTED: "{}"} if text else {keys.INJECTED: "{}"},
        "labels": element_labels(job, element),
        "name": f"{job_name(job)}-{element}",
        "namespace": NAMESPACE,
        "ownerReferences": [_owner("streams.ibm.com/v1", "ProcessingElement", f"{job_name(job)}-{element}")],
    }
    # hostColocation: these sit where the first of them does.
    node = shape.place(job, 6 if element in range(6, 10) else element)
    return _pod(index, metadata, node, "Running", [container("runtime", "250m", "512Mi")])


def _stranger(index: int, nodes: int) -> dict[str, Any]:
    app = f"app-{pick(index, 11, 2000):04d}"
    group = f"{app}-{pick(index, 12, 1 << 32):08x}"
    metadata = {
        "annotations": {f"{DOMAIN}/config-hash": f"{pick(index, 13, 1 << 32):064x}"},
        "generateName": f"{group}-",
        "labels": {"app.kubernetes.io/name": app, "app.kubernetes.io/part-of": "shop", "pod-template-hash": group[-8:]},
        "name": f"{group}-{index:06x}",
        "namespace": f"team-{pick(index, 14, 200):03d}",
        "ownerReferences": [_owner("apps/v1", "ReplicaSet", group)],
    }
    containers = [container("server", _CPU[pick(index, 15, len(_CPU))], _MEMORY[pick(index, 16, len(_MEMORY))])]
    if index % 3 == 0:
        containers.append(_sidecar("proxy", "10m", _MEMORY[pick(index, 17, len(_MEMORY))]))
    # One in fifty has finished, one in a hundred waits for a node.
    phase = "Succeeded" if index % 50 == 1 else "Pending" if index % 100 == 3 else "Running"
    return _pod(index, metadata, None if phase == "Pending" else pick(index, 19, nodes), phase, containers)


def _owner(version: str, kind: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": version, "blockOwnerDeletion": True, "controller": True, "kind": kind, "name": name,
        "uid": uid(3, len(name)),
    }  # fmt: skip


def _pod(
    index: int, metadata: dict[str, Any], node: int | None, phase: str, containers: list[dict[str, Any]]
) -> dict[str, Any]:
    stated = spec(containers)
    if node is not None:
        stated["nodeName"] = node_name(node)
    identity = {"creationTimestamp": "2026-01-02T00:00:00Z", "resourceVersion": str(index), "uid": uid(2, index)}
    statuses = [
        {
            "containerID": f"containerd://{index:064x}",
            "image": each["image"],
            "imageID": f"sha256:{len(each['name']):064x}",
            "name": each["name"],
            "ready": True,
            "restartCount": 0,
            "started": True,
            "state": {"running": {"startedAt": "2026-01-02T00:00:01Z"}},
        }
        for each in containers
    ]
    status = {"conditions": _CONDITIONS, "containerStatuses": statuses, "phase": phase, "qosClass": "Burstable"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata | identity, "spec": stated, "status": status}
