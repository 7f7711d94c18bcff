"""The operator of RayClusters, as its project has it: its definitions, its rights and its program."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.e2e.controlplane.component import Component, Probe
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.controller_runtime import working
from tests.e2e.operators.manifests import defined, granted
from tests.e2e.programs.ports import free_ports

ACCOUNT: Final = "kuberay/kuberay-operator"
"""The ServiceAccount that the project's chart makes, in the namespace that it is installed in."""

RAY: Final = "/apis/ray.io/v1"


@contextlib.contextmanager
def running(plane: ControlPlane, files: Mapping[str, Path]) -> Iterator[Component]:
    """The operator works, without webhooks of its own, as by default, but with the feature gate of RayCronJobs."""
    metrics, health = free_ports(2)
    granted(plane.admin, ACCOUNT, files["role.yaml"])
    for resource in ("rayclusters", "raycronjobs", "rayjobs", "rayservices"):
        defined(plane, files[f"ray.io_{resource}.yaml"], f"{RAY}/{resource}")
    program = [
        str(files["ray-operator"]),
        f"--kubeconfig={plane.kubeconfig(ACCOUNT)}",
        "--enable-leader-election=false",
        "--feature-gates=RayCronJob=true",
        f"--metrics-addr=127.0.0.1:{metrics}",
        f"--health-probe-bind-address=127.0.0.1:{health}",
    ]
    operator = Component("ray-operator", program, plane.folder, Probe(health, "/readyz", tls=False))
    with working(operator):
        yield operator
