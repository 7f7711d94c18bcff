"""Among many nodes unusable objects are skipped and named, unusual ones are read correctly, all others count."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from bench.generated.topology import Scale
from tests.e2e.chart.placement_pods import asking
from tests.e2e.client.api import Answer, Object
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.live.odd_objects import NODES, POOLS, SPACE, USABLE, odd_plane
from tests.e2e.live.webhook_process import Server
from tests.e2e.polling import until
from tests.e2e.workloads import pod_spec

MANY: Final = Scale(1_200, 1_000)
"""Nodes and pods; ``test_scale.py`` reads the same odd objects among 5,000 nodes."""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BarePlane]:
    with odd_plane(tmp_path_factory.mktemp("plane"), MANY) as running:
        yield running


@pytest.fixture(scope="module")
def server(odd: BarePlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("odd"), odd) as server:
        server.wait()
        yield server


def wanting(host: str, **requests: str) -> Object:
    """A pod that asks for a host, and for room on it."""
    container = {"name": "main", "image": "example.invalid/main", "resources": {"requests": requests}}
    return asking("p", SPACE, f'host("{host}")', pod_spec(containers=[container]))


def review_of(server: Server, pod: Object) -> Any:
    answer: Answer = server.ask("/mutate", pod)
    return answer.body["response"]


def message(server: Server, pod: Object) -> str:
    """Why a pod is refused; empty if it is not."""
    return str(review_of(server, pod).get("status", {}).get("message", ""))


def test_all_others_count(odd: BarePlane, server: Server) -> None:
    listed = odd.admin.get("/api/v1/nodes")["items"]
    assert len(listed) >= MANY.nodes + len(NODES)
    until(lambda: server.gauge("nodes") == len(listed), "every node is known")
    assert server.gauge("host_pools") == len(USABLE)


def test_those_of_no_use_are_counted(server: Server) -> None:
    assert server.gauge("skipped_objects") == len(POOLS)


@pytest.mark.parametrize(("name", "reason"), [(name, reason) for name, (_, reason) in POOLS.items()], ids=POOLS)
def test_each_is_named_once_with_its_fault(server: Server, name: str, reason: str) -> None:
    said = [line["message"] for line in server.log() if f"HostPool {SPACE}/{name}:" in line["message"]]
    assert said == [f"cluster: HostPool {SPACE}/{name}: {reason}"]


def test_a_pool_of_no_use_is_as_good_as_absent(server: Server) -> None:
    assert message(server, asking("p", SPACE, "host(Huge)")).startswith(
        'metadata.annotations[streams.ibm.com/placement]: host(Huge): this namespace has no HostPool "Huge" that the'
        " pod may use; known HostPools: Useful, nothing\n"
    )


def test_a_field_that_the_definition_does_not_know_harms_no_pool(server: Server) -> None:
    assert message(server, asking("p", SPACE, "host(Useful)")) == ""


AMOUNTS: Final = {
    "1e3 cores": ("odd-exponent", {"cpu": "1000"}, {"cpu": "1000001m"}),
    "1E bytes": ("odd-exponent", {"memory": "1000P"}, {"memory": "1001P"}),
    "500m cores": ("odd-milli", {"cpu": "0.5"}, {"cpu": "501m"}),
    "1500m bytes are two": ("odd-milli", {"memory": "2"}, {"memory": "3"}),
    "0.5Ki cores": ("odd-binary", {"cpu": "512"}, {"cpu": "513"}),
    "2Ti bytes": ("odd-binary", {"memory": "2048Gi"}, {"memory": "2049Gi"}),
    "devices": ("odd-binary", {"example.com/gpu": "3"}, {"example.com/gpu": "4"}),
    "less than a thousandth of a core": ("odd-tiny", {"cpu": "1m"}, {"cpu": "2m"}),
    "no bytes": ("odd-tiny", {"memory": "0"}, {"memory": "1"}),
}


@pytest.mark.parametrize(("host", "room", "more"), AMOUNTS.values(), ids=AMOUNTS.keys())
def test_amounts_mean_what_they_mean_to_kubernetes(
    server: Server, host: str, room: dict[str, str], more: dict[str, str]
) -> None:
    assert message(server, wanting(host, **room)) == ""
    assert "0 of " in message(server, wanting(host, **more))


@pytest.mark.parametrize(
    "name", ["odd-addresses", "odd-hostname", "odd-nameless", "odd-twin", "odd-labels", "odd-taints"]
)
def test_an_odd_node_can_be_asked_for_by_its_name(server: Server, name: str) -> None:
    assert message(server, wanting(name, cpu="1")) == ""
