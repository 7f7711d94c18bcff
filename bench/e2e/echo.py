"""The echo server (``bench.servers.echo``) behind a Service: it listens on an address of a pod, and can patch.

``python -m bench.e2e.echo ADDRESS PORT CERTIFICATE KEY`` answers until it is ended.
"""

import asyncio
import base64
import ssl
import sys
from typing import Final

import msgspec
import uvloop
from aiohttp import web

from bench.e2e.clients.pods import FAST
from bench.servers.echo import KEEP_ALIVE
from webhook.placement.text import keys

PATH: Final = "/mutate"
"""Allows every pod."""

PATCH_PATH: Final = "/patch"
"""Answers every pod with one constant patch, of the size of the webhook's: the floor of whatever changes pods."""

_UID: Final = b'"uid":"'
_UID_LENGTH: Final = 36
_BEFORE: Final = b'{"response":{"uid":"'
_AFTER: Final = b'","allowed":true},"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}'


def _patch() -> bytes:
    """An annotation, two labels and a node affinity, as of ``host(Fast)`` in base64."""
    term = {"matchExpressions": [{"key": keys.TAG, "operator": "In", "values": [FAST]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    steps = [
        ("metadata/annotations/example.invalid~1injected", '{"nodeAffinity":["host(Fast)"]}'),
        ("metadata/labels/example.invalid~1seal", "1490003281"),
        ("spec/affinity", {"nodeAffinity": required}),
    ]
    return base64.b64encode(msgspec.json.encode([{"op": "add", "path": f"/{path}", "value": to} for path, to in steps]))


_PATCHED: Final = (
    b'","allowed":true,"patchType":"JSONPatch","patch":"' + _patch() + _AFTER.replace(b'","allowed":true', b'"')
)
_ENDS: Final = {PATH: _AFTER, PATCH_PATH: _PATCHED}


async def _answer(request: web.Request) -> web.Response:
    body = await request.read()
    start = body.index(_UID) + len(_UID)
    answer = _BEFORE + body[start : start + _UID_LENGTH] + _ENDS[request.path]
    return web.Response(body=answer, content_type="application/json")


async def serve(address: str, port: int, certificate: str, key: str) -> None:
    """Answer until cancelled."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(certificate, key)
    # The API server sends pods of up to 3 MiB, this benchmark of 4 KB.
    app = web.Application()
    for path in _ENDS:
        app.router.add_post(path, _answer)
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=KEEP_ALIVE, handle_signals=True)
    await runner.setup()
    try:
        await web.TCPSite(runner, address, port, ssl_context=context).start()
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], int(sys.argv[2]), *sys.argv[3:5]))
