"""Server TLS contexts, made from certificate and key in memory, so that the bytes that were checked are served."""

import contextlib
import os
import ssl
import tempfile
from collections.abc import Iterator

from cryptography import x509


class UnusableError(ValueError):
    """A certificate, key or authority cannot be used; the text is a clause that says why."""


def context(chain: bytes, key: bytes, client_ca: bytes | None = None, *, demanded: bool = True) -> ssl.SSLContext:
    """A server's TLS context for this PEM chain and key; raises :class:`UnusableError` if these cannot be used.

    With ``client_ca``, clients must show a certificate that one of its authorities issued; unless it is ``demanded``
    they may also show none. TLS 1.2 or later, HTTP/1.1, and no session tickets: connections live long, and a resumed
    session would not be checked against a replaced ``client_ca``.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    made.num_tickets = 0
    made.set_alpn_protocols(["http/1.1"])
    try:
        with _path(chain) as chain_path, _path(key) as key_path:
            made.load_cert_chain(chain_path, key_path, password=_no_password)
    except ssl.SSLError as trouble:
        mismatch = trouble.reason == "KEY_VALUES_MISMATCH"
        reason = (
            "the key does not belong to the certificate" if mismatch else "certificate or key is not PEM, or truncated"
        )
        raise UnusableError(reason) from trouble
    if client_ca is not None:
        made.verify_mode = ssl.CERT_REQUIRED if demanded else ssl.CERT_OPTIONAL
        _trust(made, client_ca)
    return made


def authorities(client_ca: bytes) -> None:
    """Raise :class:`UnusableError` if clients cannot be checked against these authorities."""
    _trust(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), client_ca)


def expiry(chain: bytes) -> float:
    """When the first certificate of the PEM chain expires, in seconds since 1970; may raise :class:`UnusableError`."""
    try:
        return x509.load_pem_x509_certificate(chain).not_valid_after_utc.timestamp()
    except ValueError as trouble:
        raise UnusableError("the certificate has no expiry date") from trouble


def _trust(context: ssl.SSLContext, client_ca: bytes) -> None:
    try:
        context.load_verify_locations(cadata=client_ca.decode("ascii"))
    except (ssl.SSLError, ValueError) as trouble:
        raise UnusableError("the authorities for clients are not PEM, or truncated") from trouble


@contextlib.contextmanager
def _path(content: bytes) -> Iterator[str]:
    """A path from which exactly these bytes are read, because OpenSSL loads a chain and its key from paths only.

    On Linux the path is that of a file in memory, so a private key is not copied to a disk, and no writable folder is
    needed. On other systems the path is that of a temporary file that only this user can read.
    """
    if not hasattr(os, "memfd_create"):
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            yield file.name
        return
    descriptor = os.memfd_create("pem")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as memory:
            memory.write(content)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


def _no_password() -> str:
    """Raise :class:`UnusableError`: without this callback OpenSSL would ask for the password at the terminal."""
    raise UnusableError("the key is encrypted, and no password is available")
