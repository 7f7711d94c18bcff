"""Where the API server is and who asks: from the pod's account, or else from a kubeconfig."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from kubeapi.client import kubeconfig
from kubeapi.client.configuration import Configuration, NoClusterError, find_configuration
from kubeapi.client.service_account import FOLDER, NoPodError, ServiceAccount
from tests.apiserver.kubeconfig import Kubeconfig
from tests.fake_clock import FakeClock
from tests.server.pki import Authority

SERVER = "https://10.8.5.6:6443"


@pytest.fixture
def account(tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pod's service account."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text("first\n")
    (folder / "ca.crt").write_bytes(authority.cert)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    return folder


@pytest.fixture
def config(tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Kubeconfig:
    found = Kubeconfig(tmp_path / "config", server=SERVER, authority=authority.cert)
    monkeypatch.setenv("KUBECONFIG", str(found.path))
    return found


# Which cluster


@pytest.mark.usefixtures("config")
def test_a_pod_talks_to_its_own_cluster(account: Path) -> None:
    access = find_configuration(account=account).access()
    assert (access.server, access.header) == ("https://10.96.0.1:443", "Bearer first")


@pytest.mark.usefixtures("config")
def test_a_context_that_is_named_wins_over_the_pod(account: Path) -> None:
    assert find_configuration("test", account=account).server == SERVER


@pytest.mark.usefixtures("config")
def test_outside_a_pod_the_current_context_counts(tmp_path: Path) -> None:
    assert find_configuration(account=tmp_path).server == SERVER


def test_without_a_variable_the_kubeconfig_is_where_kubectl_has_it(
    tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "")
    (tmp_path / ".kube").mkdir()
    Kubeconfig(tmp_path / ".kube" / "config", server=SERVER, authority=authority.cert)
    assert find_configuration(account=tmp_path).server == SERVER


def test_several_files_are_one_kubeconfig(
    tmp_path: Path, config: Kubeconfig, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Kubeconfig(tmp_path / "other", server="https://other:6443", authority=authority.cert, context="other")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, (config.path, other.path))))
    assert find_configuration("other").server == "https://other:6443"


def test_the_account_is_where_kubernetes_mounts_it() -> None:
    assert FOLDER.as_posix() == "/var/run/secrets/kubernetes.io/serviceaccount"


def test_files_that_are_named_win_over_the_variable(
    tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    named = Kubeconfig(tmp_path / "named", server=SERVER, authority=authority.cert)
    assert Configuration(kubeconfig.Kubeconfig(files=str(named.path))).server == SERVER


# No cluster


def test_outside_a_pod_there_is_no_account(tmp_path: Path) -> None:
    with pytest.raises(NoPodError, match="^KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set$"):
        ServiceAccount(tmp_path).read()


def test_without_a_pod_and_a_kubeconfig_there_is_no_cluster(tmp_path: Path) -> None:
    with pytest.raises(NoClusterError) as caught:
        find_configuration(account=tmp_path)
    assert str(caught.value) == (
        "there is no cluster to connect to: this is not a pod with a service account (KUBERNETES_SERVICE_HOST and "
        "KUBERNETES_SERVICE_PORT are not set), and there is no usable kubeconfig (there is no file ~/.kube/config)"
    )


def test_an_unknown_context_is_not_a_cluster(config: Kubeconfig) -> None:
    with pytest.raises(NoClusterError) as caught:
        find_configuration("other")
    assert str(caught.value) == (
        f"there is no cluster to connect to: there is no usable kubeconfig ({config.path} has no context other)"
    )


@pytest.mark.parametrize("content", ["", "text", "{", "[1]", "contexts: 5"])
def test_a_damaged_kubeconfig_is_not_a_cluster(config: Kubeconfig, content: str) -> None:
    config.path.write_text(content)
    with pytest.raises(NoClusterError, match="^there is no cluster to connect to: there is no usable kubeconfig "):
        find_configuration("test")


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        pytest.param("token", b" \n", "the token is empty", id="empty token"),
        pytest.param("token", b"a\nb", "the token holds characters that no header can carry", id="token of two lines"),
        pytest.param("token", "tökén".encode(), "the token holds characters that no header can carry", id="umlauts"),
        pytest.param("ca.crt", b"nothing", "the certificate authority holds no certificate in PEM", id="CA"),
    ],
)
def test_a_damaged_account_is_none(account: Path, file: str, content: bytes, reason: str) -> None:
    (account / file).write_bytes(content)
    with pytest.raises(NoClusterError) as caught:
        find_configuration(account=account)
    assert f"this is not a pod with a service account ({reason}" in str(caught.value)


# The account of a pod


def test_an_address_of_ipv6_is_put_into_brackets(account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    assert find_configuration(account=account).server == "https://[fd00::1]:443"


def test_a_token_that_was_replaced_is_read_within_a_minute(account: Path) -> None:
    clock = FakeClock()
    configuration = Configuration(ServiceAccount(account), clock=clock)
    (account / "token").write_text("second")
    clock.now = 59.0
    before = configuration.access().header
    clock.now = 60.0
    assert (before, configuration.access().header) == ("Bearer first", "Bearer second")


def test_a_token_that_was_refused_is_read_again_at_once(account: Path) -> None:
    configuration = find_configuration(account=account)
    refused = configuration.access()
    (account / "token").write_text("second")
    assert configuration.access(refused=refused).header == "Bearer second"


def test_only_the_newest_access_can_be_refused(account: Path) -> None:
    configuration = find_configuration(account=account)
    old = configuration.access()
    new = configuration.access(refused=old)
    (account / "token").write_text("second")
    assert configuration.access(refused=old) is new


def test_an_account_that_cannot_be_read_any_more_leaves_the_last_one(account: Path) -> None:
    configuration = find_configuration(account=account)
    refused = configuration.access()
    (account / "token").write_text("")
    again = configuration.access(refused=refused)
    assert (again, configuration.trouble) == (refused, "the token is empty")


def test_trouble_passes(account: Path) -> None:
    configuration = find_configuration(account=account)
    refused = configuration.access()
    (account / "token").write_text("")
    configuration.access(refused=refused)
    (account / "token").write_text("third")
    assert (configuration.access(refused=refused).header, configuration.trouble) == ("Bearer third", "")


def test_connections_are_kept_while_the_authority_is_the_same(account: Path) -> None:
    configuration = find_configuration(account=account)
    first = configuration.access()
    assert configuration.access(refused=first).tls is first.tls


def test_another_authority_is_taken_up(account: Path) -> None:
    configuration = find_configuration(account=account)
    first = configuration.access()
    (account / "ca.crt").write_bytes(Authority().cert)
    assert configuration.access(refused=first).tls is not first.tls


# What a kubeconfig says


@pytest.mark.parametrize(
    ("user", "header"),
    [
        pytest.param({"token": "abc"}, "Bearer abc", id="token"),
        pytest.param({"username": "me", "password": "you"}, "Basic bWU6eW91", id="name and password"),
        pytest.param({}, None, id="nothing"),
    ],
)
def test_users_have_a_header(config: Kubeconfig, user: dict[str, str], header: str | None) -> None:
    config.write(**user)
    assert find_configuration("test").access().header == header


def test_a_token_in_a_file_is_read_again_when_it_was_refused(config: Kubeconfig, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first")
    config.write(tokenFile=str(tmp_path / "token"))
    configuration = find_configuration("test")
    refused = configuration.access()
    (tmp_path / "token").write_text("second")
    assert (refused.header, configuration.access(refused=refused).header) == ("Bearer first", "Bearer second")


def plugin(folder: Path, *, expires: str | None = None) -> dict[str, object]:
    """An exec plugin that hands out token-1, token-2, and so on."""
    count = folder / "count"
    status = "{'token': f'token-{n}'" + (f", 'expirationTimestamp': '{expires}'" if expires else "") + "}"
    program = folder / "plugin.py"
    program.write_text(
        "import json, pathlib\n"
        f"count = pathlib.Path({str(count)!r})\n"
        "n = int(count.read_text()) + 1 if count.exists() else 1\n"
        "count.write_text(str(n))\n"
        f"print(json.dumps({{'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential', "
        f"'status': {status}}}))\n"
    )
    program.chmod(stat.S_IRWXU)
    command = {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable, "args": [str(program)]}
    return {"exec": {**command, "interactiveMode": "Never"}}


def test_a_plugin_is_asked_for_a_token(config: Kubeconfig, tmp_path: Path) -> None:
    config.write(**plugin(tmp_path))
    configuration = find_configuration("test")
    assert [configuration.access().header for _ in range(2)] == ["Bearer token-1", "Bearer token-1"]


def test_a_token_that_has_expired_is_replaced(config: Kubeconfig, tmp_path: Path) -> None:
    config.write(**plugin(tmp_path, expires="2020-01-01T00:00:00Z"))
    configuration = find_configuration("test")
    first = configuration.access().header
    assert configuration.access().header != first


def test_a_token_of_a_plugin_that_was_refused_is_replaced(config: Kubeconfig, tmp_path: Path) -> None:
    config.write(**plugin(tmp_path, expires="2099-01-01T00:00:00Z"))
    configuration = find_configuration("test")
    assert configuration.access(refused=configuration.access()).header == "Bearer token-2"


def test_a_client_certificate_is_used(config: Kubeconfig, authority: Authority, tmp_path: Path) -> None:
    cert, key = authority.issue("me").write(tmp_path, "client")
    config.write(**{"client-certificate": str(cert), "client-key": str(key)})
    access = find_configuration("test").access()
    assert (access.header, access.tls is not None) == (None, True)


def test_a_certificate_and_a_key_that_do_not_fit_are_no_cluster(
    config: Kubeconfig, authority: Authority, tmp_path: Path
) -> None:
    cert, _ = authority.issue().write(tmp_path, "one")
    _, key = authority.issue().write(tmp_path, "two")
    config.write(**{"client-certificate": str(cert), "client-key": str(key)})
    with pytest.raises(NoClusterError, match=r"no usable kubeconfig \(\[X509: KEY_VALUES_MISMATCH\]"):
        find_configuration("test")


def test_a_server_name_is_used(config: Kubeconfig) -> None:
    config.write(cluster={"tls-server-name": "kubernetes"})
    assert find_configuration("test").access().server_name == "kubernetes"


def test_a_server_without_tls_is_asked_without(config: Kubeconfig) -> None:
    config.write(cluster={"server": "http://127.0.0.1:8080/"})
    access = find_configuration("test").access()
    assert (access.server, access.tls) == ("http://127.0.0.1:8080", None)


def test_verification_can_be_turned_off(config: Kubeconfig) -> None:
    config.write(cluster={"insecure-skip-tls-verify": True, "certificate-authority-data": None})
    tls = find_configuration("test").access().tls
    assert tls is not None
    assert not tls.check_hostname


# Proxies


def test_a_proxy_of_the_kubeconfig_is_used_even_for_this_machine(config: Kubeconfig) -> None:
    config.write(cluster={"server": "https://127.0.0.1:6443", "proxy-url": "http://proxy:3128"})
    assert find_configuration("test").access().proxy == "http://proxy:3128"


@pytest.mark.parametrize(
    ("server", "left_out", "proxy"),
    [
        pytest.param("https://api:6443", "", "http://proxy:3128", id="used"),
        pytest.param("https://api:6443", "example.com,api", None, id="left out by name"),
        pytest.param("https://127.0.0.1:6443", "", None, id="this machine"),
        pytest.param("https://[::1]:6443", "", None, id="this machine, IPv6"),
        pytest.param("https://localhost:6443", "", None, id="this machine by name"),
    ],
)
def test_a_proxy_of_the_environment(
    config: Kubeconfig, monkeypatch: pytest.MonkeyPatch, server: str, left_out: str, proxy: str | None
) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", left_out)
    config.write(cluster={"server": server})
    assert find_configuration("test").access().proxy == proxy


@pytest.mark.parametrize("stated", [None, "http://proxy:3128", "socks5://proxy:1080"])
def test_proxies_can_be_left_out(config: Kubeconfig, monkeypatch: pytest.MonkeyPatch, stated: str | None) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    config.write(cluster={"server": "https://api:6443", "proxy-url": stated})
    assert Configuration(kubeconfig.Kubeconfig(proxies=False)).access().proxy is None


def test_other_proxies_are_not_supported(config: Kubeconfig) -> None:
    config.write(cluster={"proxy-url": "socks5://proxy:1080"})
    with pytest.raises(NoClusterError, match="the proxy socks5://proxy:1080 is not supported, only those of http"):
        find_configuration("test")


def test_a_kubeconfig_in_yaml_is_read(config: Kubeconfig) -> None:
    text = config.path.read_text()
    lines = [f"{key}: {json.dumps(value)}" for key, value in json.loads(text).items()]
    config.path.write_text("\n".join(lines))
    assert find_configuration("test").server == SERVER


def test_every_context_has_the_server_of_its_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = {
        "contexts": [{"name": "a", "context": {"cluster": "x"}}, {"name": "b", "context": {"cluster": "none"}}, 7],
        "clusters": [{"name": "x", "cluster": {"server": "https://one/"}}, {"name": "y"}],
    }
    second = {
        "contexts": [{"name": "a", "context": {"cluster": "z"}}, {"name": "c", "context": {"cluster": "z"}}],
        "clusters": [{"name": "z", "cluster": {"server": "https://two"}}],
    }
    for name, content in (("first", first), ("second", second), ("third", "no mapping"), ("fourth", {"contexts": 7})):
        (tmp_path / name).write_text(json.dumps(content))
    names = ("first", "second", "third", "fourth", "missing")
    monkeypatch.setenv("KUBECONFIG", ":".join(str(tmp_path / name) for name in names))
    assert kubeconfig.servers_of_contexts() == {"a": "https://one", "c": "https://two"}


def test_the_namespace_is_that_of_the_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = {
        "current-context": "b",
        "contexts": [{"name": "a", "context": {"namespace": "team-a"}}, {"name": "c", "context": {"namespace": None}}],
    }
    second = {
        "current-context": "a",
        "contexts": [{"name": "b", "context": {"namespace": "team-b"}}, {"name": "a", "context": {"namespace": "x"}}],
    }
    for name, content in (("first", first), ("second", second), ("third", "no mapping")):
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "fourth").write_text("{")
    (tmp_path / "fifth").write_bytes(b"\xff\xfe\xff")
    names = ("third", "fourth", "fifth", "missing", "first", "second")
    monkeypatch.setenv("KUBECONFIG", ":".join(str(tmp_path / name) for name in names))
    found = [kubeconfig.namespace_of_context(context) for context in (None, "a", "c", "unknown")]
    assert found == ["team-b", "team-a", "", ""]
