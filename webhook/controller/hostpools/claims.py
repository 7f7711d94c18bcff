"""Nodes are claimed and released by writing on them: the node itself decides who has it.

An exclusive taint is unique on a node by its key, and every write names the version that was read. So whichever
controller is late, an old leader among them, finds out from the API server, and never from a cache.
"""

import asyncio
import random
from collections.abc import Callable, Collection
from typing import Final, Protocol

from msgspec import Struct

from webhook.cluster.client.errors import ApiError, Cause
from webhook.controller.concurrency import gather_or_cancel
from webhook.controller.hostpools.marks import Patch, PoolMark, StoredNode, read_node
from webhook.placement.inventory.objects import PoolHost
from webhook.placement.text.api_kinds import NODE

TRIES: Final = 40
"""Of one write: somebody else who changes the node 50 times a second is in the way of one try in four."""

PAUSE: Final = 0.02
"""Seconds between two of them, at most: a try takes some five milliseconds."""

AT_A_TIME: Final = 16
"""Nodes of one pool that are written to: enough to keep the API server busy, too few to bother it. No pool waits for
the nodes of another one, which may have thousands."""

_dice: Final = random.SystemRandom()


class NodeWriter(Protocol):
    """Where nodes are; whatever goes wrong is a :class:`ApiError`."""

    async def read(self, path: str) -> bytes:
        """The object as it is now; MISSING if there is none."""
        ...

    async def merge_patch(self, path: str, body: object) -> bytes:
        """Change it; CONFLICT if it is not the version of the body any more."""
        ...


class Claimed(Struct, frozen=True):
    """What became of claims: hosts that were ``written`` to, and those that are ``lost``, as they cannot be had.

    The others had been claimed before, whatever the caches said.
    """

    written: list[PoolHost]
    lost: list[PoolHost]


class Claims:
    """Writes marks; ``learn`` gets every node as it is after a write, before the watch tells."""

    def __init__(self, nodes: NodeWriter, learn: Callable[[bytes], object]) -> None:
        self._nodes = nodes
        self._learn = learn

    async def claim_all(self, hosts: Collection[PoolHost], mark: PoolMark) -> Claimed:
        """Claim all of them, as far as they can be had. Raises :class:`ApiError`; some may be claimed by then."""
        turns = asyncio.Semaphore(AT_A_TIME)
        found = await gather_or_cancel(self._claim(host, mark, turns) for host in hosts)
        pairs = list(zip(hosts, found, strict=True))
        return Claimed([host for host, new in pairs if new], [host for host, new in pairs if new is None])

    async def standing(self, hosts: Collection[PoolHost]) -> list[PoolHost]:
        """Those of the hosts whose nodes are there, whatever the caches say. Raises :class:`ApiError`."""
        turns = asyncio.Semaphore(AT_A_TIME)
        there = await gather_or_cancel(self._write(host.name, host.uid, lambda _: None, turns) for host in hosts)
        return [host for host, found in zip(hosts, there, strict=True) if found is not None]

    async def release_all(self, names: Collection[str], mark: PoolMark) -> None:
        """Take the marks of the pool off these nodes, as far as they have them. Raises :class:`ApiError`."""
        turns = asyncio.Semaphore(AT_A_TIME)
        await gather_or_cancel(self._write(name, "", mark.release, turns) for name in names)

    async def _claim(self, host: PoolHost, mark: PoolMark, turns: asyncio.Semaphore) -> bool | None:
        """Whether something was written; ``None`` if the node is gone, another one, about to go, or another pool's."""

        def claim(node: StoredNode) -> Patch | None:
            patch = mark.claim(node, host.index)
            if patch is not None and mark.barred(node):
                raise _LostNodeError
            return patch

        try:
            return await self._write(host.name, host.uid, claim, turns)
        except _LostNodeError:
            return None

    async def _write(
        self, name: str, uid: str, change: Callable[[StoredNode], Patch | None], turns: asyncio.Semaphore
    ) -> bool | None:
        """Read, change and write until nobody comes in between: whether it took a write; ``None`` without the node."""
        path = f"{NODE.path}/{name}"
        async with turns:
            for _ in range(TRIES):
                try:
                    body = await self._nodes.read(path)
                    node = read_node(body)
                    if uid and node.metadata.uid != uid:
                        return None
                    patch = change(node)
                    self._learn(await self._nodes.merge_patch(path, patch) if patch else body)
                except ApiError as failure:
                    if failure.cause is Cause.MISSING:
                        return None
                    if failure.cause is not Cause.CONFLICT:
                        raise
                    await asyncio.sleep(_dice.uniform(0.0, PAUSE))
                else:
                    return patch is not None
        # No conflict of the pool's, after which one looks again at once.
        raise ApiError(Cause.BUSY, f"node {name} is being changed by others all the time")


class _LostNodeError(Exception):
    """The node cannot be had."""
