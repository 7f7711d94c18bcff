"""Pods as people write them: with clauses, with constraints of their own, and with what nobody here knows about."""

import json
from typing import Any

from hypothesis import strategies as st

from tests.placement.properties.clusters import TEAM, Json
from tests.placement.properties.oracle.hardware import AMOUNTS, WISHES, equipment
from tests.placement.properties.oracle.mapping import mapped
from tests.placement.properties.oracle.topology import repelling, spread
from tests.placement.properties.random_choices import RandomChoices, drawn
from tests.placement.properties.strategies import NODES, SPL_NAMES, TAGS

PREFIX = "streams.ibm.com/"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

HOSTS = (
    *(f'host("{name}")' for name in NODES[:4]), 'host("10.0.0.1")', 'host("10.0.0.3")', 'host("FD00:0:0::2")',
    'host("gone")', 'host("10.0.0.99")', "host($default)",
)  # fmt: skip
POOLS = (*(f"host({name})" for name in SPL_NAMES * 4), *(f"host({name}[{at}])" for name in "PQ" for at in range(2)))
TOKENS = ('hostColocation("t")', 'hostColocation("u")', 'hostExlocation("x")', 'hostExlocation("y")')
CLAUSES = (*POOLS, *HOSTS, *TOKENS * 4, *["hostIsolation"] * 2, 'partitionColocation("p")')

REQUIREMENTS: tuple[Json, ...] = (
    {"key": "zone", "operator": "In", "values": ["a"]},
    {"key": "zone", "operator": "In", "values": ["a", "b"]},
    {"key": "zone", "operator": "NotIn", "values": ["b"]},
    {"key": "cores", "operator": "Exists"},
    {"key": "cores", "operator": "DoesNotExist", "values": []},
    {"key": "cores", "operator": "Gt", "values": ["2"]},
    {"key": "cores", "operator": "Lt", "values": ["08"]},
    {"key": "cores", "operator": "Gt", "values": ["many"]},
    {"key": "cores", "operator": "Lt", "values": ["9223372036854775808"]},
    {"key": "cores", "operator": "Lt", "values": ["9223372036854775807"]},
    {"key": f"{PREFIX}hostpool", "operator": "In", "values": [TAGS[0]]},
    {"key": "hostpool.streams.ibm.com/blue", "operator": "Exists"},
)
FIELDS: tuple[Json, ...] = tuple(
    {"key": "metadata.name", "operator": operator, "values": [name]}
    for operator in ("In", "NotIn")
    for name in NODES[:3]
)
TOLERATIONS: tuple[Json, ...] = (
    {"operator": "Exists"},
    {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "dedicated", "operator": "Equal", "value": "ml", "effect": "NoExecute", "tolerationSeconds": 60},
    {"key": "dedicated", "value": "infra"},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
)
NOTHING: tuple[Any, ...] = ("absent", None, {})
"""The ways in which JSON says nothing of an object."""
PREFERABLE = ("hostExlocation", "host", "hostColocation", "hostIsolation", "mapping", "uniform")


def placement(choices: RandomChoices) -> str:
    """Up to six clauses, each of an operator of its own or, but for hosts, of the element."""
    chosen = [choices.pick(CLAUSES) for _ in range(choices.pick([1, 1, 2, 2, 3, 4, 6]))]
    return "; ".join(
        clause if not clause.startswith("host(") and choices.chance(3) else f"Op{at}: {clause}"
        for at, clause in enumerate(chosen)
    )


def node_term(choices: RandomChoices) -> Json:
    """One term, maybe empty, spelt in every way."""
    term: Json = {}
    for key, requirements, most in (("matchExpressions", REQUIREMENTS, 2), ("matchFields", FIELDS, 1)):
        few = choices.some(requirements, most)
        if few or choices.chance(4):
            term[key] = few or choices.pick([None, []])
    return term


def affinity(choices: RandomChoices) -> Json:
    """An affinity with parts that are there, empty, null, or unknown to this product."""
    found: Json = {"futureAffinity": {"weight": 1}} if choices.chance(2) else {}
    nodes: Json = {"futureTerms": [1, {"b": None}]} if choices.chance(2) else {}
    if choices.chance(5):
        terms = [node_term(choices) for _ in range(1 + choices.face(3))]
        nodes[REQUIRED] = {"nodeSelectorTerms": terms, "future": True}
    elif choices.chance(2):
        nodes[REQUIRED] = None
    if choices.chance(2):
        nodes[PREFERRED] = [{"weight": 3, "preference": {"matchExpressions": [REQUIREMENTS[0]]}, "future": 1}]
    if nodes or choices.chance(4):
        found["nodeAffinity"] = nodes or choices.pick([None, {}])
    for kind in ("podAffinity", "podAntiAffinity"):
        if choices.chance(3):
            term: Json = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}, "future": "x"}
            if kind == "podAntiAffinity" and choices.chance(4):
                term = repelling(choices.part(8))
            weighted = {PREFERRED: [{"weight": 1, "podAffinityTerm": term, "future": 1}]}
            found[kind] = choices.pick([{}, None, {REQUIRED: [term]}, {REQUIRED: [], "future": 2}, weighted])
    return found


