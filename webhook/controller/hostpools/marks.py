"""Marks: the membership label and the exclusive taint by which a node belongs to a HostPool. Pure.

Both in one merge patch, guarded by the node's version, with the whole list of taints: a list is replaced as one, so
whatever others have written into it since it was read makes the patch a conflict, and not a loss.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct, field
from msgspec.structs import replace

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.objects import items
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Pool
from webhook.placement.pools.pool_plan import taint_of
from webhook.placement.text import keys

Patch = dict[str, Any]
"""A merge patch (RFC 7396)."""

RawTaint = dict[str, Any]
"""A taint as stored, with fields that this program does not know."""


class _StoredNodeMetadata(Struct, frozen=True, rename="camel"):
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    deletion_timestamp: str | None = None


class _StoredNodeSpec(Struct, frozen=True):
    taints: list[RawTaint] | None = None


class StoredNode(Struct, frozen=True):
    """The fields of a stored node that a mark changes."""

    metadata: _StoredNodeMetadata = field(default_factory=_StoredNodeMetadata)
    spec: _StoredNodeSpec = field(default_factory=_StoredNodeSpec)

    @property
    def labels(self) -> dict[str, str]:
        """The node's labels."""
        return self.metadata.labels or {}

    @property
    def taints(self) -> list[RawTaint]:
        """The node's taints in their order."""
        return self.spec.taints or []


def read_node(body: bytes) -> StoredNode:
    """Read a node from JSON; raises :class:`ApiError` for anything else."""
    try:
        return items.decode(Raw(body), StoredNode)
    except decoding.ERRORS as error:
        raise ApiError(Cause.UNREADABLE, f"the node cannot be read: {decoding.reason(error)}") from None


class PoolMark(Struct, frozen=True):
    """How the hosts of one pool are marked; ``taint`` is ``None`` unless it is exclusive."""

    label: str
    value: str
    """The taint's value, which is unique to the pool."""
    taint: Taint | None = None
    listed: bool = False
    """Whether the pool lists its hosts: it claims them even if they are exclusive to another pool."""

    def on(self, node: Node, index: int) -> bool:
        """Whether the node carries the whole mark of the pool's host number ``index``, and nothing else of it."""
        own = [taint for taint in node.taints if taint.key == keys.EXCLUSIVE and taint.value == self.value]
        return node.labels.get(self.label) == str(index) and own == ([] if self.taint is None else [self.taint])

    def claim(self, node: StoredNode, index: int) -> Patch | None:
        """The patch that makes the node the pool's host number ``index``; ``None`` if it is already."""
        taints = [taint for taint in node.taints if not self._is_own(taint)]
        if self.taint is not None:
            own = [taint for taint in node.taints if self._is_own(taint)]
            same = [taint.get("effect") for taint in own] == [self.taint.effect]
            taints = node.taints if same else [*taints, _written(self.taint)]
        label: dict[str, str | None] = {} if node.labels.get(self.label) == str(index) else {self.label: str(index)}
        return _patch(node, label, taints)

    def release(self, node: StoredNode) -> Patch | None:
        """The patch that removes the pool's marks from the node; ``None`` if it has none."""
        label: dict[str, str | None] = {self.label: None} if self.label in node.labels else {}
        return _patch(node, label, [taint for taint in node.taints if not self._is_own(taint)])

    def cannot_be_claimed(self, node: StoredNode) -> bool:
        """Whether the node cannot be claimed: it is being deleted, or another exclusive pool has it."""
        if node.metadata.deletion_timestamp:
            return True
        if self.listed:
            return False
        others = (taint for taint in node.taints if taint.get("key") == keys.EXCLUSIVE)
        return any(taint.get("value") != self.value for taint in others)

    def would_displace(self, node: StoredNode, cached: Node | None) -> bool:
        """Whether an exclusive claim closes the node to another pool that ``cached``, its older state, did not show.

        A pool takes hosts of other pools only where no other nodes are left, so the hosts must be chosen again. A pool
        that lists its hosts has no others to choose.
        """
        if self.taint is None or self.listed or cached is None:
            return False
        return any(
            key.startswith(keys.MEMBERSHIP) and key != self.label and key not in cached.labels for key in node.labels
        )

    def _is_own(self, taint: RawTaint) -> bool:
        return taint.get("key") == keys.EXCLUSIVE and (taint.get("value") or "") == self.value


def mark_of(pool: Pool, policy: Policy) -> PoolMark:
    """The mark of a pool's hosts."""
    mark = mark_named(pool.namespace, pool.name)
    return replace(mark, taint=taint_of(pool, policy), listed=pool.hosts is not None)


def mark_named(namespace: str, name: str) -> PoolMark:
    """The mark of the pool of that name without its taint: enough to recognize and release its hosts."""
    return PoolMark(keys.membership(namespace, name), keys.exclusive(namespace, name))


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
    """Maps membership labels and exclusive taints on a node back to the HostPool that owns them.

    It must be created before ``watched`` holds any pool.
    """

    def __init__(self, watched: ObservedInventory) -> None:
        self._by_label = watched.inventory.pools.members
        self._by_value: dict[str, Name] = {}
        watched.on_pool.append(self._pool)

    def pools(self, node: Node | None) -> set[Name]:
        """The pools whose label or taint the node carries."""
        owners = (self._owner(key, value) for key, value in marks(node))
        return {name for name in owners if name is not None}

    def orphaned(self, node: Node | None) -> list[PoolMark]:
        """The marks on the node whose pool does not exist."""
        return [
            PoolMark("", value) if key == keys.EXCLUSIVE else PoolMark(key, "")
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
    """Keys and values of all membership labels and exclusive taints on a node, of any pool."""
    if node is not None:
        yield from ((key, value) for key, value in node.labels.items() if key.startswith(keys.MEMBERSHIP))
        yield from ((taint.key, taint.value) for taint in node.taints if taint.key == keys.EXCLUSIVE)
