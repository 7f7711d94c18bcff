"""Before the cluster has been listed nothing is decided: pods that ask for hosts are refused, with the reason."""

import http
import json
from collections.abc import Iterator
from typing import Final, NamedTuple

import pytest

from tests.e2e.chart.placement_pods import asking
from tests.e2e.client.api import Answer
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.live.closable_proxy import ClosableProxy
from tests.e2e.live.configurations import reviewed
from tests.e2e.live.pod_creator import mutated
from tests.e2e.live.webhook_process import Server
from tests.e2e.nodes import node
from tests.e2e.polling import until
from tests.e2e.workloads import namespace, pod

SPACE: Final = "unread"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"
STALE: Final = "2"
"""Seconds until a server that hears nothing answers nothing; the default is 300. A quiet cluster says less than that,
so nothing is shown here of how it ends (``test_half_open.py`` does)."""

WANTED: Final = asking("p", SPACE, 'host("unread-1")')
TOO_OLD: Final = "the webhook is not ready: the cached state of the cluster is stale: nodes: "


class Silent(NamedTuple):
    """A server, and the way to the API server on which nothing moves."""

    server: Server
    gate: ClosableProxy


@pytest.fixture(scope="module", autouse=True)
def _cluster(core: BarePlane) -> None:
    namespace(core.admin, SPACE)
    core.admin.create(node("unread-1"))


@pytest.fixture(scope="class")
def cold(core: BarePlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Silent]:
    """Its first lists hang."""
    with ClosableProxy(core.port) as gate:
        gate.hang()
        with Server(tmp_path_factory.mktemp("cold"), core, gate.port) as server:
            until(lambda: server.page("/healthz").code, "it runs")
            with reviewed(core.admin, server):
                yield Silent(server, gate)


@pytest.fixture(scope="class")
def stale(core: BarePlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Silent]:
    """It was ready, and has heard nothing for too long."""
    folder = tmp_path_factory.mktemp("stale")
    with ClosableProxy(core.port) as gate, Server(folder, core, gate.port, "--stale-after", STALE) as server:
        server.wait()
        gate.hang()
        until(lambda: not server.ready(), "it is too old")
        with reviewed(core.admin, server):
            until(lambda: create(core).code != http.HTTPStatus.CREATED, "it is asked")
            yield Silent(server, gate)


def create(core: BarePlane) -> Answer:
    """What the API server says to a pod that asks for a host; a pod that it takes was mutated."""
    answer = core.admin.send("POST", PODS, WANTED)
    assert answer.code != http.HTTPStatus.CREATED or mutated(answer.body)
    return answer


class TestBeforeTheFirstList:
    def test_health_says_what_is_missing(self, cold: Silent) -> None:
        page = cold.server.page("/readyz")
        assert page.code == http.HTTPStatus.SERVICE_UNAVAILABLE
        assert page.text.startswith("the cluster is not read yet: nodes: ")

    @pytest.mark.parametrize("path", ["/mutate", "/validate"])
    def test_it_refuses_connections(self, cold: Silent, path: str) -> None:
        with pytest.raises(ConnectionRefusedError):
            cold.server.ask(path, WANTED)

    def test_a_pod_that_asks_is_turned_away(self, core: BarePlane, cold: Silent) -> None:
        answer = core.admin.send("POST", PODS, WANTED)
        assert answer.code == http.HTTPStatus.INTERNAL_SERVER_ERROR
        assert f"dial tcp 127.0.0.1:{cold.server.port}: connect: connection refused" in answer.message

    @pytest.mark.usefixtures("cold")
    def test_a_pod_that_does_not_ask_goes_on(self, core: BarePlane) -> None:
        core.admin.create(pod("plain", SPACE), dryRun="All")

    def test_all_is_well_as_soon_as_the_lists_come_through(self, core: BarePlane, cold: Silent) -> None:
        cold.gate.open()
        cold.server.wait()
        until(lambda: create(core).code == http.HTTPStatus.CREATED, "it is asked")


class TestAfterASilence:
    @pytest.mark.parametrize("path", ["/mutate", "/validate"])
    def test_a_review_gets_a_status_that_says_why(self, stale: Silent, path: str) -> None:
        answer = stale.server.ask(path, WANTED)
        assert (answer.code, answer.body["kind"], answer.body["status"], answer.body["reason"]) == (
            http.HTTPStatus.SERVICE_UNAVAILABLE,
            "Status",
            "Failure",
            "ServiceUnavailable",
        )
        assert answer.message.startswith(TOO_OLD)

    @pytest.mark.usefixtures("stale")
    def test_the_user_reads_it(self, core: BarePlane) -> None:
        done = core.kubectl("create", "-f", "-", stdin=json.dumps(WANTED))
        assert done.returncode == 1
        assert (
            f'failed calling webhook "pods.placement.streams.ibm.com": failed to call webhook: {TOO_OLD}' in done.stderr
        )
        assert core.admin.get(f"/api/v1/namespaces/{SPACE}/pods")["items"] == []

    @pytest.mark.usefixtures("stale")
    def test_a_pod_that_does_not_ask_goes_on(self, core: BarePlane) -> None:
        core.admin.create(pod("plain", SPACE), dryRun="All")
