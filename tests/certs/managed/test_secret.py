"""The Secret as an object, and whose it is."""

import base64
from typing import Any

import pytest

from certs.managed.certificate_secret import CertificateSecret
from certs.managed.secret import MARK, ForeignError, read_secret, written_secret
from tests.certs.managed.rotation_samples import holding
from tests.certs.samples import authority

STEADY = holding()


def written(before: dict[str, Any] | None = None, held: CertificateSecret = STEADY) -> dict[str, Any]:
    return written_secret(before, held, namespace="ns", name="pair")


def test_it_reads_back() -> None:
    assert read_secret(written()).contents() == STEADY.contents()


def test_no_secret_holds_nothing() -> None:
    assert read_secret(None) == CertificateSecret()


@pytest.mark.parametrize("data", [{}, None, {"tls.crt": "", "tls.key": ""}], ids=["empty", "null", "placeholders"])
def test_a_secret_that_holds_nothing_is_anybodys(data: dict[str, str] | None) -> None:
    assert read_secret({"metadata": {}, "data": data}) == CertificateSecret()


def test_the_secret_of_another_owner_is_not_touched() -> None:
    secret = written()
    del secret["metadata"]["annotations"][MARK]
    with pytest.raises(ForeignError) as refused:
        read_secret(secret)
    assert str(refused.value) == (
        "the Secret holds ca.crt, tls.crt, tls.key of another owner: name another one, or give this one the annotation "
        'streams.ibm.com/managed-certificates: "true" if it may be overwritten'
    )


def test_values_that_are_not_base64_count_as_missing() -> None:
    secret = written()
    secret["data"]["tls.key"] = "!"
    assert read_secret(secret).leaf is None


def test_a_new_secret_says_whose_it_is() -> None:
    secret = written()
    assert (secret["kind"], secret["type"], secret["metadata"]) == (
        "Secret",
        "Opaque",
        {"name": "pair", "namespace": "ns", "annotations": {MARK: "true"}},
    )


def test_nothing_else_of_a_secret_is_changed() -> None:
    metadata = {"name": "pair", "labels": {"a": "b"}, "annotations": {"c": "d"}, "resourceVersion": "7"}
    before = {"metadata": metadata, "type": "Opaque", "data": {"extra": "eA=="}, "immutable": False}
    after = written(before)
    assert after["metadata"] == {**metadata, "annotations": {"c": "d", MARK: "true"}}
    assert (after["data"]["extra"], after["immutable"]) == ("eA==", False)


def test_what_is_no_longer_held_is_removed() -> None:
    staged = written(held=holding(following=authority()))
    assert {"next-authority.crt", "next-authority.key"} <= staged["data"].keys()
    assert set(written(staged)["data"]) == {"ca.crt", "tls.crt", "tls.key", "authority.crt", "authority.key"}


def test_values_are_base64() -> None:
    assert base64.b64decode(written()["data"]["ca.crt"]) == STEADY.contents()["ca.crt"]
