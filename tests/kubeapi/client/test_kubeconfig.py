"""Kubeconfig files are merged, and credentials chosen, as kubectl does it; what is wrong has one sentence."""

import base64
import json
import os
import ssl
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from kubeapi.client.configuration import Configuration
from kubeapi.client.kubeconfig import Kubeconfig, namespace_of_context, servers_of_contexts
from tests.apiserver import kubeconfig as written
from tests.fake_clock import FakeClock
from tests.server.pki import Authority

SERVER = "https://10.8.5.6:6443"
V1 = "client.authentication.k8s.io/v1"
LATE = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def config(tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> written.Kubeconfig:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    return written.Kubeconfig(tmp_path / "config", server=SERVER, authority=authority.cert)


def refusal(config: written.Kubeconfig, user: dict[str, object] | None = None, **cluster: object) -> str:
    """What is wrong with the kubeconfig."""
    config.write(cluster=cluster, **(user or {}))
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the text is compared
        Kubeconfig().read()
    return str(caught.value)


# Files


def test_entries_of_the_first_file_count_whole(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(
        "contexts: [{name: a, context: {cluster: x, user: 007}}]\nusers: [{name: 007, user: {token: 1e5}}]\nclusters:\n"
    )
    second.write_text(
        "current-context: a\n"
        "contexts: [{name: a, context: {cluster: none, user: none}}]\n"
        "users: [{name: 007, user: {username: me, password: you}}, {name: none, user: null}]\n"
        f"clusters: [{{name: x, cluster: {{server: '{SERVER}/k8s/clusters/c-1/?a=b', unknown: 1}}}}]\n"
    )
    missing = str(tmp_path / "missing")
    files = os.pathsep.join(("", missing, str(first), str(second), str(first)))
    access = Kubeconfig(files=files).read()
    assert (access.server, access.header) == (f"{SERVER}/k8s/clusters/c-1", "Bearer 1e5")


def test_paths_begin_at_the_folder_of_their_file(
    tmp_path: Path, config: written.Kubeconfig, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pki").mkdir()
    cert, key = authority.issue("me").write(tmp_path / "pki", "client")
    (tmp_path / "pki" / "ca.crt").write_bytes("# Autorität\n".encode() + authority.cert)
    (tmp_path / "pki" / "token").write_text("from a file\n")
    config.write(
        cluster={"certificate-authority-data": None, "certificate-authority": "pki/ca.crt"},
        **{"client-certificate": f"pki/{cert.name}", "client-key": f"pki/{key.name}", "tokenFile": "pki/token"},
    )
    monkeypatch.chdir("/")
    access = Kubeconfig().read()
    assert access.header == "Bearer from a file"
    assert access.tls is not None
    assert len(access.tls.get_ca_certs()) == 1


def test_a_plugin_that_is_a_path_begins_there_too(tmp_path: Path, config: written.Kubeconfig) -> None:
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "login", answer(token="t"))
    config.write(**plugin("bin/login"))
    assert Kubeconfig().read().header == "Bearer t"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not YAML: did not find expected node content at line 2"),
        (b"\xff\xfe\xff", "is not YAML: "),
        ("text", "is not a kubeconfig: expected `object`, got `str`"),
        ("contexts: 5", "is not a kubeconfig: contexts: expected `array`, got `str`"),
        ("contexts: [{context: {}}]", "is not a kubeconfig: contexts[0]: object missing required field `name`"),
        ("users: [{name: a}, {name: a}]", "has two users with the name a"),
        ("", "has no current-context"),
        ("current-context: a", "has no context a"),
    ],
)
def test_what_is_not_a_kubeconfig_is_named(tmp_path: Path, text: str | bytes, problem: str) -> None:
    path = tmp_path / "config"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the text is compared
        Kubeconfig(files=str(path)).read()
    prefix = "no context is named, and " if not text else ""
    assert str(caught.value).startswith(f"{prefix}{path} {problem}")


@pytest.mark.parametrize(
    ("context", "problem"),
    [
        ({"cluster": "none", "user": "test"}, "the cluster none of context test is not in {}"),
        ({"cluster": "test", "user": "none"}, "the user none of context test is not in {}"),
    ],
)
def test_a_context_of_what_does_not_exist(config: written.Kubeconfig, context: dict[str, str], problem: str) -> None:
    content = json.loads(config.path.read_text())
    content["contexts"][0]["context"] = context
    config.path.write_text(json.dumps(content))
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the text is compared
        Kubeconfig().read()
    assert str(caught.value) == problem.format(config.path)


