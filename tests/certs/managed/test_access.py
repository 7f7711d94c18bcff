"""Where the API server is, and how to prove who asks."""

import json
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from certs.managed.access import Kubeconfig, NoClusterError, ServiceAccount
from tests.certs.samples import authority, created

AUTHORITY = authority(now=datetime.now(UTC))


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    (tmp_path / "token").write_text("abc\n")
    (tmp_path / "ca.crt").write_bytes(AUTHORITY.certificate_pem)
    return tmp_path


def kubeconfig(folder: Path, **changes: Any) -> str:
    """A file with one user; ``cluster`` and ``user`` say more."""
    cluster = {"server": "https://127.0.0.1:6443/", **changes.get("cluster", {})}
    contexts = [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("one", "two")]
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": changes.get("user", {"token": "xyz"})}],
        "contexts": contexts,
        "current-context": "one",
    }
    (folder / "config").write_text(json.dumps(config))
    return str(folder / "config")


def test_a_pods_account(account: Path) -> None:
    access = ServiceAccount(account)
    assert (access.server, access.server_name, access.authorization()) == ("https://10.0.0.1:443", None, "Bearer abc")


def test_an_ipv6_address_is_put_in_brackets(account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    assert ServiceAccount(account).server == "https://[fd00::1]:443"


def test_a_token_that_is_replaced_is_used(account: Path) -> None:
    access = ServiceAccount(account)
    (account / "token").write_text("new")
    assert access.authorization() == "Bearer new"


def test_an_authority_that_is_replaced_is_believed(account: Path) -> None:
    access = ServiceAccount(account)
    first = access.tls()
    assert access.tls() is first
    other = authority(now=datetime.now(UTC))
    (account / "ca.crt").write_bytes(other.certificate_pem)
    [believed] = access.tls().get_ca_certs()
    assert believed["serialNumber"] == f"{other.certificate.serial_number:X}".zfill(len(believed["serialNumber"]))


@pytest.mark.parametrize("name", ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"])
def test_outside_of_a_pod_there_is_none(name: str, account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(name)
    with pytest.raises(NoClusterError) as failed:
        ServiceAccount(account)
    assert str(failed.value) == ("this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")


def test_an_account_without_a_token_is_none(account: Path) -> None:
    (account / "token").unlink()
    with pytest.raises(NoClusterError) as failed:
        ServiceAccount(account)
    assert str(failed.value) == f"the account in {account} cannot be read: No such file or directory"


def test_an_account_without_an_authority_is_none(account: Path) -> None:
    (account / "ca.crt").write_bytes(b"nonsense")
    with pytest.raises(NoClusterError, match="^the account in .* cannot be read: "):
        ServiceAccount(account)


def test_a_kubeconfig(tmp_path: Path) -> None:
    access = Kubeconfig(kubeconfig(tmp_path), None)
    assert (access.server, access.server_name, access.authorization()) == ("https://127.0.0.1:6443", None, "Bearer xyz")


def test_a_context_of_a_kubeconfig(tmp_path: Path) -> None:
    assert Kubeconfig(kubeconfig(tmp_path), "two").server == "https://127.0.0.1:6443"


def test_a_context_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NoClusterError, match="^the kubeconfig cannot be used: .*three"):
        Kubeconfig(kubeconfig(tmp_path), "three")


def test_a_client_certificate(tmp_path: Path) -> None:
    created(tmp_path / "pair", now=datetime.now(UTC))
    user = {"client-certificate": str(tmp_path / "pair/tls.crt"), "client-key": str(tmp_path / "pair/tls.key")}
    access = Kubeconfig(kubeconfig(tmp_path, user=user), None)
    assert access.authorization() is None
    assert access.tls().verify_mode is ssl.CERT_REQUIRED


def test_a_client_certificate_that_is_not_there(tmp_path: Path) -> None:
    user = {"client-certificate": str(tmp_path / "a"), "client-key": str(tmp_path / "b")}
    with pytest.raises(NoClusterError, match="^the kubeconfig cannot be used: "):
        Kubeconfig(kubeconfig(tmp_path, user=user), None)


def test_whoever_says_so_believes_anybody(tmp_path: Path) -> None:
    tls = Kubeconfig(kubeconfig(tmp_path, cluster={"insecure-skip-tls-verify": True}), None).tls()
    assert (tls.verify_mode, tls.check_hostname) == (ssl.CERT_NONE, False)


def test_a_plugin_that_fails_later_leaves_the_last_token(tmp_path: Path) -> None:
    """Its first token has expired already, so it is asked again, and is no longer there."""
    plugin = tmp_path / "plugin"
    status = {"token": "t", "expirationTimestamp": "2020-01-01T00:00:00Z"}
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    plugin.write_text(f"#!/bin/sh\necho '{json.dumps(credential)}'\n")
    plugin.chmod(0o755)
    executed = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": str(plugin),
        "interactiveMode": "Never",
    }
    access = Kubeconfig(kubeconfig(tmp_path, user={"exec": executed}), None)
    assert access.authorization() == "Bearer t"
    plugin.unlink()
    assert access.authorization() == "Bearer t"
