"""The echo server (``bench.echo``) behind a Service: it listens on an address of a pod.

``python -m bench.e2e.echo ADDRESS PORT CERTIFICATE KEY`` answers until it is ended.
"""

import asyncio
import ssl
import sys
from typing import Final

import uvloop
from aiohttp import web

from bench.echo import KEEP_ALIVE

PATH: Final = "/mutate"

_UID: Final = b'"uid":"'
_UID_LENGTH: Final = 36
_BEFORE: Final = b'{"response":{"uid":"'
_AFTER: Final = b'","allowed":true},"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}'


async def _answer(request: web.Request) -> web.Response:
    body = await request.read()
    start = body.index(_UID) + len(_UID)
    answer = _BEFORE + body[start : start + _UID_LENGTH] + _AFTER
    return web.Response(body=answer, content_type="application/json")


async def serve(address: str, port: int, certificate: str, key: str) -> None:
    """Answer until cancelled."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(certificate, key)
    # The API server sends pods of up to 3 MiB, this benchmark of 4 KB.
    app = web.Application()
    app.router.add_post(PATH, _answer)
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=KEEP_ALIVE, handle_signals=True)
    await runner.setup()
    try:
        await web.TCPSite(runner, address, port, ssl_context=context).start()
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], int(sys.argv[2]), *sys.argv[3:5]))
