"""Templates of an Argo Workflow that call one another: which make pods, how many at a time, and who calls them.

Source: Argo's ``workflow_types.go``, ``steps.go``, ``dag.go``, ``node_counters.go``, ``mergedTemplateDefaultsInto``.
A number of pods is the most that there may be: conditions (``when``) count as true, a call of a template by itself
counts once, and of tasks that depend on one another those count that may run at the same time.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from webhook.placement.kinds.formula import number
from webhook.placement.kinds.merging import merged_by_names

Json = dict[str, Any]

CALLS: Final = 1000
"""Steps, tasks and their hooks that are followed: a schema of Argo allows 200 templates, and as many tasks of each."""

DEPTH: Final = 50
"""Templates that call one another in a row."""

SHARED: Final = 100_000
"""Values that templates have in common, such as defaults and volumes, times templates: each pod has all of them."""

_MANY: Final = 2**31 - 1
_PODS: Final = ("container", "script", "containerSet", "resource", "data")
"""Types of templates that make a pod."""
_TYPES: Final = (*_PODS, "steps", "dag", "suspend", "http", "plugin")
_OF_CALLER: Final = ("nodeSelector", "affinity", "tolerations")
"""What a template without them has from the template that calls it (``addSchedulingConstraints``)."""
_NONE_IF_EMPTY: Final = frozenset({"nodeSelector", "tolerations"})
"""Fields of which an empty one counts as absent there; an empty affinity counts."""
_TASK: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z]+)?")
"""A task in ``depends``, with the result that is asked for."""


class CalledTemplate(Struct, frozen=True, eq=False):
    """A template that makes pods, by its number in the list, and at most so many pods of it at a time.

    ``caller`` has the fields of the template that calls it which count where it does not have them itself.
    """

    at: int
    caller: Json
    most: int


class CalledTemplates(Struct, frozen=True, eq=False):
    """The templates that pods are made from, and the paths of ``unknown`` ones, which the Workflow does not have.

    ``listed`` are all templates of the Workflow with the defaults of templates. If what templates have in common is
    ``too_large``, none is looked at.
    """

    listed: list[Json]
    templates: tuple[CalledTemplate, ...]
    unknown: tuple[str, ...]
    too_large: bool = False


class _Call(Struct, frozen=True, eq=False):
    """A step or task: the ``name`` of the template that it calls, how often at a time, and on what it depends."""

    name: str
    times: int
    task: str = ""
    depends: frozenset[str] = frozenset()


def called_templates(spec: Json, most: int) -> CalledTemplates:
    """The templates that the entry point and the exit handlers lead to, at most ``most``; the others are unknown."""
    listed = _listed(spec.get("templates"))
    if _size({**spec, "templates": None}) * len(listed) > SHARED:
        return CalledTemplates([], (), (), too_large=True)
    calls = _Calls(spec)
    counts: dict[int, int] = {}
    for start in _starts(spec):
        for at, count in calls.running(start).items():
            counts[at] = max(counts.get(at, 0), count)
    limit = _limit(spec)
    called = [
        CalledTemplate(at, caller, min(counts[at], limit))
        for at in sorted(counts)
        for caller in calls.callers.get(at, [{}])
    ]
    unknown = [*calls.unknown, *(f"spec.templates[{one.at}]" for one in called[most:])]
    return CalledTemplates(calls.templates, tuple(called[:most]), tuple(dict.fromkeys(unknown)))


def _starts(spec: Json) -> Iterator[str]:
    """Names of templates that are called from outside."""
    names = [spec.get("entrypoint"), spec.get("onExit")]
    yield from (name for name in (*names, *_hooked(spec)) if isinstance(name, str))


def _hooked(place: Json) -> list[object]:
    """Templates that the hooks of a Workflow, a step or a task call."""
    return [_object(hook).get("template") for hook in _object(place.get("hooks")).values()]


class _Calls:
    """Follows the calls; every template is looked at once, and :data:`CALLS` calls of all."""

    def __init__(self, spec: Json) -> None:
        defaults = _object(spec.get("templateDefaults"))
        listed = spec.get("templates")
        self.templates = [
            _with_defaults(_object(one), defaults) for one in (listed if isinstance(listed, list) else ())
        ]
        self._by_name = {one["name"]: at for at, one in enumerate(self.templates) if isinstance(one.get("name"), str)}
        self.callers: dict[int, list[Json]] = {}
        self.unknown: list[str] = []
        self._running: dict[int, Mapping[int, int]] = {}
        self._calls_left = CALLS
        self._depth = 0

    def running(self, name: str) -> Mapping[int, int]:
        """How many pods of each template, by its number, may run at a time for one call of the template."""
        at = self._by_name.get(name)
        if at is None:
            return {}
        if at in self._running:
            return self._running[at]
        template = self.templates[at]
        if _type(template) in _PODS:
            self._running[at] = {at: 1}
            return self._running[at]
        if self._depth == DEPTH:
            self.unknown.append(f"spec.templates[{at}]")
            return {}
        self._running[at] = {}  # for a call of the template by itself
        self._depth += 1
        if _type(template) == "steps":
            self._running[at] = self._of_steps(at, template)
        elif _type(template) == "dag":
            self._running[at] = self._of_tasks(at, template)
        self._depth -= 1
        return self._running[at]

    def _of_steps(self, at: int, template: Json) -> Mapping[int, int]:
        """Of groups of steps that run one after another: the most that one of them has, and daemons of all."""
        counts: dict[int, int] = {}
        for row, group in enumerate(_listed(template["steps"])):
            calls = self._calls(_listed(group), f"spec.templates[{at}].steps[{row}]", template)
            for leaf, count in self._at_a_time(at, calls).items():
                before = counts.get(leaf, 0)
                counts[leaf] = before + count if self.templates[leaf].get("daemon") is True else max(before, count)
        return counts

    def _of_tasks(self, at: int, template: Json) -> Mapping[int, int]:
        """Of tasks: of each chain of tasks that depend on one another the most that one of them has."""
        tasks = _listed(_object(template["dag"]).get("tasks"))
        calls = self._calls(tasks, f"spec.templates[{at}].dag.tasks", template)
        counts: dict[int, int] = {}
        for chain in _chains(calls):
            longest: dict[int, int] = {}
            for call in chain:
                for leaf, count in self._at_a_time(at, [call]).items():
                    before = longest.get(leaf, 0)
                    daemon = self.templates[leaf].get("daemon") is True
                    longest[leaf] = before + count if daemon else max(before, count)
            for leaf, count in longest.items():
                counts[leaf] = counts.get(leaf, 0) + count
        return self._limited(counts, calls, template)

    def _at_a_time(self, at: int, calls: Sequence[_Call]) -> Mapping[int, int]:
        """The pods of calls that run at the same time, for the template with that number."""
        counts: dict[int, int] = {}
        for call in calls:
            leaves = self.running(call.name)
            for leaf, count in leaves.items():
                counts[leaf] = min(counts.get(leaf, 0) + call.times * count, _MANY)
            called = self._by_name.get(call.name, -1)
            if called in leaves:
                self._note_caller(called, self.templates[at])
        return self._limited(counts, calls, self.templates[at])

    def _limited(self, counts: Mapping[int, int], calls: Sequence[_Call], template: Json) -> Mapping[int, int]:
        """The counts of the calls of a template, as its ``parallelism`` limits how many of these run at a time."""
        limit = _limit(template)
        if limit == _MANY:
            return counts
        of_one: dict[int, int] = {}  # the most pods of each template that one of the calls runs at a time
        for call in calls:
            for leaf, count in self.running(call.name).items():
                of_one[leaf] = max(of_one.get(leaf, 0), count)
        return {leaf: min(count, limit * of_one[leaf]) for leaf, count in counts.items()}

    def _note_caller(self, leaf: int, caller: Json) -> None:
        fields = {field: caller[field] for field in _OF_CALLER if caller.get(field)}
        known = self.callers.setdefault(leaf, [])
        if fields not in known:
            known.append(fields)

    def _calls(self, listed: Sequence[object], path: str, template: Json) -> list[_Call]:
        """The calls of steps or tasks, with those of their hooks."""
        calls: list[_Call] = []
        for place, one in enumerate(map(_object, listed)):
            named = (*_hooked(one), one.get("onExit"))
            hooks = [hook for hook in named if isinstance(hook, str) and hook in self._by_name]
            if self._calls_left <= len(hooks):
                self.unknown.append(f"{path}[{place}]")
                break
            self._calls_left -= 1 + len(hooks)
            name = one.get("template")
            if isinstance(name, str) and name in self._by_name:
                calls.append(_Call(name, _times(one, template), _text(one.get("name")), _depends(one)))
            else:
                self.unknown += [f"{path}[{place}].{field}" for field in _ELSEWHERE if one.get(field)]
            calls += [_Call(hook, 1) for hook in hooks]
        return calls


_ELSEWHERE: Final = ("templateRef", "inline", "template")
"""Fields in which a step has a template that is not one of the Workflow's."""


