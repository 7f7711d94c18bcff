"""Reader of the annotations of worker mapping: node expressions, uniform mapping, ``run-with`` and ``run-apart-from``.

Names and meaning of the annotations are those of Twister2's worker mapping (``docs/mapping.md``). The results of short
texts are cached, because all pods of a template have the same annotations.
"""

import functools
from collections.abc import Collection, Iterator, Mapping
from typing import Final, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.annotations.expression_text import read_list, read_one
from webhook.placement.annotations.expressions import in_words
from webhook.placement.annotations.placement_text import annotation
from webhook.placement.annotations.pod_selection import PodSelection, read_pod_selection
from webhook.placement.kube.pod import Requirement
from webhook.placement.spl.placement import TEXT_LIMIT
from webhook.placement.spl.reader import unreadable
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause, Source
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, quote

Uniform = Literal["all-same-node", "all-separate-nodes", "none"]
"""Uniform mapping: all workers of a job on one node, each worker on a node of its own, or neither."""

PREFERRED: Final = "mapping"
"""Name of the expressions of worker mapping in the annotation ``preferred``."""

UNIFORMS: Final[dict[str, Uniform]] = {name: name for name in get_args(Uniform)}

_KEPT: Final = 1024
"""Texts whose result is cached: more than a cluster has pod templates in use at a time."""

_KEPT_LENGTH: Final = 1024
"""Characters of all annotations together whose result is cached; longer texts are rare, and must not fill memory."""

MappingWords = tuple[str | None, ...]
"""Texts of the annotations of worker mapping, in the order of ``keys.WORKER_MAPPING``; ``None`` if one is absent."""


class Expression(Struct, frozen=True, gc=False):
    """One node expression; ``clause`` is how refusals name it."""

    clause: Clause
    need: Requirement


class WorkerMapping(Struct, frozen=True, gc=False):
    """The content of the annotations: conditions on node labels, on the job's other workers, and on other pods."""

    expressions: tuple[Expression, ...] = ()
    uniform: Uniform = "none"
    pod_selections: tuple[PodSelection, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


NOTHING: Final = WorkerMapping()
"""The mapping of a pod without any of the annotations."""

_KEYS: Final = frozenset(keys.WORKER_MAPPING)
_ABSENT: Final[MappingWords] = (None,) * len(keys.WORKER_MAPPING)


def words_of(annotations: Mapping[str, str]) -> MappingWords:
    """The texts of a pod's annotations of worker mapping, as one value that can be compared and cached by."""
    if _KEYS.isdisjoint(annotations):
        return _ABSENT
    return tuple(annotations.get(key) for key in keys.WORKER_MAPPING)


def read_mapping(annotations: Mapping[str, str]) -> WorkerMapping:
    """The worker mapping in a pod's annotations, with all problems of their texts."""
    words = words_of(annotations)
    if words is _ABSENT:
        return NOTHING
    return _kept(words) if sum(len(word or "") for word in words) <= _KEPT_LENGTH else _latest(words)


def _read(words: MappingWords) -> WorkerMapping:
    texts = [(annotation(key), word) for key, word in zip(keys.WORKER_MAPPING, words, strict=True) if word is not None]
    if broken := [problem for field, text in texts if (problem := unreadable(text, field, limit=TEXT_LIMIT))]:
        return WorkerMapping(problems=tuple(broken))
    switch, *parts, uniform, near, away = words
    needs, problems, ignored = _mapped(switch, *parts)
    chosen, misspelt = _uniform(uniform)
    pod_selections, unsuited = read_pod_selection(near, away)
    expressions = (
        Expression(Clause(Source.MAPPING, (need,), f"mapping {in_words(need)}"), need) for need in dict.fromkeys(needs)
    )
    return WorkerMapping(tuple(expressions), chosen, pod_selections, (*problems, *misspelt, *unsuited), ignored)


_kept = functools.lru_cache(_KEPT)(_read)

_latest = functools.lru_cache(1)(_read)
"""Cache of the last long texts: making a refusal reads the annotations many times, each time without other clauses."""


def without(mapping: WorkerMapping, dropped: Collection[Clause]) -> WorkerMapping:
    """The mapping without these expressions, uniform mapping and selections of pods."""
    if mapping is NOTHING:
        return mapping
    return replace(
        mapping,
        expressions=tuple(expression for expression in mapping.expressions if expression.clause not in dropped),
        uniform="none" if uniformly(mapping.uniform) in dropped else mapping.uniform,
        pod_selections=tuple(chosen for chosen in mapping.pod_selections if chosen.clause not in dropped),
    )


def uniformly(uniform: Uniform) -> Clause:
    """Uniform mapping as refusals name it: ``uniform all-same-node``."""
    return Clause(Source.UNIFORM, (uniform,), f"uniform {uniform}")


def _mapped(
    switch: str | None, key: str | None, operator: str | None, values: str | None, listed: str | None
) -> tuple[tuple[Requirement, ...], list[Problem], tuple[str, ...]]:
    """The single expression and those of the list, problems and warnings.

    With the mapping switched off there are no expressions, and a warning if the annotations contain any.
    """
    if switch is None or switch == "false":
        return (), [], tuple(_ignored(key, operator, values, listed))
    wrong = [Problem(annotation(keys.MAPPED), f"{quote(switch)} is neither true nor false")] if switch != "true" else []
    needs: tuple[Requirement, ...] = ()
    if listed is None or any(part is not None for part in (key, operator, values)):
        needs, problems = read_one(key, operator, values)
        wrong += problems
    if listed is not None:
        more, problems = read_list(listed)
        needs, wrong = (*needs, *more), [*wrong, *problems]
    return needs, wrong, ()


def _ignored(*words: str | None) -> Iterator[str]:
    """A warning that annotations have no effect, if there are any although mapping is switched off."""
    parts = zip(keys.WORKER_MAPPING[1:], words, strict=False)  # the first key is the switch itself
    names = [key.removeprefix(keys.PREFIX) for key, word in parts if word is not None]
    if names:
        listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        yield f"{listed} {'has' if len(names) == 1 else 'have'} no effect: {keys.MAPPED} is not true"


def _uniform(text: str | None) -> tuple[Uniform, list[Problem]]:
    word = "none" if text is None else text
    if chosen := UNIFORMS.get(word):
        return chosen, []
    return "none", [Problem(annotation(keys.UNIFORM), unknown("uniform mapping", word, UNIFORMS))]
