"""``python -m bench.devices``: what devices cost a webhook that watches a cluster: memory, and time to get ready.

Then what decisions cost in this process, once nodes are known: of pods without devices, and of pods with two requests.

The same cluster is listed twice, without ResourceSlices and with them: on each node some GPUs with the attributes that
drivers publish, of which two differ from device to device, and for each fourth GPU a claim that holds it.
"""

import argparse
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import thread_time_ns
from typing import Any, Final

import msgspec
from msgspec import Raw

from bench import memory
from bench.generated import generator
from bench.generated.topology import NAMESPACE, Scale, node_name, pick, uid
from bench.reviews.evaluation import Times, times
from bench.servers import processes
from bench.trouble import Trouble
from webhook.cluster.objects.kinds import DEVICES
from webhook.cluster.snapshot.loader import SnapshotLoader
from webhook.placement.decision.decision import decide
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Metadata, Pod, PodClaim, PodSpec
from webhook.placement.objects.node import Node
from webhook.placement.request.world import World

DRIVER: Final = "gpu.bench.example"
VERSION: Final = "resource.k8s.io/v1"
NODES: Final = 5_000
PODS: Final = 10_000
EACH: Final = 8
"""Devices of a node."""

GOAL: Final = 20.0
"""So many MB of resident memory devices may add, eight on each of 5,000 nodes."""

PAIR: Final = "large-and-pair"
"""The template of two requests."""

HELD: Final = 4
"""One of so many devices is held by a claim."""

