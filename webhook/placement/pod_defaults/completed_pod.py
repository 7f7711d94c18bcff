"""``CompletedPod``: the pod of a template as it arrives at the webhook, with what the API server adds before."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.kube.pod import OperatorPod, Pod, PodSpec, Toleration
from webhook.placement.pod_defaults.limit_bounds import out_of_bounds
from webhook.placement.pod_defaults.limit_range import LimitRange, contradictions, differing, sources, with_defaults
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.pod_defaults.runtime_class import RuntimeClass, in_class, out_of_class, unlike
from webhook.placement.text.problem import Fault, Problem, quote

_SECONDS: Final = 300
_LOST: Final = tuple(
    Toleration(f"node.kubernetes.io/{state}", "Exists", effect="NoExecute", toleration_seconds=_SECONDS)
    for state in ("not-ready", "unreachable")
)
"""Tolerations of every pod that has none of its own for these taints (``DefaultTolerationSeconds``)."""


class Plugins(Struct, frozen=True, gc=False):
    """The objects that decide what is added to a pod.

    ``ranges`` are the LimitRanges of its namespace by name. ``runtime`` and ``priority`` are its classes; ``None``
    where the pod has none, or names one that is not known. ``problems`` and ``warnings`` are about the latter.
    """

    ranges: tuple[LimitRange, ...] = ()
    runtime: RuntimeClass | None = None
    priority: PriorityClass | None = None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


class CompletedPod(OperatorPod, frozen=True, gc=False):
    """A pod with everything that the API server adds to it.

    ``given`` maps resources to the LimitRange whose default is requested. ``problems`` are why the API server would
    refuse the pod before any webhook sees it; :meth:`out_of_bounds` why it would refuse the pod after that.
    """

    plugins: Plugins = Plugins()
    given: Mapping[str, str] = {}
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()

    def out_of_bounds(self, spec: PodSpec) -> Iterator[Problem]:
        """A problem for each bound of a LimitRange that the pod breaks with that spec, which webhooks have changed."""
        return out_of_bounds(spec, self.plugins.ranges)

    def without_runtime_class(self) -> "CompletedPod":
        """The pod without its RuntimeClass, and without what the class has added."""
        runtime = self.plugins.runtime
        if runtime is None or self.spec is None:
            return self
        return replace(self, spec=out_of_class(self.spec, runtime), plugins=replace(self.plugins, runtime=None))


def completed(pod: Pod, plugins: Plugins) -> CompletedPod:
    """The pod with what these objects add to it."""
    spec, ranges, runtime = pod.spec or PodSpec(), plugins.ranges, plugins.runtime
    after = with_defaults(spec, ranges) if ranges else spec
    problems = [*plugins.problems, *(contradictions(spec, after, ranges) if ranges else ())]
    if plugins.priority:
        problems += _other_priority(spec, plugins.priority)
        after = _ranked(after, plugins.priority)
    after = replace(after, tolerations=_lasting(after.tolerations or ()))
    if runtime or not spec.runtime_class_name:
        problems += unlike(spec, runtime or RuntimeClass(""))
    if runtime:
        after = in_class(after, runtime)
    return CompletedPod(
        pod.metadata,
        after,
        pod.status,
        added=pod.added if isinstance(pod, OperatorPod) else frozenset(),
        plugins=plugins,
        given=sources(spec, ranges) if ranges else {},
        problems=tuple(problems),
        warnings=(*plugins.warnings, *dict.fromkeys(differing(ranges))),
    )


def _lasting(tolerations: Sequence[Toleration]) -> tuple[Toleration, ...]:
    """The tolerations with those of nodes that are lost, for so many seconds, where the pod has none."""
    own = {one.key or "" for one in tolerations if one.effect in {None, "", "NoExecute"}}
    return (*tolerations, *(one for one in _LOST if "" not in own and one.key not in own))


def _ranked(spec: PodSpec, priority: PriorityClass) -> PodSpec:
    policy = priority.policy or spec.preemption_policy
    return replace(spec, priority_class_name=priority.name, priority=priority.value, preemption_policy=policy)


def _other_priority(spec: PodSpec, priority: PriorityClass) -> Iterator[Problem]:
    """A problem for a priority or policy of the spec that its class does not give."""
    of = f"that of PriorityClass {quote(priority.name)}" if priority.name else "that of pods without a class"
    if spec.priority is not None and spec.priority != priority.value:
        message = f"{spec.priority} is not {priority.value}, {of}: leave it to the API server"
        yield Problem("spec.priority", message, fault=Fault.FORBIDDEN)
    if priority.policy and spec.preemption_policy not in {None, "", priority.policy}:
        message = f"{quote(str(spec.preemption_policy))} is not {priority.policy}, {of}: leave it to the API server"
        yield Problem("spec.preemptionPolicy", message, fault=Fault.FORBIDDEN)
