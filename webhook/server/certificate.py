"""The key pair in use, and its replacement while running (modelled on controller-runtime's certwatcher).

A changed pair serves new connections once all of it is there and fits; until then the last good one does. At the start
there may be none yet: a Secret that is still to be written, or that lacks a key. The program waits for it, unready.
"""

import asyncio
import logging
import ssl
import time
from pathlib import Path
from typing import Final

from msgspec import Struct

from webhook.server import tls
from webhook.server.fatal_error import FatalError
from webhook.server.metrics import Metrics

SIZE_LIMIT: Final = 1024 * 1024
"""Bytes read of a file: a Kubernetes secret holds no more."""

POLL_SECONDS: Final = 1.0
"""Three ``stat`` calls a second cost nothing, and see through the symlinks by which Kubernetes swaps a secret."""

PairSignature = tuple[tuple[int, int, int] | None, ...]

_log = logging.getLogger(__name__)


class Files(Struct, frozen=True):
    """Where the PEM files are; ``client_ca`` holds the authorities that must vouch for clients, if any must."""

    cert: Path
    key: Path
    client_ca: Path | None = None

    def signature(self) -> PairSignature:
        """Changes when a file does: time, size and inode of each, ``None`` where there is no file."""
        return tuple(_state(path) for path in (self.cert, self.key, self.client_ca) if path is not None)

    def load(self) -> tuple[ssl.SSLContext, float]:
        """A context for what the files hold now, and when the certificate expires, in seconds since 1970."""
        chain, key = _read(self.cert), _read(self.key)
        client_ca = None if self.client_ca is None else _read(self.client_ca)
        context = tls.context(chain, key, client_ca)
        expires = tls.expiry(chain)
        if expires <= time.time():
            raise tls.UnusableError(f"the certificate expired at {tls.date(expires)}")
        return context, expires

    def __str__(self) -> str:
        """As a subject for a sentence."""
        return ", ".join(str(path) for path in (self.cert, self.key, self.client_ca) if path is not None)


class Certificate:
    """The TLS context that the files made last; at the start none, until they hold a pair that can be used."""

    def __init__(self, files: Files, metrics: Metrics) -> None:
        self._files = files
        self._failures = metrics.reload_failures
        self._signature: PairSignature | None = None
        self._context: ssl.SSLContext | None = None
        self._trouble = ""
        self.expires = 0.0
        """When the certificate expires, in seconds since 1970; 0 while there is none."""
        self.refresh()
        metrics.gauge(
            "certificate_expiry_seconds",
            "When the serving certificate expires, in seconds since 1970; 0 while there is none.",
            lambda: self.expires,
        )

    @property
    def context(self) -> ssl.SSLContext:
        """What the next handshake is made with; Trouble while there is nothing to serve."""
        if self._context is None:
            raise FatalError(str(self.reason()))
        return self._context

    def reason(self) -> str | None:
        """Why nothing can be served; ``None`` if it can. Once there was a usable pair there always is one."""
        return None if self._context else f"cannot serve TLS with {self._files}: {self._trouble}"

    def refresh(self) -> None:
        """Take what the files hold, if they changed since the last look and it can be used."""
        signature = self._files.signature()
        if self._context is not None and signature == self._signature:
            return
        self._signature = signature  # before reading: whatever is written from now on is seen at the next look
        try:
            context, self.expires = self._files.load()
        except tls.UnusableError as trouble:
            self._tell(str(trouble))
            return
        if self._context or self._trouble:
            _log.info("serving a new certificate, which expires at %s", tls.date(self.expires))
        self._context = context

    async def watch(self, seconds: float = POLL_SECONDS) -> None:
        """Refresh for ever, once in so many seconds."""
        while True:
            await asyncio.sleep(seconds)
            self.refresh()

    def _tell(self, trouble: str) -> None:
        """Say what is wrong: once a change, and while nothing is served yet once a reason."""
        if self._context is not None:
            self._failures.inc()
            _log.warning("%s changed and cannot be used, so the last good pair keeps serving: %s", self._files, trouble)
        elif trouble != self._trouble:
            self._trouble = trouble
            self._failures.inc()
            _log.warning("%s; unready until it can be used", self.reason())


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
    except OSError as trouble:
        raise tls.UnusableError(f"{path}: {trouble.strerror}") from trouble
    if len(content) > SIZE_LIMIT:
        raise tls.UnusableError(f"{path} is over 1 MiB")
    return content
