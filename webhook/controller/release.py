"""Hosts of HostPools given back because a person says so: their marks, what the status says of them, the finalizer.

The controller does it for a pool that is deleted, once its pods have ended. This does it at once, for pools that stay
as well: before the product is uninstalled, or when no controller is left (``docs/operations.md``, Uninstall). Whoever
calls it sees to it that no controller acts meanwhile. Done again, it does what is left.
"""

import functools
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.cluster.client.errors import ApiError, Cause
from webhook.cluster.watch.lists import listed
from webhook.controller.hostpools import pool_status
from webhook.controller.hostpools.claims import Claims
from webhook.controller.hostpools.marks import Mark, StoredNode, mark_named, read_node
from webhook.controller.hostpools.pool_object import COLLECTION, StoredPool, path_of, read_pool
from webhook.controller.hostpools.pool_reports import Server, rfc3339
from webhook.controller.hostpools.pool_status import status_of
from webhook.placement.inventory.pool_index import Name
from webhook.placement.text import keys

TRIES: Final = 10
"""Of one write: no controller is there, so hardly anybody else writes to a HostPool."""

_POOLS: Final = "/apis/streams.ibm.com/v1/streamshostpools"
_NODES: Final = "/api/v1/nodes"

_PAGE: Final = 5
"""Pools of one page: one of 5,000 hosts may have more than a megabyte."""

_SCOPE: Final = re.compile(r"([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)(?:/([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?))?")
"""A DNS label, and a DNS subdomain after a slash."""

Change = Callable[[StoredPool], tuple[str, dict[str, Any]] | None]
"""Path and merge patch of what is to be written of a pool; ``None`` if nothing is."""


class Scope(Struct, frozen=True):
    """One pool; all pools of ``namespace`` if ``name`` is empty; all there are, and all marks, if both are."""

    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        """As a subject for a sentence."""
        if self.name:
            return f"HostPool {self.namespace}/{self.name}"
        return f"HostPools of namespace {self.namespace}" if self.namespace else "HostPools"


def parse_scope(text: str) -> Scope:
    """``NAMESPACE`` or ``NAMESPACE/POOL``; ``ValueError`` with a sentence if it is neither."""
    found = _SCOPE.fullmatch(text)
    if found is None:
        raise ValueError("it should be NAMESPACE/POOL, or NAMESPACE for all HostPools there")
    return Scope(found[1], found[2] or "")


class Freed(Struct, frozen=True, kw_only=True):
    """What was given back, or would be: ``hosts`` are names of nodes.

    ``stays`` tells a pool that is not deleted, to which a controller would give hosts again; ``failure`` is why it
    was not released, or not altogether.
    """

    what: str
    hosts: tuple[str, ...] = ()
    finalizer: bool = False
    stays: bool = False
    failure: str = ""


class Release:
    """Gives back hosts over ``server``, or with ``dry_run`` only says which."""

    def __init__(self, server: Server, *, dry_run: bool = False, now: Callable[[], str] = rfc3339) -> None:
        self._server = server
        self._dry_run = dry_run
        self._now = now
        self._claims = Claims(server, lambda _: None)

    async def run(self, scopes: Sequence[Scope]) -> AsyncIterator[Freed]:
        """Every pool, and with all of them what belongs to none. Raises ApiError where nothing can be listed."""
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
        found = [read_node(bytes(item)) async for item in listed(self._server, _NODES, {})]
        return [node for node in found if marks_on(node)]

    async def _pools(self, scope: Scope) -> list[StoredPool]:
        """The pools there are; none where their kind is not defined."""
        try:
            if scope.name:
                return [read_pool(await self._server.read(path_of(scope.namespace, scope.name)))]
            path = COLLECTION.format(scope.namespace) if scope.namespace else _POOLS
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

    async def _give_back(self, name: Name, freed: Freed, mark: Mark) -> None:
        """First what the status says, lest somebody relies on a host that is everybody's; the finalizer last."""
        await self._write(name, self._emptied)
        await self._claims.release_all(freed.hosts, mark)
        await self._write(name, _let_go)

    async def _strays(self, nodes: list[StoredNode], pools: dict[Name, StoredPool]) -> AsyncIterator[Freed]:
        """Marks that no pool stands for."""
        own = {mark_named(*name) for name in pools}
        known = {mark.label for mark in own} | {mark.value for mark in own}
        for node in nodes:
            marks = [mark for mark in marks_on(node) if (mark.label or mark.value) not in known]
            if marks:
                name = node.metadata.name
                freed = Freed(what="marks of no HostPool", hosts=(name,))
                yield await self._done(freed, functools.partial(self._clean, name, marks))

    async def _clean(self, name: str, marks: list[Mark]) -> None:
        for mark in marks:
            await self._claims.release_all([name], mark)

    async def _done(self, freed: Freed, work: Callable[[], Awaitable[None]]) -> Freed:
        """What came of it; one pool that cannot be released does not keep the others from it."""
        if self._dry_run:
            return freed
        try:
            await work()
        except ApiError as failure:
            return replace(freed, failure=str(failure))
        return freed

    async def _write(self, name: Name, change: Change) -> None:
        """Read the pool, and write it as ``change`` says, until nobody comes in between."""
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
        raise ApiError(Cause.BUSY, "it is being changed by others all the time")

    def _emptied(self, stored: StoredPool) -> tuple[str, dict[str, Any]] | None:
        """The status of a pool that has no hosts any more, and gets some when a controller runs."""
        if stored.leaving or not stored.status.get("hosts"):
            return None
        patch = status_of(stored, pool_status.returned(), self._now())
        return None if patch is None else (f"{stored.path}/status", patch)


def _let_go(stored: StoredPool) -> tuple[str, dict[str, Any]] | None:
    return (stored.path, stored.free()) if stored.held else None


def marks_on(node: StoredNode) -> list[Mark]:
    """The marks on a node, whosever they are: each a label or a taint."""
    labels = [Mark(key, "") for key in sorted(node.labels) if key.startswith(keys.MEMBERSHIP)]
    values = {str(taint.get("value") or "") for taint in node.taints if taint.get("key") == keys.EXCLUSIVE}
    return [*labels, *(Mark("", value) for value in sorted(values))]
