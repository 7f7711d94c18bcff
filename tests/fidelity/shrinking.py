"""Makes a scenario smaller as long as verdict and play disagree about it in the same way."""

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias, TypeVar

from tests.fidelity.scenario import FidelityScenario

Object = dict[str, Any]
Thing = TypeVar("Thing")

Outcomes: TypeAlias = Callable[[Sequence[FidelityScenario]], list[str]]
"""What comes out of each of some scenarios."""

TOGETHER: Final = 40
"""Smaller scenarios that are tried side by side."""

ROUNDS: Final = 40

_POOL: Final = re.compile(r"host\((\w+)")
_HIDDEN: Final = frozenset({"case", "kubernetes.io/hostname"})
"""Labels that stay: by these the scenario and its nodes are known."""


def shrunk(scenario: FidelityScenario, outcome: str, outcomes: Outcomes, rounds: int = ROUNDS) -> FidelityScenario:
    """The smallest scenario with that outcome that is found by leaving out one thing after the other."""
    best = scenario
    for _ in range(rounds):
        tries = sorted(smaller(best), key=lambda one: one.size)
        found = None
        for first in range(0, len(tries), TOGETHER):
            some = tries[first : first + TOGETHER]
            found = next((one for one, got in zip(some, outcomes(some), strict=True) if got == outcome), None)
            if found is not None:
                break
        if found is None:
            return best
        best = found
    return best


def smaller(scenario: FidelityScenario) -> Iterator[FidelityScenario]:
    """Scenarios with one thing less: half of the nodes or elements, single ones, pools, clauses, labels, amounts."""
    for kept in _fewer(scenario.nodes) if len(scenario.nodes) > 1 else ():
        yield replace(scenario, nodes=tuple(kept), pods=_on(kept, scenario.pods), pools=_of(kept, scenario.pools))
    for pods in _fewer(scenario.pods):
        yield replace(scenario, pods=tuple(pods))
    for pools in _fewer(scenario.pools):
        yield replace(scenario, pools=tuple(pools))
    for field in ("restarted", "cordoned", "defaults"):
        for some in _fewer(getattr(scenario, field)):
            yield replace(scenario, **{field: tuple(some)})
    if scenario.at_once:
        yield replace(scenario, at_once=False)
    for at, node in enumerate(scenario.nodes):
        for plain in _plainer_nodes(node):
            yield replace(scenario, nodes=(*scenario.nodes[:at], plain, *scenario.nodes[at + 1 :]))
    if scenario.kind == "job":
        yield from _smaller_jobs(scenario)
    else:
        yield from (replace(scenario, subject=found) for found in _plainer_subjects(scenario.subject))


def _fewer(things: Sequence[Thing]) -> Iterator[list[Thing]]:
    half = len(things) // 2
    if half > 1:
        yield [*things[:half]]
        yield [*things[half:]]
    for at in range(len(things)):
        yield [*things[:at], *things[at + 1 :]]


def _on(nodes: Sequence[Object], pods: Sequence[Object]) -> tuple[Object, ...]:
    names = {node["metadata"]["name"] for node in nodes}
    return tuple(pod for pod in pods if pod["spec"]["nodeName"] in names)


def _of(nodes: Sequence[Object], pools: Sequence[Object]) -> tuple[Object, ...]:
    """The pools that have all of their hosts among the nodes."""
    names = {node["metadata"]["name"] for node in nodes}
    return tuple(pool for pool in pools if all(host["name"] in names for host in pool["status"]["hosts"]))


def _plainer_nodes(node: Object) -> Iterator[Object]:
    labels = node["metadata"]["labels"]
    for label in sorted(labels.keys() - _HIDDEN):
        kept = {key: value for key, value in labels.items() if key != label}
        yield {**node, "metadata": {**node["metadata"], "labels": kept}}
    for field in ("taints", "unschedulable"):
        if node["spec"].get(field):
            yield {**node, "spec": {key: value for key, value in node["spec"].items() if key != field}}


def _smaller_jobs(scenario: FidelityScenario) -> Iterator[FidelityScenario]:
    for elements in _fewer(scenario.elements()):
        yield scenario.with_spec(processingElements=elements)
    stated = scenario.subject["spec"].get("hostPools", [])
    named = set(_POOL.findall(str(scenario.elements())))
    for at, pool in enumerate(stated):
        if pool["name"] not in named:
            yield scenario.with_spec(hostPools=[*stated[:at], *stated[at + 1 :]])
        for plain in _plainer_pools(pool):
            yield scenario.with_spec(hostPools=[*stated[:at], plain, *stated[at + 1 :]])
    if "resources" in scenario.subject["spec"]:
        spec = {key: value for key, value in scenario.subject["spec"].items() if key != "resources"}
        yield replace(scenario, subject={**scenario.subject, "spec": spec})
    elements = scenario.elements()
    for at, element in enumerate(elements):
        for plain in _plainer_elements(element):
            yield scenario.with_spec(processingElements=[*elements[:at], plain, *elements[at + 1 :]])


def _plainer_pools(pool: Object) -> Iterator[Object]:
    if pool.get("size", 1) > 1:
        yield {**pool, "size": pool["size"] - 1}
    if len(pool.get("hosts", ())) > 1:
        yield from ({**pool, "hosts": hosts} for hosts in _fewer(pool["hosts"]))
    for field in ("tags", "selector", "mode"):
        if field in pool:
            yield {key: value for key, value in pool.items() if key != field}


def _plainer_elements(element: Object) -> Iterator[Object]:
    operators = element.get("operators", [])
    for at, operator in enumerate(operators):
        clauses = operator["placement"].split(", ")
        for left in (_join(clauses[:cut] + clauses[cut + 1 :]) for cut in range(len(clauses))):
            kept = [{**operator, "placement": left}] if left else []
            yield {**element, "operators": [*operators[:at], *kept, *operators[at + 1 :]]}
    if "resources" in element:
        yield {key: value for key, value in element.items() if key != "resources"}
    yield from ({**element, "template": found} for found in _plainer_subjects(element["template"]))


def _join(clauses: Sequence[str]) -> str:
    return ", ".join(clauses)


def _plainer_subjects(subject: Object) -> Iterator[Object]:
    """A pod, a template of one, or a workload with one field or annotation less."""
    holder = subject["spec"].get("template", subject)
    for field in holder["spec"].keys() - {"containers", "nodeSelector", "restartPolicy", "nodeName"}:
        yield _without(subject, "spec", field)
    for field in holder.get("metadata", {}).get("annotations", {}):
        yield _without(subject, "metadata", "annotations", field)
    for kind in holder["spec"].get("affinity", {}):
        yield _without(subject, "spec", "affinity", kind)
    for field in ("resources", "ports"):
        if holder["spec"]["containers"][0].get(field):
            yield _without(subject, "spec", "containers", 0, field)
    for field in ("replicas", "parallelism"):
        if subject["spec"].get(field, 1) > 1:
            count = subject["spec"][field] - 1
            more = {"completions": count} if field == "parallelism" else {}
            yield {**subject, "spec": {**subject["spec"], field: count, **more}}


def _without(subject: Object, *path: str | int) -> Object:
    """The subject without what is at the path in its pod."""
    found = copy.deepcopy(subject)
    holder: Any = found["spec"].get("template", found)
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return found
