"""Which machines Karpenter's kwok provider has, and whether one of them would do for a pod.

The product does not know them (``docs/autoscaled.md``, "What is not known"). So where it admits a pod for which no node
is made, this tells whether it was wrong, or the machine is missing.
"""

import json
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.e2e.autoscaling.random_cases import OF_USERS
from tests.placement.nodegroups.karpenter import makes_labels
from webhook.placement.kube.quantity import parse_quantity

Json = Mapping[str, Any]

_RESERVED: Final = {"cpu": "100m", "memory": "10Mi"}
"""What the provider keeps of each machine for the kubelet."""


class Machine:
    """A type of machine in a zone: the labels of its nodes, and what it has, in billionths."""

    def __init__(self, found: Json, offering: Json) -> None:
        cpu = found["resources"]["cpu"]
        self.labels = {
            "node.kubernetes.io/instance-type": found["name"],
            "kubernetes.io/arch": found["architecture"],
            "kubernetes.io/os": found["operatingSystems"][0],
            "karpenter.kwok.sh/instance-cpu": cpu,
            "karpenter.kwok.sh/instance-family": found["name"].partition("-")[0],
            **{need["key"]: need["values"][0] for need in offering["Requirements"]},
        }
        self.has = {"pods": "110", **found["resources"], "nodes": "1"}

    def room(self, resource: str) -> int:
        """What pods can have."""
        return _nano(self.has.get(resource, "0")) - _nano(_RESERVED.get(resource, "0"))


def machines(file: Path) -> tuple[Machine, ...]:
    """All of them, by the provider's own list."""
    return tuple(Machine(found, one) for found in json.loads(file.read_text()) for one in found["offerings"])


def has_machine(known: Iterable[Machine], node_pool: Json, pod: Json) -> bool:
    """Whether a machine is what the NodePool and the pod require of labels of machines, and is large enough."""
    spec = node_pool["spec"]
    own = spec["template"]["spec"]["requirements"]
    requests = pod["spec"]["containers"][0]["resources"].get("requests", {})
    used = (node_pool.get("status") or {}).get("resources") or {}
    left = {name: _nano(most) - _nano(used.get(name, "0")) for name, most in spec.get("limits", {}).items()}
    within = [
        one
        for one in known
        if all(_nano(one.has.get(name, "0")) <= most for name, most in left.items())
        and all(_nano(most) <= one.room(name) for name, most in requests.items())
    ]
    for term in _terms(pod):
        if not makes_labels(_without_machines(node_pool), [need for need in term if need["key"] in OF_USERS]):
            continue
        fitting = [one for one in within if all(_met(need, one.labels) for need in (*own, *term))]
        if fitting and all(_enough(need, fitting) for need in own):
            return True
    return False


def _without_machines(node_pool: Json) -> Json:
    """The NodePool without its requirements on labels of machines."""
    template = node_pool["spec"]["template"]
    own = [need for need in template["spec"]["requirements"] if need["key"] in OF_USERS]
    return {"spec": {"template": {**template, "spec": {**template["spec"], "requirements": own}}}}


def _terms(pod: Json) -> Iterator[Sequence[Json]]:
    """What the pod requires of labels, in each way."""
    chosen = [{"key": key, "operator": "In", "values": [value]} for key, value in pod["spec"]["nodeSelector"].items()]
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = [term.get("matchExpressions", ()) for term in required["nodeSelectorTerms"]] if required else [()]
    yield from ((*chosen, *term) for term in terms)


def _met(need: Json, labels: Mapping[str, str]) -> bool:
    """Whether a machine with these labels meets a requirement; one on other labels, any does."""
    value = labels.get(need["key"])
    if value is None or need["operator"] in {"Exists", "DoesNotExist"}:
        return value is None or need["operator"] == "Exists"
    if need["operator"] in {"In", "NotIn"}:
        return (value in need["values"]) == (need["operator"] == "In")
    compares = {"Gt": operator.gt, "Gte": operator.ge, "Lt": operator.lt, "Lte": operator.le}
    return value.isdigit() and compares[need["operator"]](int(value), int(need["values"][0]))


def _enough(need: Json, fitting: Iterable[Machine]) -> bool:
    """Whether there are as many values to choose from as the NodePool wants."""
    values = {one.labels.get(need["key"]) for one in fitting} - {None}
    return not values or len(values) >= need.get("minValues", 0)


def _nano(amount: object) -> int:
    found = parse_quantity(str(amount))
    assert found is not None, amount
    return found