def _chains(calls: Sequence[_Call]) -> list[list[_Call]]:
    """The calls in chains, of each of which no two can run at the same time, since each depends on the one before.

    Hooks, and tasks that depend on one another in a circle, are chains of their own.
    """
    tasks = {call.task: call for call in calls if call.task}
    numbers = {task: at for at, task in enumerate(tasks)}
    after: dict[str, list[str]] = {}
    waits = dict.fromkeys(tasks, 0)
    for task, call in tasks.items():
        for other in call.depends & tasks.keys():
            after.setdefault(other, []).append(task)
            waits[task] += 1
    ready = [task for task, count in waits.items() if not count]
    before: dict[str, int] = {}  # all tasks that are over before, as bits
    chains: list[list[_Call]] = [[call] for call in calls if not call.task]
    for task in ready:
        call = tasks[task]
        before[task] = 0
        for other in call.depends & tasks.keys():
            before[task] |= before[other] | 1 << numbers[other]
        chain = next((one for one in chains if one[-1].task and before[task] >> numbers[one[-1].task] & 1), None)
        if chain is None:
            chains.append([call])
        else:
            chain.append(call)
        for later in after.get(task, ()):
            waits[later] -= 1
            if not waits[later]:
                ready.append(later)
    return [*chains, *([call] for task, call in tasks.items() if task not in before)]


