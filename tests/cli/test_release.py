"""``release``: what is asked for, the lines that it prints, and whom it waits for."""

import asyncio
import io
import logging
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.paths import Json, node_path, pod_path, pool_path
from tests.apiserver.server import ApiServer, Seen, refused
from webhook.app import release as releasing
from webhook.app.release import ReleaseRequest, TellFreed
from webhook.cli import main
from webhook.controller.admissionchecks.records import CONTROLLER
from webhook.controller.controller_pods import end_controllers, running_controllers
from webhook.controller.release import Freed, Scope
from webhook.placement.text import keys
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings

LEASE = "/apis/coordination.k8s.io/v1/namespaces/streams/leases/ctl"
DEPLOYMENT = "/apis/apps/v1/namespaces/streams/deployments/ctl"
PLACE = ("--lease-namespace", "streams", "--lease-name", "ctl")
OURS = {"app.kubernetes.io/name": "streams-placement", "app.kubernetes.io/component": "controller"}


@pytest.fixture
def freed() -> list[Freed]:
    """What the composition root tells of."""
    return list(FREED)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, freed: list[Freed]) -> list[ReleaseRequest]:
    """What the composition root was asked for."""
    wishes: list[ReleaseRequest] = []

    async def release(_: Settings, wish: ReleaseRequest, tell: TellFreed) -> None:
        await asyncio.sleep(0)
        wishes.append(wish)
        for one in freed:
            tell(one)

    monkeypatch.setattr("webhook.app.release.release", release)
    monkeypatch.setattr("webhook.cli.commands.release.uvloop.run", asyncio.run)
    return wishes


FREED = [
    Freed(what="HostPool team/one", hosts=tuple(f"n{number}" for number in range(12)), finalizer=True, stays=True),
    Freed(what="HostPool team/two", finalizer=True),
    Freed(what="HostPool team/three"),
    Freed(what="marks of no HostPool", hosts=("n12",)),
    Freed(what="AdmissionCheck placement", closed=True),
]

AGAIN = "streams-placement: warning: HostPools that are not deleted get hosts again as soon as a controller runs\n"


def test_a_line_tells_of_each(asked: list[ReleaseRequest], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["release", "--all"]) == 0
    said = capsys.readouterr()
    assert said.out == (
        "HostPool team/one: released n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more, removed its finalizer\n"
        "HostPool team/two: removed its finalizer\n"
        "HostPool team/three: nothing to release\n"
        "marks of no HostPool: released n12\n"
        "AdmissionCheck placement: set its condition Active to False\n"
    )
    assert (said.err, asked) == (AGAIN, [ReleaseRequest([Scope()])])


