"""Requests are tested on the loop that serves in production, against a server with a real certificate."""

from tests.cluster.live.conftest import (
    _no_environment,
    authority,
    kubeconfig,
    objects,
    pair,
    pytest_asyncio_loop_factories,
    server,
)

__all__ = (
    "_no_environment",
    "authority",
    "kubeconfig",
    "objects",
    "pair",
    "pytest_asyncio_loop_factories",
    "server",
)
