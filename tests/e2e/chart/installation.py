"""The chart, installed by helm, with the product's programs as the processes of its pods."""

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.e2e.chart.rendering import CHART, NAMESPACE, RELEASE, Values
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.pods.service_proxy import ServiceProxy
from tests.e2e.workloads import namespace

PORT: Final = 9443
"""Ports below 1,024 need privileges, which the forwarder may not have."""

QUICK: Final[Values] = {"settings": {"drain": 1}}
"""Pods of tests need not wait for anybody's kube-proxy."""

_IN_POD: Final = (sys.executable, str(Path(__file__).with_name("in_pod.py")))
_PROGRAMS: Final = {"": (*_IN_POD, "webhook"), "streams-placement-certs": (*_IN_POD, "certs")}
_ACCOUNT: Final = {"SERVICE_ACCOUNT": "{service_account}"}


@contextlib.contextmanager
def kubelet(
    plane: ControlPlane, environment: Mapping[str, str] | None = None, *, pace: float = 0.1
) -> Iterator[Kubelet]:
    """The chart's namespace, in which pods are real processes and Services reach them; nothing is installed yet.

    ``pace`` is that of :class:`Kubelet`: ten probes where a cluster has one, since tests wait for them.
    """
    if plane.admin.find(f"/api/v1/namespaces/{NAMESPACE}") is None:
        namespace(plane.admin, NAMESPACE)
    pods = Kubelet(plane, NAMESPACE, pace=pace, programs=_PROGRAMS, environment={**_ACCOUNT, **(environment or {})})
    with pods as running, ServiceProxy(plane.admin, NAMESPACE):
        yield running


@contextlib.contextmanager
def installed(plane: ControlPlane) -> Iterator[Kubelet]:
    """The chart as it is by default; made for ``standing.INSTALLERS``."""
    with kubelet(plane) as running:
        install(plane, running, {})
        yield running


def install(plane: ControlPlane, running: Kubelet, values: Values, chart: Path = CHART) -> None:
    """``helm install --wait``, or upgrade; says why it failed."""
    file = plane.folder / "values.yaml"
    file.write_text(json.dumps({"service": {"port": PORT}, **values}))
    where = ("--namespace", NAMESPACE, "--values", str(file), "--wait", "--timeout", "240s")
    done = plane.helm("upgrade", "--install", RELEASE, str(chart), *where)
    assert done.returncode == 0, f"{done.stderr}\n{running.logs()[-4000:]}"
