"""The serving certificate, reloaded when its files change (modelled on controller-runtime's certwatcher).

A changed pair serves new connections as soon as certificate and key are both there and belong together; until then the
last good pair is served. At the start there may be no usable pair: the Secret is not written yet, or lacks a key. The
server is unready until there is one.
"""

import asyncio
import logging
import ssl
import time
from pathlib import Path
from typing import Final

from msgspec import Struct

from webhook.placement.kube.timestamps import timestamp
from webhook.server import tls
from webhook.server.fatal_error import FatalError
from webhook.server.metrics import Metrics

SIZE_LIMIT: Final = 1024 * 1024
"""Bytes read of a file: a Kubernetes Secret holds at most 1 MiB."""

POLL_SECONDS: Final = 1.0
"""Three ``stat`` calls a second cost nothing, and follow the symlinks by which the kubelet swaps a mounted Secret."""

PairSignature = tuple[tuple[int, int, int] | None, ...]
"""Modification time in ns, size and inode of each file; ``None`` for a file that does not exist."""

_log = logging.getLogger(__name__)


class Files(Struct, frozen=True):
    """Paths of the PEM files; clients must show a certificate of an authority in ``client_ca``, if that is given."""

    cert: Path
    key: Path
    client_ca: Path | None = None

    def signature(self) -> PairSignature:
        """A value that changes whenever one of the files changes."""
        return tuple(_state(path) for path in (self.cert, self.key, self.client_ca) if path is not None)

    def load(self, invited: bytes | None = None) -> tuple[ssl.SSLContext, float]:
        """A TLS context of what the files hold now, and when the certificate expires, in seconds since 1970.

        Without ``client_ca`` clients may show a certificate of the authorities in ``invited``, and need not. Raises
        :class:`tls.UnusableError` if a file cannot be read, or the pair cannot serve.
        """
        chain, key = _read(self.cert), _read(self.key)
        client_ca = invited if self.client_ca is None else _read(self.client_ca)
        context = tls.context(chain, key, client_ca, demanded=self.client_ca is not None)
        expires = tls.expiry(chain)
        if expires <= time.time():
            raise tls.UnusableError(f"the certificate expired at {timestamp(expires)}")
        return context, expires

    def __str__(self) -> str:
        """The paths, separated by commas, for messages."""
        return ", ".join(str(path) for path in (self.cert, self.key, self.client_ca) if path is not None)


class CertificateWatcher:
    """The TLS context of the last usable pair that the files held; none until they hold a usable pair."""

    def __init__(self, files: Files, metrics: Metrics) -> None:
        self._files = files
        self._failures = metrics.counts(
            "certificate_reload_failures",
            "Changed certificate files that could not be used; the last good pair keeps serving.",
        )
        self._signature: PairSignature | None = None
        self._context: ssl.SSLContext | None = None
        self._problem = ""
        self.expires = 0.0
        """When the certificate expires, in seconds since 1970; 0 without one."""
        self.refresh()
        metrics.gauge(
            "certificate_expiry_seconds",
            "When the serving certificate expires, in seconds since 1970; 0 without one.",
            lambda: self.expires,
        )

    @property
    def context(self) -> ssl.SSLContext:
        """The context for the next handshake; raises :class:`FatalError` without a usable pair."""
        if self._context is None:
            raise FatalError(str(self.reason()))
        return self._context

    def reason(self) -> str | None:
        """Why TLS cannot be served; ``None`` if it can, which stays so after the first usable pair."""
        return None if self._context else f"cannot serve TLS with {self._files}: {self._problem}"

    def refresh(self) -> None:
        """Read the files if they changed since the last look, and serve their pair from now on if it is usable."""
        signature = self._files.signature()
        if self._context is not None and signature == self._signature:
            return
        self._signature = signature  # taken before the files are read: a write from now on is seen at the next look
        try:
            context, self.expires = self._files.load()
        except tls.UnusableError as error:
            self._report(str(error))
            return
        if self._context or self._problem:
            _log.info("serving a new certificate, which expires at %s", timestamp(self.expires))
        self._context = context

    async def watch(self, seconds: float = POLL_SECONDS) -> None:
        """Call :meth:`refresh` once in so many seconds, until cancelled."""
        while True:
            await asyncio.sleep(seconds)
            self.refresh()

    def _report(self, problem: str) -> None:
        """Log and count an unusable pair: once for each change, and while nothing is served once for each problem."""
        if self._context is not None:
            self._failures.count()
            _log.warning("%s changed and cannot be used, so the last good pair keeps serving: %s", self._files, problem)
        elif problem != self._problem:
            self._problem = problem
            self._failures.count()
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
    except OSError as error:
        raise tls.UnusableError(f"{path}: {error.strerror}") from error
    if len(content) > SIZE_LIMIT:
        raise tls.UnusableError(f"{path} is over 1 MiB")
    return content
