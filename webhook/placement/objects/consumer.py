"""Consumers of HPAIntents: a workload, the container and the replicas that its hardware is counted for, requirements.

A consumer has three spellings (``docs/hpaintent.md``): the workload below ``consumer``, as EMCO's design has it; the
body of EMCO's programs, whose ``spec`` has the fields of the workload; and these fields beside ``requirements``.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from msgspec import Struct

from webhook.placement.annotations.hardware import Hardware
from webhook.placement.annotations.hardware_fields import problems_of_notes
from webhook.placement.annotations.hardware_text import read_requirements
from webhook.placement.annotations.placement_text import SHOWN
from webhook.placement.annotations.yaml_text import Value
from webhook.placement.field_rules.rules import NumberRule, TextRule
from webhook.placement.kube.names import NAME_LIMIT
from webhook.placement.kube.numbers import integer
from webhook.placement.text.api_kinds import WORKLOADS
from webhook.placement.text.keys import LABEL_LIMIT
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, quote

REPLICA_LIMIT: Final = 10_000
"""Pods of a consumer, at most (``docs/operations.md``, limits): each is placed, and clients choose the number."""

NEEDED: Final = ("apiVersion", "kind", "name")
"""Fields without which it is not known which workload is meant."""

_REPLICAS: Final = "replicas"

COUNT: Final = NumberRule(
    "Number of pods to assume if the workload does not exist; 1 if absent.",
    1,
    REPLICA_LIMIT,
    form=f"is not a whole number from 1 to {REPLICA_LIMIT}",
)
"""The rule of ``replicas``."""

WORDS: Final[Mapping[str, TextRule]] = {
    "apiVersion": TextRule(about="API version of the workload, such as apps/v1.", least=1, most=NAME_LIMIT),
    "kind": TextRule(about="Kind of the workload, such as Deployment.", least=1, most=LABEL_LIMIT),
    "name": TextRule(about="Its name.", least=1, most=NAME_LIMIT),
    "container-name": TextRule(about="Container that receives allocatable resources.", most=LABEL_LIMIT),
    "container": TextRule(about="Alias of container-name.", most=LABEL_LIMIT),
}
"""The rules of the other fields of a workload."""

OWN_NAME: Final = TextRule(
    about="Name of the consumer in messages; defaults to the name of the workload.", least=1, most=NAME_LIMIT
)
"""The rule of the name of a consumer."""

_CONTAINER: Final = ("container-name", "container")
_WORKLOAD: Final = (*WORDS, _REPLICAS)
_ENTRY: Final = ("name", "consumer", "spec", "requirements", "metadata", "apiVersion", "kind", *_CONTAINER, _REPLICAS)
_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {"container-name": _CONTAINER}
_GROUPS: Final[Mapping[str, str]] = {kind.name: kind.group for kind in WORKLOADS}
_SAMPLE: Final = "{name, consumer: {apiVersion, kind, name, container-name}, requirements}"

_V = TypeVar("_V")


class Consumer(Struct, frozen=True, gc=False):
    """A workload in an HPAIntent, and the hardware requirements of its pods.

    ``group`` is the API group of the workload's kind, ``owner`` its kind and name, such as ``Deployment/api-server``.
    ``replicas`` is how many pods count where the workload itself is not known; ``None`` if that is not said.
    Pods of a consumer with ``problems`` are refused.
    """

    name: str
    group: str
    owner: str
    hardware: tuple[Hardware, ...] = ()
    problems: tuple[Problem, ...] = ()
    replicas: int | None = None


def stated(entry: Mapping[str, _V], field: str) -> Iterator[tuple[str, _V]]:
    """Every place of the entry that states the field of the workload, with its path below the entry; best place first.

    ``container-name`` has the spelling ``container``, too.
    """
    for path, place in _places(entry):
        for spelling in _SPELLINGS.get(field, (field,)):
            if (value := place.get(spelling)) is not None:
                yield f"{path}.{spelling}", value


def _places(entry: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Objects of the entry with fields of the workload: below ``consumer``, in ``spec``, and the entry itself."""
    body = entry.get("spec")
    for path, holder in (("", entry), (".spec", body)):
        if isinstance(holder, dict) and isinstance(workload := holder.get("consumer"), dict):
            yield f"{path}.consumer", workload
    if isinstance(body, dict):
        yield ".spec", body
    flat = entry.get("consumer") is None and body is None
    yield "", entry if flat else {name: value for name, value in entry.items() if name != "name"}


def own_name(entry: Mapping[str, _V]) -> _V | None:
    """The name of the consumer itself; ``None`` if it has that of its workload."""
    metadata = entry.get("metadata")
    return entry.get("name") or (metadata.get("name") if isinstance(metadata, dict) else None)


