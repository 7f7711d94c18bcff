"""The key pair: what is waited for at the start, and what a change of the files does."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.server.pki import DAY, NOW, Authority, Pair, pem
from webhook.server import tls
from webhook.server.certificate import CertificateWatcher, Files
from webhook.server.fatal_error import FatalError
from webhook.server.metrics import Metrics


@pytest.fixture
def files(authority: Authority, tmp_path: Path) -> Files:
    cert, key = authority.issue().write(tmp_path)
    return Files(cert=cert, key=key)


def failures(metrics: Metrics) -> float | None:
    """How many changes could not be used."""
    return metrics.registry.get_sample_value("streams_placement_certificate_reload_failures_total")


def expiry(metrics: Metrics) -> float | None:
    """When the certificate expires, as the metric has it."""
    return metrics.registry.get_sample_value("streams_placement_certificate_expiry_seconds")


ENCRYPTED = pem(ec.generate_private_key(ec.SECP256R1()), password=b"secret")


@pytest.mark.parametrize(
    ("cert", "key", "client_ca", "reason"),
    [
        pytest.param(None, b"", None, "{cert}: No such file or directory", id="no certificate"),
        pytest.param(b"", b"", None, "certificate or key is not PEM, or truncated", id="empty files"),
        pytest.param(b"-----BEGIN", b"", None, "certificate or key is not PEM, or truncated", id="half a certificate"),
        pytest.param(b"x" * 1024 * 1025, b"", None, "{cert} is over 1 MiB", id="a huge file"),
        pytest.param("good", "other", None, "the key does not belong to the certificate", id="mismatch"),
        pytest.param("good", b"x", None, "certificate or key is not PEM, or truncated", id="no key in the file"),
        pytest.param(
            "good",
            ENCRYPTED,
            None,
            "the key is encrypted, and no password is available",
            id="encrypted key",
        ),
        pytest.param("trusted", "good", None, "the certificate has no expiry date", id="OpenSSL's own format"),
        pytest.param("expired", "expired", None, "the certificate expired at {expired}", id="expired"),
        pytest.param(
            "good", "good", b"", "the authorities for clients are not PEM, or truncated", id="empty client authorities"
        ),
        pytest.param(
            "good",
            "good",
            b"x",
            "the authorities for clients are not PEM, or truncated",
            id="garbage client authorities",
        ),
        pytest.param(
            "good",
            "good",
            b"\xff",
            "the authorities for clients are not PEM, or truncated",
            id="binary client authorities",
        ),
    ],
)
def test_without_a_usable_pair_it_is_said_once_why_and_the_next_good_one_is_taken(
    *,
    authority: Authority,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    cert: str | bytes | None,
    key: str | bytes,
    client_ca: bytes | None,
    reason: str,
) -> None:
    yesterday = NOW - DAY
    good = authority.issue()
    trusted = Pair(good.cert.replace(b" CERTIFICATE", b" TRUSTED CERTIFICATE"), good.key)
    pairs = {
        "good": good,
        "other": authority.issue(),
        "expired": authority.issue(expires=yesterday),
        "trusted": trusted,
    }
    files = Files(
        cert=tmp_path / "tls.crt",
        key=tmp_path / "tls.key",
        client_ca=None if client_ca is None else tmp_path / "ca.crt",
    )
    if cert is not None:
        files.cert.write_bytes(pairs[cert].cert if isinstance(cert, str) else cert)
    files.key.write_bytes(pairs[key].key if isinstance(key, str) else key)
    if files.client_ca is not None and client_ca is not None:
        files.client_ca.write_bytes(client_ca)
    metrics = Metrics()
    certificate = CertificateWatcher(files, metrics)
    certificate.refresh()
    wanted = reason.format(cert=files.cert, expired=f"{yesterday:%Y-%m-%dT%H:%M:%SZ}")
    assert certificate.reason() == f"cannot serve TLS with {files}: {wanted}"
    with pytest.raises(FatalError, match=r"^cannot serve TLS with "):
        _ = certificate.context
    assert caplog.messages == [f"{certificate.reason()}; unready until it can be used"]
    assert (failures(metrics), expiry(metrics)) == (1, 0)
    authority.issue().write(tmp_path)
    if files.client_ca is not None:
        files.client_ca.write_bytes(authority.cert)
    certificate.refresh()
    assert (certificate.reason(), bool(certificate.context)) == (None, True)
    assert expiry(metrics) == (NOW + DAY).timestamp()


def test_another_reason_is_said_as_well_while_there_is_no_pair(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = Files(cert=tmp_path / "tls.crt", key=tmp_path / "tls.key")
    certificate = CertificateWatcher(files, Metrics())
    files.cert.write_bytes(b"")
    for _ in range(3):
        certificate.refresh()
    assert [message.partition(": ")[2] for message in caplog.messages] == [
        f"{files.cert}: No such file or directory; unready until it can be used",
        f"{files.key}: No such file or directory; unready until it can be used",
    ]


def test_what_becomes_readable_without_a_change_is_taken(
    files: Files, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody gives the right to read the files: neither their time nor their size tells of it."""
    caplog.set_level(logging.INFO)

    def forbidden(*_: object) -> bytes:
        raise tls.UnusableError("Permission denied")

    with monkeypatch.context() as denied:
        denied.setattr("webhook.server.certificate._read", forbidden)
        certificate = CertificateWatcher(files, Metrics())
    assert certificate.reason() is not None
    certificate.refresh()
    assert certificate.reason() is None
    assert caplog.messages[1:] == [f"serving a new certificate, which expires at {NOW + DAY:%Y-%m-%dT%H:%M:%SZ}"]


