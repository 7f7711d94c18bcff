"""Check of a change or deletion of a node: HostPools that lose a host, and the pods that run on it.

Users who may write nodes read the text, so it names pools with their namespaces, and counts pods
(``docs/admission.md``, nodes). Taints that Kubernetes itself writes (``node.kubernetes.io/...``) state facts about the
node, so they break nothing here.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from webhook.placement.decision.refusal.refusal import written
from webhook.placement.inventory.index import HARD, NodeIndex
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selection.selector import matching_all
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.objects.pool_labels import labels_of, tags_of
from webhook.placement.pools.allocation import is_stranger
from webhook.placement.text import keys
from webhook.placement.text.fix import Advice
from webhook.placement.text.problem import enumerated

_WARN = Advice("let the setting guard_nodes be warn")

CONDITIONS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Prefixes of taints that Kubernetes' own controllers write and remove (Kubernetes, well-known taints)."""


class Breakage(Struct, frozen=True, gc=False):
    """What would happen to a node of a pool (``event``), and how many live ``pods`` of the pool run there.

    Nothing would happen without these pods unless the node is a ``host`` of the pool, or its last node.
    """

    pool: str
    event: str
    pods: int
    host: bool = True

    def __str__(self) -> str:
        """One sentence without its full stop."""
        running = f"; {self.pods} of its pods run{'s' * (self.pods == 1)} there" if self.pods else ""
        return f"HostPool {self.pool}: {self.event}{running}"


class Bystanders(Struct, frozen=True, gc=False):
    """Processing elements that run on a node that is to be deleted, whatever their pools are."""

    count: int

    def __str__(self) -> str:
        """One sentence without its full stop."""
        return f"{self.count} processing element{'s run' if self.count != 1 else ' runs'} there"


Broken = Breakage | Bystanders


def breakages(before: Node, after: Node | None, inventory: Inventory) -> Iterator[Broken]:
    """Everything that the change breaks, by namespace and name of the pool; ``after`` is ``None`` for a deletion."""
    running = list(_running_on(before.name, inventory))
    old, new = _alone(before), _alone(after) if after else None
    closing = _closing(before, after) if after else []
    for name, pool in _standing(inventory):
        what = _subject(pool, before, old, inventory)
        pods = sum(not is_stranger(pod, pool, inventory) for pod in running)
        # Pods that run stay where new ones are kept away.
        fate = _fate(pool, old, new, closing if what else [taint for taint in closing if taint.effect == "NoExecute"])
        if fate and (what or pods):
            yield Breakage("/".join(name), f"{what or 'a node of it'} would {fate}", pods, host=bool(what))
    if after is None and running:
        yield Bystanders(len(running))


def objection(name: str, broken: Sequence[Broken], *, deleted: bool) -> str:
    """The text that refuses the change or deletion of the node."""
    first = f"node {name} cannot be {'deleted' if deleted else 'changed so'}: {broken[0]}"
    pools = sum(isinstance(each, Breakage) and each.host for each in broken)
    steps = [f"delete {'the HostPool' if pools == 1 else 'these HostPools'}"] if pools else []
    if not all(isinstance(each, Breakage) and each.host for each in broken):
        steps.append("end the processing elements that run there")
    return written(first, broken[1:], (Advice(f"{' and '.join(steps)} first"), _WARN))


def cordoned(before: Node, inventory: Inventory) -> Iterator[str]:
    """A warning for a node that is to be cordoned, if it is a host of some pool."""
    old = _alone(before)
    pool_names = ["/".join(name) for name, pool in _standing(inventory) if _subject(pool, before, old, inventory)]
    if pool_names:
        names = enumerated(pool_names, _SHOWN)
        pools = f"HostPool{'s' * (len(pool_names) != 1)} {names}"
        yield f"node {before.name} is a host of {pools}: no new pods are scheduled to it until it is uncordoned"


_SHOWN = 3
"""Maximum number of pools named in one line."""


def _standing(inventory: Inventory) -> Iterator[tuple[Name, Pool]]:
    """Pools that can lose a host, by namespace and name: those being deleted, and failed ones, are left out."""
    for name in sorted(inventory.pools):
        pool = inventory.pools[name]
        if pool.phase not in (Phase.FAILED, Phase.RELEASING) and (pool.sized or labels_of(pool)):
            yield name, pool


def _subject(pool: Pool, node: Node, alone: NodeIndex, inventory: Inventory) -> str:
    """What the node is to the pool: one of its hosts, or the last node of an unsized pool; empty if it is neither."""
    if pool.sized:
        index = next((host.index for host in pool.assigned if _same(host.name, host.uid, node)), None)
        return "" if index is None else f"its host {index}"
    needs = labels_of(pool)
    # An elastic pool loses nodes and gets others.
    if pool.elastic or not _meets(alone, needs):
        return ""
    others = matching_all(inventory.nodes, needs) & ~inventory.nodes.kept_away() & ~inventory.nodes.named(node.name)
    return "" if others else "its last node"


def _fate(pool: Pool, old: NodeIndex, new: NodeIndex | None, closing: Sequence[Taint]) -> str:
    """What happens to the host, of all that matters to the pool; empty if nothing. ``new`` is ``None`` if deleted."""
    if new is None:
        return "vanish"
    needs = labels_of(pool)
    if _meets(old, needs) and not _meets(new, needs):
        return f"lose the {tags_of(pool)}" if pool.tags and not pool.selector else "lose labels that it was chosen by"
    own = keys.exclusive(pool.namespace, pool.name)
    taint = next((taint for taint in closing if (taint.key, taint.value) != (keys.EXCLUSIVE, own)), None)
    return f"get the taint {taint}" if taint else ""


def _closing(before: Node, after: Node) -> list[Taint]:
    """New taints that keep pods away, sorted; taints that Kubernetes writes are left out."""
    new_taints = set(after.taints) - set(before.taints)
    return sorted(taint for taint in new_taints if taint.effect in HARD and not taint.key.startswith(CONDITIONS))


def _alone(node: Node) -> NodeIndex:
    """An index of the node alone, in which selectors can be looked up."""
    index = NodeIndex()
    index.put(node)
    return index


def _meets(alone: NodeIndex, needs: Sequence[Requirement]) -> bool:
    """Whether the only node of the index meets all requirements."""
    return bool(matching_all(alone, needs))


def _same(name: str, uid: str, node: Node) -> bool:
    """Whether the node is the one of that name and, where both uids are known, of that uid."""
    return name == node.name and (not uid or not node.uid or uid == node.uid)


def _running_on(name: str, inventory: Inventory) -> Iterator[PodInfo]:
    """The live pods of jobs on the node."""
    node = inventory.nodes.named(name)
    for _, job_pods in inventory.jobs_with_pods():
        if job_pods.everyone.nodes & node:
            yield from (pod for _, pod in job_pods.pods.values() if pod.node == name)
