"""Bundles, and what only looks like one."""

import time

import pytest

from certs.managed.bundle import MOST, merged, read_bundle, write_bundle
from tests.certs.managed.rotation_samples import leaf
from tests.certs.samples import authority

ONE, TWO, THREE = (authority() for _ in range(3))
CERTIFICATES = (ONE.certificate, TWO.certificate)


def test_a_bundle_reads_back_in_its_order() -> None:
    assert read_bundle(write_bundle(CERTIFICATES)) == CERTIFICATES


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x00\xff" * 1000, id="binary"),
        pytest.param(ONE.key_pem, id="key"),
        pytest.param(leaf(ONE).certificate_pem, id="leaf"),
        pytest.param(ONE.certificate_pem[:-40], id="cut off"),
        pytest.param(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", id="not a certificate"),
    ],
)
def test_text_that_is_not_a_bundle_trusts_no_authority(text: bytes) -> None:
    assert read_bundle(text) == ()


def test_what_cannot_be_read_is_left_out() -> None:
    text = b"# comment\n" + ONE.certificate_pem[:-40] + b"\n" + leaf(ONE).certificate_pem + TWO.certificate_pem
    assert read_bundle(text) == (TWO.certificate,)


def test_each_is_there_once() -> None:
    assert read_bundle(ONE.certificate_pem * 3) == (ONE.certificate,)


def test_the_number_is_bounded() -> None:
    many = [authority().certificate for _ in range(MOST + 1)]
    assert read_bundle(write_bundle(tuple(many))) == tuple(many[:MOST])


def test_hostile_text_costs_no_time() -> None:
    began = time.perf_counter()
    read_bundle(b"-----BEGIN CERTIFICATE-----" * 100_000)
    assert time.perf_counter() - began < 1


def test_those_needed_come_first_and_each_once() -> None:
    both = merged([None, TWO.certificate], CERTIFICATES)
    assert both == (TWO.certificate, ONE.certificate)


def test_the_needed_stay_however_many_there_are() -> None:
    many = [authority().certificate for _ in range(MOST)]
    assert merged(CERTIFICATES, many) == (*CERTIFICATES, *many[: MOST - 2])
