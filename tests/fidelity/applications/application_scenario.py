"""``ApplicationScenario``: a small cluster and an object of another operator, with the pods that the operator makes.

The pods are those that the object was written from (``random_applications``), and not what the product reads of it.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tests.fidelity.case_verdict import CaseVerdict
from tests.fidelity.play import Case
from tests.fidelity.preparation import Preparation
from tests.fidelity.scenario import FidelityScenario
from tests.placement.kinds.random_applications import KINDS, MEMORY, Machine, Part, random_application
from tests.placement.kinds.random_applications import Case as Application
from tests.placement.planning.exhaustive import Instance, all_places
from tests.scheduling.state import Cluster, manifests
from webhook.placement.text import keys

Object = dict[str, Any]


@dataclass(frozen=True, repr=False)
class ApplicationPods(FidelityScenario):
    """Pods of an application that run at the same time, in a cluster of their own."""

    @property
    def kind(self) -> str:
        """``application``: the API server does not say how many pods it is to have."""
        return "application"


class Moment(NamedTuple):
    """The pods that run at the same time as ``play`` has them, and the same in terms of the exhaustive search."""

    case: Case
    instance: Instance

    def as_searched(self) -> Case | None:
        """The case with each pod on the node that the exhaustive search finds for it; ``None`` if it finds none."""
        places = next(all_places(self.instance, {}), None)
        if places is None:
            return None
        pods = [_kept(pod, places[pod["metadata"]["labels"]["member"]]) for pod in self.case.preparation.pods]
        return self.case._replace(preparation=replace(self.case.preparation, pods=tuple(pods)))


@dataclass(frozen=True, repr=False)
class ApplicationScenario:
    """``at_once`` if all pods are judged before any is bound, else the operator waits for each."""

    number: int
    application: Application
    at_once: bool

    def __repr__(self) -> str:
        """The number, and everything in YAML."""
        return f"application {self.number}: {self.manifest()}"

    @property
    def kind(self) -> str:
        """The kind of the object."""
        return self.application.kind[1]

    def families(self) -> frozenset[str]:
        """The constraint families that it has something of."""
        clauses = {clause.partition("(")[0] for part in self.application.parts for clause in part.clauses}
        apart = {"one after the other"} if any(part.apart for part in self.application.parts) else set()
        return frozenset(clauses | apart) or frozenset({"none"})

    def moments(self, mark: str) -> list[Moment]:
        """The moments with names that begin with the mark."""
        parts = [*enumerate(self.application.parts)]
        sets = [[one for one in parts if not one[1].apart], *([one] for one in parts if one[1].apart)]
        found = []
        for at, chosen in enumerate(filter(None, sets)):
            own = f"{mark}m{at}"
            application = _marked(self.application, own)
            pods = [pod for place, _ in chosen for pod in _pods(own, place, application.parts[place])]
            cluster = Cluster(tuple(_node(own, one) for one in application.machines), namespaces={own: {}})
            scenario = ApplicationPods(self.number, cluster.nodes, application.document, at_once=self.at_once)
            preparation = Preparation(cluster, tuple(pods))
            case = Case(own, scenario, CaseVerdict(admitted=True), preparation)
            found.append(Moment(case, application.instances()[at]))
        return found

    def manifest(self) -> str:
        """The cluster and the object in YAML, as ``explain --snapshot`` reads them."""
        nodes = [_node("", one) for one in self.application.machines]
        runtime = [self.application.runtime] if self.application.runtime else []
        return manifests([*nodes, *runtime, self.application.document])


def application_scenario(seed: int, number: int) -> ApplicationScenario:
    """The scenario of that number; the kinds take turns."""
    at_once = random.Random(f"at once {seed} {number}").random() < 1 / 2  # noqa: S311 -- dice
    return ApplicationScenario(number, random_application(seed * 1_000_000 * len(KINDS) + number), at_once)


def _marked(application: Application, mark: str) -> Application:
    """The application on nodes whose names begin with the mark; what it is written as stays as it is."""
    machines = tuple(replace(one, name=f"{mark}-{one.name}") for one in application.machines)
    parts = tuple(
        replace(part, clauses=tuple(one.replace('"node-', f'"{mark}-node-') for one in part.clauses))
        for part in application.parts
    )
    return replace(application, machines=machines, parts=parts)


def _pods(mark: str, place: int, part: Part) -> Iterator[Object]:
    for at in range(part.count):
        template = part.template()
        member = f"part-{place}-{at}"
        labels = {**template["metadata"]["labels"], "member": member}
        named = {"name": f"{mark}-{member}", "uid": f"uid-of-{mark}-{member}", "namespace": mark, "labels": labels}
        spec = {**template["spec"], "nodeSelector": {**template["spec"]["nodeSelector"], "case": mark}}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": {**template["metadata"], **named}, "spec": spec}


def _kept(pod: Object, node: str) -> Object:
    """The pod, on that node alone."""
    selector = {**pod["spec"]["nodeSelector"], keys.HOSTNAME: node}
    return {**pod, "spec": {**pod["spec"], "nodeSelector": selector}}


def _node(mark: str, machine: Machine) -> Object:
    labels = {"case": mark, keys.HOSTNAME: machine.name, **({"disk": machine.disk} if machine.disk else {})}
    room = {"cpu": str(machine.cpu), "memory": str(MEMORY), "pods": "110"}
    address = [{"type": "Hostname", "address": machine.name}]
    ready = {"type": "Ready", "status": "True"}
    metadata = {"name": machine.name, "uid": f"uid-of-{machine.name}", "labels": labels}
    status = {"addresses": address, "allocatable": room, "capacity": room, "conditions": [ready]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}, "status": status}