def test_a_context_without_a_user_has_no_credentials(config: written.Kubeconfig) -> None:
    content = json.loads(config.path.read_text())
    del content["contexts"][0]["context"]["user"]
    config.path.write_text(json.dumps(content))
    assert Kubeconfig().read().header is None


def test_without_files_no_context_has_a_namespace_or_a_server(tmp_path: Path) -> None:
    assert namespace_of_context(files=str(tmp_path / "none")) == ""
    with pytest.raises(FileNotFoundError, match="^there is no file "):
        servers_of_contexts(str(tmp_path / "none"))


# Server


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        ("", "cluster test has no server"),
        ("ftp://a", "the server ftp://a of cluster test is not a URL of http:// or https://"),
        ("https:///a", "the server https:///a of cluster test is not a URL of http:// or https://"),
    ],
)
def test_a_server_is_a_url(config: written.Kubeconfig, server: str, problem: str) -> None:
    assert refusal(config, server=server) == problem


def test_a_server_without_tls_gets_no_secret(config: written.Kubeconfig) -> None:
    config.write(cluster={"server": "10.8.5.6:8080/"}, token="secret")
    access = Kubeconfig().read()
    assert (access.server, access.header, access.tls) == ("http://10.8.5.6:8080", None, None)


def test_an_authority_that_would_not_be_looked_at(config: written.Kubeconfig) -> None:
    assert refusal(config, **{"insecure-skip-tls-verify": True}) == (
        "cluster test has both certificate-authority and insecure-skip-tls-verify: remove one"
    )


@pytest.mark.parametrize(
    ("no_proxy", "used"),
    [
        ("", True),
        ("*", False),
        ("10.8.0.0/16", False),
        ("10.9.0.0/16, 10.8.5.6", False),
        ("10.8.5.6:6443", False),
        ("10.8.5.6:443", True),
        ("fd00::/8,,8.5.7", True),
    ],
)
def test_networks_may_be_left_out_of_a_proxy(
    config: written.Kubeconfig, monkeypatch: pytest.MonkeyPatch, no_proxy: str, *, used: bool
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy:3128")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    config.write()
    assert (Kubeconfig().read().proxy == "http://proxy:3128") is used


@pytest.mark.parametrize(
    ("no_proxy", "used"),
    [("example.com", False), (".example.com", False), ("*.EXAMPLE.com", False), (".api.example.com", True)],
)
def test_domains_may_be_left_out_of_a_proxy(
    config: written.Kubeconfig, monkeypatch: pytest.MonkeyPatch, no_proxy: str, *, used: bool
) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", no_proxy)
    config.write(cluster={"server": "https://api.example.com"})
    assert (Kubeconfig().read().proxy is not None) is used


# Users


@pytest.mark.parametrize(
    ("user", "problem"),
    [
        ({"token": "a", "username": "b"}, "user test has a token, and a username with password: remove one"),
        ({"exec": {}, "auth-provider": {"name": "oidc"}}, "user test has both exec and auth-provider: remove one"),
        ({"client-certificate-data": "YQ=="}, "user test has a client-certificate without client-key"),
        (
            {"client-key": "a", "client-key-data": "YQ=="},
            "user test has both client-key and client-key-data: remove one",
        ),
        ({"client-key-data": "?"}, "client-key-data of user test is not in base64"),
        ({"as-groups": ["a"]}, "user test has as-uid, as-groups or as-user-extra without as"),
        ({"as": "a\nb"}, "the impersonation holds characters that no header can carry"),
        ({"exec": {"apiVersion": V1}}, "exec names no command"),
        (
            {"exec": {"command": "a"}},
            f"exec has apiVersion (none), not one of {V1}, {V1}beta1",
        ),
        (
            {"exec": {"command": "a", "apiVersion": V1}},
            "exec of client.authentication.k8s.io/v1 must state interactiveMode: Never, IfAvailable or Always",
        ),
        (
            {"exec": {"command": "no-such-plugin", "apiVersion": V1, "interactiveMode": "Never"}},
            "the credential plugin no-such-plugin is not installed",
        ),
        (
            {"exec": {"command": "no-such", "apiVersion": f"{V1}beta1", "installHint": "see\n  example.com"}},
            "the credential plugin no-such is not installed; see example.com",
        ),
        (
            {"auth-provider": {"name": "gcp"}},
            "the auth-provider gcp is not supported, as in kubectl: a credential plugin (exec) replaces it",
        ),
    ],
)
def test_a_user_that_kubectl_would_not_take(config: written.Kubeconfig, user: dict[str, object], problem: str) -> None:
    assert refusal(config, user) == problem


def test_a_certificate_and_key_may_stand_in_the_kubeconfig(
    config: written.Kubeconfig, authority: Authority, tmp_path: Path
) -> None:
    cert, key = (path.read_bytes() for path in authority.issue("me").write(tmp_path, "client"))
    lines = base64.encodebytes(cert).decode()
    config.write(**{"client-certificate-data": lines, "client-key-data": base64.b64encode(key).decode()})
    assert isinstance(Kubeconfig().read().tls, ssl.SSLContext)


def test_an_encrypted_key_is_not_asked_for_its_password(
    config: written.Kubeconfig, authority: Authority, tmp_path: Path
) -> None:
    cert, key = authority.issue("me").write(tmp_path, "client")
    private = serialization.load_pem_private_key(key.read_bytes(), None)
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"password"),
        )
    )
    assert refusal(config, {"client-certificate": str(cert), "client-key": str(key)}) == (
        "the client key is encrypted; store it without a password"
    )


