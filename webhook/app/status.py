"""``status``: reads the state of a Job from the API server, once. ``cli/status`` shows it."""

import asyncio

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from webhook.app.cluster_source import configuration_of
from webhook.cluster.queries.job_view import JobView, read_job_view
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings


async def job_status(settings: Settings, namespace: str, name: str) -> JobView:
    """The Job with its HostPools, processing elements and pods.

    Raises UnknownJobError if it does not exist, FatalError if there is no cluster or a list cannot be read.
    """
    configuration = await asyncio.to_thread(configuration_of, settings)
    try:
        async with Connection(configuration) as connection:
            return await read_job_view(ObjectClient(connection), namespace, name)
    except ApiError as failure:
        raise FatalError(f"the Job could not be read: {failure}") from failure
