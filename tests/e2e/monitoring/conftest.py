"""Fixtures: the chart with everything that watches it, something to see, and a Prometheus that has seen it."""

import base64
import contextlib
import http.client
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import Struct

from tests.e2e.chart.conftest import pair
from tests.e2e.chart.installation import PORT, QUICK, install, kubelet
from tests.e2e.chart.rendering import NAMESPACE, RELEASE, Values
from tests.e2e.client.api import Api, Object, RefusedError
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.jobs.streams_jobs import Jobs, elements
from tests.e2e.monitoring.prometheus import ACCOUNT, RIGHTS, Prometheus, definitions
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from tests.e2e.rest.conftest import grant
from tests.e2e.rest.hpa_process import INTENTS
from tests.e2e.workloads import namespace, pod

SPACE: Final = "watched"
_API: Final = f"{RELEASE}-hpa-api"
_API_PORT: Final = 9444
_PROCESSES: Final = 6
"""Two replicas of each program."""

_SAMPLES: Final = 15
"""Samples of each process after which rates are rates of something."""

VALUES: Final[Values] = {
    "settings": {**QUICK["settings"], "nameDegradedPools": True},
    "hpaApi": {"enabled": True, "port": _API_PORT, "tlsSecret": "hpa-api-tls", "audience": ""},
    "serviceMonitor": {"enabled": True, "interval": "1s"},
    "metrics": {"rules": {"enabled": True}, "dashboard": {"enabled": True}},
}


class Monitored(Struct, frozen=True):
    """A control plane with the chart, and the Prometheus that watches it."""

    plane: ControlPlane
    prometheus: Prometheus


@pytest.fixture(scope="package")
def monitored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitored]:
    folder = tmp_path_factory.mktemp("monitored")
    with ControlPlane(folder / "plane", service_accounts=(ACCOUNT,)) as plane:
        create_nodes(plane.admin, [node(f"node-{number}") for number in (1, 2, 3)])
        for one in definitions():
            plane.admin.create(one)
        space, name = ACCOUNT.split("/")
        grant(plane.admin, name, RIGHTS, {"kind": "ServiceAccount", "namespace": space, "name": name})
        with kubelet(plane) as running:
            tls = _secrets(plane.admin, folder)
            install(plane, running, {**VALUES, "tls": tls})
            with _started(Prometheus(plane, folder / "prometheus")) as prometheus:
                until(lambda: len(prometheus.query("streams_placement_info")) == _PROCESSES, "all are read", 60)
                _something_to_see(plane)
                query = "min(count_over_time(streams_placement_ready[1h]))"
                until(lambda: float(prometheus.query(query)[0]["value"][1]) > _SAMPLES, "there are samples", 60)
                yield Monitored(plane, prometheus)


@contextlib.contextmanager
def _started(prometheus: Prometheus) -> Iterator[Prometheus]:
    prometheus.component.start()
    try:
        prometheus.component.wait()
        yield prometheus
    finally:
        prometheus.component.kill()


def _secrets(admin: Api, folder: Path) -> Values:
    """Certificates of webhook and REST interface, as docs/rest.md makes the latter; returns the values of ``tls``."""
    own = folder / "own"
    admin.create(pair(own))
    other = folder / "hpa-api"
    names = ("--service", _API, "--namespace", NAMESPACE)
    command = (sys.executable, "-m", "certs", "create", "--dir", str(other), *names)
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own program, no shell
    files = ("tls.crt", "tls.key", "ca.crt")
    data = {name: base64.b64encode((other / name).read_bytes()).decode() for name in files}
    metadata = {"name": "hpa-api-tls", "namespace": NAMESPACE}
    admin.create(
        {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": metadata, "data": data}
    )
    return {"source": "existingSecret", "existingSecret": {"name": "own-tls", "caBundle": (own / "ca.crt").read_text()}}


def _something_to_see(plane: ControlPlane) -> None:
    """Pods that are let in and refused, a HostPool whose host is in trouble, a Job, and requests of every kind."""
    admin, jobs = plane.admin, Jobs(plane.admin, SPACE)
    namespace(admin, SPACE)
    for number in range(5):
        admin.create(_asking(f"let-in-{number}", 'host("node-1")'))
        with contextlib.suppress(RefusedError):
            admin.create(_asking(f"refused-{number}", 'host("gone")'))
    pool = {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": {"name": "p", "namespace": SPACE}}
    admin.call("POST", jobs.path("streamshostpools"), {**pool, "spec": {"size": 1}})
    jobs.submit("parallel", elements("parallel-0", "parallel-1"))
    path = jobs.path("streamshostpools", "p")
    until(lambda: admin.get(path).get("status", {}).get("phase") == "Ready", "the pool has its host", 60)
    until(lambda: jobs.job("parallel").get("status", {}).get("phase") == "Running", "the Job runs", 60)
    host = admin.get(path)["status"]["hosts"][0]["name"]
    assert plane.kubectl("cordon", host).returncode == 0
    until(lambda: _degraded(admin.get(path)), "the pool is degraded", 60)
    token = plane.identities["admin"].token
    assert _asked(admin, _API, _API_PORT, INTENTS, token) == http.HTTPStatus.OK
    assert _asked(admin, _API, _API_PORT, "/nowhere", token) == http.HTTPStatus.NOT_FOUND
    assert _asked(admin, RELEASE, PORT, "/mutate") == http.HTTPStatus.METHOD_NOT_ALLOWED


def _asking(name: str, placement: str) -> Object:
    return pod(name, SPACE, labels={"streams.ibm.com/job": "j"}, annotations={"streams.ibm.com/placement": placement})


def _degraded(found: Any) -> bool:
    return any(one["type"] == "Degraded" and one["status"] == "True" for one in found["status"]["conditions"])


def _asked(admin: Api, service: str, port: int, path: str, token: str = "") -> int:
    """The status of one GET request to a Service."""
    address = admin.get(f"/api/v1/namespaces/{NAMESPACE}/services/{service}")["spec"]["clusterIP"]
    anything = ssl._create_unverified_context()  # noqa: S323, SLF001 -- only the status is read
    connection = http.client.HTTPSConnection(address, port, timeout=20, context=anything)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        return connection.getresponse().status
    finally:
        connection.close()


def dashboard(monitored: Monitored) -> Any:
    """The dashboard, as it is in the cluster."""
    found = monitored.plane.admin.get(f"/api/v1/namespaces/{NAMESPACE}/configmaps/{RELEASE}-dashboard")
    (text,) = found["data"].values()
    return json.loads(text)
