"""Every fault of four files, in the words that people read."""

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID
from hypothesis import given
from hypothesis import strategies as st

from certs.authority import Authority
from certs.inspection import Inspection
from certs.names import LOOPBACK
from tests.certs.samples import DAY, NOW, authority, other_programs, rsa_key

AUTHORITY = authority()
LEAF = AUTHORITY.issue(LOOPBACK, NOW, lifetime=90 * DAY)
GOOD = {
    "ca.crt": AUTHORITY.certificate_pem,
    "ca.key": AUTHORITY.key_pem,
    "tls.crt": LEAF.certificate_pem,
    "tls.key": LEAF.key_pem,
}
CA = x509.BasicConstraints(ca=True, path_length=None)
OTHER = dict(zip(("ca.crt", "ca.key"), other_programs(CA), strict=True))
RSA = dict(zip(("ca.crt", "ca.key"), other_programs(CA, key=rsa_key()), strict=True))
NOT_OURS = "tls.crt was not issued by ca.crt"


def leaf_of_ours(*extensions: x509.ExtensionType) -> dict[str, bytes]:
    return dict(zip(("tls.crt", "tls.key"), other_programs(*extensions, issuer=AUTHORITY), strict=True))


def without(*names: str) -> dict[str, bytes]:
    return {name: data for name, data in GOOD.items() if name not in names}


def test_a_good_pair_has_no_fault() -> None:
    assert Inspection.of(GOOD, NOW).faults == ()


def test_the_chain_of_a_good_pair_verifies() -> None:
    assert Inspection.of(GOOD, NOW).chain_verifies


@pytest.mark.parametrize(
    ("contents", "faults"),
    [
        pytest.param({}, ["ca.crt and ca.key are missing", "tls.crt and tls.key are missing"], id="empty folder"),
        pytest.param(without("ca.crt"), ["ca.crt is missing"], id="no ca.crt"),
        pytest.param(without("ca.key"), ["ca.key is missing"], id="no ca.key"),
        pytest.param(without("tls.crt"), ["tls.crt is missing"], id="no tls.crt"),
        pytest.param(without("tls.key"), ["tls.key is missing"], id="no tls.key"),
        pytest.param(
            GOOD | {"ca.crt": AUTHORITY.certificate_pem[:99]},
            ["ca.crt holds no certificate that can be read"],
            id="half ca.crt",
        ),
        pytest.param(
            GOOD | {"ca.key": AUTHORITY.key_pem[:99]},
            ["ca.key holds no private key that can be read"],
            id="half ca.key",
        ),
        pytest.param(
            GOOD | {"tls.crt": LEAF.certificate_pem[:99]},
            ["tls.crt holds no certificate that can be read"],
            id="half tls.crt",
        ),
        pytest.param(GOOD | {"tls.key": b""}, ["tls.key holds no private key that can be read"], id="empty tls.key"),
        pytest.param(
            GOOD | {"tls.key": AUTHORITY.key_pem}, ["tls.key is not the key of tls.crt"], id="another key of the leaf"
        ),
        pytest.param(
            GOOD | {"ca.key": LEAF.key_pem}, ["ca.key is not the key of ca.crt"], id="another key of the authority"
        ),
        pytest.param(GOOD | OTHER, [NOT_OURS], id="another authority"),
        pytest.param(
            GOOD | {"ca.crt": LEAF.certificate_pem, "ca.key": LEAF.key_pem},
            ["ca.crt is not the certificate of an authority", NOT_OURS],
            id="leaf as authority",
        ),
        pytest.param(
            GOOD | RSA,
            ["ca.key is not an elliptic-curve key", NOT_OURS],
            id="authority of another kind",
        ),
        pytest.param(GOOD | leaf_of_ours(), ["tls.crt names no host"], id="leaf without names"),
        pytest.param(
            GOOD
            | leaf_of_ours(
                x509.SubjectAlternativeName([x509.DNSName("a")]),
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]),
            ),
            ["tls.crt is not for servers: its extended key usage lacks serverAuth"],
            id="leaf for clients",
        ),
    ],
)
def test_faults(contents: dict[str, bytes], faults: list[str]) -> None:
    assert list(Inspection.of(contents, NOW).faults) == faults


@pytest.mark.parametrize(
    ("days", "faults"),
    [
        pytest.param(
            -1,
            [
                "ca.crt is not valid before 2029-12-31 23:55:00 UTC",
                "tls.crt is not valid before 2029-12-31 23:55:00 UTC",
            ],
            id="too early",
        ),
        pytest.param(90, [], id="last moment of the leaf"),
        pytest.param(91, ["tls.crt expired on 2030-04-01 00:00:00 UTC"], id="leaf expired"),
        pytest.param(
            3651,
            ["ca.crt expired on 2039-12-30 00:00:00 UTC", "tls.crt expired on 2030-04-01 00:00:00 UTC"],
            id="both expired",
        ),
    ],
)
def test_faults_of_time(days: int, faults: list[str]) -> None:
    assert list(Inspection.of(GOOD, NOW + days * DAY).faults) == faults


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        pytest.param(GOOD, False, id="ours"),
        pytest.param({}, False, id="none"),
        pytest.param(GOOD | {"ca.crt": LEAF.certificate_pem}, False, id="our leaf in its place"),
        pytest.param(OTHER, True, id="another program's"),
    ],
)
def test_whose_authority_it_is(contents: dict[str, bytes], expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert Inspection.of(contents, NOW).is_foreign is expected


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        pytest.param(GOOD, (True, True), id="good"),
        pytest.param(GOOD | {"tls.key": AUTHORITY.key_pem}, (True, False), id="leaf's key swapped"),
        pytest.param(without("ca.key"), (False, True), id="no authority's key"),
    ],
)
def test_which_keys_match(contents: dict[str, bytes], expected: tuple[bool, bool]) -> None:
    found = Inspection.of(contents, NOW)
    assert (found.authority.key_matches, found.leaf.key_matches) == expected


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), st.binary() | st.sampled_from(sorted(GOOD.values()))))
def test_no_contents_raise_and_faultless_ones_issue(contents: dict[str, bytes]) -> None:
    found = Inspection.of(contents, NOW)
    if not found.authority.faults:
        Authority.from_pem(contents["ca.crt"], contents["ca.key"])
