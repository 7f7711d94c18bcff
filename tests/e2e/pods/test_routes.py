"""The forwarder sends connections to the endpoints that kube-proxy would choose."""

from typing import Any

import pytest

from tests.e2e.pods.routes import routes

CLUSTER = "127.96.0.9"


def service(**tweaks: Any) -> dict[str, Any]:
    spec = {"clusterIP": CLUSTER, "ports": [{"name": "https", "port": 443}], **tweaks}
    return {"metadata": {"namespace": "n", "name": "s"}, "spec": spec}


def endpoints(*conditions: dict[str, bool], of: str = "s", port: str = "https") -> dict[str, Any]:
    """An EndpointSlice; the first endpoint is 10.97.0.1, the next 10.97.0.2."""
    listed = [{"addresses": [f"10.97.0.{n}"], "conditions": one} for n, one in enumerate(conditions, start=1)]
    meta = {"namespace": "n", "name": f"{of}-x", "labels": {"kubernetes.io/service-name": of}}
    return {"metadata": meta, "ports": [{"name": port, "port": 8443}], "endpoints": listed}


READY = {"ready": True, "serving": True, "terminating": False}
UNREADY = {"ready": False, "serving": False, "terminating": False}
LEAVING = {"ready": False, "serving": True, "terminating": True}


@pytest.mark.parametrize(
    ("conditions", "hosts"),
    [
        pytest.param([READY, READY], ["127.97.0.1", "127.97.0.2"], id="all that are ready"),
        pytest.param([READY, UNREADY, LEAVING], ["127.97.0.1"], id="only those that are ready"),
        pytest.param([UNREADY, LEAVING], ["127.97.0.2"], id="those that are leaving while there are no others"),
        pytest.param([{}], ["127.97.0.1"], id="unknown counts as ready"),
    ],
)
def test_connections_go_to(conditions: list[dict[str, bool]], hosts: list[str]) -> None:
    assert routes([service()], [endpoints(*conditions)]) == {(CLUSTER, 443): tuple((host, 8443) for host in hosts)}


@pytest.mark.parametrize(
    ("services", "slices"),
    [
        pytest.param([service()], [endpoints(UNREADY)], id="no endpoint is ready"),
        pytest.param([service()], [], id="there are no endpoints"),
        pytest.param([service()], [endpoints(READY, of="other")], id="endpoints belong to another Service"),
        pytest.param([service()], [endpoints(READY, port="metrics")], id="endpoints have another port"),
        pytest.param([service(clusterIP="None")], [endpoints(READY)], id="the Service is headless"),
        pytest.param([service()], [{**endpoints(READY), "endpoints": None}], id="the slice is empty"),
    ],
)
def test_the_route_is_dead_when(services: list[dict[str, Any]], slices: list[dict[str, Any]]) -> None:
    assert routes(services, slices) == {}