_MODELS: Final = (("Example A100", "40Gi"), ("Example H100", "80Gi"))


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a row without devices, one with them, and what the machine did besides."""
    parser = argparse.ArgumentParser("python -m bench.devices", description="Measure what devices cost the webhook.")
    parser.add_argument("--nodes", type=int, default=NODES, help="nodes of the cluster")
    parser.add_argument("--devices", type=int, default=EACH, help="devices of each node")
    chosen = parser.parse_args(argv)
    scale = Scale(chosen.nodes, PODS)
    processes.compile_product()
    print("| cluster | resident, MB | peak, MB | ready after, s | CPU time, s |\n|---|---|---|---|---|")
    without, having = (_measured(scale, each) for each in (0, chosen.devices))
    print(added(without, having))
    for asked, durations in decisions(scale.nodes, chosen.devices).items():
        print(f"decision on a pod with {asked}: {durations}")
    print(f"load of the machine: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")
    return 0


def _measured(scale: Scale, each: int) -> memory.Memory:
    """What the webhook holds of a cluster with so many devices on each node, of which a row is printed."""
    usage, ready = measure(scale, each)
    print(row(f"{scale}, {each} devices each", usage, ready), flush=True)
    return usage


def added(without: memory.Memory, having: memory.Memory) -> str:
    """What devices add to the resident memory, beside the goal for a cluster of the usual size."""
    return f"devices add {having.resident - without.resident:.0f} MB of resident memory (goal: at most {GOAL:.0f})"


def row(what: str, usage: memory.Memory, ready: float) -> str:
    """A row of the table."""
    return f"| {what} | {usage.resident:.0f} | {usage.peak:.0f} | {ready:.1f} | {usage.cpu_seconds:.1f} |"


def measure(scale: Scale, each: int) -> tuple[memory.Memory, float]:
    """What the webhook holds once it has listed the cluster, and the seconds until then."""
    cache = generator.CACHE
    with tempfile.TemporaryDirectory(prefix="devices-") as made:
        folder = Path(made)
        for path in generator.folder(scale).iterdir():
            shutil.copy(path, folder)
        for name, content in pages(scale.nodes, each):
            (folder / name).write_bytes(content)
        with processes.listing(cache, folder) as api, processes.watching(cache, api) as product:
            usage = memory.measure(product.pid)
    if usage is None:
        raise Trouble("this system does not say how much memory and time a process takes")
    return usage, product.ready_seconds


def decisions(nodes: int, each: int, pods: int = 1000) -> dict[str, Times]:
    """CPU time of decisions on so many pods with different names: without devices, and with two requests for some."""
    cluster = Inventory()
    loader = SnapshotLoader(cluster)
    for index in range(nodes):
        cluster.set_node(Node(node_name(index), uid(1, index), {}, allocatable={"cpu": 8000, "pods": 110}))
    for name, content in pages(nodes, each):
        loader.begin(name)
        loader.document(Raw(content))
    for kind in DEVICES:
        kind.listed(cluster, True)  # noqa: FBT003 -- the outcome of a list
    claims = (PodClaim("gpus", resource_claim_template_name=PAIR),)
    return {
        "no devices": _times(cluster, PodSpec(), pods),
        "two requests": _times(cluster, PodSpec(resource_claims=claims), pods),
    }


def _times(cluster: Inventory, spec: PodSpec, pods: int) -> Times:
    """The times of decisions on pods of that spec; the first one, which finds out about the nodes, does not count."""
    found = []
    for number in range(pods + 1):
        pod = Pod(Metadata(name=f"pod-{number}"), spec)
        before = thread_time_ns()
        decision = decide(pod, NAMESPACE, World(cluster, Policy()))
        found.append((thread_time_ns() - before) / 1000)
        assert not decision.refused
    return times(found[1:])


def pages(nodes: int, each: int) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file, as :func:`generator.pages` has those of the other kinds."""
    kinds: dict[str, Iterator[dict[str, Any]]] = {
        "deviceclasses": classes(),
        "resourceslices": (resource_slice(index, each) for index in range(nodes if each else 0)),
        "resourceclaims": (claim(index, each) for index in range(nodes * each // HELD)),
        "resourceclaimtemplates": templates(),
    }
    for kind, objects in kinds.items():
        for number in itertools.count():
            page = list(itertools.islice(objects, generator.PAGE))
            if not page:
                break
            content = {"apiVersion": "v1", "items": page, "kind": "List", "metadata": {"resourceVersion": ""}}
            yield f"{kind}-{number:04d}.json", msgspec.json.encode(content)


def classes() -> Iterator[dict[str, Any]]:
    """A class of all devices of the driver."""
    selectors = [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]
    yield _object("DeviceClass", DRIVER, {"selectors": selectors, "extendedResourceName": "bench.example/gpu"})


def templates() -> Iterator[dict[str, Any]]:
    """Templates of claims of one device, and of a device with 40 GiB beside two of one PCIe root."""
    yield _object("ResourceClaimTemplate", "one-gpu", {"spec": _request()}, namespace=NAMESPACE)
    large = {"cel": {"expression": f"device.capacity['{DRIVER}'].memory.compareTo(quantity('40Gi')) >= 0"}}
    requests = [
        {"name": "large", "exactly": {"deviceClassName": DRIVER, "selectors": [large]}},
        {"name": "pair", "exactly": {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": 2}},
    ]
    constraints = [{"requests": ["pair"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}]
    devices = {"requests": requests, "constraints": constraints}
    yield _object("ResourceClaimTemplate", PAIR, {"spec": {"devices": devices}}, namespace=NAMESPACE)


def resource_slice(index: int, each: int) -> dict[str, Any]:
    """The slice of a node."""
    node = node_name(index)
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    devices = [_device(index, at) for at in range(each)]
    return _object(
        "ResourceSlice", f"{node}-{DRIVER}", {"driver": DRIVER, "nodeName": node, "pool": pool} | {"devices": devices}
    )


def claim(index: int, each: int) -> dict[str, Any]:
    """A claim of the template that holds one device."""
    node, device = divmod(index * HELD, each)
    result = {"request": "gpu", "driver": DRIVER, "pool": node_name(node), "device": f"gpu-{device}"}
    user = {"resource": "pods", "name": f"trainer-{index}", "uid": uid(9, index)}
    made = _object("ResourceClaim", f"trainer-{index}-gpu", _request(), namespace=NAMESPACE)
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node_name(node)]}]}]
    allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": terms}}
    return {**made, "status": {"allocation": allocation, "reservedFor": [user]}}


def _request() -> dict[str, Any]:
    exactly = {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": 1}
    return {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}


def _device(index: int, at: int) -> dict[str, Any]:
    """A GPU as drivers publish it: ``uuid`` and ``pciBusID`` are its own."""
    model, size = _MODELS[pick(index, 5, len(_MODELS))]
    attributes = {
        "architecture": {"string": "Ampere"},
        "brand": {"string": "Example"},
        "cudaComputeCapability": {"version": "8.0.0"},
        "cudaDriverVersion": {"version": "12.8.0"},
        "driverVersion": {"version": "570.86.15"},
        "index": {"int": at},
        "minor": {"int": at},
        "pciBusID": {"string": f"0000:{at * 16 + 1:02x}:{pick(index, 6, 32):02x}.0"},
        "productName": {"string": model},
        "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{at // 2:02x}"},
        "type": {"string": "gpu"},
        "uuid": {"string": f"GPU-{uid(at, index)}"},
    }
    return {"name": f"gpu-{at}", "attributes": attributes, "capacity": {"memory": {"value": size}}}


def _object(kind: str, name: str, spec: dict[str, Any], *, namespace: str | None = None) -> dict[str, Any]:
    metadata = {"name": name, "uid": uid(8, len(name)), "creationTimestamp": "2026-01-01T00:00:00Z"}
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": VERSION, "kind": kind, "metadata": {**metadata, **where}, "spec": spec}


if __name__ == "__main__":
    sys.exit(main())
