"""Scenarios made by dice: the same number of the same seed is always the same scenario. Whole Jobs come most often."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from tests.fidelity.random_defaults import with_pod_defaults
from tests.fidelity.scenario import MARK, FidelityScenario
from tests.fidelity.worlds import everywhere, with_volumes
from tests.placement.properties.random_choices import RandomChoices
from tests.scheduling.amounts import exact, of_containers
from tests.scheduling.nodes import DEVICE, DISK, NODE_BYTES, POOL_BYTES, node, pools
from tests.scheduling.pods import POD_BYTES, TOPOLOGIES, Names, annotations, asking, ordinary
from tests.scheduling.scheduler import possible
from tests.scheduling.state import Cluster
from tests.scheduling.workloads import WORKLOAD_BYTES, labels_of, workload
from webhook.placement.text import keys

Object = dict[str, Any]

MOST_NODES: Final = 12

_ELEMENT_BYTES: Final = 2 * POD_BYTES + 24
_ELEMENTS: Final = 9
_OCCUPANTS: Final = 6
_BYTES: Final = (
    64 + MOST_NODES * NODE_BYTES + POOL_BYTES + _ELEMENTS * _ELEMENT_BYTES + (_OCCUPANTS + 3) * 2 * POD_BYTES
)
_UNKNOWN: Final = ("schedulingGates", "volumes", "resourceClaims", "schedulerName")
"""Fields for which a pod waits that nobody serves here."""

_CONTAINER: Final = {"name": "main", "image": "example.invalid/main"}
_CORES: Final = ("500m", "500m", "1", "1", "2")


def scenarios(seed: int, first: int, count: int) -> Iterator[FidelityScenario]:
    """So many scenarios from a number on."""
    for number in range(first, first + count):
        yield random_scenario(seed, number)


def random_scenario(seed: int, number: int) -> FidelityScenario:
    """The scenario of that number."""
    choices = RandomChoices(random.Random(seed * 1_000_003 + number).randbytes(_BYTES))  # noqa: S311 -- dice
    kind = choices.face(20)
    crowded = choices.chance(3) if kind < 13 else choices.chance(1)
    count = 2 + (choices.face(5) if choices.chance(6) else choices.face(MOST_NODES - 1))
    nodes = _nodes(choices, count)
    found = pools(choices.part(POOL_BYTES), MARK, MARK, nodes) if choices.chance(4) else []
    for pool in found:
        for host in pool["status"]["hosts"]:  # the API server gives each node a uid of its own
            host.pop("uid")
    cluster = Cluster(tuple(nodes), pools=tuple(found), namespaces={MARK: {}, f"{MARK}-b": {}})
    names = Names(MARK, [one["metadata"]["name"] for one in nodes], [pool["spec"]["name"] for pool in found])
    for at in range(choices.face(_OCCUPANTS + 1) if crowded else 0):
        cluster = _occupied(choices.part(POD_BYTES + 4), names, cluster, at)
    at_once = choices.chance(3)
    if kind < 13:
        subject = _job(choices, names, nodes)
    elif kind < 17:
        subject = _known(workload(choices.part(WORKLOAD_BYTES), names))
        subject = everywhere(subject, random.Random(f"everywhere {seed} {number}"))  # noqa: S311 -- dice
    else:
        subject = _known(asking(choices.part(POD_BYTES), names, 0, calm=choices.chance(3)))
    found = FidelityScenario(number, cluster.nodes, subject, cluster.pods, cluster.pools, at_once)
    found = with_volumes(found, random.Random(f"volumes {seed} {number}"))  # noqa: S311 -- dice
    if kind < 13:
        found = _restarted(found, random.Random(f"restart {seed} {number}"))  # noqa: S311 -- dice
    elif kind < 17:
        found = _labelled(found, random.Random(f"labels {seed} {number}"))  # noqa: S311 -- dice
    return with_pod_defaults(found, random.Random(f"defaults {seed} {number}"))  # noqa: S311 -- dice


def _labelled(scenario: FidelityScenario, dice: random.Random) -> FidelityScenario:
    """The scenario of a workload, in one of two with a term about the labels that its controller gives to pods."""
    keys_there = sorted(labels_of(scenario.subject, 0))
    if not keys_there or dice.random() < 1 / 2:
        return scenario
    found = json.loads(json.dumps(scenario.subject))
    template, key = found["spec"]["template"], dice.choice(keys_there)
    app = {"matchLabels": {"app": template["metadata"]["labels"]["app"]}}
    about = dice.choice(
        [
            {"labelSelector": app, "matchLabelKeys": [key]},
            {"labelSelector": app, "mismatchLabelKeys": [key]},
            {"labelSelector": {"matchExpressions": [{"key": key, "operator": "Exists"}]}},
        ]
    )
    term = {**about, "topologyKey": dice.choice(TOPOLOGIES)}
    spec = template["spec"]
    if dice.random() < 1 / 2 and "mismatchLabelKeys" not in about:
        even = {**term, "maxSkew": 1, "whenUnsatisfiable": dice.choice(["DoNotSchedule", "ScheduleAnyway"])}
        spec["topologySpreadConstraints"] = [even]
    else:
        kind = dice.choice(["podAntiAffinity", "podAntiAffinity", "podAffinity"])
        spec["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return replace(scenario, subject=found)


def _restarted(scenario: FidelityScenario, dice: random.Random) -> FidelityScenario:
    """The scenario, in one of three with some or all of the Job launched again, often while a node is cordoned."""
    if dice.random() > 1 / 3:
        return scenario
    names = [element["name"] for element in scenario.elements()]
    again = names if dice.random() < 1 / 3 else [name for name in names if dice.random() < 1 / 2]
    nodes = [node["metadata"]["name"] for node in scenario.nodes]
    cordoned = [dice.choice(nodes)] if dice.random() < 1 / 2 else []
    return replace(scenario, restarted=tuple(again), cordoned=tuple(cordoned))


def _nodes(choices: RandomChoices, count: int) -> list[Object]:
    """Nodes, most of which have a host name label of their own as in almost every cluster."""
    found = [node(choices.part(NODE_BYTES), MARK, at) for at in range(count)]
    if choices.chance(6):
        for one in found:
            one["metadata"]["labels"][keys.HOSTNAME] = one["metadata"]["name"]
    return found


def _occupied(choices: RandomChoices, names: Names, cluster: Cluster, at: int) -> Cluster:
    """With one more pod of nobody's job, if there is a node for it."""
    pod = _known(ordinary(choices.part(POD_BYTES), names, f"{names.mark}-s{at}"))
    places = possible(pod, cluster) if _is_consistent(pod) else []
    return cluster.plus(pod, choices.pick(places)) if places else cluster


