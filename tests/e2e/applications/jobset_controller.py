"""The controller of JobSets, as its project has it: its definition, its rights, its webhooks and its program."""

import base64
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import yaml

from tests.e2e.api import Object
from tests.e2e.applications.manifests import defined, granted
from tests.e2e.component import Component, Probe
from tests.e2e.plane import ControlPlane
from tests.e2e.ports import free_ports

SPACE: Final = "jobset-system"
ACCOUNT: Final = f"{SPACE}/jobset-controller-manager"
"""The ServiceAccount that the project's manifests have."""

JOBSETS: Final = "/apis/jobset.x-k8s.io/v1alpha2"


@contextlib.contextmanager
def running(plane: ControlPlane, files: Mapping[str, Path], folder: Path) -> Iterator[Component]:
    """The controller works, and the API server asks its webhooks."""
    folder.mkdir()
    webhook, health = free_ports(2)
    command = (sys.executable, "-m", "certs", "create", "--loopback", "--dir", str(folder))
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own program, no shell
    config = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": webhook, "certDir": str(folder)},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    granted(plane.admin, ACCOUNT, files["role.yaml"])
    defined(plane, files["jobset.x-k8s.io_jobsets.yaml"], f"{JOBSETS}/jobsets")
    program = [str(files["jobset"]), f"--config={folder / 'config.yaml'}", f"--kubeconfig={plane.kubeconfig(ACCOUNT)}"]
    controller = Component("jobset", program, folder, Probe(health, "/readyz", tls=False))
    try:
        controller.start()
        controller.wait()
        for one in _webhooks(files["manifests.yaml"], webhook, (folder / "ca.crt").read_bytes()):
            plane.admin.create(one)
        yield controller
    finally:
        controller.kill()


def _webhooks(file: Path, port: int, authority: bytes) -> Iterator[Object]:
    """The project's webhooks, by the port in place of its Service."""
    for found in yaml.safe_load_all(file.read_text()):
        for webhook in found["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            bundle = base64.b64encode(authority).decode()
            webhook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
            # the project's kustomization leaves pods out that are of no JobSet
            if "pods" in webhook["rules"][0]["resources"]:
                webhook["objectSelector"] = {
                    "matchExpressions": [{"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}]
                }
        found["metadata"]["name"] = f"jobset-{found['metadata']['name']}"
        yield found
