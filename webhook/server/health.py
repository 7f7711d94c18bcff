"""Handler of the plain HTTP port for health: ``/healthz``, ``/readyz``, ``/metrics``, and a profile if it is wanted."""

from typing import cast

from aiohttp import hdrs, web
from prometheus_client import CONTENT_TYPE_LATEST

from webhook.placement.text.problem import quote
from webhook.server.http.replies import SERVER, text
from webhook.server.metrics import Metrics
from webhook.server.profile import PAGE, ProfileError, Profiler
from webhook.server.reviews import Readiness


class Health:
    """Answers health checks: alive while the event loop runs, ready when ``ready`` returns ``None``; and metrics.

    With ``profile`` there is also a page that shows what the process spends its time on.
    """

    def __init__(self, ready: Readiness, metrics: Metrics, *, profile: bool = False) -> None:
        self._profiler = Profiler() if profile else None
        self._ready = ready
        self._metrics = metrics
        self._pages = {"/healthz": self._alive, "/readyz": self._readiness, "/metrics": self._metrics_text}

    async def __call__(self, request: web.BaseRequest, arrived: float) -> web.Response:  # noqa: ARG002 -- health checks have no deadline
        """The page of the request's path; 404 for any other path, 405 for other methods than GET and HEAD."""
        path, _, query = request.raw_path.partition("?")
        profiler = self._profiler if path == PAGE else None
        page = self._pages.get(path)
        if page is None and profiler is None:
            paths = (*self._pages, *([PAGE] if self._profiler else ()))
            return text(404, f"no such path: {quote(path)}; there are {', '.join(sorted(paths))}")
        if request.method not in {hdrs.METH_GET, hdrs.METH_HEAD}:
            reply = text(405, f"{quote(request.method)} is not allowed here; send a GET")
            reply.headers[hdrs.ALLOW] = f"{hdrs.METH_GET}, {hdrs.METH_HEAD}"
            return reply
        return page() if page else await _profile(cast("Profiler", profiler), query)

    def _alive(self) -> web.Response:
        return text(200, "ok")

    def _readiness(self) -> web.Response:
        reason = self._ready()
        return text(200, "ok") if reason is None else text(503, reason)

    def _metrics_text(self) -> web.Response:
        return web.Response(
            body=self._metrics.text(), headers={hdrs.CONTENT_TYPE: CONTENT_TYPE_LATEST, hdrs.SERVER: SERVER}
        )


async def _profile(profiler: Profiler, query: str) -> web.Response:
    try:
        return text(200, await profiler.take(query))
    except ProfileError as error:
        return text(error.code, str(error))
