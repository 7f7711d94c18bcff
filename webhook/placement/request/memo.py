"""Cache of the answers to pods that ask the same of an unchanged cluster, as the pods of one template do.

The key of an answer is everything that the decision read of the pod. Of its placement that is the meaning, so texts
about different operators have one answer; an answer that quotes the text is kept for that text alone. Each answer is
kept with the versions (``Stamp``) of everything that the decision read of the inventory, and is used only while none of
these versions has changed. No answer is kept that depends on something without a cheap version: of pods bound to a node
(free room changes with every pod of the cluster), of pools that are yet to get their hosts, of claims of volumes, of
pods reviewed before.
"""

from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

import msgspec

from webhook.placement.annotations.placement_text import PlacementText, read_placement
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import Metadata, Pod
from webhook.placement.provision.intended_hardware import owners
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.text import keys

SIZE = 4096
"""Maximum number of answers kept, of some kilobytes each: more than a cluster has templates at work at a time."""

LENGTH_LIMIT = 8192
"""Answers are kept for pods whose spec, as far as it is read, has at most so many bytes: four times what most have.

The same limit holds for the characters of what is read of their metadata.
"""

_WRITTEN = keys.ANNOTATIONS - keys.WRITTEN
_OWN = frozenset({keys.JOB, keys.PE})
_TOGETHER = frozenset({ClauseName.COLOCATION, ClauseName.EXLOCATION, ClauseName.ISOLATION})

_ENCODE = msgspec.json.Encoder().encode

_Answer = TypeVar("_Answer")

Key = tuple[Hashable, ...]
"""Everything that the decision read of a pod."""

Stamp = tuple[int, int, int, int, int, int, int, int, int, int, int, int]
"""Versions of what the decision read of the inventory.

In this order: nodes, node groups, pools, jobs, HPAIntents, DeviceClasses, NUMA zones, use of the devices that are
optional hardware of the pod, the job's notable pods, pods that are being deleted, all pods of the job, and devices with
their claims. The last three are -1 where they do not matter.
"""


class Memo(Generic[_Answer]):
    """Kept answers about pods, for one inventory and one policy."""

    __slots__ = ("_inventory", "_kept")

    def __init__(self) -> None:
        self._inventory: Inventory | None = None
        self._kept: dict[Hashable, tuple[Stamp, tuple[str, ...], _Answer]] = {}

    def __len__(self) -> int:
        """The number of answers that are kept."""
        return len(self._kept)

    def find(self, inventory: Inventory, key: Key, text: str = "") -> _Answer | None:
        """The answer kept under the key, for any text or for this placement text.

        ``None`` if nothing is kept, or if something that it depends on has changed.
        """
        if inventory is not self._inventory:
            return None
        kept = self._kept.get(key) or self._kept.get((key, text))
        if kept is None:
            return None
        stamp, devices, answer = kept
        now = _stamp(inventory, key, devices, all_pods=stamp[-2] >= 0, claims=stamp[-1] >= 0)
        return answer if stamp == now else None

    def keep(self, world: World, key: Key, ask: Ask, answer: _Answer, text: str | None = None) -> None:
        """Keep the answer to ``ask``, unless it depends on something that has no version.

        Where the time for devices was over, the next decision gets further, so that answer is not kept either.
        ``text`` is the placement text, if the answer quotes it: other texts of the same meaning have another answer.
        """
        if world.predicted or ask.volumes or (ask.devices and world.device_budget.spent):
            return
        if world.inventory is not self._inventory or len(self._kept) >= SIZE:
            self._inventory = world.inventory
            self._kept.clear()
        spread = bool(ask.spec.topology_spread_constraints)
        together = (
            spread or not _TOGETHER.isdisjoint(ask.by_name) or ask.mapping.uniform != "none" or ask.provision.cpu_bound
        )
        devices = tuple([wish.resource for wish in ask.provision.wanted])
        claims = bool(ask.spec.resource_claims or ask.mapped)
        stamp = _stamp(world.inventory, key, devices, all_pods=together, claims=claims)
        if text is None:
            self._kept[key] = stamp, devices, answer
        else:
            self._kept.pop(key, None)  # of an earlier state of the cluster, in which the answer quoted nothing
            self._kept[key, text] = stamp, devices, answer


