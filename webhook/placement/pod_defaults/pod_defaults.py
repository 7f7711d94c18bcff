"""``PodDefaults``: the LimitRanges, RuntimeClasses and PriorityClasses of a cluster, and pods completed by them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.kube.pod import Pod, PodSpec
from webhook.placement.pod_defaults.completed_pod import CompletedPod, Plugins, completed
from webhook.placement.pod_defaults.limit_range import LimitRange
from webhook.placement.pod_defaults.priority_class import SYSTEM, PriorityClass, default_of
from webhook.placement.pod_defaults.runtime_class import RuntimeClass
from webhook.placement.text.api_kinds import PRIORITY_CLASS, RUNTIME_CLASS
from webhook.placement.text.problem import Fault, Problem, quote

_NONE: Final[Mapping[str, LimitRange]] = {}
_NO_SPEC: Final = PodSpec()


class ClassRef(Struct, frozen=True, gc=False):
    """A class that a pod names: ``kind`` is RuntimeClass or PriorityClass, ``field`` the field with the name."""

    kind: str
    name: str
    field: str


class PodDefaults:
    """The objects by which the API server completes pods; a second ``put_`` replaces the first.

    With ``closed`` a class that is not here counts as one that does not exist, if others of its kind are here. A watch
    may lag behind, so that otherwise only classes that were looked up and not found count as missing.
    """

    __slots__ = ("_absent", "_limit_ranges", "_priority_classes", "_runtime_classes", "closed")

    def __init__(
        self,
        limit_ranges: dict[str, dict[str, LimitRange]] | None = None,
        classes: Sequence[RuntimeClass | PriorityClass] = (),
        absent: Iterable[ClassRef] = (),
    ) -> None:
        self.closed = False
        self._limit_ranges = {} if limit_ranges is None else limit_ranges
        self._runtime_classes = {one.name: one for one in classes if isinstance(one, RuntimeClass)}
        self._priority_classes = {one.name: one for one in classes if isinstance(one, PriorityClass)}
        self._absent = frozenset(absent)

    def put_limit_range(self, limit_range: LimitRange) -> None:
        """Add a LimitRange."""
        self._limit_ranges.setdefault(limit_range.namespace, {})[limit_range.name] = limit_range

    def drop_limit_range(self, namespace: str, name: str) -> None:
        """Remove a LimitRange, if it is known."""
        of_namespace = self._limit_ranges.get(namespace, {})
        of_namespace.pop(name, None)
        if not of_namespace:
            self._limit_ranges.pop(namespace, None)

    def put_runtime_class(self, runtime_class: RuntimeClass) -> None:
        """Add a RuntimeClass."""
        self._runtime_classes[runtime_class.name] = runtime_class

    def drop_runtime_class(self, name: str) -> None:
        """Remove a RuntimeClass, if it is known."""
        self._runtime_classes.pop(name, None)

    def put_priority_class(self, priority_class: PriorityClass) -> None:
        """Add a PriorityClass."""
        self._priority_classes[priority_class.name] = priority_class

    def drop_priority_class(self, name: str) -> None:
        """Remove a PriorityClass, if it is known."""
        self._priority_classes.pop(name, None)

    def looked_up(self, answers: Iterable[RuntimeClass | PriorityClass], absent: Iterable[ClassRef]) -> "PodDefaults":
        """A copy with these classes, and without those that the API server does not have."""
        classes = (*self._runtime_classes.values(), *self._priority_classes.values(), *answers)
        known = PodDefaults(self._limit_ranges, classes, absent)
        known.closed = self.closed
        return known

    def unknown(self, pod: Pod) -> Iterator[ClassRef]:
        """The classes that the pod names and that are not here."""
        for named in _named(pod.spec or _NO_SPEC):
            if self._class_of(named) is None:
                yield named

    def completed(self, pod: Pod, namespace: str) -> CompletedPod:
        """The pod as the API server completes it in that namespace; a pod that is complete stays as it is."""
        if isinstance(pod, CompletedPod):
            return pod
        ranges = self._limit_ranges.get(namespace, _NONE)
        spec = pod.spec or _NO_SPEC
        missing = list(self.unknown(pod))
        problems = tuple(_missing(one) for one in missing if self._is_missing(one))
        doubts = tuple(_doubt(one) for one in missing if not self._is_missing(one))
        priority = (
            self._priority(spec.priority_class_name)
            if spec.priority_class_name
            else default_of(self._priority_classes.values())
        )
        runtime = None if spec.runtime_class_name is None else self._runtime_classes.get(spec.runtime_class_name)
        return completed(
            pod, Plugins(tuple(ranges[name] for name in sorted(ranges)), runtime, priority, problems, doubts)
        )

    def _class_of(self, named: ClassRef) -> RuntimeClass | PriorityClass | None:
        if named.kind == RUNTIME_CLASS.name:
            return self._runtime_classes.get(named.name)
        return self._priority(named.name)

    def _priority(self, name: str) -> PriorityClass | None:
        return self._priority_classes.get(name) or SYSTEM.get(name)

    def _is_missing(self, named: ClassRef) -> bool:
        """Whether a class that is not here does not exist, as far as that is known."""
        others = self._runtime_classes if named.kind == RUNTIME_CLASS.name else self._priority_classes
        return named in self._absent or (self.closed and bool(others))


def _named(spec: PodSpec) -> Iterator[ClassRef]:
    """The classes that the spec names."""
    if spec.runtime_class_name is not None:
        yield ClassRef(RUNTIME_CLASS.name, spec.runtime_class_name, "spec.runtimeClassName")
    if spec.priority_class_name:
        yield ClassRef(PRIORITY_CLASS.name, spec.priority_class_name, "spec.priorityClassName")


def _missing(named: ClassRef) -> Problem:
    message = f"there is no {named.kind} {quote(named.name)}, so the API server refuses the pods"
    return Problem(named.field, message, fault=Fault.FORBIDDEN)


def _doubt(named: ClassRef) -> str:
    return f"{named.field}: {named.kind} {quote(named.name)} is not known, so what it adds to the pods is not judged"
