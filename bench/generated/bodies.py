"""Reviews of pods as the API server sends them: compact JSON, its order of fields, pods of 4 and 10 KB.

Every one is admitted and patched. They are about the first two jobs, the first of which has a Job object, if not stated
otherwise.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bench.generated.pods import container, spec
from bench.generated.streams import job_name
from bench.generated.topology import DOMAIN, ELEMENTS, NAMESPACE, uid
from webhook.placement.text import keys

SIZES = (4, 10)
"""KB of a pod: a small one, and one with sidecars."""

_OWN: dict[str, Any] = {
    "nodeSelector": {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"},
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [
                            {"key": f"{DOMAIN}/disk", "operator": "In", "values": ["ssd", "nvme"]},
                            {"key": f"{DOMAIN}/generation", "operator": "Gt", "values": ["2"]},
                        ]
                    },
                    {"matchExpressions": [{"key": f"{DOMAIN}/network", "operator": "NotIn", "values": ["25g"]}]},
                ]
            }
        }
    },
}


class Wish(Struct, frozen=True):
    """What a pod asks for: a placement text, its job's number (none for a bare pod), more of a spec, of annotations."""

    placement: str
    job: int | None = 0
    spec: Mapping[str, Any] = {}
    annotations: Mapping[str, str] = {}


WISHES: Mapping[str, Wish] = {
    "host(P)": Wish("Filter: host(Tagged0)"),
    "host(P[i])": Wish("Filter: host(Sized0[1])"),
    "hostExlocation, host(P)": Wish('Filter: hostExlocation("apart"); Join: host(Tagged1)'),
    "hostColocation": Wish('Filter: hostColocation("together")'),
    "hostIsolation": Wish("Audit: hostIsolation", job=1),
    "own affinity, host(P)": Wish("Filter: host(Tagged2)", spec=_OWN),
}
"""The kinds of reviews, each as frequent as the others in the mixed set."""


_DEMANDS: Mapping[str, str] = {
    keys.PREFERRED: "mapping",
    keys.MAPPED: "true",
    keys.MAPPING: (
        f"[{{key: {DOMAIN}/network, operator: In, values: [100g]}}, "
        f"{{key: {DOMAIN}/generation, operator: Gt, values: ['2']}}]"
    ),
    keys.UNIFORM: "all-separate-nodes",
    keys.RUN_APART_FROM: "app=batch",
    keys.HARDWARE: (
        "[{name: cpu, requests: 1, limits: 2, container-name: runtime}, "
        "{name: memory, limits: 800, container-name: runtime}, "
        f"{{name: {DOMAIN}/fpga, limits: 1, mandatory: false, weight: 7, container-name: runtime}}, "
        f"{{name: {DOMAIN}/disk, value: hdd, mandatory: false, weight: 3}}, "
        "{name: feature.node.kubernetes.io/cpu-cpuid.AVX512F, value: 'true'}]"
    ),
}

FAMILIES: Mapping[str, Wish] = {
    'host(Tagged0), hostExlocation("apart"), hardware, mapping': Wish(
        'Filter: host(Tagged0), hostExlocation("apart")', spec=_OWN, annotations=_DEMANDS
    ),
    "hostIsolation, hardware, mapping": Wish("Audit: hostIsolation", job=1, annotations=_DEMANDS),
    "host(Sized0[1]), hardware, mapping": Wish("Filter: host(Sized0[1])", annotations=_DEMANDS),
}
"""Reviews that ask something of as many families as a pod can at once."""


def families() -> dict[str, bytes]:
    """Every one of them in every size, by name."""
    return {
        f"{kind}, {size} KB": review(wish, ELEMENTS + at, size << 10)
        for size in SIZES
        for at, (kind, wish) in enumerate(FAMILIES.items())
    }


def mixed() -> dict[str, bytes]:
    """Every kind in every size, by name."""
    return {
        f"{kind}, {size} KB": review(wish, ELEMENTS + at, size << 10)
        for size in SIZES
        for at, (kind, wish) in enumerate(WISHES.items())
    }


VARIED = 6000
"""Reviews of which no two say the same: more than the product keeps answers or read texts for."""

_NO_JOB = 1000
"""The first number of a job of which the cluster knows nothing."""


def operators(count: int = VARIED) -> list[bytes]:
    """The mixed set again and again, every text with an operator of its own: no text is read twice."""
    return _varied(WISHES.values(), _with_operator, count)


