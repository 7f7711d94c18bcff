"""A second opinion: for the same kubeconfig files, kubectl and the connection send the same credentials."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from kubeapi.client.configuration import NoClusterError, find_configuration
from kubeapi.client.connection import Connection
from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.server import ApiServer
from tests.e2e.programs.binaries import kubectl
from tests.kubeapi.client.test_kubeconfig import answer, plugin, program
from tests.server.pki import Authority

pytestmark = pytest.mark.integration

PATH = "/api/v1/nodes"


async def by_kubectl(folder: Path) -> str:
    """What kubectl says in its last line if it fails; empty if it does not."""
    environment = {**os.environ, "HOME": str(folder)}
    process = await asyncio.create_subprocess_exec(
        kubectl(), "get", "--raw", PATH, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    return errors.decode().strip().splitlines()[-1] if process.returncode else ""


async def by_connection() -> None:
    async with (
        Connection(find_configuration()) as connection,
        connection.get(PATH, {}, silence=5.0) as response,
    ):
        await response.read()


def sent(server: ApiServer) -> dict[str, str]:
    """The headers of the newest request that say who asks, and for whom."""
    names = ("Authorization", "Impersonate")
    return {name.title(): value for name, value in server.seen[-1].headers.items() if name.title().startswith(names)}


USERS: dict[str, dict[str, object]] = {
    "token": {"token": "a"},
    "token and file": {"token": "a", "tokenFile": "token"},
    "token and missing file": {"token": "a", "tokenFile": "none"},
    "name and password": {"username": "me", "password": "pässword"},
    "plugin": plugin("./login"),
    "plugin and token": {"token": "a", **plugin("./login")},
    "plugin and password": {"username": "me", **plugin("./login")},
    "impersonation": {
        "token": "a",
        "as": "jane",
        "as-uid": "7",
        "as-groups": ["b"],
        "as-user-extra": {"Example.com/scope%": ["x"]},
    },
}


@pytest.mark.parametrize("user", USERS.values(), ids=USERS)
async def test_the_same_is_sent(
    server: ApiServer, kubeconfig: Kubeconfig, tmp_path: Path, user: dict[str, object]
) -> None:
    (tmp_path / "token").write_text("of the file\n")
    program(tmp_path / "login", answer(token="of the plugin"))
    kubeconfig.write(**user)
    assert await by_kubectl(tmp_path) == ""
    expected = sent(server)
    await by_connection()
    assert sent(server) == expected


async def test_the_same_of_several_files_counts(
    server: ApiServer, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = {"contexts": [{"name": "a", "context": {"cluster": "test", "user": "u"}}], "current-context": "a"}
    (tmp_path / "first").write_text(json.dumps({**context, "users": [{"name": "u", "user": {"token": "first"}}]}))
    Kubeconfig(tmp_path / "second", server=server.url, authority=authority.cert, token="second")
    (tmp_path / "third").write_text(json.dumps({"users": [{"name": "u", "user": {"as": "jane", "token": "third"}}]}))
    files = ("missing", "first", "third", "second")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(str(tmp_path / name) for name in files))
    assert await by_kubectl(tmp_path) == ""
    expected = sent(server)
    await by_connection()
    assert sent(server) == expected == {"Authorization": "Bearer first"}


@pytest.mark.parametrize(
    ("user", "cluster"),
    [
        pytest.param({"token": "a", "username": "b"}, {}, id="token and password"),
        pytest.param({"as-groups": ["b"]}, {}, id="groups of no one"),
        pytest.param({"auth-provider": {"name": "gcp"}}, {}, id="provider that is gone"),
        pytest.param(plugin("./login", interactiveMode=None), {}, id="plugin without mode"),
        pytest.param({}, {"insecure-skip-tls-verify": True}, id="authority that is not looked at"),
    ],
)
async def test_the_same_is_refused(
    server: ApiServer, kubeconfig: Kubeconfig, tmp_path: Path, user: dict[str, object], cluster: dict[str, object]
) -> None:
    program(tmp_path / "login", answer(token="of the plugin"))
    kubeconfig.write(cluster=cluster, **user)
    assert await by_kubectl(tmp_path) != ""
    with pytest.raises(NoClusterError):
        await by_connection()
    assert server.seen == []
