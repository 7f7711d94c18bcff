"""The commands for a HostPool in the chart's NOTES, run as they are printed."""

import os
import re
import subprocess
from pathlib import Path

from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Api
from tests.e2e.controller.pools import marked
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.programs.binaries import kubectl

SECONDS = 60


def typed(plane: ControlPlane, text: str) -> str:
    """What a shell prints."""
    variables = {
        **os.environ,
        "PATH": f"{kubectl().parent}{os.pathsep}{os.environ['PATH']}",
        "KUBECONFIG": str(plane.kubeconfig()),
        "KUBECACHEDIR": str(Path(plane.folder) / "kubectl"),
    }
    command = ("/bin/bash", "-e", "-o", "pipefail", "-c", text)
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=variables, timeout=SECONDS)  # noqa: S603 -- what our own notes tell people to type
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_node_is_reserved_and_given_back(plane: ControlPlane, admin: Api) -> None:
    notes = plane.helm("get", "notes", RELEASE, "--namespace", NAMESPACE).stdout
    reserving, returning = re.findall(r"^[^\n]*:\n\n((?:  [^\n]*sthp[^\n]*\n|  [^\n]*\n)*)", notes, re.MULTILINE)[-2:]
    said = typed(plane, reserving)
    assert "hostpool.streams.ibm.com/mine created" in said
    assert "hostpool.streams.ibm.com/mine condition met" in said
    (host,) = marked(admin)
    path = "/api/v1/namespaces/default/pods/mine"
    until(lambda: admin.get(path)["spec"].get("nodeName") == host, "the pod has got the node")
    assert "deleted" in typed(plane, returning)
    until(lambda: not marked(admin), "the node is everybody's again")
