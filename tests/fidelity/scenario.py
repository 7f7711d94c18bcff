"""``FidelityScenario``: a cluster, and a pod, a workload or a Job that is created in it, as plain data."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from tests.scheduling.state import Cluster, manifests
from tests.scheduling.workloads import count_of, labels_of
from webhook.placement.spl.placement import parse_placement
from webhook.placement.text import keys

Json = Mapping[str, Any]
Object = dict[str, Any]

MARK: Final = "fid"
"""What the names of a scenario's nodes and namespaces start with, until it is played under a mark of its own."""


@dataclass(frozen=True, repr=False)
class FidelityScenario:
    """``subject`` is created in the cluster; ``at_once`` if all of its pods are judged before any is bound.

    ``restarted`` are elements of a Job that are launched again once all of it ran, when the nodes ``cordoned`` are.
    """

    number: int
    nodes: tuple[Object, ...]
    subject: Object
    pods: tuple[Object, ...] = ()
    pools: tuple[Object, ...] = ()
    at_once: bool = False
    restarted: tuple[str, ...] = ()
    cordoned: tuple[str, ...] = ()
    volumes: tuple[Object, ...] = ()
    defaults: tuple[Object, ...] = ()

    def __repr__(self) -> str:
        """The number, and everything in YAML."""
        return f"scenario {self.number}: {self.manifest()}"

    @property
    def kind(self) -> str:
        """``job``, ``workload`` or ``pod``."""
        if self.subject["apiVersion"].startswith("streams.ibm.com/"):
            return "job"
        return "pod" if self.subject["kind"] == "Pod" else "workload"

    @property
    def mark(self) -> str:
        """What the names start with."""
        return str(self.nodes[0]["metadata"]["labels"]["case"])

    @property
    def space(self) -> str:
        """The namespace of the subject."""
        return str(self.subject["metadata"]["namespace"])

    @property
    def cluster(self) -> Cluster:
        """The cluster before anything is created."""
        spaces = {space: {"kubernetes.io/metadata.name": space} for space in (self.mark, f"{self.mark}-b")}
        return Cluster(self.nodes, self.pods, self.pools, (), spaces, self.volumes, self.defaults)

    @property
    def size(self) -> int:
        """How large it is, for what makes it smaller: characters of its JSON."""
        return len(self.encoded())

    def encoded(self) -> str:
        """The scenario in JSON."""
        return json.dumps(vars(self), separators=(",", ":"))

    @classmethod
    def decoded(cls, text: str) -> Self:
        """The scenario of a JSON text."""
        found = json.loads(text)
        fields = ("nodes", "pods", "pools", "restarted", "cordoned", "volumes", "defaults")
        lists = {field: tuple(found.pop(field)) for field in fields}
        return cls(**found, **lists)

    def elements(self) -> list[Object]:
        """The processing elements of a Job."""
        found: list[Object] = self.subject["spec"].get("processingElements", [])
        return found

    def with_spec(self, **fields: Any) -> Self:
        """With other fields of the subject's spec."""
        return replace(self, subject={**self.subject, "spec": {**self.subject["spec"], **fields}})

    def manifest(self) -> str:
        """Everything in YAML, as ``explain --snapshot`` and ``kubectl`` read it."""
        plain = self.decoded(self.encoded())  # nothing is in it twice, which YAML would say by references
        return manifests([*plain.nodes, *plain.defaults, *plain.volumes, *plain.pools, *plain.pods, plain.subject])

    def families(self) -> frozenset[str]:
        """The constraint families that it has something of."""
        return frozenset(_families(self)) or frozenset({"none"})

    @property
    def everywhere(self) -> bool:
        """Whether the subject is a DaemonSet."""
        return str(self.subject["kind"]) == "DaemonSet"


_FIELDS: Final = {
    "nodeSelector": "affinity",
    "affinity": "affinity",
    "topologySpreadConstraints": "spread",
    "tolerations": "taints",
}
_DEFAULTS: Final = {
    "LimitRange": "limit ranges",
    "RuntimeClass": "runtime classes",
    "PriorityClass": "priorities",
}
_ANNOTATIONS: Final = {
    keys.UNIFORM: "uniform",
    keys.MAPPING: "mapping",
    keys.HARDWARE: "devices",
    keys.RUN_APART_FROM: "company",
    keys.RUN_WITH: "company",
    keys.PREFERRED: "preferred",
}


def _families(scenario: FidelityScenario) -> Iterator[str]:
    spec = scenario.subject["spec"]
    if scenario.volumes:
        yield "volumes"
    yield from (_DEFAULTS[one["kind"]] for one in scenario.defaults)
    if scenario.kind == "job":
        if scenario.restarted:
            yield "restart"
        for element in scenario.elements():
            yield from _of_placement(one.get("placement", "") for one in element.get("operators", ()))
            yield from _of_pod(element.get("template") or {})
            if element.get("resources"):
                yield "resources"
        for pool in spec.get("hostPools", ()):
            yield _form(pool)
        return
    if scenario.kind == "workload":
        if scenario.everywhere:
            yield "everywhere"
        yield "replicas" if count_of(scenario.subject) > 1 else "none"
        said = json.dumps(spec["template"]["spec"])
        if any(key in said for key in labels_of(scenario.subject, 0)):
            yield "labels of controllers"
        yield from _of_pod(spec["template"])
        return
    yield from _of_pod(scenario.subject)


def _of_pod(pod: Json) -> Iterator[str]:
    spec, told = pod.get("spec", {}), pod.get("metadata", {}).get("annotations", {})
    yield from _of_placement([told.get(keys.PLACEMENT, "")])
    yield from (family for key, family in _ANNOTATIONS.items() if key in told)
    own = {key: value for key, value in (spec.get("nodeSelector") or {}).items() if key != "case"}
    yield from (family for key, family in _FIELDS.items() if (own if key == "nodeSelector" else spec.get(key)))
    if any(one.get("resources") for one in spec.get("containers", ())):
        yield "resources"
    if any(one.get("ports") for one in spec.get("containers", ())):
        yield "ports"


def _of_placement(texts: Any) -> Iterator[str]:
    tokens = 0
    for text in filter(None, texts):
        for clause in parse_placement(text, "")[0]:
            name = clause.name.value
            tokens += name == "hostColocation"
            pool = getattr(clause.argument, "name", "")
            yield "host pool" if pool else name
    if tokens > 1:
        yield "tokens"


def _form(pool: Json) -> str:
    if "hosts" in pool:
        return "literal pool"
    if "size" not in pool:
        return "unsized pool"
    return "exclusive pool" if pool.get("mode") == "Exclusive" else "sized pool"
