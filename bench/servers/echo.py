"""The server that the webhook is compared with: aiohttp and uvloop over TLS, one route, a constant answer with the uid.

It decodes only the uid and decides nothing, so the difference to it is what the webhook's own code costs. Run as
``python -m bench.servers.echo CERTIFICATE KEY``; prints one line as soon as it answers, like the product.
"""

import ssl
import sys

import uvloop
from aiohttp import web

from bench.servers.standing import stand

KEEP_ALIVE = 3630.0
"""Seconds an idle connection is kept: as long as the product keeps it."""

_UID = b'"uid":"'
_UID_LENGTH = 36
_BEFORE = b'{"response":{"uid":"'
_AFTER = b'","allowed":true},"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}'


async def _answer(request: web.Request) -> web.Response:
    body = await request.read()
    start = body.index(_UID) + len(_UID)
    answer = _BEFORE + body[start : start + _UID_LENGTH] + _AFTER
    return web.Response(body=answer, content_type="application/json")


async def serve(certificate: str, key: str) -> None:
    """Answer on a free port of loopback until cancelled."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(certificate, key)
    app = web.Application()
    app.router.add_post("/mutate", _answer)
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=KEEP_ALIVE, handle_signals=True)
    await stand(runner, context)


if __name__ == "__main__":
    uvloop.run(serve(*sys.argv[1:3]))
