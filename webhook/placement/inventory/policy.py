"""What an installation may choose about decisions, as the core sees it (``docs/operations.md``, settings)."""

from typing import Literal

from msgspec import Struct

from webhook.placement.inventory.quota import Quota
from webhook.placement.kube.pod import LabelSelector, Requirement

Binding = Literal["nodeName", "nodeAffinity"]
"""How ``host("name")`` ties a pod to its node."""

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
"""Label of nodes that run the control plane (Kubernetes, well-known labels)."""


POOLS = 100
"""HostPools that a namespace may have: an application of SPL has a handful."""


class Policy(Struct, frozen=True):
    """Choices that change decisions; the defaults are the product's.

    ``poolable`` selects the nodes that host pools may take; ``elastic`` turns "no node" into a warning, for clusters
    that grow on demand; ``unsatisfiable_pods`` is what becomes of a pod that a controller of Kubernetes makes while no
    node can run it; ``audit`` neither patches nor refuses, and says what would have happened. ``quota`` bounds the
    exclusive hosts of namespaces and ``pool_quota`` their HostPools, ``guard_nodes`` is what becomes of changes to
    nodes that break a pool, and ``guard_bindings`` whether bindings are looked at; ``strict`` also asks for the right
    to tolerate exclusive hosts before there are any. ``spared`` are the namespaces whose pods keep no exclusive pool
    away, while all others do but those of DaemonSets; with ``None`` only processing elements do. It takes effect
    through the inventories that are made with it. ``excluded`` are the namespaces that are left alone in any case.
    """

    host_binding: Literal["auto", "nodeName", "nodeAffinity"] = "auto"
    unknown_annotations: Literal["refuse", "warn"] = "refuse"
    elastic: bool = False
    unsatisfiable_pods: Literal["wait", "refuse"] = "wait"
    audit: bool = False
    verify_pods: bool = True
    exclusive_effect: Literal["NoSchedule", "NoExecute"] = "NoSchedule"
    poolable: LabelSelector = LabelSelector(
        match_expressions=(Requirement(key=CONTROL_PLANE, operator="DoesNotExist"),)
    )
    quota: Quota = Quota()
    pool_quota: Quota = Quota(POOLS)
    guard_nodes: Literal["warn", "refuse", "off"] = "warn"
    guard_bindings: bool = False
    strict: bool = False
    spared: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset({"kube-system"})
