"""Node conditions that pass by themselves, by taint: Kubernetes writes and removes the taint with the condition.

No pod is refused for such a taint: a pod that a node could run without the taint waits (``docs/verdicts.md``). A cordon
is no such condition, because a person has to lift it. Sources: Kubernetes, well-known taints, and
``pkg/controller/nodelifecycle``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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
"""Words for each taint key, to follow "1 node" and "3 nodes" in a message."""
