"""Controllers that run in the cluster as pods of the chart: which there are, and their end.

Only the Lease tells who acts. These are looked at by people and by the uninstallation, which want none to act again.
"""

import asyncio
from typing import Final, Protocol

from webhook.cluster.client.api_types import Identified
from webhook.cluster.client.errors import ApiError, Cause
from webhook.cluster.objects import items
from webhook.cluster.watch.lists import ListReader, listed
from webhook.controller.clock import Clock, seconds

LABELS: Final = "app.kubernetes.io/name=streams-placement,app.kubernetes.io/component=controller"
"""Of the controllers' pods in the chart, whatever the release is called."""

LOOK: Final = 0.5
"""Seconds between two looks whether they have ended."""


class Server(ListReader, Protocol):
    """The API server; whatever goes wrong is a ApiError."""

    async def delete(self, path: str) -> bytes:
        """Delete the object; MISSING if there is none."""
        ...


async def candidates(reader: ListReader, namespace: str = "") -> list[str]:
    """Pods of controllers that have not ended, as ``namespace/name``; of all namespaces if none is given."""
    path = f"/api/v1/namespaces/{namespace}/pods" if namespace else "/api/v1/pods"
    alive = {"labelSelector": LABELS, "fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
    found = [items.decode(item, Identified).metadata async for item in listed(reader, path, alive)]
    return sorted(f"{each.namespace}/{each.name}" for each in found)


async def end_candidates(
    server: Server, namespace: str, deployment: str, *, wait: float, clock: Clock = seconds
) -> list[str]:
    """Delete their Deployment, and wait for so many seconds; returns the pods that are left. Raises ApiError.

    Deleted, and not scaled to none: helm makes it again as it was, should the uninstallation be given up.
    """
    try:
        await server.delete(f"/apis/apps/v1/namespaces/{namespace}/deployments/{deployment}")
    except ApiError as failure:
        if failure.cause is not Cause.MISSING:
            raise
    until = clock() + wait
    while True:
        left = await candidates(server, namespace)
        if not left or clock() >= until:
            return left
        await asyncio.sleep(LOOK)
