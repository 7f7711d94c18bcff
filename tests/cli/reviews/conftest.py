"""``explain --server`` meets an API server with a real certificate, which answers PlacementReviews as a test says."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubeapi.client.configuration import find_configuration
from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.server import ApiServer, Seen
from tests.cluster.live.conftest import _no_environment, authority, kubeconfig, pair, server_tls
from tests.golden.examples import EXAMPLES
from tests.server.pki import Pair
from webhook.app.review_requests import ServerReviewer
from webhook.cli import main

__all__ = ("_no_environment", "authority", "kubeconfig", "pair")

PATH = "/apis/placement.streams.ibm.com/v1/namespaces/{}/placementreviews"

Answer = Callable[[str, dict[str, Any]], dict[str, Any] | web.Response]


class ReviewServer:
    """The API server. ``answer`` makes the status of a review, by its namespace and spec, or the whole response.

    ``reviews`` are the bodies that came, and ``paths`` where.
    """

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.answer: Answer = lambda _namespace, _spec: {}
        self.reviews: list[dict[str, Any]] = []
        self.paths: list[str] = []
        server.before = self._before

    async def _before(self, seen: Seen) -> web.StreamResponse | None:
        if not seen.path.endswith("/placementreviews"):
            return None
        assert (seen.method, seen.headers.get("Authorization")) == ("POST", "Bearer secret")
        self.reviews.append(seen.json)
        self.paths.append(seen.path)
        said = self.answer(seen.path.split("/")[5], seen.json["spec"])
        return said if isinstance(said, web.Response) else web.json_response({**seen.json, "status": said}, status=201)


@pytest.fixture
async def reviews(pair: Pair, tmp_path: Path, kubeconfig: Kubeconfig) -> AsyncIterator[ReviewServer]:
    async with ApiServer(server_tls(pair, tmp_path)).running() as server:
        kubeconfig.server = server.url
        kubeconfig.write(token="secret")
        yield ReviewServer(server)


@pytest.fixture
def asked(
    reviews: ReviewServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """``explain --server`` with these words, run in the repository: exit code, standard output, standard error."""
    assert reviews
    monkeypatch.chdir(EXAMPLES.parent)

    async def run(*words: str) -> tuple[int, str, str]:
        code = await asyncio.to_thread(main, ["explain", "--server", *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
async def server_reviewer(reviews: ReviewServer) -> AsyncIterator[Callable[..., ServerReviewer]]:
    """Makes a reviewer that writes down how long it would wait."""
    async with Connection(find_configuration("test")) as connection:

        def made(waits: list[float]) -> ServerReviewer:
            async def sleep(seconds: float) -> None:
                waits.append(seconds)

            return ServerReviewer(ObjectClient(connection), sleep=sleep)

        assert reviews
        yield made