def _is_consistent(pod: Object) -> bool:
    """Whether the pod as a whole requests as much as its containers, as the API server requires."""
    whole = pod["spec"].get("resources", {})
    said = exact(whole.get("requests", whole.get("limits", {})).get("cpu", "1000"))
    return of_containers(pod["spec"], "requests").get("cpu", Fraction()) <= said


def _known(found: Object) -> Object:
    """The pod, or the workload, without what the control plane has nobody for, and without an eye for other nodes."""
    holder = found["spec"].get("template", found)
    for field in _UNKNOWN:
        holder["spec"].pop(field, None)
    for spread in holder["spec"].get("topologySpreadConstraints", ()):
        spread.pop("nodeAffinityPolicy", None)
    return found


# Jobs of Streams


def _job(choices: RandomChoices, names: Names, nodes: Sequence[Object]) -> Object:
    made = _job_pools(choices, names, nodes)
    every = choices.face(4)  # what all of them have in common, in one of four Jobs
    count = 1 + choices.face(6) if choices.chance(6) else 1 + choices.face(_ELEMENTS)
    elements = [_element(choices.part(_ELEMENT_BYTES), names, made, at, every) for at in range(count)]
    spec: Object = {"processingElements": elements, **({"hostPools": made} if made else {})}
    if choices.face(10) == 9:
        spec["resources"] = {"requests": {"cpu": f"{choices.face(6) + 1}"}}
    metadata = {"name": f"{names.mark}-j", "namespace": names.spaces[0]}
    return {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _job_pools(choices: RandomChoices, names: Names, nodes: Sequence[Object]) -> list[Object]:
    """Up to three pools of the Job, of every form of ``createPool``, and literal ones."""
    found: list[Object] = []
    for name in "PQR"[: (0, 0, 1, 1, 1, 2, 2, 3)[choices.face(8)]]:
        form = choices.face(6)
        pool: Object = {"name": name}
        if form == 0:
            hosts = choices.some(names.nodes, min(3, len(names.nodes)), 1)
            if choices.face(12) == 11:
                hosts.append("nowhere")
            if choices.face(6) == 5:
                hosts[0] = nodes[names.nodes.index(hosts[0])]["status"]["addresses"][0]["address"]
            found.append({**pool, "hosts": hosts})
            continue
        if form > 1:
            pool["size"] = (1, 1, 2, 2, 3)[choices.face(5)]
            if choices.chance(4):
                pool["mode"] = "Exclusive"
        if choices.chance(1) or form == 1:
            pool["tags"] = ["blue"]
        elif choices.face(16) == 15:
            pool["selector"] = {"matchLabels": {DISK: "ssd"}}
        found.append(pool)
    return found


def _element(choices: RandomChoices, names: Names, made: Sequence[Object], at: int, every: int) -> Object:
    """A processing element: clauses, an amount, and sometimes a template that says more."""
    name = f"{names.mark}-pe{at}"
    element: Object = {"name": name, "template": {"spec": {"containers": [_CONTAINER]}}}
    clauses = _clauses(choices, names, made, every)
    if clauses:
        texts = [", ".join(clauses)] if choices.chance(6) else clauses
        element["operators"] = [{"name": f"Op{at}_{part}", "placement": text} for part, text in enumerate(texts)]
    wild = choices.face(12)
    whole = choices.part(POD_BYTES)
    if wild < 9:
        if choices.chance(3):
            element["resources"] = {"requests": {"cpu": choices.pick(_CORES)}}
        return element
    pod = _known(ordinary(whole, names, name))
    if wild < 11:  # only some of what an ordinary pod may say, so that more Jobs can be placed
        for kind in ("podAffinity", "nodeAffinity"):
            pod["spec"].get("affinity", {}).pop(kind, None)
    told = _told(choices.part(POD_BYTES), names) if choices.chance(4) else {}
    pod["spec"]["nodeSelector"].pop("case")
    spec = {key: value for key, value in pod["spec"].items() if value}
    metadata = {"labels": pod["metadata"]["labels"], **({"annotations": told} if told else {})}
    return {**element, "template": {"metadata": metadata, "spec": spec}}


def _told(choices: RandomChoices, names: Names) -> dict[str, str]:
    """Annotations of a template about nodes and hardware, and sometimes what is only preferred."""
    if choices.chance(3):
        amount = {"name": DEVICE, "allocatable": True, "limits": 1 + choices.face(2)}
        return {keys.HARDWARE: json.dumps([amount])}
    found = annotations(choices, names)
    kept = (keys.MAPPED, keys.MAPPING, keys.HARDWARE, keys.PREFERRED, keys.UNIFORM, keys.RUN_APART_FROM)
    return {key: value for key, value in found.items() if key in kept}


def _clauses(choices: RandomChoices, names: Names, made: Sequence[Object], every: int) -> list[str]:
    found: list[str] = []
    if every == 1 or choices.chance(2):
        found.append(f'hostExlocation("{choices.pick("aab")}")')
    tokens = choices.some("tuv", 2) if choices.chance(2) else []
    found += [f'hostColocation("{token}")' for token in tokens]
    if not tokens and choices.face(8) == 7:
        found.append("hostIsolation")
    if made and (every == 2 or choices.chance(3)):
        pool = choices.pick(made)
        size = len(pool["hosts"]) if "hosts" in pool else pool.get("size", 0)
        index = f"[{choices.face(size)}]" if size and choices.chance(2) else ""
        found.append(f"host({pool['name']}{index})")
    elif names.pools and choices.chance(1):
        found.append(f"host({choices.pick(names.pools)})")
    elif choices.face(20) == 19:
        found.append(f'host("{choices.pick(names.nodes)}")')
    return found