def api_group(api_version: str, kind: str) -> str:
    """The API group of a workload: EMCO takes any text for the version, so without a slash the kind decides."""
    group, slash, _ = api_version.rpartition("/")
    return group if slash else _GROUPS.get(kind, "")


def read_consumer(entry: Value, path: str) -> tuple[Consumer | None, list[Problem]]:
    """The consumer of an entry of ``spec.consumers``, and all problems; ``None`` if the workload is not known."""
    if not isinstance(entry, dict) or not _is_consumer(entry):
        return None, [Problem(path, f"must be a consumer: {_SAMPLE}")]
    problems = [*_misplaced(entry, path)]
    place, workload = next(_places(entry))
    nested = [(at, inner) for at, inner in _places(entry) if at.endswith("consumer")]
    for at, inner in nested or [(place, workload)]:
        missing = (field for field in NEEDED if not inner.get(field))
        problems += [Problem(f"{path}{at}.{field}", "missing: names the workload") for field in missing]
    for field in ("container-name", *NEEDED, _REPLICAS):
        problems += contradicting([(f"{path}{at}", word) for at, word in stated(entry, field)])
    container = next((word for _, word in stated(entry, "container-name") if isinstance(word, str)), "")
    replicas, wrong = _replicas(entry, path)
    problems += wrong
    hardware: tuple[Hardware, ...] = ()
    if entry.get("requirements") not in (None, []):
        hardware, broken = read_requirements(entry["requirements"], f"{path}.requirements", container)
        problems += broken
    said = {field: word for field in NEEDED if isinstance(word := workload.get(field), str) and word}
    if len(said) < len(NEEDED):
        return None, problems
    own = own_name(entry)
    name = own if isinstance(own, str) else said["name"]
    owner = f"{said['kind']}/{said['name']}"
    group = api_group(said["apiVersion"], said["kind"])
    return Consumer(name, group, owner, hardware, tuple(problems), replicas), problems


def _is_consumer(entry: Mapping[str, Value]) -> bool:
    """Whether the entry has a workload in any of its spellings, and mappings where these have mappings."""
    body = entry.get("spec")
    inner = body.get("consumer") if isinstance(body, dict) else None
    nested = [value for value in (entry.get("consumer"), body, inner) if value is not None]
    flat = any(entry.get(name) is not None for name in ("apiVersion", "kind"))
    return all(isinstance(value, dict) for value in nested) and (bool(nested) or flat)


def _misplaced(entry: Mapping[str, Value], path: str) -> Iterator[Problem]:
    """Problems of unknown fields, and of fields that are lists or mappings but must be words."""
    yield from foreign(entry, _ENTRY, path)
    yield from problems_of_notes(entry.get("metadata"), f"{path}.metadata")
    yield from odd(entry, ("name", "apiVersion", "kind", *_CONTAINER, _REPLICAS), path)
    if isinstance(own := entry.get("name"), str):
        yield from OWN_NAME.problems(f"{path}.name", own)
    for at, place in _places(entry):
        known = _WORKLOAD if at.endswith("consumer") else ("consumer", *_WORKLOAD)
        for name, rule in WORDS.items():
            if word := place.get(name):
                yield from rule.problems(f"{path}{at}.{name}", word) if isinstance(word, str) else ()
        if at:
            yield from foreign(place, known, f"{path}{at}")
            yield from odd(place, _WORKLOAD, f"{path}{at}")


def _replicas(entry: Mapping[str, Value], path: str) -> tuple[int | None, list[Problem]]:
    """How many pods count, and what is wrong with the number."""
    at, said = next(stated(entry, _REPLICAS), ("", None))
    if not isinstance(said, str):
        return None, []
    count = integer(said)
    if count is None or next(COUNT.problems(at, count), None) is not None:
        return None, [Problem(f"{path}{at}", f"{quote(said)} {COUNT.form}")]
    return count, []


def foreign(value: Mapping[str, Value], known: tuple[str, ...], path: str) -> Iterator[Problem]:
    """A problem for each field that is not ``known``."""
    names = itertools.islice((name for name in value if name not in known), SHOWN)
    return (Problem(path, unknown("field", name, known)) for name in names)


def odd(value: Mapping[str, Value], words: tuple[str, ...], path: str) -> Iterator[Problem]:
    """A problem for each of the fields ``words`` that is a list or a mapping and must be one word."""
    names = (name for name in words if isinstance(value.get(name), list | dict))
    return (Problem(f"{path}.{name}", "must be one word") for name in names)


def contradicting(places: list[tuple[str, Value]]) -> Iterator[Problem]:
    """A problem for each path whose word differs from that of the first path; all paths mean the same field."""
    words = [(path, word) for path, word in places if isinstance(word, str)]
    for path, word in words[1:]:
        if word != words[0][1]:
            message = f"is {quote(word)}, but {words[0][0]} is {quote(words[0][1])}, and both mean the same"
            yield Problem(path, message)
