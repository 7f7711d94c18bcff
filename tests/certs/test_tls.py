"""Real handshakes over loopback with what ``create`` wrote."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from certs.names import LOOPBACK, service_names
from tests.certs.samples import created

PATIENCE = 5.0

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pair")
    created(path, now=datetime.now(UTC), names=service_names("web", "ns") + LOOPBACK)
    return path


def client(authority: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority))
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_STRICT
    return context


@contextlib.contextmanager
def server(folder: Path) -> Iterator[int]:
    """A port of 127.0.0.1 that takes one handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)
        thread = threading.Thread(target=serve_once, args=(listener, context))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            thread.join()


def serve_once(listener: socket.socket, context: ssl.SSLContext) -> None:
    connection, _ = listener.accept()
    connection.settimeout(PATIENCE)
    # A client that rejects us ends the handshake: that is what some tests want.
    with connection, contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as tls:
        tls.sendall(b"hello")


def greet(folder: Path, name: str, authority: Path) -> bytes:
    with (
        server(folder) as port,
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection,
        client(authority).wrap_socket(connection, server_hostname=name) as tls,
    ):
        return tls.recv(5)


@pytest.mark.parametrize(
    "name", ["web.ns.svc", "web.ns.svc.cluster.local", "web", "web.ns", "localhost", "127.0.0.1", "::1"]
)
def test_every_name_of_the_leaf_is_accepted(folder: Path, name: str) -> None:
    assert greet(folder, name, folder / "ca.crt") == b"hello"


@pytest.mark.parametrize("name", ["other.ns.svc", "web.other.svc", "127.0.0.2"])
def test_another_name_is_rejected(folder: Path, name: str) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match=r"mismatch|not valid for"):
        greet(folder, name, folder / "ca.crt")


def test_without_the_authority_the_leaf_is_rejected(folder: Path, tmp_path: Path) -> None:
    created(tmp_path / "other", now=datetime.now(UTC))
    with pytest.raises(ssl.SSLCertVerificationError, match="unable to get local issuer"):
        greet(folder, "localhost", tmp_path / "other" / "ca.crt")


def test_a_bundle_of_two_authorities_accepts_the_leaves_of_both(folder: Path, tmp_path: Path) -> None:
    created(tmp_path / "other", now=datetime.now(UTC))
    bundle = tmp_path / "bundle.crt"
    bundle.write_bytes((tmp_path / "other" / "ca.crt").read_bytes() + (folder / "ca.crt").read_bytes())
    answers = [greet(pair, "localhost", bundle) for pair in (folder, tmp_path / "other")]
    assert answers == [b"hello", b"hello"]


def test_a_leaf_of_the_same_authority_needs_no_new_trust(tmp_path: Path) -> None:
    pair = tmp_path / "pair"
    first = created(pair, now=datetime.now(UTC))
    trusted = tmp_path / "trusted.crt"
    trusted.write_bytes((pair / "ca.crt").read_bytes())
    second = created(pair, now=datetime.now(UTC), names=service_names("late", "ns"))
    assert first.leaf != second.leaf
    assert greet(pair, "late.ns.svc", trusted) == b"hello"
