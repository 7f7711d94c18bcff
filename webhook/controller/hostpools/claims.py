"""Claims and releases nodes for HostPools by guarded writes of their labels and taints.

A node has at most one exclusive taint, and every write names the ``resourceVersion`` that was read. So a controller
whose caches are late, such as a former leader, gets a conflict from the API server and cannot take a claimed node.
"""

import asyncio
import enum
import random
from collections.abc import Callable, Collection
from typing import Final

from msgspec import Struct

from kubeapi.client.errors import ApiError, Cause
from webhook.controller.concurrency import gather_or_cancel
from webhook.controller.hostpools.marks import Patch, PoolMark, StoredNode, read_node
from webhook.controller.object_editor import ObjectWriter
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import PoolHost
from webhook.placement.text.api_kinds import NODE

TRIES: Final = 40
"""Attempts of one write; another client that changes the node 50 times a second makes one attempt in four conflict."""

PAUSE: Final = 0.02
"""The longest pause between two attempts, in seconds; an attempt takes about five milliseconds."""

AT_A_TIME: Final = 16
"""Concurrent writes to nodes of one pool; as each pool has its own limit, none waits for another one's nodes."""

_random: Final = random.SystemRandom()


class Claimed(Struct, frozen=True):
    """Result of claiming: hosts whose nodes were ``written``, and ``lost`` hosts, which cannot be claimed.

    The nodes of ``changed`` hosts were not written: the cache did not have them as they are, and has them now. Hosts in
    none of the lists carried the mark already.
    """

    written: list[PoolHost]
    lost: list[PoolHost]
    changed: list[PoolHost]


class _Outcome(enum.Enum):
    """Result of claiming one host."""

    WRITTEN = enum.auto()
    MARKED = enum.auto()
    """The node carried the mark already."""
    LOST = enum.auto()
    """The node is gone, being deleted, replaced, or claimed by another pool."""
    CHANGED = enum.auto()
    """The node has become a host of another pool and the cache did not know."""


class Claims:
    """Writes marks to nodes; ``learn`` is called with each node as answered, before the watch brings it."""

    def __init__(self, nodes: ObjectWriter, learn: Callable[[bytes], object]) -> None:
        self._nodes = nodes
        self._learn = learn

    async def claim_all(
        self, hosts: Collection[PoolHost], mark: PoolMark, cached: Callable[[str], Node | None]
    ) -> Claimed:
        """Claim the hosts that can be claimed; they were chosen by the nodes that ``cached`` finds by their names.

        Raises :class:`ApiError`, after which some may be claimed.
        """
        turns = asyncio.Semaphore(AT_A_TIME)
        outcomes = await gather_or_cancel(self._claim(host, mark, cached, turns) for host in hosts)
        by: dict[_Outcome, list[PoolHost]] = {outcome: [] for outcome in _Outcome}
        for host, outcome in zip(hosts, outcomes, strict=True):
            by[outcome].append(host)
        return Claimed(by[_Outcome.WRITTEN], by[_Outcome.LOST], by[_Outcome.CHANGED])

    async def standing(self, hosts: Collection[PoolHost]) -> list[PoolHost]:
        """The hosts whose nodes exist, by a read of the API server, which is learned. Raises :class:`ApiError`."""
        turns = asyncio.Semaphore(AT_A_TIME)
        there = await gather_or_cancel(self._write(host.name, host.uid, lambda _: None, turns) for host in hosts)
        return [host for host, node in zip(hosts, there, strict=True) if node is not None]

    async def release_all(self, names: Collection[str], mark: PoolMark) -> None:
        """Remove the pool's marks from these nodes. Raises :class:`ApiError`."""
        turns = asyncio.Semaphore(AT_A_TIME)
        await gather_or_cancel(self._write(name, "", mark.release, turns) for name in names)

    async def _claim(
        self, host: PoolHost, mark: PoolMark, cached: Callable[[str], Node | None], turns: asyncio.Semaphore
    ) -> _Outcome:
        def claim(node: StoredNode) -> Patch | None:
            patch = mark.claim(node, host.index)
            if patch is not None and mark.cannot_be_claimed(node):
                raise _NotClaimedError(_Outcome.LOST)
            if patch is not None and mark.would_displace(node, cached(host.name)):
                raise _NotClaimedError(_Outcome.CHANGED)
            return patch

        try:
            written = await self._write(host.name, host.uid, claim, turns)
        except _NotClaimedError as refusal:
            return refusal.outcome
        if written is None:
            return _Outcome.LOST
        return _Outcome.WRITTEN if written else _Outcome.MARKED

    async def _write(
        self, name: str, uid: str, change: Callable[[StoredNode], Patch | None], turns: asyncio.Semaphore
    ) -> bool | None:
        """Read, change and write, again after each conflict. Whether it wrote; ``None`` if the node does not exist."""
        path = f"{NODE.path}/{name}"
        async with turns:
            for _ in range(TRIES):
                body = b""
                try:
                    body = await self._nodes.read(path)
                    node = read_node(body)
                    if uid and node.metadata.uid != uid:
                        return None
                    patch = change(node)
                    self._learn(await self._nodes.merge_patch(path, patch) if patch else body)
                except _NotClaimedError:
                    self._learn(body)
                    raise
                except ApiError as failure:
                    if failure.cause is Cause.MISSING:
                        return None
                    if failure.cause is not Cause.CONFLICT:
                        raise
                    await asyncio.sleep(_random.uniform(0.0, PAUSE))
                else:
                    return patch is not None
        # BUSY and not CONFLICT, after which the pool would be reconciled again at once.
        raise ApiError(Cause.BUSY, f"node {name} keeps being changed by other clients")


class _NotClaimedError(Exception):
    """The node cannot be claimed, or not as it is."""

    def __init__(self, outcome: _Outcome) -> None:
        self.outcome = outcome
