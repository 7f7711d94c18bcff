"""``ClientTls``: the TLS context for connections to the API server, from PEM texts of authority, certificate and key.

Each ``ServiceAccount`` and each ``Kubeconfig`` has one.
"""

import ssl
import tempfile
from pathlib import Path


class ClientTls:
    """Makes an ``SSLContext`` of PEM texts.

    A new context is made only if the texts have changed, because connections are not shared between contexts.
    """

    def __init__(self) -> None:
        self._known: tuple[bool | bytes, ...] = ()
        self._context: ssl.SSLContext | None = None

    def context(
        self, *, authority: bytes = b"", cert: bytes = b"", key: bytes = b"", verify: bool = True
    ) -> ssl.SSLContext:
        """The context for these texts.

        Without ``authority`` the authorities of the system are trusted; without ``cert`` the ``key`` is not used.
        Raises ``OSError`` if the key does not belong to the certificate, and ``ValueError`` if there is no certificate
        in ``authority``, or if the key is encrypted.
        """
        contents: tuple[bool | bytes, ...] = (verify, authority, cert, key)
        if self._context is None or contents != self._known:
            context = _trusting(authority)
            # Python 3.13 sets this flag; authorities of older clusters lack the key identifiers that the flag requires.
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            if not verify:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            if cert:
                _load(context, cert, key)
            self._known, self._context = contents, context
        return self._context


def _trusting(authority: bytes) -> ssl.SSLContext:
    # Text around the certificates is a comment, in any encoding; Python takes ASCII only.
    try:
        return ssl.create_default_context(cadata=authority.decode("ascii", "ignore") if authority else None)
    except ssl.SSLError:
        raise ValueError("the certificate authority holds no certificate in PEM") from None


def _load(context: ssl.SSLContext, cert: bytes, key: bytes) -> None:
    """Load a certificate and its key. Python reads them only from a file, which is private and soon deleted."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "client.pem"
        file.touch(mode=0o600)
        file.write_bytes(cert + b"\n" + key)
        context.load_cert_chain(file, password=_no_password)


def _no_password() -> str:
    """Called for an encrypted key; without it OpenSSL would ask the terminal, and a server would wait forever."""
    raise ValueError("the client key is encrypted; store it without a password")
