"""An API server for one client: lists in compressed pages, and watches without events.

The lists are the files of a snapshot folder, one in each page. Run as
``python -m bench.servers.listing FOLDER CERTIFICATE KEY [AUTHORITY]``; prints one line as soon as it answers, like the
product. With the authority of a front proxy it publishes that one, and allows everything to everyone.
"""

import asyncio
import gzip
import ssl
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import msgspec
import uvloop
from aiohttp import web

from bench.servers.standing import stand
from webhook.aggregated import front_proxy
from webhook.cluster.objects.kinds import KINDS
from webhook.cluster.queries.lookups import authorization

VERSION: Final = "1000"
"""The version that everything has for ever."""

_END: Final = b',"metadata":{"resourceVersion":""}}'
"""How ``generator.pages`` ends every file."""

_EMPTY: Final = b'{"items":[]' + _END

_LEVEL: Final = 1
"""The API server's own level is 4: that takes a while, and the client sees no difference."""


def page(files: list[Path], number: int) -> bytes:
    """One page as the API server words it; an empty one where there are no files."""
    content = files[number].read_bytes() if files else _EMPTY
    following = str(number + 1) if number + 1 < len(files) else ""
    metadata = msgspec.json.encode({"resourceVersion": VERSION, "continue": following})
    return content.removesuffix(_END) + b',"metadata":' + metadata + b"}"


def _handler(files: list[Path]) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            await response.prepare(request)
            await asyncio.sleep(float(request.query["timeoutSeconds"]))
            return response
        body = page(files, int(request.query.get("continue", "0")))
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        return web.Response(body=gzip.compress(body, _LEVEL), headers=headers)

    return answer


def _files(folder: Path, resource: str) -> list[Path]:
    return sorted(folder.glob(f"{resource}-*.json"))


async def _config_map(authority: str) -> web.Response:
    data = {"requestheader-client-ca-file": authority, "requestheader-username-headers": '["X-Remote-User"]'}
    return web.json_response({"data": data})


async def _allowed(_: web.Request) -> web.Response:
    return web.json_response({"status": {"allowed": True}}, status=201)


async def serve(folder: Path, certificate: str, key: str, authority: str = "") -> None:
    """Answer on a free port of loopback until cancelled."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    app = web.Application()
    for kind in KINDS:
        app.router.add_get(kind.path, _handler(_files(folder, kind.resource)))
    if authority:
        app.router.add_get(front_proxy.PATH, lambda _: _config_map(authority))
        app.router.add_post(authorization.PATH, _allowed)
    runner = web.AppRunner(app, access_log=None, handle_signals=True, shutdown_timeout=0)
    await stand(runner, context)


if __name__ == "__main__":
    of_front_proxy = Path(sys.argv[4]).read_text(encoding="ascii") if sys.argv[4:] else ""
    uvloop.run(serve(Path(sys.argv[1]), *sys.argv[2:4], of_front_proxy))