def test_whom_the_user_impersonates(config: written.Kubeconfig) -> None:
    config.write(
        **{
            "token": "t",
            "as": "jane",
            "as-uid": 7,
            "as-groups": ["a", "b"],
            "as-user-extra": {"example.com/scope": ["x", "y"]},
        }
    )
    assert Kubeconfig().read().impersonation == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-example.com%2Fscope", "x"),
        ("Impersonate-Extra-example.com%2Fscope", "y"),
    )


def test_a_token_in_a_file_counts_more_than_the_one_beside_it(config: written.Kubeconfig, tmp_path: Path) -> None:
    path = tmp_path / "token"
    config.write(token="stated", tokenFile=str(path))
    missing = Kubeconfig().read().header
    path.write_text("\n")
    empty = Kubeconfig().read().header
    path.write_text("rotated\n")
    assert (missing, empty, Kubeconfig().read().header) == ("Bearer stated", "Bearer stated", "Bearer rotated")


def test_a_file_of_a_token_must_have_one(config: written.Kubeconfig, tmp_path: Path) -> None:
    path = tmp_path / "token"
    config.write(tokenFile=str(path))
    with pytest.raises(FileNotFoundError):
        Kubeconfig().read()
    path.touch()
    assert refusal(config, {"tokenFile": str(path)}) == f"the file {path} of the token is empty"


def test_a_token_in_a_file_is_read_every_minute(config: written.Kubeconfig, tmp_path: Path) -> None:
    clock = FakeClock()
    path = tmp_path / "token"
    path.write_text("first")
    config.write(tokenFile=str(path))
    configuration = Configuration(Kubeconfig(), clock=clock)
    path.write_text("second")
    clock.now = 59.0
    before = configuration.access().header
    clock.now = 60.0
    assert (before, configuration.access().header) == ("Bearer first", "Bearer second")


# The auth-provider


def id_token(claims: object) -> str:
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in ({}, claims, 0)
    )


def test_an_id_token_is_used_until_it_expires_and_then_read_again(config: written.Kubeconfig) -> None:
    now = [LATE]
    first, second = (id_token({"exp": LATE.timestamp() + seconds, "a": "?" * seconds}) for seconds in (20, 50))
    config.write(**{"auth-provider": {"name": "oidc", "config": {"id-token": first}}})
    configuration = Configuration(Kubeconfig(now=lambda: now[0]))
    before = configuration.access().header
    now[0] = datetime.fromtimestamp(LATE.timestamp() + 10, UTC)
    expired = configuration.access().header, configuration.trouble
    config.write(**{"auth-provider": {"name": "oidc", "config": {"id-token": second}}})
    assert (before, configuration.access().header) == (f"Bearer {first}", f"Bearer {second}")
    why = "expired: run kubectl, which renews it, or use a credential plugin (exec)"
    assert expired == (f"Bearer {first}", f"the id-token of the auth-provider oidc has {why}")


@pytest.mark.parametrize(
    "token", ["", "a.b", "a.e30", id_token([]), id_token({"exp": "soon"}), id_token({"exp": 1e30})]
)
def test_an_id_token_has_an_end(config: written.Kubeconfig, token: str) -> None:
    assert refusal(config, {"auth-provider": {"name": "oidc", "config": {"id-token": token}}}) == (
        "the id-token of the auth-provider oidc is not a JSON Web Token with expiry (exp)"
    )


# Plugins


def program(path: Path, *lines: str) -> Path:
    path.write_text("\n".join((f"#!{sys.executable} -S", "import json, os, sys", *lines)))
    path.chmod(0o700)
    return path


def answer(version: str = V1, **status: object) -> str:
    return f"print(json.dumps({{'apiVersion': {version!r}, 'status': {status!r}}}))"


