"""What the controller writes on a node: the membership label of a pool, and its taint. Pure.

Both in one merge patch, guarded by the node's version, with the whole list of taints: a list is replaced as one, so
whatever others have written into it since it was read makes the patch a conflict, and not a loss.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct, field
from msgspec.structs import replace

from webhook.cluster.client.errors import ApiError, Cause
from webhook.cluster.objects import items
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.placement.inventory.objects import Node, Pool, Taint
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.pools.pool_plan import taint_of
from webhook.placement.text import keys

Patch = dict[str, Any]
"""A merge patch (RFC 7396)."""

RawTaint = dict[str, Any]
"""A taint as the node has it, with whatever else may be in it."""


class _Metadata(Struct, frozen=True, rename="camel"):
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    deletion_timestamp: str | None = None


class _Spec(Struct, frozen=True):
    taints: list[RawTaint] | None = None


class StoredNode(Struct, frozen=True):
    """A node as it is stored just now, as far as it is written to."""

    metadata: _Metadata = field(default_factory=_Metadata)
    spec: _Spec = field(default_factory=_Spec)

    @property
    def labels(self) -> dict[str, str]:
        """Its labels."""
        return self.metadata.labels or {}

    @property
    def taints(self) -> list[RawTaint]:
        """Its taints, in their order."""
        return self.spec.taints or []


def read_node(body: bytes) -> StoredNode:
    """A node from JSON; :class:`ApiError` if it is none."""
    try:
        return items.decode(Raw(body), StoredNode)
    except items.ERRORS as error:
        raise ApiError(Cause.UNREADABLE, f"the node cannot be read: {items.reason(error)}") from None


class Mark(Struct, frozen=True):
    """How the hosts of one pool are marked; ``taint`` is ``None`` unless it is exclusive."""

    label: str
    value: str
    """Of the taint: whoever has a taint of that value is the pool's."""
    taint: Taint | None = None
    listed: bool = False
    """Whether the pool lists its hosts: it takes them even if they are exclusive to another one."""

    def on(self, node: Node, index: int) -> bool:
        """Whether the node carries the whole mark of the pool's host number ``index``, and nothing else of it."""
        own = [taint for taint in node.taints if taint.key == keys.EXCLUSIVE and taint.value == self.value]
        return node.labels.get(self.label) == str(index) and own == ([] if self.taint is None else [self.taint])

    def claim(self, node: StoredNode, index: int) -> Patch | None:
        """What makes the node the pool's host number ``index``; ``None`` if it is that already."""
        taints = [taint for taint in node.taints if not self._is_own(taint)]
        if self.taint is not None:
            own = [taint for taint in node.taints if self._is_own(taint)]
            same = [taint.get("effect") for taint in own] == [self.taint.effect]
            taints = node.taints if same else [*taints, _written(self.taint)]
        label: dict[str, str | None] = {} if node.labels.get(self.label) == str(index) else {self.label: str(index)}
        return _patch(node, label, taints)

    def release(self, node: StoredNode) -> Patch | None:
        """What makes the node no host of the pool; ``None`` if it is none already."""
        label: dict[str, str | None] = {self.label: None} if self.label in node.labels else {}
        return _patch(node, label, [taint for taint in node.taints if not self._is_own(taint)])

    def barred(self, node: StoredNode) -> bool:
        """Whether the node cannot be had: it is about to go, or another exclusive pool has it."""
        if node.metadata.deletion_timestamp:
            return True
        if self.listed:
            return False
        others = (taint for taint in node.taints if taint.get("key") == keys.EXCLUSIVE)
        return any(taint.get("value") != self.value for taint in others)

    def _is_own(self, taint: RawTaint) -> bool:
        return taint.get("key") == keys.EXCLUSIVE and (taint.get("value") or "") == self.value


def mark_of(pool: Pool, policy: Policy) -> Mark:
    """How the hosts of the pool are marked."""
    mark = mark_named(pool.namespace, pool.name)
    return replace(mark, taint=taint_of(pool, policy), listed=pool.hosts is not None)


def mark_named(namespace: str, name: str) -> Mark:
    """How the hosts of the pool of that name can be told; to release them, nothing else need be known of it."""
    return Mark(keys.membership(namespace, name), keys.exclusive(namespace, name))


def _patch(node: StoredNode, labels: dict[str, str | None], taints: list[RawTaint]) -> Patch | None:
    changed: Patch = {}
    if labels:
        changed["metadata"] = {"labels": labels}
    if taints != node.taints:
        changed["spec"] = {"taints": taints}
    if not changed:
        return None
    changed.setdefault("metadata", {})["resourceVersion"] = node.metadata.resource_version
    return changed


def _written(taint: Taint) -> RawTaint:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect}


class MarkOwners:
    """Knows the pools of ``watched`` by their labels and taints; to be made before anything is known."""

    def __init__(self, watched: ObservedInventory) -> None:
        self._by_label = watched.inventory.pools.members
        self._by_value: dict[str, Name] = {}
        watched.on_pool.append(self._pool)

    def pools(self, node: Node | None) -> set[Name]:
        """Pools whose label or taint the node carries."""
        found = (self._owner(key, value) for key, value in marks(node))
        return {name for name in found if name is not None}

    def nobodys(self, node: Node | None) -> list[Mark]:
        """The marks that no pool stands for."""
        return [
            Mark("", value) if key == keys.EXCLUSIVE else Mark(key, "")
            for key, value in marks(node)
            if self._owner(key, value) is None
        ]

    def _owner(self, key: str, value: str) -> Name | None:
        return self._by_value.get(value) if key == keys.EXCLUSIVE else self._by_label.get(key)

    def _pool(self, name: Name, _: Pool | None, after: Pool | None) -> None:
        if after is None:
            self._by_value.pop(keys.exclusive(*name), None)
        else:
            self._by_value[keys.exclusive(*name)] = name


def marks(node: Node | None) -> Iterator[tuple[str, str]]:
    """The marks on a node, whosever they are: labels of membership, and keys and values of taints."""
    if node is not None:
        yield from ((key, value) for key, value in node.labels.items() if key.startswith(keys.MEMBERSHIP))
        yield from ((taint.key, taint.value) for taint in node.taints if taint.key == keys.EXCLUSIVE)
