"""TLS towards the API server."""

import ssl
from pathlib import Path


class ClientTls:
    """Makes an ``SSLContext`` of PEM files; a new one only when the files changed, as that needs new connections."""

    def __init__(self) -> None:
        self._known: tuple[bool | bytes, ...] = ()
        self._context: ssl.SSLContext | None = None

    def context(
        self,
        *,
        authority: str | Path | None = None,
        cert: str | Path | None = None,
        key: str | Path | None = None,
        verify: bool = True,
    ) -> ssl.SSLContext:
        """A context for what the files hold now; ``OSError`` if they cannot be read, or do not fit together."""
        held: tuple[bool | bytes, ...] = (verify, *map(_content, (authority, cert, key)))
        if self._context is None or held != self._known:
            context = ssl.create_default_context(cafile=authority or None)
            # Python 3.13 turns it on, and the authorities of older clusters lack the key identifiers that it wants.
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            if not verify:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            if cert:
                context.load_cert_chain(cert, key or None)
            self._known, self._context = held, context
        return self._context


def _content(path: str | Path | None) -> bytes:
    return Path(path).read_bytes() if path else b""
