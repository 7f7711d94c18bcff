"""Starts etcd, the storage of the API server."""

from pathlib import Path

from tests.e2e.controlplane.component import Component, Probe


def etcd(program: Path, folder: Path, client_port: int, peer_port: int) -> Component:
    """One member that does not wait for the disk: nothing of a test outlives the test."""
    client, peer = (f"http://127.0.0.1:{port}" for port in (client_port, peer_port))
    command = [
        str(program),
        "--unsafe-no-fsync",
        "--log-level=warn",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
    ]
    return Component("etcd", command, folder, Probe(client_port, "/readyz", tls=False))