def test_a_dry_run_says_what_would_be(asked: list[ReleaseRequest], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["release", "team/one", "team", "--dry-run", "--wait", "5"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[1:] == [
        "HostPool team/two: would remove its finalizer",
        "HostPool team/three: nothing to release",
        "marks of no HostPool: would release n12",
        "AdmissionCheck placement: would set its condition Active to False",
    ]
    assert (said.err, asked) == (
        "",
        [ReleaseRequest([Scope("team", "one"), Scope("team")], dry_run=True, wait_seconds=5)],
    )


def test_nothing_at_all_is_said_as_well(
    asked: list[ReleaseRequest], freed: list[Freed], capsys: pytest.CaptureFixture[str]
) -> None:
    freed.clear()
    assert main(["release", "--all", "--delete-controller", *PLACE]) == 0
    assert capsys.readouterr().out == "HostPools: nothing to release\n"
    assert asked == [ReleaseRequest([Scope()], end_controllers=True)]


def test_what_is_left_is_3_and_says_so(
    asked: list[ReleaseRequest], freed: list[Freed], capsys: pytest.CaptureFixture[str]
) -> None:
    freed.append(Freed(what="HostPool team/four", hosts=("n1",), failure="the API server answers 403: no"))
    assert main(["release", "--all"]) == 3
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == "HostPool team/four: not released: the API server answers 403: no"
    left = "streams-placement: warning: 1 of 6 could not be fully released: run the command again\n"
    assert (said.err, len(asked)) == (AGAIN + left, 1)


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "nothing": ((), "say what to release: NAMESPACE/POOL, NAMESPACE for all HostPools there, or --all"),
    "everything and something": (("--all", "team/p", "x"), "--all releases everything: leave out team/p, x, or --all"),
    "no name": (
        ("Team/p",),
        '"Team/p" names no HostPool: it should be NAMESPACE/POOL, or NAMESPACE for all HostPools there',
    ),
    "no time": (("--all", "--wait", "0"), "--wait is 0, but it should be more than 0 and at most 3600 seconds"),
    "for ever": (("--all", "--wait", "inf"), "--wait is inf, but it should be more than 0 and at most 3600 seconds"),
    "a Deployment of nowhere": (
        ("--all", "--delete-controller"),
        "--delete-controller needs --lease-namespace: the namespace of the Deployment, and of the Lease",
    ),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_2_and_a_sentence(
    asked: list[ReleaseRequest], words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["release", *words]) == 2
    assert (capsys.readouterr().err, asked) == (f"streams-placement: {sentence}\n", [])


def test_what_is_not_a_number_is_2(asked: list[ReleaseRequest]) -> None:
    assert (main(["release", "--all", "--wait", "soon"]), asked) == (2, [])


# With an API server


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    """A node of a pool that a controller has marked."""
    async with ApiServer().running() as server:
        label = {keys.membership("team", "p"): "0"}
        taint = {"key": keys.EXCLUSIVE, "value": "team.p", "effect": "NoSchedule"}
        server.storage.create(node_path("node-a"), metadata={"labels": label}, spec={"taints": [taint]})
        status = {"phase": "Ready", "hosts": [{"index": 0, "name": "node-a"}]}
        server.storage.create(
            pool_path("p", "team"),
            metadata={"finalizers": ["streams.ibm.com/hosts"]},
            spec={"size": 1, "mode": "Exclusive"},
            status=status,
        )
        yield server


async def command(server: ApiServer, folder: Path, *words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of the command, which runs in a thread of this process.

    As in a process of its own no handler is there for what it logs: warnings are written to standard error.
    """
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name in [name for name in os.environ if name.startswith("KUBERNETES_")]:
            patch.delenv(name)
        patch.setenv("KUBECONFIG", str(kubeconfig_of(server, folder)))
        patch.setattr(logging.getLogger(), "handlers", [])
        code = await asyncio.wait_for(asyncio.to_thread(main, ["release", *words]), 60)
    return code, out.getvalue(), err.getvalue()


async def process(server: ApiServer, folder: Path, *words: str) -> tuple[int, str, str]:
    """The same of the program itself."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KUBERNETES_")}
    environment["KUBECONFIG"] = str(kubeconfig_of(server, folder))
    pipe = asyncio.subprocess.PIPE
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "webhook", "release", *words, stdout=pipe, stderr=pipe, env=environment
    )
    out, err = await asyncio.wait_for(started.communicate(), 60)
    assert started.returncode is not None
    return started.returncode, out.decode(), err.decode()


def kubeconfig_of(server: ApiServer, folder: Path) -> Path:
    """A kubeconfig in the folder, with the address of the server."""
    return Kubeconfig(folder / "kubeconfig", server=server.url).path


def held(server: ApiServer, holder: str, seconds: int = 3600) -> None:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": seconds, "leaseTransitions": 1}
    server.put(LEASE, {"metadata": {"namespace": "streams", "name": "ctl"}, "spec": spec})


def is_other(path: str) -> bool:
    """Whether the path is of an object that is no node, pod, namespace or HostPool."""
    core = path.startswith("/api/v1/") and re.search(r"/(nodes|pods|namespaces)/[^/]+$", path)
    return not core and not path.startswith("/apis/streams.ibm.com/")


def others(server: ApiServer) -> list[str]:
    return [path for path in server.objects if is_other(path)]


def is_free(server: ApiServer) -> bool:
    """Whether nothing of the pool's is left."""
    node: Json = server.storage.node("node-a")
    pool: Json = server.storage.pool("p", "team")
    return not (node["metadata"]["labels"] or node["spec"]["taints"] or pool["metadata"].get("finalizers"))


def serve_checks(server: ApiServer, *names: str) -> list[str]:
    """AdmissionChecks that are active; the one called ``refused`` may not be changed."""
    group = "/apis/kueue.x-k8s.io"
    version = "kueue.x-k8s.io/v1beta2"
    conditions = [{"type": "Active", "status": "True", "reason": "Active", "message": ""}]
    paths = [f"{group}/v1beta2/admissionchecks/{name}" for name in names]
    for path in paths:
        server.storage.create(
            path, apiVersion=version, spec={"controllerName": CONTROLLER}, status={"conditions": conditions}
        )

    async def serve(seen: Seen) -> web.StreamResponse | None:
        if seen.path == group:
            return web.json_response({"versions": [{"groupVersion": version}]})
        return refused(403, "Forbidden") if seen.path.endswith("/refused/status") else None

    server.before = serve
    return paths


def is_active(server: ApiServer, path: str) -> str:
    """The status of its condition Active."""
    (condition,) = server.objects[path]["status"]["conditions"]
    return str(condition["status"])


DONE = "HostPool team/p: released node-a, removed its finalizer\n"


