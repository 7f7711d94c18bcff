"""Objects of every kind that is watched: those of the examples, and others with all that is kept of an object."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import objects
from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.text.keys import HARDWARE

_CLUSTER = Path(__file__).parents[3] / "examples" / "cluster"
_APART = {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
]}  # fmt: skip
_SPEC: dict[str, Any] = {
    "containers": [{"name": "c", "ports": [{"hostPort": 80, "containerPort": 80}]}],
    "affinity": {"podAntiAffinity": _APART},
    "tolerations": [{"operator": "Exists"}],
    "priority": 7,
}
_OF_JOB = {"streams.ibm.com/job": "j", "streams.ibm.com/pe": "1", "app": "web"}
_PLACED = {objects.PLACEMENT: 'host(P), hostIsolation, hostExlocation("apart")'}
_AGENT = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}
_GPU = {
    "name": "gpu-0",
    "attributes": {"model": {"string": "A100"}, "driver": {"version": "1.2.3"}, "index": {"int": 1}},
    "capacity": {"memory": {"value": "40Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi"}}}},
    "consumesCounters": [{"counterSet": "gpu-0", "counters": {"memory": {"value": "40Gi"}}}],
    "taints": [{"key": "broken", "effect": "NoSchedule"}],
    "allowMultipleAllocations": True,
}
_HELD = {"request": "gpu", "driver": objects.GPUS, "pool": "node-a", "device": "gpu-0", "tolerations": [{"key": "a"}]}
_FIELDS = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}]}
_CEL = [{"cel": {"expression": f'device.driver == "{objects.GPUS}"'}}]


def _pods() -> Iterator[dict[str, Any]]:
    """Of no job, of a job, of a DaemonSet, without a node, and with claims of described devices."""
    on_node = {**_SPEC, "nodeName": "node-a"}
    yield objects.pod()
    yield objects.pod(labels={"app": "web"}, annotations={"a": "b"})
    yield objects.pod(spec=on_node, labels=_OF_JOB, annotations=_PLACED)
    yield objects.pod(spec=_SPEC, labels=_OF_JOB, annotations=_PLACED, phase="Pending")
    yield objects.pod(spec=_SPEC, phase="Pending", annotations={"streams.ibm.com/waits": "a node has to be added"})
    yield objects.pod(spec=on_node, ownerReferences=[_AGENT])
    claims = [{"name": "gpus", "resourceClaimTemplateName": DescribedDevices("gpu.example.com", count=2).template}]
    described = {HARDWARE: '[{"device": {"class": "gpu.example.com", "count": 2}}]'}
    yield objects.pod(spec={**on_node, "resourceClaims": claims}, annotations=described)


def _made() -> Iterator[dict[str, Any]]:
    yield from _pods()
    yield objects.pool(job="parallel", tags=["ib"], elastic=True)
    yield objects.pool(size=1, devices=[{"class": objects.GPUS, "selector": 'device.driver == "a"', "count": 2}])
    amounts = {"requests": {"cpu": "1"}}
    of_job = objects.job({"operators": [{"name": "a", "placement": "host(P)"}], "resources": amounts})
    of_job["spec"]["resources"] = amounts
    yield of_job
    wrong = objects.intent({"consumer": {"kind": "Nothing"}}, objects.consumer())
    wrong["spec"]["replicationCount"] = 2
    yield wrong
    yield objects.namespace()
    device_class = objects.device_class()
    device_class["spec"]["selectors"] = _CEL
    yield device_class
    counters = [{"name": "gpu-0", "counters": {"memory": {"value": "40Gi"}}}]
    yield objects.resource_slice("node-a-gpus", _GPU)
    yield objects.resource_slice("node-a-counters", sharedCounters=counters)
    held = {"allocation": {"devices": {"results": [_HELD]}, "nodeSelector": _FIELDS}, "reservedFor": [{"uid": "u"}]}
    made_for = {"kind": "Pod", "name": "web-1", "uid": "u", "controller": True}
    yield objects.resource_claim(spec=objects.one_gpu(selectors=_CEL), status=held, ownerReferences=[made_for])
    yield objects.claim_template()
    yield objects.taint_rule(driver=objects.GPUS)
    yield objects.node_topology()
    yield objects.limit_range(default={"cpu": "1"}, max={"cpu": "2"})
    scheduling = {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "a", "operator": "Exists"}]}
    yield objects.runtime_class(overhead={"podFixed": {"cpu": "1"}}, scheduling=scheduling)
    yield objects.priority_class()


def watched_objects() -> dict[str, list[dict[str, Any]]]:
    """The objects by their kinds."""
    found = defaultdict[str, list[dict[str, Any]]](list)
    for file in sorted(_CLUSTER.glob("*.yaml")):
        for document in yaml.load_all(file.read_text(), Loader=yaml.CSafeLoader):
            for item in document["items"]:
                found[item["kind"]].append(item)
    for item in _made():
        found[item["kind"]].append(item)
    return found
