"""A server of the benchmark that prints its address and runs until it is stopped."""

import asyncio
import ssl

from aiohttp import web


async def stand(runner: web.AppRunner, context: ssl.SSLContext) -> None:
    """Answer on a free port of loopback until cancelled."""
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        host, port = runner.addresses[0][:2]
        print(f"ready https://{host}:{port}", flush=True)
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