def test_the_expiry_is_a_metric(files: Files) -> None:
    metrics = Metrics()
    CertificateWatcher(files, metrics)
    assert expiry(metrics) == (NOW + DAY).timestamp()


def test_unchanged_files_change_nothing(files: Files) -> None:
    certificate = CertificateWatcher(files, Metrics())
    before = certificate.context
    certificate.refresh()
    assert certificate.context is before


def test_a_new_pair_is_taken(files: Files, authority: Authority, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    certificate = CertificateWatcher(files, Metrics())
    authority.issue(expires=NOW + 2 * DAY).write(files.cert.parent)
    certificate.refresh()
    assert certificate.expires == (NOW + 2 * DAY).timestamp()
    assert caplog.messages == [f"serving a new certificate, which expires at {NOW + 2 * DAY:%Y-%m-%dT%H:%M:%SZ}"]


def test_a_swap_of_symlinks_is_seen(authority: Authority, tmp_path: Path) -> None:
    """Kubernetes replaces a mounted secret by renaming a link to the folder with the new files."""
    for name, days in (("old", 1), ("new", 2)):
        (tmp_path / name).mkdir()
        authority.issue(expires=NOW + days * DAY).write(tmp_path / name)
    (tmp_path / "..data").symlink_to("old")
    files = Files(cert=tmp_path / "..data" / "tls.crt", key=tmp_path / "..data" / "tls.key")
    certificate = CertificateWatcher(files, Metrics())
    (tmp_path / "next").symlink_to("new")
    (tmp_path / "next").rename(tmp_path / "..data")
    certificate.refresh()
    assert certificate.expires == (NOW + 2 * DAY).timestamp()


class TestAChangeThatCannotBeUsed:
    """The last good pair stays, one line and one count tell of it, and the next good pair is taken."""

    @pytest.fixture(params=["half written", "mismatch", "missing", "expired"])
    def change(self, request: pytest.FixtureRequest, authority: Authority, files: Files) -> str:
        new = authority.issue(expires=NOW + 2 * DAY)
        self.changes: dict[str, Callable[[], object]] = {
            "half written": lambda: files.cert.write_bytes(new.cert[:200]),
            "mismatch": lambda: files.cert.write_bytes(new.cert),
            "missing": files.key.unlink,
            "expired": lambda: authority.issue(expires=NOW - DAY).write(files.cert.parent),
        }
        return str(request.param)

    def test_keeps_the_last_good_one(self, files: Files, change: str) -> None:
        certificate = CertificateWatcher(files, Metrics())
        before = certificate.context
        self.changes[change]()
        certificate.refresh()
        assert (certificate.context, certificate.expires) == (before, (NOW + DAY).timestamp())

    def test_is_told_once(self, files: Files, change: str, caplog: pytest.LogCaptureFixture) -> None:
        metrics = Metrics()
        certificate = CertificateWatcher(files, metrics)
        self.changes[change]()
        for _ in range(3):
            certificate.refresh()
        assert (failures(metrics), len(caplog.messages)) == (1, 1)
        assert "changed and cannot be used, so the last good pair keeps serving: " in caplog.text

    def test_is_followed_by_the_next_good_pair(self, files: Files, change: str, authority: Authority) -> None:
        certificate = CertificateWatcher(files, Metrics())
        self.changes[change]()
        certificate.refresh()
        authority.issue(expires=NOW + 3 * DAY).write(files.cert.parent)
        certificate.refresh()
        assert certificate.expires == (NOW + 3 * DAY).timestamp()


def test_nothing_is_left_open(files: Files, authority: Authority) -> None:
    certificate = CertificateWatcher(files, Metrics())
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 -- names only: the one that lists is gone by then
    for _ in range(5):
        authority.issue().write(files.cert.parent)
        certificate.refresh()
        Pair(b"", b"").write(files.cert.parent)
        certificate.refresh()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 -- the same
