"""``Release``: removes a HostPool's marks from nodes, empties its status, and removes its finalizer.

The controller does it for a pool that is deleted, once its pods have ended. This does it at once, for pools that stay
as well: before the product is uninstalled, or when no controller is left (``docs/operations.md``, Uninstall). The
caller makes sure that no controller acts meanwhile. A second call does what the first has left.
"""

import functools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.cluster.watch.lists import listed
from webhook.controller.hostpools import pool_status
from webhook.controller.hostpools.claims import Claims
from webhook.controller.hostpools.marks import PoolMark, StoredNode, mark_named, read_node
from webhook.controller.hostpools.pool_object import StoredPool, path_of, read_pool
from webhook.controller.hostpools.pool_status import status_of
from webhook.controller.object_editor import ObjectWriter
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.names import is_namespace, is_object_name
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import HOST_POOL, NODE

TRIES: Final = 10
"""Attempts of one write; conflicts are rare, because no controller runs."""


_PAGE: Final = 5
"""Objects in one page of a list: a HostPool with 5,000 hosts may have more than a megabyte."""

Change = Callable[[StoredPool], tuple[str, dict[str, Any]] | None]
"""Returns the path and merge patch of a write to a HostPool; ``None`` if nothing has to be written."""


class Scope(Struct, frozen=True):
    """Which HostPools: one; all of ``namespace`` if ``name`` is empty; all, and all marks, if both are empty."""

    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        """The scope as the subject of a sentence."""
        if self.name:
            return f"HostPool {self.namespace}/{self.name}"
        return f"HostPools of namespace {self.namespace}" if self.namespace else "HostPools"


def parse_scope(text: str) -> Scope:
    """Parse ``NAMESPACE`` or ``NAMESPACE/POOL``; raises ``ValueError`` with a sentence for other texts."""
    namespace, slash, name = text.partition("/")
    if not is_namespace(namespace) or (slash and not is_object_name(name)):
        raise ValueError("it should be NAMESPACE/POOL, or NAMESPACE for all HostPools there")
    return Scope(namespace, name)


class Freed(Struct, frozen=True, kw_only=True):
    """What was released of one pool, or would be with ``--dry-run``: ``hosts`` are names of nodes.

    ``stays`` tells that the pool is not being deleted, so that a controller would assign hosts again. ``closed`` tells
    of an AdmissionCheck that it is no longer active. ``failure`` says why the pool, or the check, was not released, or
    only in part.
    """

    what: str
    hosts: tuple[str, ...] = ()
    finalizer: bool = False
    stays: bool = False
    closed: bool = False
    failure: str = ""


class Release:
    """Releases hosts through ``server``; with ``dry_run`` only reports which."""

    def __init__(self, server: ObjectWriter, *, dry_run: bool = False, now: Clock = time.time) -> None:
        self._server = server
        self._dry_run = dry_run
        self._now = now
        self._claims = Claims(server, lambda _: None)

    async def run(self, scopes: Sequence[Scope]) -> AsyncIterator[Freed]:
        """Release each pool of the scopes; for all namespaces also orphaned marks. Raises ApiError if a list fails."""
        nodes = await self._marked()
        for scope in scopes:
            pools = {stored.name: stored for stored in await self._pools(scope)}
            for stored in pools.values():
                yield await self._pool(stored.name, stored, nodes)
            if scope.name and not pools:
                yield await self._pool((scope.namespace, scope.name), None, nodes)
            elif not scope.namespace:
                async for freed in self._strays(nodes, pools):
                    yield freed
            elif not pools:
                yield Freed(what=str(scope))

    async def _marked(self) -> list[StoredNode]:
        """Nodes that carry a mark of any pool."""
        nodes = [read_node(bytes(item)) async for item in listed(self._server, NODE.path, {})]
        return [node for node in nodes if marks_on(node)]

    async def _pools(self, scope: Scope) -> list[StoredPool]:
        """The existing HostPools of the scope; none if the kind is not defined in the cluster."""
        try:
            if scope.name:
                return [read_pool(await self._server.read(path_of(scope.namespace, scope.name)))]
            path = HOST_POOL.path_in(scope.namespace) if scope.namespace else HOST_POOL.path
            return [read_pool(bytes(item)) async for item in listed(self._server, path, {}, page=_PAGE)]
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                return []
            raise

    async def _pool(self, name: Name, stored: StoredPool | None, nodes: list[StoredNode]) -> Freed:
        mark = mark_named(*name)
        freed = Freed(
            what=str(Scope(*name)),
            hosts=tuple(sorted(node.metadata.name for node in nodes if mark.release(node))),
            finalizer=stored is not None and stored.held,
            stays=stored is not None and not stored.leaving,
        )
        return await self._done(freed, functools.partial(self._give_back, name, freed, mark))

    async def _give_back(self, name: Name, freed: Freed, mark: PoolMark) -> None:
        """Empty the status first, so that no pod relies on a released host; remove the finalizer last."""
        await self._write(name, self._emptied)
        await self._claims.release_all(freed.hosts, mark)
        await self._write(name, _let_go)

    async def _strays(self, nodes: list[StoredNode], pools: dict[Name, StoredPool]) -> AsyncIterator[Freed]:
        """Release marks of no existing HostPool."""
        own = {mark_named(*name) for name in pools}
        known = {mark.label for mark in own} | {mark.value for mark in own}
        for node in nodes:
            marks = [mark for mark in marks_on(node) if (mark.label or mark.value) not in known]
            if marks:
                name = node.metadata.name
                freed = Freed(what="marks of no HostPool", hosts=(name,))
                yield await self._done(freed, functools.partial(self._clean, name, marks))

    async def _clean(self, name: str, marks: list[PoolMark]) -> None:
        for mark in marks:
            await self._claims.release_all([name], mark)

    async def _done(self, freed: Freed, work: Callable[[], Awaitable[None]]) -> Freed:
        """Do the work; a failure is recorded in the result, so that the other pools are still released."""
        if self._dry_run:
            return freed
        try:
            await work()
        except ApiError as failure:
            return replace(freed, failure=str(failure))
        return freed

    async def _write(self, name: Name, change: Change) -> None:
        """Read the pool and write the patch of ``change``, again after each conflict."""
        for _ in range(TRIES):
            try:
                wanted = change(read_pool(await self._server.read(path_of(*name))))
                if wanted is not None:
                    await self._server.merge_patch(*wanted)
            except ApiError as failure:
                if failure.cause is Cause.MISSING:
                    return
                if failure.cause is not Cause.CONFLICT:
                    raise
            else:
                return
        raise ApiError(Cause.BUSY, "it keeps being changed by other clients")

    def _emptied(self, stored: StoredPool) -> tuple[str, dict[str, Any]] | None:
        """The write that empties the status; ``None`` for a pool that is being deleted or has no hosts."""
        if stored.leaving or not stored.status.get("hosts"):
            return None
        patch = status_of(stored, pool_status.returned(), timestamp(self._now()))
        return None if patch is None else (f"{stored.path}/status", patch)


def _let_go(stored: StoredPool) -> tuple[str, dict[str, Any]] | None:
    return (stored.path, stored.free()) if stored.held else None


def marks_on(node: StoredNode) -> list[PoolMark]:
    """All marks on a node, of any HostPool; each of the result is either a label or a taint."""
    labels = [PoolMark(key, "") for key in sorted(node.labels) if key.startswith(keys.MEMBERSHIP)]
    values = {str(taint.get("value") or "") for taint in node.taints if taint.get("key") == keys.EXCLUSIVE}
    return [*labels, *(PoolMark("", value) for value in sorted(values))]
