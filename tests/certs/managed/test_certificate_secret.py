"""What a Secret holds, whole and damaged."""

import pytest

from certs.managed.certificate_secret import CertificateSecret
from tests.certs.managed.rotation_samples import holding, leaf
from tests.certs.samples import authority, key_pem, other_programs, rsa_key

ONE, TWO = authority(), authority()
FULL = CertificateSecret((ONE.certificate, TWO.certificate), ONE, TWO, leaf(ONE))


def test_everything_reads_back() -> None:
    assert CertificateSecret.of(FULL.contents()).contents() == FULL.contents()


def test_what_is_not_held_is_not_written() -> None:
    assert CertificateSecret().contents() == {"ca.crt": b""}


def test_an_empty_secret_holds_nothing() -> None:
    assert CertificateSecret.of({}) == CertificateSecret()


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        pytest.param({"tls.crt": b""}, "leaf", id="no leaf"),
        pytest.param({"tls.key": b"half"}, "leaf", id="half a key"),
        pytest.param({"tls.key": TWO.key_pem}, "leaf", id="another's key"),
        pytest.param({"tls.key": key_pem(rsa_key())}, "leaf", id="RSA key"),
        pytest.param({"authority.key": b""}, "authority", id="no key of the authority"),
        pytest.param({"authority.crt": b"half"}, "authority", id="half an authority"),
        pytest.param({"authority.crt": other_programs()[0]}, "authority", id="no authority"),
        pytest.param({"next-authority.key": ONE.key_pem}, "following", id="another's key of the next authority"),
    ],
)
def test_what_cannot_be_used_counts_as_missing(change: dict[str, bytes], lost: str) -> None:
    held = CertificateSecret.of(FULL.contents() | change)
    assert [name for name in ("authority", "following", "leaf") if getattr(held, name) is None] == [lost]


@pytest.mark.parametrize(
    ("held", "issuer"),
    [
        pytest.param(FULL, ONE, id="its own"),
        pytest.param(holding(ONE, leaf=leaf(TWO)), None, id="another's"),
        pytest.param(holding(ONE, leaf=None), None, id="no leaf"),
        pytest.param(holding(ONE, authority=None), None, id="no authority"),
    ],
)
def test_whose_leaf_it_is(held: CertificateSecret, issuer: object) -> None:
    assert held.issuer is issuer
