"""What-ifs: changes of the cluster that count as made, written into the review's own inventory."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.opt_in import MIRROR
from webhook.admission.unstructured import Unstructured, mapping, sequence
from webhook.cluster.objects import nodes, wire
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.cluster.objects.pods import bound_pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import CONDITIONS
from webhook.placement.objects.node import Node
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem, quote
from webhook.placementreview.bounds import EVICTED
from webhook.placementreview.review import AddedNodes, WhatIf

_PODS: Final = "110"
"""Pods that an added node takes if its shape does not say (the kubelet's default)."""

_FINISHED: Final = ("Succeeded", "Failed")
"""Phases of a pod that uses nothing any more."""


class NeededPods(Struct, frozen=True):
    """The pods that a what-if is about: all of these nodes, and those with these namespaces and names; each once."""

    nodes: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()


def needed_pods(what_if: WhatIf | None, namespace: str) -> NeededPods:
    """The pods that have to be read for a review in that namespace: the inventory does not know pods by name."""
    if what_if is None:
        return NeededPods()
    names = ((one.namespace or namespace, one.name) for one in what_if.remove_pods)
    return NeededPods(tuple(dict.fromkeys(what_if.drain)), tuple(dict.fromkeys(names)))


class ChangedCluster(Struct, frozen=True):
    """What became of the what-ifs: what is wrong with them, or else the pods that were ``evicted`` from drained nodes.

    Those are to be made again. Pods that were being deleted have gone as well, and are not among them.
    """

    problems: tuple[Problem, ...] = ()
    evicted: tuple[Unstructured, ...] = ()


def change(what_if: WhatIf, namespace: str, pods: Sequence[Unstructured], inventory: Inventory) -> ChangedCluster:
    """Make the changes in the inventory, unless something is wrong with one of them.

    ``pods`` are the pods that :func:`needed_pods` names, as the API server has them.
    """
    named = {(_namespace(pod), str(mapping(pod, "metadata").get("name"))): pod for pod in pods}
    names = frozenset(what_if.drain)
    drained = [pod for pod in pods if mapping(pod, "spec").get("nodeName") in names]
    leaving = [pod for pod in drained if _leaves(pod)]
    if problems := tuple(_missing(what_if, namespace, named, inventory)):
        return ChangedCluster(problems)
    if len(leaving) > EVICTED:
        message = f"would evict {len(leaving):,} pods, at most {EVICTED:,} are judged: drain fewer nodes at a time"
        return ChangedCluster((Problem("spec.whatIf.drain", message),))
    for one in what_if.remove_pods:
        inventory.remove_pod(_uid(named[one.namespace or namespace, one.name]))
    removed = {(one.namespace or namespace, one.name) for one in what_if.remove_pods}
    for pod in leaving:
        inventory.remove_pod(_uid(pod))
    for name in dict.fromkeys((*what_if.drain, *what_if.cordon)):
        _cordon(name, inventory)
    for node in _added(what_if.add_nodes, inventory):
        inventory.set_node(node)
    stay = (pod for pod in leaving if not mapping(pod, "metadata").get("deletionTimestamp"))
    evicted = [pod for pod in stay if (_namespace(pod), str(mapping(pod, "metadata").get("name"))) not in removed]
    return ChangedCluster(evicted=tuple(evicted))


def _missing(
    what_if: WhatIf, namespace: str, pods: dict[tuple[str, str], Unstructured], inventory: Inventory
) -> Iterator[Problem]:
    """A problem for each node and pod that does not exist."""
    for field, names in (("drain", what_if.drain), ("cordon", what_if.cordon)):
        for place, name in enumerate(names):
            if inventory.nodes.get(name) is None:
                yield Problem(f"spec.whatIf.{field}[{place}]", f"there is no node {quote(name)}")
    for place, added in enumerate(what_if.add_nodes):
        if added.like and inventory.nodes.get(added.like) is None:
            yield Problem(f"spec.whatIf.addNodes[{place}].like", f"there is no node {quote(added.like)}")
    for place, pod in enumerate(what_if.remove_pods):
        if (pod.namespace or namespace, pod.name) not in pods:
            message = f"there is no pod {quote(pod.name)} in namespace {pod.namespace or namespace}"
            yield Problem(f"spec.whatIf.removePods[{place}]", message)


def _leaves(pod: Unstructured) -> bool:
    """Whether a drain evicts the pod: it has not finished, and is neither a DaemonSet's nor a mirror pod."""
    metadata = mapping(pod, "metadata")
    stays = MIRROR in mapping(metadata, "annotations") or any(
        owner.get("controller") and owner.get("kind") in ("DaemonSet", "Node")
        for owner in sequence(metadata, "ownerReferences")
    )
    return not stays and mapping(pod, "status").get("phase") not in _FINISHED


def _uid(pod: Unstructured) -> str:
    """The uid by which the inventory knows the pod."""
    info, _ = bound_pod(msgspec.convert({**pod, "status": {}}, wire.PodObject))
    return info.uid if info else ""


def _namespace(pod: Unstructured) -> str:
    return str(mapping(pod, "metadata").get("namespace") or NAMESPACE)


def _cordon(name: str, inventory: Inventory) -> None:
    node = inventory.nodes.get(name)
    if node and nodes.UNSCHEDULABLE not in node.taints:
        inventory.set_node(replace(node, taints=(*node.taints, nodes.UNSCHEDULABLE)))


def _added(additions: Sequence[AddedNodes], inventory: Inventory) -> Iterator[Node]:
    """The nodes that are added, each with a name that no other has: ``added-1``, ``added-2``, ..."""
    number = 0
    for added in additions:
        kind = _kind_of(added, inventory)
        for _ in range(added.count):
            number += 1
            while f"added-{number}" in inventory.nodes.slot_of:
                number += 1
            name = f"added-{number}"
            yield replace(kind, name=name, uid=name, labels={**kind.labels, keys.HOSTNAME: name})


def _kind_of(added: AddedNodes, inventory: Inventory) -> Node:
    """A node like those that are added; one like another is ready, not cordoned, and no host of a HostPool."""
    model = inventory.nodes.get(added.like) if added.like else None
    if model is not None:
        labels = {key: value for key, value in model.labels.items() if not key.startswith(keys.MEMBERSHIP)}
        passing = {*CONDITIONS, keys.EXCLUSIVE}
        return replace(
            model, labels=labels, addresses=(), taints=tuple(t for t in model.taints if t.key not in passing)
        )
    shape = msgspec.to_builtins(added.shape)
    amounts = {"pods": _PODS, **shape.get("allocatable", {})}
    document = {
        "metadata": {"name": "added", "labels": shape.get("labels", {})},
        "spec": {"taints": shape.get("taints", [])},
        "status": {"allocatable": amounts},
    }
    return nodes.node(msgspec.convert(document, wire.NodeObject))[0]
