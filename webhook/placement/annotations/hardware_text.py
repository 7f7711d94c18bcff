"""Parser of hardware requirements, of the annotation ``hpa-requirements`` and of HPAIntent objects.

Both are a list of requirements with the fields of EMCO HPA intents (``docs/hardware.md``).
"""

import functools
from typing import Final

from webhook.placement.annotations.expressions import problems_of_key, problems_of_values
from webhook.placement.annotations.hardware import HEAVIEST, LIGHTEST, Hardware
from webhook.placement.annotations.hardware_amount import read_amounts
from webhook.placement.annotations.hardware_claim import names_device, read_device
from webhook.placement.annotations.hardware_fields import CONTAINERS, Fields, fields_of
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
"""The valid requirements, and the problems of the others."""

_KEPT: Final = 1024
"""Texts whose result is cached: more than a cluster has pod templates in use at a time."""

_KEPT_LENGTH: Final = 2048
"""Characters of a text whose result is cached; longer texts are rare, and must not fill memory."""

_WORDS: Final = {"true": True, "false": False}
_AMOUNTS: Final = ("requests", "limits", "units")


def read_annotation(text: str) -> Requirements:
    """The requirements in the annotation ``hpa-requirements``, and all problems of its text."""
    return _kept(text) if len(text) <= _KEPT_LENGTH else _latest(text)


def read_requirements(value: Value, path: str, container: str = "") -> Requirements:
    """The requirements in a list, and all problems; ``path`` is that of the list.

    ``container`` is the container of allocatable requirements that do not name one.
    """
    if not isinstance(value, list) or not value:
        return (), (Problem(path, "must be a list of requirements, such as [{name: nvidia.com/gpu, limits: 1}]"),)
    if len(value) > REQUIREMENT_LIMIT:
        return (), (Problem(path, f"has {len(value)} requirements, at most {REQUIREMENT_LIMIT} are allowed"),)
    requirements: list[Hardware] = []
    problems: list[Problem] = []
    for at, item in enumerate(value):
        fields, wrong = fields_of(item, f"{path}[{at}]")
        hardware, more = (None, []) if wrong else _requirement(fields, f"{path}[{at}]", container)
        requirements += [hardware] if hardware else []
        problems += [*wrong, *more]
        if len(problems) >= SHOWN:  # more are not reported, and looking for a suggestion for each takes time
            break
    return tuple(requirements), tuple(problems[:SHOWN])


def _read(text: str) -> Requirements:
    field = annotation(keys.HARDWARE)
    if problem := unreadable(text, field, limit=TEXT_LIMIT):
        return (), (problem,)
    value, problem = parse_yaml(text, field)
    return ((), (problem,)) if problem else read_requirements(value, field)


_kept = functools.lru_cache(_KEPT)(_read)

_latest = functools.lru_cache(1)(_read)
"""Cache of the last long text: making a refusal reads the annotation many times, each time without other clauses."""


def _requirement(fields: Fields, path: str, container: str) -> tuple[Hardware | None, list[Problem]]:
    problems = [*_switch(fields, "mandatory"), *_switch(fields, "allocatable"), *_weight(fields)]
    device = names_device(fields)
    name = fields.get("name")
    if name is None and not device:
        return None, [*problems, Problem(path, "needs a name: of a resource, or of a node label")]
    allocatable = _WORDS.get(fields["allocatable"].word, True) if "allocatable" in fields else "value" not in fields
    if container_name := fields.get("container-name"):
        problems += CONTAINERS["container-name"].problems(container_name.path, container_name.word)
    hardware, wrong = _device(fields, path) if device else (_amount if allocatable else _label)(fields, path)
    if problems or wrong or hardware is None:
        return None, [*problems, *wrong]
    named = fields["container-name"].word if "container-name" in fields else container
    weight = int(fields["weight"].word) if "weight" in fields else LIGHTEST
    mandatory = "mandatory" not in fields or _WORDS[fields["mandatory"].word]
    return (
        Hardware(
            path, hardware.name, mandatory, weight, named if allocatable else "", hardware.requests, hardware.limits,
            hardware.value, hardware.device,
        ),
        [],
    )  # fmt: skip


def _amount(fields: Fields, path: str) -> tuple[Hardware | None, list[Problem]]:
    name = fields["name"]
    if "value" in fields:
        return None, [Problem(fields["value"].path, "belongs to a node label, and this requirement is allocatable")]
    if not is_resource(name.word):
        rule = "is not a container resource: cpu, memory, ephemeral-storage, or a device such as nvidia.com/gpu"
        return None, [Problem(name.path, f"{quote(name.word)} {rule}")]
    amounts, problems = read_amounts(name.word, fields, path)
    return Hardware(path, name.word, requests=amounts.requests, limits=amounts.limits) if amounts else None, problems


def _device(fields: Fields, path: str) -> tuple[Hardware | None, list[Problem]]:
    source, problems = read_device(fields)
    return Hardware(path, "", device=source) if source else None, problems


def _label(fields: Fields, path: str) -> tuple[Hardware | None, list[Problem]]:
    name, value = fields["name"], fields.get("value")
    problems = [
        Problem(fields[field].path, "belongs to a resource, and this requirement is not allocatable")
        for field in _AMOUNTS
        if field in fields
    ]
    problems += problems_of_key(name.word, name.path)
    if value is None:
        return None, [*problems, Problem(path, f"needs the value of the node label {name.word}")]
    problems += problems_of_values([value.word], value.path)
    return Hardware(path, name.word, value=value.word), problems


def _switch(fields: Fields, field: str) -> list[Problem]:
    if field not in fields or fields[field].word in _WORDS:
        return []
    return [Problem(fields[field].path, f"{quote(fields[field].word)} is neither true nor false")]


def _weight(fields: Fields) -> list[Problem]:
    weight = fields.get("weight")
    if weight is None or weight.word in _WEIGHTS:
        return []
    return [Problem(weight.path, f"{quote(weight.word)} is not a whole number from {LIGHTEST} to {HEAVIEST}")]


_WEIGHTS: Final = frozenset(map(str, range(LIGHTEST, HEAVIEST + 1)))
