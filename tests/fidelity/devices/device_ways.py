"""``DeviceWay``: a way in which a scheduler can be given the pods of a Job, or tried on a node of a HostPool."""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tests.fidelity.case_verdict import CaseVerdict
from tests.fidelity.devices.device_scenario import DeviceScenario
from tests.fidelity.devices.device_verdict import described_templates
from tests.fidelity.devices.random_devices import group_scenario
from tests.fidelity.preparation import steered_as_planned
from tests.scheduling import product_answers
from tests.scheduling.product_answers import ELASTIC
from tests.scheduling.state import Cluster
from webhook.placement.elements.plan import planned_launch
from webhook.placement.text import keys

Json = Mapping[str, Any]
Object = dict[str, Any]


class DeviceWay(NamedTuple):
    """Pods that are created one after the other in a cluster of their own, under its ``mark``.

    ``unmade`` says why a pod is not created, if one is not. ``node`` is the number of the node of a HostPool.
    """

    mark: str
    cluster: Cluster
    pods: tuple[Object, ...]
    unmade: str = ""
    node: int = 0


def planned_way(scenario: DeviceScenario, verdict: CaseVerdict) -> DeviceWay:
    """The pods of the Job as the controller makes them, by the plan of the verdict."""
    nodes = scenario.cluster.by_name
    steered = [
        steered_as_planned(pod, nodes.get(verdict.places.get(name, "")), planned_launch(name, verdict.plan))
        for pod in scenario.pods
        for name in [pod["metadata"]["labels"][keys.PE]]
    ]
    return _way(scenario, steered)


def every_way(seed: int, number: int) -> Iterator[DeviceWay]:
    """Every way to give the scheduler the pods of the scenario, each under a mark of its own."""
    scenario = group_scenario(seed, number)
    ways = itertools.count()

    def anew() -> DeviceScenario:
        return group_scenario(seed, number, f"{scenario.mark}w{next(ways)}")

    if scenario.kind == "pool":
        for entry, node in itertools.product(
            range(len(scenario.subject["spec"]["devices"])), range(len(scenario.nodes))
        ):
            own = anew()
            yield _way(own, [_kept(_equipped(own, entry), own, node)])._replace(node=node)
        return
    for order in _orders(scenario.pods):
        for places in ((), *_places(scenario)):
            own = anew()
            pods = [own.pods[at] for at in order]
            kept = [_kept(pod, own, place) for pod, place in zip(pods, places, strict=True)] if places else pods
            yield _way(own, kept)


def _orders(pods: Sequence[Json]) -> Iterable[tuple[int, ...]]:
    """Orders in which the pods are created: each may take devices that a later one needs."""
    return itertools.permutations(range(len(pods))) if len(pods) == 2 else [(0, 1, 2), (1, 0, 2), (2, 1, 0)]


def _places(scenario: DeviceScenario) -> Iterator[tuple[int, ...]]:
    """Numbers of nodes for all pods in turn; none if there is one node anyway."""
    if len(scenario.nodes) > 1:
        yield from itertools.product(range(len(scenario.nodes)), repeat=len(scenario.pods))


def _kept(pod: Object, scenario: DeviceScenario, node: int) -> Object:
    """The pod, on that node alone."""
    selected = {**pod["spec"].get("nodeSelector", {}), keys.HOSTNAME: scenario.nodes[node]["metadata"]["name"]}
    return {**pod, "spec": {**pod["spec"], "nodeSelector": selected}}


def _equipped(scenario: DeviceScenario, entry: int) -> Object:
    """A pod that claims what the entry of the HostPool asks for."""
    wish = json.dumps([{"device": scenario.subject["spec"]["devices"][entry]}])
    name = f"{scenario.mark}-host"
    metadata = {"name": name, "namespace": scenario.mark, "uid": f"uid-of-{name}", "annotations": {keys.HARDWARE: wish}}
    spec = {"nodeSelector": {"case": scenario.mark}, "containers": [{"name": "main", "image": "example.invalid/main"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _way(scenario: DeviceScenario, pods: Iterable[Object]) -> DeviceWay:
    stated = [*pods]
    known = replace(scenario.cluster, jobs=(scenario.subject,) if scenario.kind == "job" else ())
    rulings = [product_answers.admitted(pod, known, ELASTIC) for pod in stated]
    unmade = next((ruling.message for ruling in rulings if ruling.pod is None), "")
    # Parts that are one object in Python are two on the wire.
    made = json.loads(json.dumps([ruling.pod for ruling in rulings if ruling.pod is not None]))
    templates = described_templates(scenario.mark, stated)
    cluster = replace(scenario.cluster, devices=(*scenario.devices, *templates))
    return DeviceWay(scenario.mark, cluster, tuple(made), unmade)
