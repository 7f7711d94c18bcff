"""Hardware requirements as they are written: in the annotation, and in HPAIntent objects (``docs/hardware.md``)."""

import functools
from typing import Final

from webhook.placement.annotations.expressions import problems_of_key, problems_of_values
from webhook.placement.annotations.hardware import HEAVIEST, LIGHTEST, Hardware
from webhook.placement.annotations.hardware_amount import read_amounts
from webhook.placement.annotations.hardware_fields import Fields, fields_of
from webhook.placement.annotations.placement_text import SHOWN, annotation
from webhook.placement.annotations.yaml_text import Value, parse_yaml
from webhook.placement.kube.resource_name import is_resource
from webhook.placement.spl.placement import TEXT_LIMIT
from webhook.placement.spl.reader import unreadable
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem, quote

REQUIREMENT_LIMIT: Final = 64
"""Requirements of one pod (``docs/operations.md``, limits)."""

Requirements = tuple[tuple[Hardware, ...], tuple[Problem, ...]]
"""What is required, and what is wrong with it."""

_KEPT: Final = 1024
"""Texts that are kept read: more templates than a cluster has at work at a time."""

_KEPT_LENGTH: Final = 2048
"""Characters of a text that is kept; longer ones are rare, and must not fill memory."""

_WORDS: Final = {"true": True, "false": False}
_AMOUNTS: Final = ("requests", "limits", "units")


def read_annotation(text: str) -> Requirements:
    """The requirements of the annotation ``hpa-requirements``, with all problems at once."""
    return _kept(text) if len(text) <= _KEPT_LENGTH else _latest(text)


def read_requirements(value: Value, path: str, container: str = "") -> Requirements:
    """The requirements of a list; ``container`` is who gets what is allocatable, unless they say so themselves."""
    if not isinstance(value, list) or not value:
        return (), (Problem(path, "must be a list of requirements, such as [{name: nvidia.com/gpu, limits: 1}]"),)
    if len(value) > REQUIREMENT_LIMIT:
        return (), (Problem(path, f"has {len(value)} requirements, at most {REQUIREMENT_LIMIT} are allowed"),)
    found: list[Hardware] = []
    problems: list[Problem] = []
    for at, item in enumerate(value):
        said, wrong = fields_of(item, f"{path}[{at}]")
        hardware, more = (None, []) if wrong else _requirement(said, f"{path}[{at}]", container)
        found += [hardware] if hardware else []
        problems += [*wrong, *more]
        if len(problems) >= SHOWN:  # nobody reads more of them, and finding out what was meant takes time
            break
    return tuple(found), tuple(problems[:SHOWN])


def _read(text: str) -> Requirements:
    field = annotation(keys.HARDWARE)
    if problem := unreadable(text, field, limit=TEXT_LIMIT):
        return (), (problem,)
    value, problem = parse_yaml(text, field)
    return ((), (problem,)) if problem else read_requirements(value, field)


_kept = functools.lru_cache(_KEPT)(_read)

_latest = functools.lru_cache(1)(_read)
"""The long text that was read last: what refuses a pod reads it again and again, without some of its words."""


def _requirement(said: Fields, path: str, container: str) -> tuple[Hardware | None, list[Problem]]:
    problems = [*_switch(said, "mandatory"), *_switch(said, "allocatable"), *_weight(said)]
    name = said.get("name")
    if name is None:
        return None, [*problems, Problem(path, "needs a name: of a resource, or of a node label")]
    allocatable = _WORDS.get(said["allocatable"].word, True) if "allocatable" in said else "value" not in said
    hardware, wrong = (_amount if allocatable else _label)(said, path)
    if problems or wrong or hardware is None:
        return None, [*problems, *wrong]
    named = said["container-name"].word if "container-name" in said else container
    weight = int(said["weight"].word) if "weight" in said else LIGHTEST
    mandatory = "mandatory" not in said or _WORDS[said["mandatory"].word]
    return (
        Hardware(
            path, name.word, mandatory, weight, named if allocatable else "", hardware.requests, hardware.limits,
            hardware.value,
        ),
        [],
    )  # fmt: skip


def _amount(said: Fields, path: str) -> tuple[Hardware | None, list[Problem]]:
    name = said["name"]
    if "value" in said:
        return None, [Problem(said["value"].path, "belongs to a node label, and this requirement is allocatable")]
    if not is_resource(name.word):
        rule = "is no resource of containers: cpu, memory, ephemeral-storage, or a device such as nvidia.com/gpu"
        return None, [Problem(name.path, f"{quote(name.word)} {rule}")]
    amounts, problems = read_amounts(name.word, said, path)
    return Hardware(path, name.word, requests=amounts.requests, limits=amounts.limits) if amounts else None, problems


def _label(said: Fields, path: str) -> tuple[Hardware | None, list[Problem]]:
    name, value = said["name"], said.get("value")
    problems = [
        Problem(said[field].path, "belongs to a resource, and this requirement is not allocatable")
        for field in _AMOUNTS
        if field in said
    ]
    problems += problems_of_key(name.word, name.path)
    if value is None:
        return None, [*problems, Problem(path, f"needs the value of the node label {name.word}")]
    problems += problems_of_values([value.word], value.path)
    return Hardware(path, name.word, value=value.word), problems


def _switch(said: Fields, field: str) -> list[Problem]:
    if field not in said or said[field].word in _WORDS:
        return []
    return [Problem(said[field].path, f"{quote(said[field].word)} is neither true nor false")]


def _weight(said: Fields) -> list[Problem]:
    weight = said.get("weight")
    if weight is None or weight.word in _WEIGHTS:
        return []
    return [Problem(weight.path, f"{quote(weight.word)} is no whole number from {LIGHTEST} to {HEAVIEST}")]


_WEIGHTS: Final = frozenset(map(str, range(LIGHTEST, HEAVIEST + 1)))
