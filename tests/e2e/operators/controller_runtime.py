"""Operators made with controller-runtime: how they are run, and those that read a configuration file and have webhooks.

The file, its folder of certificates and the health check are the same in all of them: they come from controller-runtime
and the scaffold of kubebuilder. The webhooks are called by a port of loopback: the plane has no Services.
"""

import base64
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from tests.e2e.client.api import Object
from tests.e2e.controlplane.component import Component, Probe
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.programs.ports import free_ports


@contextlib.contextmanager
def working(operator: Component) -> Iterator[Component]:
    """The operator runs and is ready; it is killed in the end."""
    try:
        operator.start()
        operator.wait()
        yield operator
    finally:
        operator.kill()


@contextlib.contextmanager
def configured(
    plane: ControlPlane, program: Path, account: str, folder: Path, own: Object, webhooks: Iterable[Object]
) -> Iterator[Component]:
    """The program runs with its ``own`` configuration, and the API server calls its webhooks.

    ``account`` is its ServiceAccount, ``namespace/name``; ``webhooks`` are the project's own webhook configurations.
    """
    webhook, health = free_ports(2)
    command = (sys.executable, "-m", "certs", "create", "--loopback", "--dir", str(folder))
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own program, no shell
    config = {
        **own,
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "webhook": {"host": "127.0.0.1", "port": webhook, "certDir": str(folder)},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
    }
    file = folder / "config.yaml"
    file.write_text(json.dumps(config))
    flags = [f"--config={file}", f"--kubeconfig={plane.kubeconfig(account)}"]
    operator = Component(program.name, [str(program), *flags], folder, Probe(health, "/readyz", tls=False))
    with working(operator):
        for one in webhooks:
            plane.admin.create(_by_port(one, webhook, (folder / "ca.crt").read_bytes()))
        yield operator


def webhook_configurations(file: Path, of_pods: str = "") -> Iterator[Object]:
    """The webhook configurations of the project's manifests, renamed: the project's own names are not taken.

    Those of pods leave out pods without the label ``of_pods``, if there is one, as the project's kustomization states.
    """
    for one in yaml.safe_load_all(file.read_text()):
        for webhook in one["webhooks"] if of_pods else ():
            if "pods" in webhook["rules"][0]["resources"]:
                webhook["objectSelector"] = {"matchExpressions": [{"key": of_pods, "operator": "Exists"}]}
        yield {**one, "metadata": {"name": f"tested-{one['metadata']['name']}"}}


def _by_port(configuration: Object, port: int, authority: bytes) -> Object:
    """The webhook configuration, which calls the port in place of the project's Service."""
    bundle = base64.b64encode(authority).decode()
    for webhook in configuration["webhooks"]:
        path = webhook["clientConfig"]["service"]["path"]
        webhook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
    return configuration
