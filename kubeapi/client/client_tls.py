"""``ClientTls``: the TLS context for connections to the API server, from files of an authority, certificate and key.

Each ``ServiceAccount`` and each ``Kubeconfig`` has one.
"""

import ssl
from pathlib import Path


class ClientTls:
    """Makes an ``SSLContext`` of PEM files.

    A new context is made only if the files have changed, because connections are not shared between contexts.
    """

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
        """The context for the present contents of the files.

        Without ``authority`` the authorities of the system are trusted; without ``cert`` the ``key`` is not used.
        Raises ``OSError`` if a file cannot be read, or if the key does not belong to the certificate.
        """
        contents: tuple[bool | bytes, ...] = (verify, *map(_content, (authority, cert, key)))
        if self._context is None or contents != self._known:
            context = ssl.create_default_context(cafile=authority or None)
            # Python 3.13 sets this flag; authorities of older clusters lack the key identifiers that the flag requires.
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            if not verify:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            if cert:
                context.load_cert_chain(cert, key or None)
            self._known, self._context = contents, context
        return self._context


def _content(path: str | Path | None) -> bytes:
    return Path(path).read_bytes() if path else b""
