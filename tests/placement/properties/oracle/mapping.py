"""Worker mapping as people write it, and as it is meant: the properties' own reading of it."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from tests.placement.properties.clusters import Json
from tests.placement.properties.random_choices import RandomChoices

PREFIX = "streams.ibm.com/"
SWITCH = f"{PREFIX}kubernetes.worker.to.node.mapping"
LIST = f"{PREFIX}kubernetes.worker.mapping"
SINGLE = tuple(f"{LIST}.{part}" for part in ("key", "operator", "values"))
UNIFORM = f"{LIST}.uniform"
COMPANY = {"run-with": "near", "run-apart-from": "away"}

EXPRESSIONS: tuple[Json, ...] = (
    {"key": "zone", "operator": "In", "values": ["a"]},
    {"key": "zone", "operator": "In", "values": ["a", "b"]},
    {"key": "zone", "operator": "NotIn", "values": ["b"]},
    {"key": "cores", "operator": "Exists"},
    {"key": "cores", "operator": "DoesNotExist"},
    {"key": "cores", "operator": "Gt", "values": ["2"]},
    {"key": "cores", "operator": "Lt", "values": ["08"]},
    {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["shared"]},
)
SELECTORS: dict[str, list[Json]] = {
    f"{PREFIX}pe=a": [{"key": f"{PREFIX}pe", "operator": "In", "values": ["a"]}],
    "app in (db, web), !old": [
        {"key": "app", "operator": "In", "values": ["db", "web"]},
        {"key": "old", "operator": "DoesNotExist"},
    ],
    f"{PREFIX}job,tier!=x": [
        {"key": f"{PREFIX}job", "operator": "Exists"},
        {"key": "tier", "operator": "NotIn", "values": ["x"]},
    ],
}
"""Selectors over pods, and what each of them says."""


def mapped(choices: RandomChoices) -> dict[str, str]:
    """Annotations of worker mapping: by nodes, uniform, by company, or by some of that."""
    found: dict[str, str] = {}
    if choices.chance(4):
        found[SWITCH] = choices.pick(["true"] * 7 + ["false"])
        one, *more = choices.some(EXPRESSIONS, 3, 1)
        if choices.chance(4):
            found |= {SINGLE[0]: one["key"], SINGLE[1]: one["operator"]}
            found |= {SINGLE[2]: ",".join(one["values"])} if "values" in one else {}
        else:
            more = [one, *more]
        if more:
            found[LIST] = json.dumps(more)
    if choices.chance(4):
        found[UNIFORM] = choices.pick(["all-separate-nodes", "all-same-node", "all-separate-nodes", "none"])
    if choices.chance(2):
        found[PREFIX + choices.pick([*COMPANY])] = choices.pick([*SELECTORS])
    return found


def expressions(annotations: Mapping[str, str]) -> list[Json]:
    """The node expressions of a mapping that is on."""
    if annotations.get(SWITCH) != "true":
        return []
    found: list[Json] = json.loads(annotations.get(LIST, "[]"))
    if SINGLE[0] in annotations:
        values = annotations.get(SINGLE[2])
        one: dict[str, Any] = {"key": annotations[SINGLE[0]], "operator": annotations[SINGLE[1]]}
        found.insert(0, one | ({"values": values.split(",")} if values else {}))
    return found


def company(annotations: Mapping[str, str]) -> list[tuple[str, list[Json]]]:
    """``near`` or ``away``, and the requirements on such pods."""
    return [
        (side, SELECTORS[annotations[PREFIX + name]]) for name, side in COMPANY.items() if PREFIX + name in annotations
    ]


def without(annotations: dict[str, str], dropped: Collection[str]) -> None:
    """Take out the words of worker mapping that are named so."""
    wanted = expressions(annotations)
    left = [need for need in wanted if in_words(need) not in dropped]
    if len(left) < len(wanted):
        for key in (SWITCH, LIST, *SINGLE):
            annotations.pop(key, None)
        annotations |= {SWITCH: "true", LIST: json.dumps(left)} if left else {}
    for name, key in {"uniform": UNIFORM, **{name: PREFIX + name for name in COMPANY}}.items():
        if f"{name} {annotations.get(key)}" in dropped:
            del annotations[key]


def in_words(need: Json) -> str:
    """An expression as refusals name it."""
    values = need.get("values", [])
    listed = [f"[{', '.join(values)}]"] if need["operator"] in {"In", "NotIn"} else values
    return " ".join(["mapping", need["key"], need["operator"], *listed])
