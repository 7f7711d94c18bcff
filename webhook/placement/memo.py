"""Answers kept for pods that ask the same of an unchanged cluster, as the pods of one template do.

An answer is kept under everything that the decision read of the pod, with the stamps of everything that it read of the
cluster; it is used only while no stamp has changed. What cannot be stamped cheaply is never kept: pods bound to a node
(free room changes with every pod of the cluster), pools that are yet to get their hosts, pods reviewed before.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

import msgspec

from webhook.placement import keys
from webhook.placement.ask import Ask
from webhook.placement.clauses import ClauseName
from webhook.placement.inventory import Inventory
from webhook.placement.pod import Affinity, Metadata, Pod, PodSpec
from webhook.placement.requests import pod_requests
from webhook.placement.worker_mapping import words_of
from webhook.placement.world import World

SIZE = 4096
"""Answers that are kept: some kilobytes each, and more templates than a cluster has at work at a time."""

_WRITTEN = frozenset({keys.PLACEMENT, keys.PREFERRED, keys.HOST_BINDING, *keys.WORKER_MAPPING}) | keys.FOREIGN
_OWN = frozenset({keys.JOB, keys.PE})
_TOGETHER = frozenset({ClauseName.COLOCATION, ClauseName.EXLOCATION, ClauseName.ISOLATION})

_Answer = TypeVar("_Answer")

Key = tuple[Hashable, ...]
"""What the decision read of a pod."""

Stamp = tuple[int, int, int, int, int]
"""When nodes, pools, jobs, the job's isolated pods and, where they matter, its other pods last changed."""


class Memo(Generic[_Answer]):
    """Kept answers about pods, for one cluster and one policy."""

    __slots__ = ("_cluster", "_kept")

    def __init__(self) -> None:
        self._cluster: Inventory | None = None
        self._kept: dict[Hashable, tuple[Stamp, _Answer]] = {}

    def __len__(self) -> int:
        """How many answers are kept."""
        return len(self._kept)

    def find(self, cluster: Inventory, key: Key) -> _Answer | None:
        """The answer that was kept under the key, if it still holds."""
        kept = self._kept.get(key) if cluster is self._cluster else None
        if kept is None:
            return None
        stamp, answer = kept
        return answer if stamp == _stamp(cluster, key, all_pods=stamp[4] >= 0) else None

    def keep(self, world: World, key: Key, ask: Ask, answer: _Answer) -> None:
        """Keep the answer to what ``ask`` says, unless something that it depends on has no stamp."""
        named = any(isinstance(clause.argument, str) for clause in ask.of(ClauseName.HOST))
        if ask.spec.node_name or named or world.predicted:
            return
        if world.cluster is not self._cluster or len(self._kept) >= SIZE:
            self._cluster = world.cluster
            self._kept.clear()
        together = not _TOGETHER.isdisjoint(ask.by_name) or ask.mapping.uniform != "none"
        self._kept[key] = _stamp(world.cluster, key, all_pods=together), answer


def key_of(pod: Pod, namespace: str, cluster: Inventory) -> Key | None:
    """Everything that a decision reads of the pod; ``None`` for a pod that is better decided anew.

    ``namespace`` and the job come first, as :func:`_stamp` expects them. The processing element counts only where
    somebody of the job is isolated.
    """
    metadata, spec = pod.metadata or _NO_METADATA, pod.spec or _NO_SPEC
    labels, annotations = metadata.labels or {}, metadata.annotations or {}
    for key in annotations:
        if key.startswith(keys.PREFIX) and key not in _WRITTEN:
            return None
    for key in labels:
        if key.startswith(keys.PREFIX) and key not in _OWN:
            return None
    get = annotations.get
    job, text = labels.get(keys.JOB), get(keys.PLACEMENT)
    isolation = (text is not None and ClauseName.ISOLATION in text) or cluster.isolates(namespace, job or "")
    owners = metadata.owner_references
    requests, unreadable = pod_requests(spec)
    return (
        namespace,
        job,
        labels.get(keys.PE) if isolation else None,
        text,
        get(keys.PREFERRED),
        get(keys.HOST_BINDING),
        words_of(annotations),
        metadata.labels is None,
        metadata.annotations is None,
        tuple([owner.kind for owner in owners if owner.controller]) if owners else (),
        bool(spec.scheduling_gates),
        spec.node_name,
        tuple(spec.node_selector.items()) if spec.node_selector else spec.node_selector is None,
        _hashable(spec.affinity),
        spec.tolerations,
        tuple(requests.items()),
        unreadable,
    )


def _hashable(affinity: Affinity | None) -> Hashable:
    """The affinity, or its JSON where a selector has a mapping of labels in it."""
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return affinity
    return msgspec.json.encode(affinity)


_NO_METADATA, _NO_SPEC = Metadata(), PodSpec()


def _stamp(cluster: Inventory, key: Key, *, all_pods: bool) -> Stamp:
    siblings = cluster.siblings(str(key[0]), "" if key[1] is None else str(key[1]))
    everyone = siblings.changed if all_pods else -1
    return cluster.nodes.version, cluster.pools_version, cluster.jobs_version, siblings.isolated_changed, everyone
