"""A process that takes part in leader election: ``python -m tests.e2e.election.elector NAMESPACE NAME``.

It writes while it leads: it counts in the ConfigMap ``count``, under its own name and without a resource version, so
that only the fence keeps it from writing when it does not lead any more. The configuration is that of the environment.
"""

import asyncio
import signal
import sys
from typing import Final, NoReturn

from kubeapi.client.configuration import find_configuration
from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from kubeapi.leaderelection.election import Election
from kubeapi.leaderelection.lease_hold import LostError
from kubeapi.leaderelection.lease_timing import LeaseTiming
from tests.e2e.progress import say

TERMS: Final = LeaseTiming(lease=6, deadline=4.0, retry=0.8)
"""The shape of the usual ones, in less than half the time."""

LOST: Final = 3
"""Exit code of one that has lost its lead."""

SEEN: Final = "seen"
"""What one says that has seen the lease."""

_PACE: Final = 0.02


class Looking(ObjectClient):
    """Says when it has seen something."""

    async def read(self, path: str) -> bytes:
        """The object, and a word about it."""
        found = await super().read(path)
        say(SEEN)
        return found


async def stand(namespace: str, name: str) -> None:
    """Count while leading, until a signal says stop."""
    async with Connection(find_configuration()) as connection:
        election = Election(Looking(connection), namespace=namespace, name="count", identity=name, timing=TERMS)
        writes = ObjectClient(connection, fence=election.check)

        async def count() -> NoReturn:
            number = 0
            while True:
                number += 1
                await writes.merge_patch(
                    f"/api/v1/namespaces/{namespace}/configmaps/count", {"data": {name: str(number)}}
                )
                await asyncio.sleep(_PACE)

        await election.run(count)


async def main(namespace: str, name: str) -> int:
    """Be it; the exit code."""
    task = asyncio.create_task(stand(namespace, name))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await task
    except LostError:
        return LOST
    except asyncio.CancelledError:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
