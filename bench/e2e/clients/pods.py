"""Pods that are created in every variant: of jobs, 4 KB each, equal but for the prefix of annotations and labels.

There are four templates, as elements of jobs of twenty pods. A quarter of the pods are all different: the placement of
each names an operator that no other pod has, so that no kept answer can be used for it.
"""

from typing import Any, Final

import msgspec

from bench.e2e.clients.variants import Variant
from bench.generated.pods import container, spec
from bench.generated.topology import DOMAIN, ELEMENTS

SIZE: Final = 4 << 10
"""Bytes of a pod, before the API server fills in defaults."""

FAST: Final = "fast"
"""Tag of the host pool Fast."""

WIDE: Final = ("ib", "ssd")
"""Tags of the host pool Wide."""

TEMPLATES: Final = (
    "{operator}: host(Fast)",
    '{operator}: hostExlocation("apart"), host(Fast)',
    '{operator}: hostColocation("together"); Join: host(Wide)',
    "{operator}: hostIsolation",
)

_DIFFERENT: Final = 4
"""One in so many of each template differs from all others."""

INJECTED: Final = b'/injected":"'
"""In an object that the API server returns: the annotation of who patched it. ``managedFields`` look different."""


def body(variant: Variant, number: int) -> bytes:
    """The pod to create; variants get the same one by number."""
    # Nobody schedules it: only its creation is measured.
    options = {"name": "RUNTIME_OPTIONS", "value": ""}
    main = container("runtime", "250m", "512Mi")
    main["env"].append(options)
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(variant, number),
        "spec": {**spec([main]), "schedulerName": "nobody"},
    }
    missing = max(0, SIZE - len(msgspec.json.encode(pod)))
    options["value"] = ("-Xmx400m -Dstreams.transport=tcp -Dstreams.checkpoint=redis " * (1 + missing // 50))[:missing]
    return msgspec.json.encode(pod)


def placement(number: int) -> str:
    """What the pod asks for."""
    operator = f"Filter{number:06d}" if number // len(TEMPLATES) % _DIFFERENT == 0 else "Filter"
    return TEMPLATES[number % len(TEMPLATES)].format(operator=operator)


def _metadata(variant: Variant, number: int) -> dict[str, Any]:
    job, element = divmod(number, ELEMENTS)
    name = f"pipeline-{job:05d}"
    return {
        "name": f"{name}-{element:02d}",
        "namespace": variant.namespace,
        "labels": {
            "app.kubernetes.io/name": "streams",
            f"{variant.prefix}job": name,
            f"{variant.prefix}pe": f"parallel-{element:02d}",
        },
        "annotations": {f"{DOMAIN}/config-hash": f"{number:064d}", f"{variant.prefix}placement": placement(number)},
    }
