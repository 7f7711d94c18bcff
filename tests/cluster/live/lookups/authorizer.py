"""Who may use which pool, as far as tests say."""

from aiohttp import web

from tests.apiserver.server import ApiServer, Seen
from webhook.cluster.queries.lookups.authorization import PATH


class FakeAuthorizer:
    """A stand-in for the API server's authorizer, on an :class:`ApiServer`: who may use which pool."""

    def __init__(self, server: ApiServer) -> None:
        self.granted: set[tuple[str, str]] = set()
        self.asked: list[dict[str, object]] = []
        server.before = self._answer

    async def _answer(self, seen: Seen) -> web.StreamResponse | None:
        assert (seen.method, seen.path) == ("POST", PATH)
        self.asked.append(seen.json)
        spec = seen.json["spec"]
        return web.json_response(
            {"status": {"allowed": (spec["user"], spec["resourceAttributes"]["name"]) in self.granted}}
        )
