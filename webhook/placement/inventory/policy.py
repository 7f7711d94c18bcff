"""The settings of an installation that change decisions, as one value (``docs/operations.md``, settings)."""

from typing import Literal

from msgspec import Struct

from webhook.placement.inventory.quota import Quota
from webhook.placement.kinds.kind import Kinds
from webhook.placement.kube.pod import LabelSelector, Requirement, Resources
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.text.defaults import POOLS

Binding = Literal["nodeName", "nodeAffinity"]
"""How ``host("name")`` ties a pod to its node."""

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
"""Label of the nodes that run the control plane (Kubernetes, well-known labels)."""


class Policy(Struct, frozen=True):
    """The settings that change decisions, with the defaults of the product.

    - ``host_binding``: how ``host("name")`` ties a pod to its node; ``auto`` depends on the owner of the pod.
    - ``unknown_annotations``: what an unknown annotation under the product's prefix does to a pod.
    - ``elastic``: nodes may still be added to the cluster, so "no node" is a warning.
    - ``scale_up``: whether a pod that no node can run waits if, and only if, a node group can make a node for it.
    - ``node_shapes``: node groups that the administrator states, beside those that autoscalers have as objects.
    - ``unsatisfiable_pods``: what happens to a pod of a Kubernetes controller that no node can run.
    - ``audit``: nothing is patched or refused; warnings say what would have happened.
    - ``verify_pods``: whether ``/validate`` refuses pods that have lost what their constraints require.
    - ``exclusive_effect``: the effect of the taint on exclusive hosts.
    - ``poolable``: the nodes that host pools may use.
    - ``quota`` and ``pool_quota``: exclusive hosts, and HostPools, that a namespace may have.
    - ``guard_nodes``: what happens to changes of nodes that break a pool.
    - ``guard_bindings``: whether bindings that get round an exclusive host or a HostPool are refused.
    - ``strict``: users need the right to tolerate exclusive hosts also before there are any such hosts.
    - ``spared``: namespaces whose pods are not strangers; with ``None`` only processing elements are strangers. The
      setting takes effect in inventories that are made with it.
    - ``excluded``: namespaces whose pods the webhook leaves alone.
    - ``controller_account``: the user name under which the product's controller makes pods of ProcessingElements.
    - ``element_requests``: what the container of a processing element requests where it says nothing itself.
    - ``described_devices``: whether the controller makes ResourceClaimTemplates of devices that requirements describe.
    - ``kinds``: the kinds of other operators whose objects are judged whole. They are data of the product, no setting.
    - ``reviewed``: the kinds among these, by group and kind, that the API server sends, so that their pods may wait.
    - ``operator_accounts``: the user names under which the operators of these kinds create pods.
    - ``unhurried``: devices are judged for some seconds, since no review waits. Commands set it; it is not a setting.
    """

    host_binding: Literal["auto", "nodeName", "nodeAffinity"] = "auto"
    unknown_annotations: Literal["refuse", "warn"] = "refuse"
    elastic: bool = False
    scale_up: Literal["auto", "off"] = "off"
    node_shapes: tuple[NodeGroup, ...] = ()
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
    controller_account: str = ""
    element_requests: Resources = Resources()
    described_devices: bool = True
    kinds: Kinds = {}
    reviewed: frozenset[tuple[str, str]] = frozenset()
    operator_accounts: frozenset[str] = frozenset()
    unhurried: bool = False
