"""``LeaseWatch``: tells a candidate at once that the Lease was written, by a watch of that one object.

A candidate that only looks at the Lease from time to time sees late that it was released, and counts its duration from
the look instead of the last renewal. No decision relies on the watch: what it tells is that a look is worth while. So
its failures cost time, and nothing else.
"""

import asyncio
import logging
from typing import Final, NoReturn

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause
from kubeapi.leaderelection.lease import API

WATCH: Final = 50
"""Seconds after which the API server ends a watch, so that a connection that died silently is replaced."""

SILENCE: Final = 55.0
"""Seconds without a byte after which the connection is taken for dead."""

PAUSE: Final = 2.0
"""Seconds between two watches."""

_log: Final = logging.getLogger(__name__)


class LeaseWatch:
    """Watches the Lease ``namespace/name``, and sets ``changed`` whenever it was written."""

    def __init__(
        self, connection: Connection, changed: asyncio.Event, *, namespace: str, name: str, pause: float = PAUSE
    ) -> None:
        self._changed = changed
        self._connection = connection
        self._path = f"/apis/{API}/namespaces/{namespace}/leases"
        self._query = {"watch": "true", "fieldSelector": f"metadata.name={name}", "timeoutSeconds": str(WATCH)}
        self._pause = pause
        self._told = False

    async def run(self) -> NoReturn:
        """Watch until cancelled."""
        while True:
            try:
                async with self._connection.get(self._path, self._query, silence=SILENCE) as response:
                    async for _ in response.content.iter_any():
                        self._changed.set()
            except ApiError as failure:
                self._explain(failure)
            await asyncio.sleep(self._pause)

    def _explain(self, failure: ApiError) -> None:
        """Log that a right is missing, once; other failures are those of the looks at the Lease, too."""
        if failure.cause is Cause.FORBIDDEN and not self._told:
            self._told = True
            _log.warning("the lease is not watched, so a change of leaders takes longer: %s", failure)