@pytest.mark.integration
class TestTheProcess:
    """Who is waited for, and what is left behind."""

    async def test_releases_hosts_when_no_controller_runs(self, server: ApiServer, tmp_path: Path) -> None:
        """By a process of its own, as the next one and the one with a warning."""
        assert await process(server, tmp_path, "--all") == (0, DONE, AGAIN)
        assert (is_free(server), others(server)) == (True, [])

    async def test_refuses_while_a_controller_runs(self, server: ApiServer, tmp_path: Path) -> None:
        for name in ("ctl-1", "ctl-2", "ctl-3", "ctl-4"):
            server.storage.create(pod_path(name, "streams"), metadata={"labels": OURS}, status={"phase": "Running"})
        server.storage.create(pod_path("old", "other"), metadata={"labels": OURS}, status={"phase": "Failed"})
        said = (
            "streams-placement: controllers run, and would assign hosts again: streams/ctl-1, streams/ctl-2, "
            "streams/ctl-3 and 1 more; stop them first: kubectl --namespace streams scale deployment --selector "
            "app.kubernetes.io/name=streams-placement,app.kubernetes.io/component=controller --replicas 0\n"
        )
        assert await process(server, tmp_path, "--all") == (3, "", said)
        assert not is_free(server)

    async def test_looks_while_a_controller_runs(self, server: ApiServer, tmp_path: Path) -> None:
        server.storage.create(pod_path("ctl-1", "streams"), metadata={"labels": OURS}, status={"phase": "Running"})
        said = "HostPool team/p: would release node-a, would remove its finalizer\n"
        assert await command(server, tmp_path, "--all", "--dry-run") == (0, said, "")

    async def test_takes_a_lease_that_is_free_and_gives_it_back(self, server: ApiServer, tmp_path: Path) -> None:
        held(server, "")
        assert await command(server, tmp_path, "--all", *PLACE) == (0, DONE, AGAIN)
        spec = server.objects[LEASE]["spec"]
        assert (is_free(server), spec["holderIdentity"], spec["leaseTransitions"]) == (True, "", 2)

    async def test_waits_for_the_lease_of_one_that_was_killed(self, server: ApiServer, tmp_path: Path) -> None:
        held(server, "ctl-1_x", seconds=1)
        assert await command(server, tmp_path, "team/p", *PLACE) == (0, DONE, AGAIN)

    async def test_refuses_while_a_controller_leads(self, server: ApiServer, tmp_path: Path) -> None:
        held(server, "ctl-1_x")
        said = (
            "streams-placement: the Lease streams/ctl is held by ctl-1_x, a controller that would assign hosts again, "
            "and was not released within 1 s; stop it first: kubectl --namespace streams scale deployment ctl "
            "--replicas 0\n"
        )
        assert await command(server, tmp_path, "--all", *PLACE, "--wait", "1") == (3, "", said)
        assert (is_free(server), server.objects[LEASE]["spec"]["holderIdentity"]) == (False, "ctl-1_x")

    async def test_ends_the_controllers_first_if_it_is_told_to(self, server: ApiServer, tmp_path: Path) -> None:
        held(server, "")
        server.put(DEPLOYMENT, {"metadata": {"namespace": "streams", "name": "ctl"}})
        code, out, err = await command(server, tmp_path, "--all", *PLACE, "--delete-controller")
        assert (code, out, err, DEPLOYMENT in server.objects) == (0, DONE, "", False)

    async def test_says_which_controllers_do_not_end(self, server: ApiServer, tmp_path: Path) -> None:
        """As on a machine that nobody hears of any more: what counts is who holds the Lease."""
        held(server, "")
        server.storage.create(pod_path("ctl-1", "streams"), metadata={"labels": OURS}, status={"phase": "Running"})
        said = "controllers have not ended, so the Lease decides: streams/ctl-1\n"
        assert await process(server, tmp_path, "--all", *PLACE, "--delete-controller", "--wait", "2") == (0, DONE, said)

    async def test_no_admission_check_waits_for_a_controller_that_has_gone(
        self, server: ApiServer, tmp_path: Path
    ) -> None:
        checks = serve_checks(server, "placement", "refused")
        would = "would set its condition Active to False"
        said = (
            "HostPool team/p: would release node-a, would remove its finalizer\n"
            f"AdmissionCheck placement: {would}\nAdmissionCheck refused: {would}\n"
        )
        assert await command(server, tmp_path, "--all", "--dry-run") == (0, said, "")
        assert [is_active(server, path) for path in checks] == ["True", "True"]
        code, out, err = await command(server, tmp_path, "--all")
        lines = out.removeprefix(DONE).splitlines()
        assert (code, lines[0]) == (3, "AdmissionCheck placement: set its condition Active to False")
        assert lines[1].startswith("AdmissionCheck refused: not released: ")
        assert err.endswith("streams-placement: warning: 1 of 3 could not be fully released: run the command again\n")
        assert [is_active(server, path) for path in checks] == ["False", "True"]

    async def test_an_uninstallation_does_not_fail_for_a_check(self, server: ApiServer, tmp_path: Path) -> None:
        held(server, "")
        checks = serve_checks(server, "refused", "then")
        code, out, err = await command(server, tmp_path, "--all", *PLACE, "--delete-controller")
        assert (code, out) == (0, f"{DONE}AdmissionCheck then: set its condition Active to False\n")
        assert err.startswith("AdmissionCheck refused of Kueue is left unchanged: ")
        assert [is_active(server, path) for path in checks] == ["True", "False"]

    async def test_nor_where_checks_cannot_be_listed(self, server: ApiServer, tmp_path: Path) -> None:
        """As with the definitions of Kueue left behind, whose webhook for conversions has gone."""
        held(server, "")
        serve_checks(server, "placement")
        served = server.before

        async def broken(seen: Seen) -> web.StreamResponse | None:
            return refused(500, "InternalError") if seen.path.endswith("/admissionchecks") else await served(seen)

        server.before = broken
        code, out, err = await command(server, tmp_path, "--all", *PLACE, "--delete-controller")
        assert (code, out) == (0, DONE)
        assert err.startswith("AdmissionChecks of Kueue are left unchanged: ")
        code, out, err = await command(server, tmp_path, "--all")
        assert (code, out) == (3, "HostPool team/p: nothing to release\n")
        assert "hosts could not be released: " in err

    async def test_one_pool_is_released_without_the_admission_checks(self, server: ApiServer, tmp_path: Path) -> None:
        (check,) = serve_checks(server, "placement")
        assert await command(server, tmp_path, "team/p") == (0, DONE, AGAIN)
        assert is_active(server, check) == "True"

    async def test_without_a_place_for_the_lease_it_says_so(self, server: ApiServer, tmp_path: Path) -> None:
        async def nowhere(seen: Seen) -> web.StreamResponse | None:
            return refused(404, f"NotFound {seen.method} {seen.path}") if is_other(seen.path) else None

        server.before = nowhere
        code, out, err = await command(server, tmp_path, "--all", *PLACE, "--wait", "1")
        why = "the Lease streams/ctl cannot be made: set --lease-namespace to an existing namespace"
        assert (code, out, err.splitlines()[-1]) == (3, "", f"streams-placement: {why}")

    async def test_what_cannot_be_asked_is_3_and_a_sentence(self, server: ApiServer, tmp_path: Path) -> None:
        server.fail_lists()
        code, out, err = await command(server, tmp_path, "--all", "--dry-run")
        assert (code, out) == (3, "")
        assert err.startswith("streams-placement: hosts could not be released: the API server answers 500")

    async def test_a_lease_that_is_lost_meanwhile_ends_it(self, server: ApiServer, monkeypatch: Any) -> None:
        """Somebody takes it by force; nothing is written from then on."""
        held(server, "")

        async def run(*_: object) -> None:
            held(server, "somebody")
            await asyncio.sleep(60)

        monkeypatch.setattr(releasing, "_run", run)
        monkeypatch.setattr(releasing, "configuration_of", lambda _: server.configuration())
        settings = Settings(lease_namespace="streams", lease_name="ctl")
        with pytest.raises(
            FatalError, match="^hosts could not be released: the lease streams/ctl is not ours any more$"
        ):
            await releasing.release(settings, ReleaseRequest([Scope()]), lambda _: None)


@pytest.mark.integration
async def test_controllers_that_do_not_end_are_named(server: ApiServer) -> None:
    server.storage.create(pod_path("ctl-1", "streams"), metadata={"labels": OURS}, status={"phase": "Running"})
    async with Connection(server.configuration()) as connection:
        asked = ObjectClient(connection)
        assert await running_controllers(asked) == ["streams/ctl-1"]
        assert await end_controllers(asked, "streams", "ctl", wait=0.6) == ["streams/ctl-1"]
        assert await end_controllers(asked, "elsewhere", "ctl", wait=0.6) == []


@pytest.mark.integration
async def test_a_deployment_that_may_not_be_deleted_is_a_failure(server: ApiServer) -> None:
    async def forbidden(seen: Seen) -> web.StreamResponse | None:
        return refused(403, "Forbidden") if is_other(seen.path) else None

    server.before = forbidden
    async with Connection(server.configuration()) as connection:
        with pytest.raises(ApiError, match="403"):
            await end_controllers(ObjectClient(connection), "streams", "ctl", wait=1)
