"""Writes the generated cluster as a snapshot folder, or puts it into an inventory of this process."""

import hashlib
import itertools
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from bench.generated.nodes import node_objects
from bench.generated.pods import pod_objects
from bench.generated.streams import job_objects, pool_objects
from bench.generated.topology import Scale, topology
from bench.trouble import Trouble
from webhook.cluster.objects.sink import Sink
from webhook.cluster.snapshot.loader import SnapshotLoader
from webhook.placement.inventory.inventory import Inventory

PAGE = 250
"""Objects of one file: the largest page that the product asks the API server for."""

CACHE = Path(__file__).parents[2] / ".cache" / "bench"
"""Where everything goes that a benchmark makes, its results aside."""

_SOURCES = ("generator", "nodes", "pods", "streams", "topology")


def pages(scale: Scale) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file: a List as kubectl prints it, but compact, to spare the disk."""
    shape = topology(scale.nodes)
    kinds: dict[str, Iterable[dict[str, Any]]] = {
        "nodes": node_objects(scale.nodes, shape),
        "streamshostpools": pool_objects(shape),
        "streamsjobs": job_objects(scale.jobs),
        "pods": pod_objects(scale, shape),
    }
    for kind, objects in kinds.items():
        remaining = iter(objects)
        for number in itertools.count():
            page = list(itertools.islice(remaining, PAGE))
            if not page:
                break
            content = {"apiVersion": "v1", "items": page, "kind": "List", "metadata": {"resourceVersion": ""}}
            yield f"{kind}-{number:04d}.json", msgspec.json.encode(content)


def folder(scale: Scale, cache: Path = CACHE) -> Path:
    """A snapshot of that scale, made unless it is there; others of the same scale, by older code, are removed."""
    made = cache / f"cluster-{scale.nodes}-{scale.pods}-{_version()}"
    if made.is_dir():
        return made
    cache.mkdir(parents=True, exist_ok=True)
    for stale in cache.glob(f"cluster-{scale.nodes}-{scale.pods}-*"):
        shutil.rmtree(stale)
    with tempfile.TemporaryDirectory(dir=cache, prefix="half-") as half:
        inside = Path(half) / "cluster"
        inside.mkdir()
        for name, content in pages(scale):
            (inside / name).write_bytes(content)
        inside.rename(made)  # all of it or nothing, whenever this is interrupted
    return made


def fill(sink: Sink, scale: Scale) -> None:
    """Put every object into ``sink``, read by the product's own code."""
    reading = SnapshotLoader(sink)
    for name, content in pages(scale):
        reading.begin(name)
        reading.document(Raw(content))
    report = reading.report()
    if report.skipped_count or report.noted_count or report.ignored:
        raise Trouble(f"the generated cluster is not what the product reads: {report}")


def inventory(scale: Scale) -> Inventory:
    """The cluster in this process."""
    cluster = Inventory()
    fill(cluster, scale)
    return cluster


def _version() -> str:
    """Changes with the code that decides what the cluster looks like."""
    sources = (Path(__file__).with_name(f"{name}.py").read_bytes() for name in _SOURCES)
    return hashlib.sha256(b"".join(sources)).hexdigest()[:12]
