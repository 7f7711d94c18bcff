"""A server on an aiohttp whose private attributes have other names: ``python -m tests.server.renamed_aiohttp FOLDER``.

Prints how requests of several kinds are answered. The names are changed in the source of aiohttp while it is imported.
"""
# ruff: noqa: T201 -- a program that prints what it finds

import asyncio
import importlib.abc
import importlib.machinery
import importlib.util
import logging
import os
import re
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

NAMES: Final = (
    "_messages", "_waiter", "_parser", "_buffer_paused", "_pause_reading_for_buffer", "_msg_queue_resume_size",
    "_reading_paused", "_next_keepalive_close_time", "_lingering_time", "message_consumed",
)  # fmt: skip


class _Renaming(importlib.machinery.SourceFileLoader):
    """Compiles a module of aiohttp with the other names."""

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_source(fullname)
        return compile(re.sub(rf"\b({'|'.join(NAMES)})\b", r"\1_of_another_version", source), self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if fullname.startswith("aiohttp.") and found and found.origin and found.origin.endswith(".py"):
            found.loader = _Renaming(fullname, found.origin)
        return found


async def main(folder: Path) -> None:
    """Ask in every way that the server treats differently."""
    from tests.server.pki import Authority  # noqa: PLC0415 -- after aiohttp was prepared
    from tests.server.running_server import limits, post, running  # noqa: PLC0415
    from webhook.settings import Settings  # noqa: PLC0415

    authority = Authority()
    cert, key = authority.issue().write(folder)
    settings = Settings(tls_cert=cert, tls_key=key, port=0, health_port=0, drain=0)
    async with running(settings, authority, bounds=limits(header_seconds=5.0)) as server:
        async with server.wire() as wire:
            wire.send(post())
            print("at once:", (await wire.reply()).status)
            wire.send(post()[:-1])
            await asyncio.sleep(0.05)
            wire.send(post()[-1:])
            print("in two pieces:", (await wire.reply()).status)
            wire.send(post() * 3)
            print("sent ahead:", *[(await wire.reply()).status for _ in range(3)])
            wire.send(post(b"x" * 1_000_000))
            print("1 MB:", (await wire.reply()).status)
        print("refused unread:", (await server.ask(post(b"x", Content_Length="100000000"))).status)
        print("metric:", server.figure("inline_answers"))


if __name__ == "__main__":
    os.environ["AIOHTTP_NO_EXTENSIONS"] = "1"  # the parser in C knows the names of its own
    sys.meta_path.insert(0, _Finder())
    logging.basicConfig(level=logging.WARNING)
    asyncio.run(main(Path(sys.argv[1])))
