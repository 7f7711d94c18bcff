"""Taints of nodes, which tolerations cover them, and what a taint says about its node.

Source: ``component-helpers/scheduling/corev1/helpers.go`` and ``core/v1/toleration.go`` of Kubernetes.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from webhook.placement.kube.pod import Toleration

PASSING: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "node.kubernetes.io/not-ready": ("is not ready", "are not ready"),
        "node.kubernetes.io/unreachable": ("is not reachable", "are not reachable"),
        "node.kubernetes.io/memory-pressure": ("is short of memory", "are short of memory"),
        "node.kubernetes.io/disk-pressure": ("is short of disk space", "are short of disk space"),
        "node.kubernetes.io/pid-pressure": ("is short of process ids", "are short of process ids"),
        "node.kubernetes.io/network-unavailable": ("has no network yet", "have no network yet"),
        "node.cloudprovider.kubernetes.io/uninitialized": ("is not initialized yet", "are not initialized yet"),
    }
)
"""Node conditions that pass by themselves, by taint, with words to follow "1 node" and "3 nodes" in a message.

Kubernetes writes and removes the taint with the condition. No pod is refused for such a taint: a pod that a node could
run without the taint waits (``docs/verdicts.md``). A cordon is not such a condition, because a person has to lift it.
Sources: Kubernetes, well-known taints, and ``pkg/controller/nodelifecycle``.
"""

CORDONED: Final = "node.kubernetes.io/unschedulable"
"""Key of the taint of a node that is cordoned."""

CONDITIONS: Final = {CORDONED: ("is cordoned", "are cordoned"), **PASSING}
"""Taints that Kubernetes derives from a node's state, in words, for one node and for several."""


class Taint(Struct, frozen=True, gc=False, order=True):
    """A taint of a node; ``effect`` is NoSchedule, PreferNoSchedule or NoExecute."""

    key: str
    value: str = ""
    effect: str = ""

    def __str__(self) -> str:
        """The taint as kubectl writes it: ``key=value:effect``, or ``key:effect`` without a value."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether the toleration covers the taint, as ``ToleratesTaint`` of Kubernetes decides."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return (
        bool(toleration.key) and toleration.operator in (None, "", "Equal") and (toleration.value or "") == taint.value
    )


def in_words(taint: Taint) -> str:
    """The taint as a predicate about its node, such as ``is cordoned``."""
    words = CONDITIONS.get(taint.key)
    return words[0] if words else f"has the taint {taint}"
