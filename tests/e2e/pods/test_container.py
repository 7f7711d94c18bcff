"""How the spec of a pod is turned into a plain process."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.pods import volumes
from tests.e2e.pods.container import Place, Run, run_of
from tests.e2e.pods.pod_sources import NotYetError, Sources, UnsupportedError

NOTHING = Sources({}, {})
PLACE = Place("10.97.1.2", Path("/pods/p"), 6443)
META = {"name": "p", "namespace": "n", "uid": "u", "labels": {"a/b": "c"}}


def run(*, sources: Sources = NOTHING, **container: Any) -> Run:
    pod = {"metadata": META, "spec": {"nodeName": "node-1", "containers": [{"name": "main", **container}]}}
    extra = {"AT": "{address}", "ACCOUNT": "{service_account}"}
    return run_of(pod, PLACE, sources, {"": ["image"], "program": ["python", "-m", "program"]}, extra)


@pytest.mark.parametrize(
    ("word", "becomes"),
    [
        ("plain", "plain"),
        ("--host=0.0.0.0", "--host=127.97.1.2"),
        ("0.0.0.0:8443", "127.97.1.2:8443"),
        ("[::]:8443", "127.97.1.2:8443"),
        ("10.0.0.0", "10.0.0.0"),
        ("/etc/tls/tls.crt", "/pods/p/volumes/tls/tls.crt"),
        ("--cert=/etc/tls/tls.crt", "--cert=/pods/p/volumes/tls/tls.crt"),
        ("/etc/tls", "/pods/p/volumes/tls"),
        ("/etc/tls/deeper/file", "/pods/p/volumes/deeper/file"),
        ("/etc/tlsx", "/etc/tlsx"),
        ("/opt/etc/tls", "/opt/etc/tls"),
        ("/var/run/secrets/kubernetes.io/serviceaccount/token", "/pods/p/volumes/..serviceaccount/token"),
        ("$(NAME)-$$(NAME)-$(UNKNOWN)", "value-$(NAME)-$(UNKNOWN)"),
    ],
)
def test_a_word_becomes(word: str, becomes: str) -> None:
    mounts = [{"name": "tls", "mountPath": "/etc/tls/"}, {"name": "deeper", "mountPath": "/etc/tls/deeper"}]
    env = [{"name": "NAME", "value": "value"}]
    assert run(args=[word], volumeMounts=mounts, env=env).command == ["image", becomes]


def test_the_first_word_of_the_command_is_a_program_of_the_working_copy() -> None:
    assert run(command=["program", "serve"], args=["now"]).command == ["python", "-m", "program", "serve", "now"]


def test_a_command_without_program_is_refused() -> None:
    with pytest.raises(NotYetError, match="there is no program for the command '/bin/sh'"):
        run(command=["/bin/sh"])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "p"),
        ("metadata.namespace", "n"),
        ("metadata.labels['a/b']", "c"),
        ("metadata.annotations['none']", ""),
        ("spec.nodeName", "node-1"),
        ("status.podIP", "127.97.1.2"),
        ("status.hostIP", "127.0.0.1"),
    ],
)
def test_a_field_reference_is(path: str, value: str) -> None:
    env = [{"name": "X", "valueFrom": {"fieldRef": {"fieldPath": path}}}]
    assert run(env=env).environment["X"] == value


def test_secrets_and_config_maps_reach_the_environment() -> None:
    sources = Sources({"s": {"data": {"k": "c2VjcmV0"}}}, {"c": {"data": {"K": "plain"}}})
    env = [
        {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        {"name": "NONE", "valueFrom": {"secretKeyRef": {"name": "none", "key": "k", "optional": True}}},
    ]
    seen = run(sources=sources, env=env, envFrom=[{"configMapRef": {"name": "c"}, "prefix": "P_"}]).environment
    assert (seen["S"], seen["P_K"], "NONE" in seen) == ("secret", "plain", False)


def test_a_missing_secret_keeps_the_pod_waiting() -> None:
    with pytest.raises(NotYetError, match='secret "s" not found'):
        run(env=[{"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}])


def test_environment_of_the_test_run_knows_the_place() -> None:
    seen = run().environment
    assert (seen["AT"], seen["ACCOUNT"]) == ("127.97.1.2", "/pods/p/volumes/..serviceaccount")


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(UnsupportedError, match="volumeMounts with subPath"):
        run(volumeMounts=[{"name": "v", "mountPath": "/v", "subPath": "x"}])


def test_a_volume_changes_from_one_moment_to_the_next_and_files_go(tmp_path: Path) -> None:
    volumes.write(tmp_path, {"tls.crt": b"1", "old": b"1"})
    before = (tmp_path / "..data").resolve()
    volumes.write(tmp_path, {"tls.crt": b"2", "deep/new": b"2"})
    assert {path.name for path in tmp_path.iterdir()} == {
        "..data",
        (tmp_path / "..data").readlink().name,
        "tls.crt",
        "deep",
    }
    assert ((tmp_path / "tls.crt").read_bytes(), (tmp_path / "deep/new").read_bytes()) == (b"2", b"2")
    assert not before.exists()


def test_projected_volumes_join_their_sources() -> None:
    sources = Sources({"s": {"data": {"k": "c2VjcmV0", "other": ""}}}, {"c": {"data": {"K": "plain"}}})
    secret = {"secret": {"name": "s", "items": [{"key": "k", "path": "deep/k"}]}}
    token = {"serviceAccountToken": {"path": "token"}}
    volume = {"projected": {"sources": [secret, {"configMap": {"name": "c"}}, token]}}
    files = volumes.contents(volume, {"metadata": META}, "10.97.0.1", sources, lambda: "secret-token")
    assert files == {"deep/k": b"secret", "K": b"plain", "token": b"secret-token"}
