"""Starts the clients of the API server that a cluster needs: scheduler, controller-manager, kwok for kubelets."""

from pathlib import Path
from typing import Final

from tests.e2e.controlplane.component import Component, Probe

_LEASE_SECONDS: Final = 40
"""As a kubelet has it. Without leases the controller-manager gives every node up after 50 s."""

_REQUESTS_PER_SECOND: Final = 1000
"""The defaults of 20-50 spare a shared API server; here they would make 200 new nodes wait for 40 s."""

_NODE_MONITOR: Final = "200ms"
"""How often new nodes are looked at, before which nothing is scheduled on them; the default is 5 s."""

_AUTOSCALER: Final = "1s"
"""How often HorizontalPodAutoscalers are looked at; the default is 15 s."""


def scheduler(program: Path, folder: Path, port: int, kubeconfig: Path) -> Component:
    """The real scheduler."""
    return Component("kube-scheduler", _command(program, folder, port, kubeconfig), folder, Probe(port))


def controllers(program: Path, folder: Path, port: int, kubeconfig: Path, authority: Path) -> Component:
    """All controllers, each under the ServiceAccount that it has in a real cluster, as reviews show it."""
    own = [
        "--use-service-account-credentials",
        f"--node-monitor-period={_NODE_MONITOR}",
        f"--horizontal-pod-autoscaler-sync-period={_AUTOSCALER}",
        f"--service-account-private-key-file={folder / 'signing.key'}",
        f"--root-ca-file={authority}",
    ]
    command = [*_command(program, folder, port, kubeconfig), *own]
    return Component("kube-controller-manager", command, folder, Probe(port))


def kwok(program: Path, folder: Path, port: int, kubeconfig: Path, stages: Path) -> Component:
    """Nodes and pods that say they run. It checks nothing that a kubelet would."""
    command = [
        str(program),
        f"--kubeconfig={kubeconfig}",
        "--manage-all-nodes=true",
        "--node-ip=127.0.0.1",
        f"--node-lease-duration-seconds={_LEASE_SECONDS}",
        f"--server-address=127.0.0.1:{port}",
        f"--config={stages}",
    ]
    return Component("kwok", command, folder, Probe(port, tls=False))


def _command(program: Path, folder: Path, port: int, kubeconfig: Path) -> list[str]:
    return [
        str(program),
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={folder / program.name}",
        f"--kube-api-qps={_REQUESTS_PER_SECOND}",
        f"--kube-api-burst={_REQUESTS_PER_SECOND}",
    ]
