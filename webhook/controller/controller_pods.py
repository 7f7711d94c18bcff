"""Pods of the controller's Deployment: lists those that run, and ends them by deleting the Deployment.

The Lease alone decides which one acts. ``release`` and the uninstallation list the pods so that none acts again.
"""

import asyncio
from typing import Final, Protocol

from kubeapi.client.api_types import Identified
from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock, seconds
from webhook.cluster.objects import items
from webhook.cluster.watch.lists import ListReader, listed
from webhook.placement.text.api_kinds import DEPLOYMENT, POD

LABELS: Final = "app.kubernetes.io/name=streams-placement,app.kubernetes.io/component=controller"
"""The labels of the controllers' pods in the chart, whatever the release is called."""

LOOK: Final = 0.5
"""Seconds between two looks whether the pods have ended."""


class Server(ListReader, Protocol):
    """The API server, as far as ending controllers needs it; every failure is an ApiError."""

    async def delete(self, path: str) -> bytes:
        """Delete the object; the cause of the error is MISSING if it does not exist."""
        ...


async def running_controllers(reader: ListReader, namespace: str = "") -> list[str]:
    """Pods of controllers that have not ended, as ``namespace/name``; of all namespaces if ``namespace`` is empty."""
    path = POD.path_in(namespace) if namespace else POD.path
    alive = {"labelSelector": LABELS, "fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
    pods = [items.decode(item, Identified).metadata async for item in listed(reader, path, alive)]
    return sorted(f"{each.namespace}/{each.name}" for each in pods)


async def end_controllers(
    server: Server, namespace: str, deployment: str, *, wait: float, clock: Clock = seconds
) -> list[str]:
    """Delete the Deployment of the controllers, wait ``wait`` seconds for its pods to end, and return those left.

    It is deleted, and not scaled to none, so that helm makes it again as it was if the uninstallation is given up.
    Raises ApiError.
    """
    try:
        await server.delete(f"{DEPLOYMENT.path_in(namespace)}/{deployment}")
    except ApiError as failure:
        if failure.cause is not Cause.MISSING:
            raise
    until = clock() + wait
    while True:
        running = await running_controllers(server, namespace)
        if not running or clock() >= until:
            return running
        await asyncio.sleep(LOOK)