def _say(choices: RandomChoices, into: Json, key: str, value: Any) -> None:
    """Put a value that is something; otherwise one of the ways to say nothing."""
    value = value or choices.pick(NOTHING)
    if value != "absent":
        into[key] = value


def metadata(choices: RandomChoices) -> Json:
    """Name, labels and annotations, some of their keys with characters that JSON pointers escape."""
    found: Json = dict(choices.pick([{"name": "mine"}, {"generateName": "mine-"}, {"name": "mine", "namespace": TEAM}]))
    labels: Json = {"app~kubernetes.io/na~1me": "x"} if choices.chance(3) else {}
    if choices.face(12):
        labels[f"{PREFIX}job"] = choices.pick(["j", "j", "j", "k"])
    if choices.face(8):
        labels[f"{PREFIX}pe"] = choices.pick(["a", "b", "d"])
    annotations: Json = {"note~0/1": "y"} if choices.chance(3) else {}
    words = choices.part(20)
    if words.face(12):
        annotations[f"{PREFIX}placement"] = placement(words)
    if choices.chance(2):
        annotations[f"{PREFIX}preferred"] = " , ".join(choices.some(PREFERABLE, 2, 1))
    if choices.chance(2):
        annotations[f"{PREFIX}host-binding"] = choices.pick(["auto", "nodeName", "nodeAffinity"])
    if choices.chance(2):
        annotations |= mapped(choices.part(12))
    _say(choices, found, "labels", labels)
    _say(choices, found, "annotations", annotations)
    if choices.chance(2):
        kind = choices.pick(["ReplicaSet", "ProcessingElement"])
        found["ownerReferences"] = [{"kind": kind, "name": "o", "controller": choices.chance(4), "future": 1}]
    return found


def containers(choices: RandomChoices) -> list[Json]:
    """One or two containers with requests, and fields that this product does not read."""
    found: list[Json] = [{"name": "main", "image": "x", "env": [{"name": "A", "value": "1"}], "volumeMounts": []}]
    if choices.chance(2):
        found.append({"name": "more", "resources": {"requests": {"cpu": "500m"}, "claims": [{"name": "c"}]}})
    requests: Json = {}
    if choices.chance(4):
        requests["cpu"] = choices.pick(["500m", "1", 2, "2500m", "5000m"])
    if choices.chance(2):
        requests["memory"] = choices.pick(["512Mi", "3072Mi"])
    if choices.face(16) == 1:
        requests["example.com/gpu"] = 1
    if requests:
        found[0]["resources"] = {"requests": requests}
    return found


def repels(said: Json) -> bool:
    """Whether it keeps away from pods, maybe from such as itself."""
    return bool((said.get("podAntiAffinity") or {}).get(REQUIRED))


def pod(choices: RandomChoices) -> Json:
    """A pod with up to six clauses and with constraints of its own."""
    spec: Json = {
        "containers": containers(choices.part(8)),
        "volumes": [{"name": "v", "emptyDir": {}}],
        "future": [None],
    }
    if choices.face(12) == 1:
        spec["nodeName"] = choices.pick([*NODES[:4], "gone"])
    wanted: Json = {}
    if choices.chance(2):
        wanted = {"zone": choices.pick("ab")} | ({"cores": "8"} if choices.chance(1) else {})
    _say(choices, spec, "nodeSelector", wanted)
    said = affinity(choices.part(40))
    _say(choices, spec, "affinity", said if choices.chance(3) else {})
    if choices.chance(3):
        spec["tolerations"] = choices.pick([None, []]) if choices.chance(2) else choices.some(TOLERATIONS, 2, 1)
    if choices.chance(1) and not spec.get("nodeName"):
        spec["schedulingGates"] = [{"name": "wait"}]
    named, words = metadata(choices.part(62)), choices.part(14)
    if words.chance(2):
        found = named.get("annotations") or {}
        named["annotations"] = found | equipment(words, [made["name"] for made in spec["containers"]])
    if choices.chance(3) and not repels(said):
        spec["topologySpreadConstraints"] = spread(choices.part(40))
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": named, "spec": spec}
    # Read from JSON, so that no two places share one object.
    read: Json = json.loads(json.dumps(made))
    return read


def requested() -> st.SearchStrategy[Json]:
    """Pods with clauses and with constraints of their own; of as many bytes as a cluster, see there."""
    return drawn(420, pod)


def equipped_pod(choices: RandomChoices) -> Json:
    """A pod that asks for hardware, and for little else."""
    spec: Json = {"containers": containers(choices.part(8))}
    names, amounts = [made["name"] for made in spec["containers"]], WISHES if choices.chance(5) else AMOUNTS
    annotations = equipment(choices.part(14), names, amounts)
    if choices.chance(2):
        annotations[f"{PREFIX}placement"] = f"Op: {choices.pick((*TOKENS, 'hostIsolation', *HOSTS[:2]))}"
    if choices.chance(1):
        spec["nodeSelector"] = {"zone": "a"}
    labels = {f"{PREFIX}job": "j", f"{PREFIX}pe": choices.pick("ab")} if choices.face(4) else {}
    read: Json = json.loads(json.dumps({"metadata": {"labels": labels, "annotations": annotations}, "spec": spec}))
    return read


def equipped() -> st.SearchStrategy[Json]:
    """Pods that ask for hardware, and for little else."""
    return drawn(360, equipped_pod)