def _depends(task: Json) -> frozenset[str]:
    """The tasks that have to be over before this one starts."""
    stated = task.get("depends")
    names = _TASK.findall(stated) if isinstance(stated, str) else _listed(task.get("dependencies"))
    return frozenset(name.partition(".")[0] for name in names if isinstance(name, str))


def _times(step: Json, template: Json) -> int:
    """How many pods the step makes of the template that it calls, at a time; one for a list that is not known yet."""
    limit = _limit(template)
    items, sequence, listed = step.get("withItems"), _object(step.get("withSequence")), step.get("withParam")
    if isinstance(items, list) and items:
        return min(len(items), limit)
    if isinstance(listed, str):
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            parsed = msgspec.json.decode(listed)
            return min(len(parsed), limit) if isinstance(parsed, list) else 1
        return 1 if limit == _MANY else limit
    count, start, end = (number(sequence.get(field)) for field in ("count", "start", "end"))
    if count is None and end is not None:
        count = abs(end - (start or 0)) + 1
    return 1 if count is None else min(max(int(count), 0), limit)


def _limit(place: Json) -> int:
    """``parallelism`` of a template or a Workflow."""
    limit = number(place.get("parallelism"))
    return _MANY if limit is None or limit < 1 else min(int(limit), _MANY)


def _size(root: object) -> int:
    """The number of values in it, of which hardly more than :data:`SHARED` are counted."""
    pending, count = [root], 0
    while pending and count <= SHARED:
        value = pending.pop()
        count += 1
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return count


def _type(template: Json) -> str:
    return next((name for name in _TYPES if template.get(name) is not None), "")


def _with_defaults(template: Json, defaults: Json) -> Json:
    """The template above the defaults, of which those of another type of template do not count."""
    made: Json = template
    if defaults:
        own = _type(template)
        fitting = {field: value for field, value in defaults.items() if field not in _TYPES or field == own}
        made = merged_by_names(fitting, template, {"tolerations": "key"})
    return {field: value for field, value in made.items() if value or field not in _NONE_IF_EMPTY}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
