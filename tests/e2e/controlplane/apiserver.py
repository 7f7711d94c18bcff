"""Starts kube-apiserver, with the keys of its ServiceAccount tokens and of its aggregation layer."""

from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.e2e.controlplane.component import Component, Probe
from tests.server.pki import Authority

SERVICE_RANGE: Final = "127.96.0.0/16"
"""Cluster addresses inside of loopback: what the API server dials for a Service, ``forwarder`` can listen on."""

FRONT_PROXY: Final = "front-proxy-client"
"""The common name of the certificate that the API server shows to aggregated API servers."""


def write_signing_keys(folder: Path) -> None:
    """A new pair in PEM: the private key that tokens are signed with, and the public one that they are checked with."""
    key = ec.generate_private_key(ec.SECP256R1())
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "signing.key").write_bytes(key.private_bytes(*form))
    (folder / "signing.key").chmod(0o600)
    shown = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (folder / "signing.pub").write_bytes(key.public_key().public_bytes(*shown))


def write_front_proxy(folder: Path) -> None:
    """An authority of its own, and the certificate of it that the API server shows to aggregated API servers."""
    authority = Authority("front-proxy-ca")
    (folder / "front-proxy-ca.crt").write_bytes(authority.cert)
    authority.issue(FRONT_PROXY).write(folder, "front-proxy")


def certificate(folder: Path) -> Path:
    """Its serving certificate, followed by the authority that signed it; it makes both at its first start."""
    return folder / "apiserver" / "apiserver.crt"


def apiserver(
    program: Path,
    folder: Path,
    port: int,
    etcd_port: int,
    admission: Path | None = None,
    tracing: Path | None = None,
) -> Component:
    """An API server with the admission plug-ins of a real cluster, but for ServiceAccount, which mounts volumes.

    ``admission`` is a file with the configuration of admission plug-ins, ``tracing`` one with that of its traces.
    """
    command = [
        str(program),
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={folder / 'apiserver'}",
        f"--service-account-key-file={folder / 'signing.pub'}",
        f"--service-account-signing-key-file={folder / 'signing.key'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--disable-admission-plugins=ServiceAccount",
        "--allow-privileged",
        f"--requestheader-client-ca-file={folder / 'front-proxy-ca.crt'}",
        f"--requestheader-allowed-names={FRONT_PROXY}",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={folder / 'front-proxy.crt'}",
        f"--proxy-client-key-file={folder / 'front-proxy.key'}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
    ]
    if admission is not None:
        command.append(f"--admission-control-config-file={admission}")
    if tracing is not None:
        command.append(f"--tracing-config-file={tracing}")
    return Component("kube-apiserver", command, folder, Probe(port, "/readyz"))
