"""What the API server makes of the resources of a pod, and whether it takes them, in plain loops over plain JSON.

Sources: ``SetDefaults_Pod`` (``pkg/apis/core/v1/defaults.go``), ``validateResourceRequirements`` and
``validatePodResourceConsistency`` (``pkg/apis/core/validation/validation.go``), ``AggregateContainerRequests``
(``component-helpers/resource/helpers.go``). Amounts are whole cores, and mebibytes of everything else.
"""

import copy
from collections.abc import Iterator

from tests.placement.properties.clusters import Json

POD_LEVEL = ("cpu", "memory", "hugepages-2Mi")
Tally = dict[str, int]


def defaulted(pod: Json) -> Json:
    """The pod with requests where only limits are written, and with pod-level resources that are complete."""
    found: Json = copy.deepcopy(pod)
    spec = found["spec"]
    for _, container in containers(spec):
        resources = container.setdefault("resources", {})
        if resources.get("limits"):
            resources["requests"] = {**resources["limits"], **resources.get("requests", {})}
    level = spec.get("resources")
    if not level or not (level.get("requests") or level.get("limits")):
        return found
    _complete(level, sums(spec, "requests"), sums(spec, "limits"))
    return found


def _complete(level: Json, requests: Tally, limits: Tally) -> None:
    most = dict(level.get("limits") or {})
    for name, amount in limits.items():
        if name.startswith("hugepages-") and name not in (level.get("requests") or {}):
            most.setdefault(name, written(name, amount))
    if not most:
        return
    level["limits"] = most
    least = level.setdefault("requests", {})
    for name in ("cpu", "memory"):
        if name in requests:
            least.setdefault(name, written(name, requests[name]))
    for name, amount in most.items():
        least.setdefault(name, amount)


def complaints(pod: Json) -> list[str]:
    """What the API server says of the resources of such a pod, in a word each."""
    spec = pod["spec"]
    found = [word for _, container in containers(spec) for word in _own(container.get("resources") or {})]
    level = spec.get("resources")
    return found + ([*_own(level), *_whole(spec, level)] if level else [])


def _own(resources: Json) -> Iterator[str]:
    """Of one container, or of the pod as a whole."""
    requests, limits = amounts(resources.get("requests")), amounts(resources.get("limits"))
    for name, asked in requests.items():
        fixed = name.startswith("hugepages-") or "/" in name
        if fixed and limits.get(name) != asked:
            yield f"{name} is not overcommitted"
        elif asked > limits.get(name, asked):
            yield f"{name} request above limit"
    both = {*requests, *limits}
    if any(name.startswith("hugepages-") for name in both) and not both & {"cpu", "memory"}:
        yield "huge pages alone"


def _whole(spec: Json, level: Json) -> Iterator[str]:
    """Of the containers against the pod as a whole."""
    requests, limits = amounts(level.get("requests")), amounts(level.get("limits"))
    for name, total in sums(spec, "requests").items():
        if total > requests.get(name, total):
            yield f"{name} requests above the pod's"
    for init, container in containers(spec):
        for name, most in amounts((container.get("resources") or {}).get("limits")).items():
            if not init and most > limits.get(name, most):
                yield f"{name} limit above the pod's"


def containers(spec: Json) -> Iterator[tuple[bool, Json]]:
    """Every container, and whether it starts the pod."""
    for init, key in ((False, "containers"), (True, "initContainers")):
        for container in spec.get(key) or ():
            yield init, container


def sums(spec: Json, part: str) -> Tally:
    """What the containers have together: sidecars add up, what starts the pod runs one by one beside them."""
    total: Tally = {}
    sidecars: Tally = {}
    peaks: list[Tally] = []
    for init, container in containers(spec):
        own = amounts((container.get("resources") or {}).get(part))
        if init and container.get("restartPolicy") != "Always":
            peaks.append(added(own, sidecars))
            continue
        total = added(total, own)
        if init:
            sidecars = added(sidecars, own)
    names = {*total, *(name for peak in peaks for name in peak)}
    return {name: max(total.get(name, 0), *(peak.get(name, 0) for peak in peaks), 0) for name in names}


def added(one: Tally, other: Tally) -> Tally:
    """Both together."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {*one, *other}}


def amounts(part: Json | None) -> Tally:
    """Requests or limits as numbers: what is written in gibibytes is as many times 1,024 mebibytes."""
    found = {}
    for name, text in (part or {}).items():
        word = str(text)
        found[name] = int(word[:-2]) * (1024 if word.endswith("Gi") else 1) if word.endswith("i") else int(word)
    return found


def written(name: str, amount: int) -> str:
    """An amount as a pod says it."""
    return f"{amount}Mi" if name in {"memory", "hugepages-2Mi"} else str(amount)
