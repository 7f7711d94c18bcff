"""PriorityClasses: the priority that the API server gives to a pod, and whether the pod preempts others.

Source: ``plugin/pkg/admission/priority`` of Kubernetes.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

NEVER: Final = "Never"
"""The preemption policy of pods that wait for room and take none from others."""

PREEMPTS: Final = "PreemptLowerPriority"


class PriorityClass(Struct, frozen=True, gc=False):
    """A PriorityClass object; ``policy`` is empty if it states none, which means that its pods preempt."""

    name: str
    value: int = 0
    default: bool = False
    policy: str = ""


NO_CLASS: Final = PriorityClass("", policy=PREEMPTS)
"""What pods without a class have where no class is the default."""

SYSTEM: Final[Mapping[str, PriorityClass]] = {
    "system-cluster-critical": PriorityClass("system-cluster-critical", 2_000_000_000, policy=PREEMPTS),
    "system-node-critical": PriorityClass("system-node-critical", 2_000_001_000, policy=PREEMPTS),
}
"""The classes that every cluster has (``pkg/apis/scheduling``)."""


def default_of(classes: Iterable[PriorityClass]) -> PriorityClass:
    """The class of pods that name none: of several defaults that with the lowest value."""
    return min((each for each in classes if each.default), key=lambda each: each.value, default=NO_CLASS)
