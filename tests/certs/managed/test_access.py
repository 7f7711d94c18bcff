"""How ``manage`` reaches the cluster: the account of its pod, or a kubeconfig that is named."""

import json
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from certs.managed.settings import named_kubeconfig, pod_account
from kubeapi.client.configuration import NoClusterError
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
    access = pod_account(account).access()
    assert (access.server, access.server_name, access.header) == ("https://10.0.0.1:443", None, "Bearer abc")


def test_an_authority_that_is_replaced_is_believed(account: Path) -> None:
    configuration = pod_account(account)
    first = configuration.access()
    other = authority(now=datetime.now(UTC))
    (account / "ca.crt").write_bytes(other.certificate_pem)
    tls = configuration.access(refused=first).tls
    assert tls is not None
    [believed] = tls.get_ca_certs()
    assert believed["serialNumber"] == f"{other.certificate.serial_number:X}".zfill(len(believed["serialNumber"]))


@pytest.mark.parametrize("name", ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"])
def test_outside_of_a_pod_there_is_none(name: str, account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(name)
    with pytest.raises(NoClusterError) as failed:
        pod_account(account)
    assert str(failed.value) == ("this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")


def test_an_account_without_a_token_is_none(account: Path) -> None:
    (account / "token").unlink()
    with pytest.raises(NoClusterError) as failed:
        pod_account(account)
    assert str(failed.value) == f"the account in {account} cannot be read: No such file or directory"


def test_an_account_with_an_empty_token_is_none(account: Path) -> None:
    (account / "token").write_text("\n")
    with pytest.raises(NoClusterError) as failed:
        pod_account(account)
    assert str(failed.value) == f"the account in {account} cannot be read: the token is empty"


def test_an_account_without_an_authority_is_none(account: Path) -> None:
    (account / "ca.crt").write_bytes(b"nonsense")
    with pytest.raises(NoClusterError, match="^the account in .* cannot be read: "):
        pod_account(account)


def test_a_kubeconfig(tmp_path: Path) -> None:
    access = named_kubeconfig(kubeconfig(tmp_path), "").access()
    assert (access.server, access.server_name, access.header) == ("https://127.0.0.1:6443", None, "Bearer xyz")


def test_a_context_of_a_kubeconfig(tmp_path: Path) -> None:
    assert named_kubeconfig(kubeconfig(tmp_path), "two").server == "https://127.0.0.1:6443"


def test_a_context_of_the_file_that_kubectl_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path))
    assert named_kubeconfig("", "two").server == "https://127.0.0.1:6443"


def test_a_context_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NoClusterError, match="^the kubeconfig cannot be used: .*three"):
        named_kubeconfig(kubeconfig(tmp_path), "three")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NoClusterError) as failed:
        named_kubeconfig(str(tmp_path / "none"), "")
    assert str(failed.value) == f"the kubeconfig cannot be used: there is no file {tmp_path / 'none'}"


def test_a_client_certificate(tmp_path: Path) -> None:
    created(tmp_path / "pair", now=datetime.now(UTC))
    user = {"client-certificate": str(tmp_path / "pair/tls.crt"), "client-key": str(tmp_path / "pair/tls.key")}
    access = named_kubeconfig(kubeconfig(tmp_path, user=user), "").access()
    assert access.header is None
    assert access.tls is not None
    assert access.tls.verify_mode is ssl.CERT_REQUIRED


def test_a_client_certificate_that_is_not_there(tmp_path: Path) -> None:
    user = {"client-certificate": str(tmp_path / "a"), "client-key": str(tmp_path / "b")}
    with pytest.raises(NoClusterError, match="^the kubeconfig cannot be used: "):
        named_kubeconfig(kubeconfig(tmp_path, user=user), "")


def test_whoever_says_so_believes_anybody(tmp_path: Path) -> None:
    tls = named_kubeconfig(kubeconfig(tmp_path, cluster={"insecure-skip-tls-verify": True}), "").access().tls
    assert tls is not None
    assert (tls.verify_mode, tls.check_hostname) == (ssl.CERT_NONE, False)


@pytest.mark.parametrize("stated", [{}, {"proxy-url": "http://proxy:3128"}], ids=["environment", "file"])
def test_no_proxy_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: dict[str, str]) -> None:
    """It could read the keys, where the server need not be verified."""
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    cluster = {"server": "https://api:6443", **stated}
    assert named_kubeconfig(kubeconfig(tmp_path, cluster=cluster), "").access().proxy is None


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
    configuration = named_kubeconfig(kubeconfig(tmp_path, user={"exec": executed}), "")
    assert configuration.access().header == "Bearer t"
    plugin.unlink()
    assert configuration.access().header == "Bearer t"