def plugin(path: object, **fields: object) -> dict[str, object]:
    return {"exec": {"command": str(path), "apiVersion": V1, "interactiveMode": "Never", **fields}}


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["print('sorry', file=sys.stderr)", "sys.exit(3)"], "failed with exit code 3: sorry"),
        (["sys.exit(1)"], "failed with exit code 1"),
        (["print('hello')"], "printed no ExecCredential: JSON is malformed: invalid character (byte 0)"),
        ([answer(f"{V1}beta1", token="t")], f"answers in {V1}beta1, and exec states {V1}"),
        ([answer()], "printed neither a token nor a certificate"),
        ([f"print(json.dumps({{'apiVersion': '{V1}'}}))"], "printed neither a token nor a certificate"),
        ([answer(clientKeyData="k")], "printed only one of clientCertificateData and clientKeyData"),
        ([answer(token="t", expirationTimestamp="2020-01-01")],
         "printed no ExecCredential: status.expirationTimestamp: invalid RFC3339 encoded datetime"),
    ],
)  # fmt: skip
def test_a_plugin_that_fails(config: written.Kubeconfig, tmp_path: Path, lines: list[str], problem: str) -> None:
    path = program(tmp_path / "login", *lines)
    assert refusal(config, plugin(path)) == f"the credential plugin {path} {problem}"


def test_a_plugin_is_told_where_and_how_it_runs(
    config: written.Kubeconfig, authority: Authority, tmp_path: Path
) -> None:
    path = program(
        tmp_path / "login",
        "question = json.loads(os.environ['KUBERNETES_EXEC_INFO'])",
        "told = [sys.argv[1:], os.environ['REGION'], question, sys.stdin.read()]",
        f"open({str(tmp_path / 'told')!r}, 'w').write(json.dumps(told))",
        answer(token="t"),
    )
    extensions = [
        {"name": "other", "extension": 1},
        {"name": "client.authentication.k8s.io/exec", "extension": {"audience": 5, "since": "2020-01-01"}},
    ]
    config.write(
        cluster={"tls-server-name": "kubernetes", "extensions": extensions},
        **plugin(path, args=["get", 1], env=[{"name": "REGION", "value": "eu"}], provideClusterInfo=True),
    )
    Kubeconfig().read()
    args, region, question, stdin = json.loads((tmp_path / "told").read_text())
    assert (args, region, stdin) == (["get", "1"], "eu", "")
    assert question == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {
            "interactive": False,
            "cluster": {
                "server": SERVER,
                "tls-server-name": "kubernetes",
                "certificate-authority-data": base64.b64encode(authority.cert).decode(),
                "config": {"audience": 5, "since": "2020-01-01"},
            },
        },
    }


@pytest.mark.parametrize("extensions", [None, [], [{"name": "other"}]])
def test_a_cluster_need_not_say_anything_to_plugins(
    config: written.Kubeconfig, tmp_path: Path, extensions: object
) -> None:
    path = program(
        tmp_path / "login",
        "told = json.loads(os.environ['KUBERNETES_EXEC_INFO'])['spec']['cluster']",
        "print(json.dumps({'apiVersion': told.get('config', '" + V1 + "'), 'status': {'token': 't'}}))",
    )
    config.write(cluster={"extensions": extensions}, **plugin(path, provideClusterInfo=True))
    content = json.loads(config.path.read_text())
    content["clusters"].insert(0, {"name": "other", "cluster": {}})
    config.path.write_text(json.dumps(content))
    assert Kubeconfig().read().header == "Bearer t"


def test_a_certificate_of_a_plugin_is_used_until_it_expires(
    config: written.Kubeconfig, authority: Authority, tmp_path: Path
) -> None:
    cert, key = (path.read_text() for path in authority.issue("me").write(tmp_path, "client"))
    status = {"clientCertificateData": cert, "clientKeyData": key, "expirationTimestamp": "2030-01-01T00:00:00Z"}
    config.write(**plugin(program(tmp_path / "login", answer(**status))))
    now = [datetime(2029, 1, 1, tzinfo=UTC)]
    configuration = Configuration(Kubeconfig(now=lambda: now[0]))
    first = configuration.access()
    other, its_key = (path.read_text() for path in authority.issue("me").write(tmp_path, "other"))
    program(tmp_path / "login", answer(**status | {"clientCertificateData": other, "clientKeyData": its_key}))
    before = configuration.access()
    now[0] = LATE
    after = configuration.access()
    assert before is first
    assert (after.header, first.header) == (None, None)
    assert after.tls is not first.tls


def test_a_plugin_is_not_run_where_the_user_has_a_token(config: written.Kubeconfig) -> None:
    config.write(token="t", **plugin("no-such-plugin"))
    assert Kubeconfig().read().header == "Bearer t"
