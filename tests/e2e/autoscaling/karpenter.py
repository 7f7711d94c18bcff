"""Karpenter with its own provider of kwok nodes, as its project has it: its definitions and its program."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.e2e.client.api import Object
from tests.e2e.controlplane.component import Component, Probe
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.controller_runtime import working
from tests.e2e.operators.manifests import defined
from tests.e2e.programs.ports import free_ports

GROUP: Final = "/apis/karpenter.sh/v1"
NODE_CLASS: Final[Object] = {
    "apiVersion": "karpenter.kwok.sh/v1alpha1",
    "kind": "KWOKNodeClass",
    "metadata": {"name": "default"},
}
REFERENCE: Final[Object] = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
"""How NodePools name it."""


@contextlib.contextmanager
def running(plane: ControlPlane, files: Mapping[str, Path]) -> Iterator[Component]:
    """Karpenter works, and there is a KWOKNodeClass."""
    metrics, health = free_ports(2)
    for resource in ("nodepools", "nodeclaims", "nodeoverlays"):
        defined(plane, files[f"karpenter.sh_{resource}.yaml"], f"{GROUP}/{resource}".replace("overlays", "claims"))
    classes = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses"
    defined(plane, files["karpenter.kwok.sh_kwoknodeclasses.yaml"], classes)
    plane.admin.create(NODE_CLASS)
    own = {
        "KUBECONFIG": str(plane.kubeconfig()),
        "SYSTEM_NAMESPACE": "kube-system",
        "DISABLE_LEADER_ELECTION": "true",
        "METRICS_PORT": str(metrics),
        "HEALTH_PROBE_PORT": str(health),
        # Pods of a test come at the same moment; a cloud waits longer for more of them.
        "BATCH_IDLE_DURATION": "300ms",
        "BATCH_MAX_DURATION": "2s",
    }
    program = [str(files["karpenter-kwok"])]
    karpenter = Component("karpenter", program, plane.folder, Probe(health, "/healthz", tls=False), own)
    with working(karpenter):
        yield karpenter
