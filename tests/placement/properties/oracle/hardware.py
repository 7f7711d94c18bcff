"""Hardware requirements as people write them, and as they are meant: the properties' own reading of them."""

import json
from collections.abc import Collection, Mapping, Sequence

from tests.placement.properties.clusters import Json
from tests.placement.properties.random_choices import RandomChoices

PREFIX = "streams.ibm.com/"
REQUIRED, BOUND = f"{PREFIX}hpa-requirements", f"{PREFIX}kubernetes.bind.worker.to.cpu"
BINDING = "kubernetes.bind.worker.to.cpu"
"""What refusals call it."""
GPU, FPGA = "example.com/gpu", "example.com/fpga"

LABELS: tuple[Json, ...] = (
    {"name": "zone", "value": "a"},
    {"name": "cores", "value": "8"},
    {"name": "zone", "value": "b", "mandatory": False},
    {"name": "nowhere", "value": "x", "mandatory": False, "weight": 3},
)
AMOUNTS: tuple[Json, ...] = (
    {"name": GPU, "limits": 1},
    {"name": GPU, "limits": 1, "mandatory": False, "weight": 2},
    {"name": FPGA, "requests": 1, "mandatory": False, "weight": 5},
    {"name": "cpu", "limits": 2},
    {"name": GPU, "limits": 2, "mandatory": False},
    {"name": FPGA, "limits": 1},
    {"name": "cpu", "requests": 3},
    {"name": "cpu", "requests": 1, "limits": 2, "mandatory": False},
)
WISHES = tuple(one for one in AMOUNTS if "mandatory" in one)
ALONE: tuple[Json, ...] = ({"name": "cpu", "requests": 2}, {"name": "memory", "limits": 512, "units": "Mi"})
"""What makes the cores of a pod's only container exclusive, once it has the limit that it lacks."""

Need = tuple[str, str]
"""Container and resource."""
Amounts = tuple[int, int | None]
"""Requests and limits: thousandths of a core, bytes, pieces."""


def equipment(choices: RandomChoices, containers: Sequence[str], amounts: Sequence[Json] = AMOUNTS) -> dict[str, str]:
    """Annotations that ask for hardware; what is allocatable is for one of the containers, no two for the same."""
    if len(containers) == 1 and choices.chance(1):
        return exclusively(containers[0])
    found: dict[object, Json] = dict(enumerate(choices.some(LABELS, 2) if choices.chance(4) else ()))
    for one in choices.some(amounts, 3, 1):
        name = choices.pick(containers)
        found.setdefault((one["name"], name), {**one, "container-name": name})
    return {REQUIRED: json.dumps([*found.values()])}


def exclusively(container: str) -> dict[str, str]:
    """Annotations that bind the only container to cores of its own."""
    return {REQUIRED: json.dumps([{**one, "container-name": container} for one in ALONE]), BOUND: "true"}


class Equipment:
    """What the annotations of one pod ask for, whatever its containers say."""

    def __init__(self, annotations: Mapping[str, str]) -> None:
        self.said: list[Json] = json.loads(annotations.get(REQUIRED, "[]"))

    @property
    def labels(self) -> dict[str, str]:
        """The labels that the node must have."""
        return {one["name"]: one["value"] for one in self.said if "value" in one and _mandatory(one)}

    @property
    def given(self) -> dict[Need, Amounts]:
        """What the containers are given."""
        return {_need(one): _amounts(one) for one in self.said if "value" not in one and _mandatory(one)}

    @property
    def wanted(self) -> list[tuple[Need, Amounts]]:
        """What they are given if there is some, in that order."""
        wishes = [one for one in self.said if "value" not in one and not _mandatory(one)]
        wishes.sort(key=lambda one: (-one.get("weight", 1), one["name"], one["container-name"]))
        return [(_need(one), _amounts(one)) for one in wishes]


def without(annotations: dict[str, str], dropped: Collection[str]) -> None:
    """Take out the requirements that are named so."""
    said = Equipment(annotations).said
    texts = {part for text in dropped for part in text.split(" + ")}
    left = [one for one in said if not _mandatory(one) or in_words(one) not in texts]
    if len(left) < len(said):
        annotations.pop(REQUIRED)
        annotations |= {REQUIRED: json.dumps(left)} if left else {}
    if BINDING in dropped:
        annotations.pop(BOUND, None)


def in_words(one: Json) -> str:
    """A requirement as refusals name it."""
    if "value" in one:
        return f"hardware {one['name']}={one['value']}"
    unit = one.get("units", "")
    return f"hardware {one['name']} {one.get('requests', one.get('limits'))}{unit}"


def _mandatory(one: Json) -> bool:
    return bool(one.get("mandatory", True))


def _need(one: Json) -> Need:
    return one["container-name"], one["name"]


def _amounts(one: Json) -> Amounts:
    scale = {"cpu": 1000, "memory": 2**20}.get(one["name"], 1)
    device = one["name"] in {GPU, FPGA}
    requests = one.get("requests") or one["limits"]
    limits = one.get("limits") or (requests if device else None)
    return requests * scale, limits * scale if limits else None
