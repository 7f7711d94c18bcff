"""The server of tools is asked by the client of the SDK, over standard input and output."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.reviews.conftest import _no_environment, authority, kubeconfig, pair, reviews
from tests.golden.examples import EXAMPLES

if TYPE_CHECKING:
    from mcp import Client

__all__ = ("_no_environment", "authority", "kubeconfig", "pair", "reviews")

Started = Callable[..., AbstractAsyncContextManager["Client"]]


@pytest.fixture
def started() -> Started:
    """A client of ``streams-placement mcp`` with these words, in a process of its own."""
    # The SDK takes each worker a second to import, and a conftest is imported by all of them.
    from mcp import Client  # noqa: PLC0415
    from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415

    @asynccontextmanager
    async def start(*words: str, **environment: str) -> AsyncIterator["Client"]:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "webhook", "mcp", *words],
            env={name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")} | environment,
            cwd=EXAMPLES.parent,
        )
        async with Client(stdio_client(parameters)) as client:
            yield client

    return start


def failed(answer: Any) -> str:
    """The text of an answer that is an error."""
    assert (answer.is_error, answer.structured_content) == (True, None)
    return str(answer.content[0].text)
