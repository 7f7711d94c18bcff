"""What a pod requests of a node, as the API server completes the pod and the scheduler adds it up.

Written from ``SetDefaults_Pod`` (apis/core/v1/defaults.go) and ``PodRequests`` (component-helpers/resource/helpers.go).
"""

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

Json = Mapping[str, Any]
Exact = dict[str, Fraction]

_QUANTITY = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?[0-9]+))?")
_SUFFIXES = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), None: Fraction(1)}
_SUFFIXES |= {letter: Fraction(1000 ** (at + 1)) for at, letter in enumerate("kMGTPE")}
_SUFFIXES |= {f"{letter}i": Fraction(1024 ** (at + 1)) for at, letter in enumerate("KMGTPE")}
_POD_LEVEL = ("cpu", "memory", "hugepages-")


def exact(quantity: object) -> Fraction:
    """The number that a Kubernetes quantity stands for."""
    found = _QUANTITY.fullmatch(str(quantity))
    assert found, f"{quantity!r} is no quantity"
    number, suffix, exponent = found.groups()
    return Fraction(number) * (Fraction(10) ** int(exponent) if exponent else _SUFFIXES[suffix])


def counted(amounts: Json) -> dict[str, int]:
    """Amounts as the scheduler compares them: thousandths of a core, whole units of everything else, rounded up."""
    return {name: math.ceil(exact(value) * (1000 if name == "cpu" else 1)) for name, value in amounts.items()}


def requested(pod: Json) -> dict[str, int]:
    """What the scheduler takes the pod to need, but for the pod itself, which counts one of ``pods``."""
    spec = pod["spec"]
    total = of_containers(spec, "requests")
    for name, amount in pod_level(spec).items():
        total[name] = amount
    total = _sum([total, _exact(spec.get("overhead"))])
    return {name: math.ceil(amount * (1000 if name == "cpu" else 1)) for name, amount in total.items() if amount}


def completed(pod: Json) -> dict[str, Any]:
    """The pod with the requests that the API server fills in before it asks anybody: limits where there are none."""
    spec = dict(pod["spec"])
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec[field] = [_with_requests(container) for container in spec[field]]
    if pod_limits(spec):
        written = {
            name: f"{math.ceil(amount * 1000)}m" if name == "cpu" else str(math.ceil(amount))
            for name, amount in pod_level(spec).items()
        }
        spec["resources"] = {**spec["resources"], "requests": written | (spec["resources"].get("requests") or {})}
    return {**pod, "spec": spec}


def _with_requests(container: Json) -> Json:
    resources = container.get("resources") or {}
    if not resources.get("limits"):
        return container
    return {
        **container,
        "resources": {**resources, "requests": {**resources["limits"], **resources.get("requests", {})}},
    }


def of_containers(spec: Json, field: str) -> Exact:
    """The containers and sidecars together, or the largest init container with the sidecars before it, if that is more.

    ``field`` is ``requests``, which default to limits, or ``limits``.
    """
    total = _sum(_said(container, field) for container in spec.get("containers") or ())
    sidecars: Exact = {}
    peak: Exact = {}
    for container in spec.get("initContainers") or ():
        said = _said(container, field)
        if container.get("restartPolicy") == "Always":
            total, sidecars = _sum([total, said]), _sum([sidecars, said])
            peak = _most(peak, sidecars)
        else:
            peak = _most(peak, _sum([said, sidecars]))
    return _most(total, peak)


def pod_level(spec: Json) -> Exact:
    """The requests of the pod as a whole: said, else those of its containers if limits are said, else those limits."""
    said, limits = _exact((spec.get("resources") or {}).get("requests")), pod_limits(spec)
    if limits:
        asked = of_containers(spec, "requests")
        cpu_and_memory = {name: amount for name, amount in asked.items() if name in _POD_LEVEL[:2]}
        said = limits | cpu_and_memory | said
    return {name: amount for name, amount in said.items() if name.startswith(_POD_LEVEL)}


def pod_limits(spec: Json) -> Exact:
    """The limits of the pod as a whole, with the huge pages of its containers if the pod says anything at all."""
    resources = spec.get("resources") or {}
    requests, limits = resources.get("requests") or {}, _exact(resources.get("limits"))
    if not requests and not limits:
        return {}
    pages = {name: amount for name, amount in of_containers(spec, "limits").items() if name.startswith("hugepages-")}
    return {name: amount for name, amount in pages.items() if name not in requests} | limits


def _said(container: Json, field: str) -> Exact:
    resources = container.get("resources") or {}
    limits = _exact(resources.get("limits"))
    return limits if field == "limits" else limits | _exact(resources.get("requests"))


def _exact(amounts: Json | None) -> Exact:
    return {name: exact(value) for name, value in (amounts or {}).items()}


def _sum(parts: Iterable[Exact]) -> Exact:
    found: Exact = {}
    for part in parts:
        for name, amount in part.items():
            found[name] = found.get(name, Fraction()) + amount
    return found


def _most(one: Exact, other: Exact) -> Exact:
    return {name: max(one.get(name, Fraction()), other.get(name, Fraction())) for name in one.keys() | other.keys()}