def key_of(pod: Pod, namespace: str, inventory: Inventory) -> Key | None:
    """Everything that a decision reads of the pod; ``None`` for a pod whose answer is not kept.

    Namespace and job come first, as :func:`_stamp` expects. Three parts are in the key only where they matter: the
    processing element where the job tells its elements apart, the pod's owner where HPAIntents or CPU binding ask for
    it, the pod's other labels where it has topology spread constraints. The spec is in the key as its JSON: pods of a
    template have the same, and bytes are quickly made and compared.
    """
    if pod.spec and pod.spec.node_name:
        return None
    metadata = pod.metadata or _NO_METADATA
    labels, annotations = metadata.labels or {}, metadata.annotations or {}
    placement = read_placement(annotations.get(keys.PLACEMENT), annotations.get(keys.PREFERRED))
    said = None if placement.names_node else _said(annotations, placement)
    if said is None:
        return None
    for key in labels:  # loops instead of any(): every pod under review comes this way
        if key.startswith(keys.PREFIX) and key not in _OWN:
            return None
    spread = bool(pod.spec and pod.spec.topology_spread_constraints)
    spec = _ENCODE(pod.spec)
    if len(spec) > LENGTH_LIMIT or not _brief(metadata, spread=spread):
        return None
    job, pe = labels.get(keys.JOB), labels.get(keys.PE)
    apart = ClauseName.ISOLATION in placement.by_name or inventory.tells_apart(namespace, job or "", pe or "")
    references = metadata.owner_references
    return (
        namespace,
        job,
        pe if apart else pe is not None,
        said,
        metadata.labels is None,
        metadata.annotations is None,
        tuple([(owner.api_version, owner.kind) for owner in references if owner.controller]) if references else (),
        owners(metadata) if _known_by_owner(annotations, namespace, job or "", inventory) else None,
        tuple(sorted(labels.items())) if spread else None,
        spec,
    )


def _brief(metadata: Metadata, *, spread: bool) -> bool:
    """Whether names, labels, annotations and owner references are short, as far as they may be in the key.

    They are reviewed before the API server has checked them, so that each may hold megabytes. Labels that are not ours
    matter only with topology spread constraints (``spread``).
    """
    length = len(metadata.name or "") + len(metadata.generate_name or "")
    for key, text in (metadata.labels or {}).items():
        if spread or key in _OWN:
            length += len(key) + len(text)
    for key, text in (metadata.annotations or {}).items():
        if key in _WRITTEN:
            length += len(text)
    for owner in metadata.owner_references or ():
        length += len(owner.api_version) + len(owner.kind) + len(owner.name)
    return length <= LENGTH_LIMIT


def _said(annotations: Mapping[str, str], placement: PlacementText) -> tuple[Hashable, ...] | None:
    """The annotations of ours, the placement by its meaning; ``None`` if there are some that users may not write."""
    said: list[Hashable] = []
    for key, text in annotations.items():
        if key.startswith(keys.PREFIX):
            if key in _WRITTEN:
                said.append((key, text if key != keys.PLACEMENT or placement.problems else placement.meaning))
            elif key not in keys.FOREIGN:
                return None
    return tuple(said)


def _known_by_owner(annotations: Mapping[str, str], namespace: str, job: str, inventory: Inventory) -> bool:
    """Whether the pod's owner matters: HPAIntents may be for its workload, or pods of its job are bound to CPUs."""
    if keys.INTENT in annotations or namespace in inventory.intents.enabled:
        return True
    return keys.BIND in annotations or inventory.job_pods(namespace, job).cpu_bound


_NO_METADATA = Metadata()


def _stamp(inventory: Inventory, key: Key, devices: tuple[str, ...], *, all_pods: bool, claims: bool) -> Stamp:
    """The present versions; ``all_pods`` tells whether all pods of the job matter, not only its notable ones.

    ``claims`` tells that the pod wants devices.
    """
    job_pods = inventory.job_pods(str(key[0]), "" if key[1] is None else str(key[1]))
    everyone = job_pods.changed if all_pods else -1
    return (
        inventory.nodes.version,
        inventory.node_groups.version,
        inventory.pools.version,
        inventory.jobs_version,
        inventory.intents.version,
        inventory.devices.classes.version,
        inventory.topologies.version,
        inventory.nodes.capacity.changes(devices) if devices else 0,
        job_pods.notable_changed,
        inventory.leaving_changed if all_pods else -1,
        everyone,
        inventory.devices.version if claims else -1,
    )
