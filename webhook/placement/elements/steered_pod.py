"""The pod of a processing element with what its Job's plan says: its node, and its optional hardware."""

from collections.abc import Iterable
from typing import Any

from webhook.placement.elements.plan import PlannedHardware
from webhook.placement.kube.selection.selector import NAME_FIELD
from webhook.placement.kube.selection.tolerations import Taint

Json = dict[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def steered(pod: Json, node: str, soft: Iterable[Taint]) -> Json:
    """The pod with a preference for the node, whose ``soft`` taints (PreferNoSchedule) it tolerates.

    The scheduler adds up the weights of preferred terms, each at most 100: the preference is stated as often as it
    takes to outweigh what the pod itself prefers.
    """
    spec = pod["spec"]
    affinity = spec.get("affinity") or {}
    by_node = affinity.get("nodeAffinity") or {}
    own = list(by_node.get(_PREFERRED) or ())
    here = {"matchFields": [{"key": NAME_FIELD, "operator": "In", "values": [node]}]}
    times = sum(term.get("weight", 0) for term in own) // 100 + 1
    terms = [*own, *[{"weight": 100, "preference": here}] * times]
    tolerations = [*(spec.get("tolerations") or ()), *map(_tolerated, soft)]
    steering = {"affinity": {**affinity, "nodeAffinity": {**by_node, _PREFERRED: terms}}}
    return {**pod, "spec": {**spec, **steering, **({"tolerations": tolerations} if tolerations else {})}}


def kept_on(pod: Json, node: str) -> Json:
    """The pod that can run on no other node, beside all that it requires of nodes itself."""
    spec = pod["spec"]
    affinity = spec.get("affinity") or {}
    by_node = affinity.get("nodeAffinity") or {}
    here = {"key": NAME_FIELD, "operator": "In", "values": [node]}
    own = (by_node.get(_REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
    terms = [{**term, "matchFields": [*(term.get("matchFields") or ()), here]} for term in own]
    required = {_REQUIRED: {"nodeSelectorTerms": terms}}
    return {**pod, "spec": {**spec, "affinity": {**affinity, "nodeAffinity": {**by_node, **required}}}}


def _tolerated(taint: Taint) -> Json:
    return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}


def equipped(pod: Json, hardware: Iterable[PlannedHardware]) -> Json:
    """The pod whose containers ask for these amounts, unless they ask for some of that resource already."""
    spec = pod["spec"]
    for each in hardware:
        spec = {part: _asking(listed, each) if part in _CONTAINERS else listed for part, listed in spec.items()}
    return {**pod, "spec": spec}


_CONTAINERS = frozenset({"containers", "initContainers"})


def _asking(containers: Iterable[Json], amount: PlannedHardware) -> list[Json]:
    return [
        _with(container, amount) if container.get("name") == amount.container else container
        for container in containers or ()
    ]


def _with(container: Json, amount: PlannedHardware) -> Json:
    resources = container.get("resources") or {}
    parts = {"requests": amount.requests, "limits": amount.limits}
    if any(amount.name in (resources.get(part) or {}) for part in parts):
        return container
    given = {part: {**(resources.get(part) or {}), amount.name: asked} for part, asked in parts.items() if asked}
    return {**container, "resources": {**resources, **given}}
