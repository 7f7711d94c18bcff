"""Conditions of nodes that pass by themselves, as taints: Kubernetes writes them, and takes them away again.

Nobody is refused for one of them: a pod that some node could run, but for its condition, waits for that to pass
(``docs/verdicts.md``). A cordon is no such condition, since a person lifts it. Sources: Kubernetes, well-known taints,
and ``pkg/controller/nodelifecycle``.
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
"""By the key of the taint what it says of its node: read on from "1 node", and from "3 nodes"."""