def strangers(count: int = VARIED) -> list[bytes]:
    """The same, every pod of a job of its own as well: no answer is ever given twice."""

    def strange(wish: Wish, number: int) -> Wish:
        return replace(_with_operator(wish, number), job=_NO_JOB + number)

    return _varied(WISHES.values(), strange, count)


def bound(nodes: Sequence[str], count: int = VARIED) -> list[bytes]:
    """Bare pods, each of which names one of these nodes and is bound to it by ``nodeName``."""

    def naming(wish: Wish, number: int) -> Wish:
        return replace(wish, placement=f'Filter{number}: host("{nodes[number % len(nodes)]}")')

    return _varied([Wish("", job=None)], naming, count)


def _varied(wishes: Iterable[Wish], change: Callable[[Wish, int], Wish], count: int) -> list[bytes]:
    """So many reviews of the wishes in every size again and again, each changed by its number."""
    kinds = list(itertools.product(SIZES, wishes))
    found = []
    for number in range(count):
        size, wish = kinds[number % len(kinds)]
        found.append(review(change(wish, number), ELEMENTS + number, size << 10))
    return found


def _with_operator(wish: Wish, number: int) -> Wish:
    return replace(wish, placement=wish.placement.replace(":", f"{number}:", 1))


def write(folder: Path, bodies: Iterable[bytes]) -> list[Path]:
    """The reviews as files, for load generators that read such."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for at, body in enumerate(bodies):
        paths.append(folder / f"{at:04d}.json")
        paths[-1].write_bytes(body)
    return paths


def review(wish: Wish, element: int, size: int) -> bytes:
    """The review of a new processing element's pod of ``size`` bytes."""
    what = {"group": "", "version": "v1", "kind": "Pod"}
    resource = {"group": "", "version": "v1", "resource": "pods"}
    request = {
        "uid": uid(6, element),
        "kind": what,
        "resource": resource,
        "requestKind": what,
        "requestResource": resource,
        "name": _name(wish, element),
        "namespace": NAMESPACE,
        "operation": "CREATE",
        "userInfo": {
            "username": "system:serviceaccount:streams-system:streams-placement-controller",
            "uid": uid(7, 0),
            "groups": ["system:serviceaccounts", "system:serviceaccounts:streams-system", "system:authenticated"],
        },
        "object": _pod(wish, element, size),
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    # As Go's encoder ends it.
    envelope = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    return msgspec.json.encode(envelope) + b"\n"


def _name(wish: Wish, element: int) -> str:
    return f"{'bare' if wish.job is None else job_name(wish.job)}-{element}"


def _pod(wish: Wish, element: int, size: int) -> dict[str, Any]:
    names = ("runtime",) if size < 8 << 10 else ("runtime", "metrics", "shipper", "proxy")
    containers: list[dict[str, Any]] = [container(name, "250m", "512Mi") for name in names]
    options: dict[str, str] = {"name": "RUNTIME_OPTIONS", "value": ""}
    containers[0]["env"].append(options)
    name = _name(wish, element)
    of_job = {} if wish.job is None else {keys.JOB: job_name(wish.job), keys.PE: f"new-{element}"}
    owner = {
        "apiVersion": "streams.ibm.com/v1", "kind": "ProcessingElement", "name": name, "uid": uid(3, element),
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "creationTimestamp": None,
            "labels": {"app.kubernetes.io/name": "streams", **of_job},
            "annotations": {f"{DOMAIN}/config-hash": "0" * 64, keys.PLACEMENT: wish.placement, **wish.annotations},
            "ownerReferences": [owner],
            "managedFields": [_managed(names)],
        },
        "spec": {**spec(containers), **wish.spec},
        "status": {},
    }
    # Command-line options make up what is missing: they are what differs most between pods.
    missing = max(0, size - len(msgspec.json.encode(pod)))
    options["value"] = ("-Xmx400m -Dstreams.transport=tcp -Dstreams.checkpoint=redis " * (1 + missing // 50))[:missing]
    return pod


def _managed(names: tuple[str, ...]) -> dict[str, Any]:
    """Who set which field: the API server has filled it in before it asks."""
    fields = (".", "f:image", "f:imagePullPolicy", "f:livenessProbe", "f:name", "f:readinessProbe", "f:resources")
    containers: dict[str, dict[str, dict[str, str]]] = {
        f'k:{{"name":"{name}"}}': {field: {} for field in fields} for name in names
    }
    return {
        "manager": "streams-placement",
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-02T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {".": {}}}, "f:spec": {"f:containers": containers, "f:volumes": {}}},
    }
