"""``ServiceAccount``: credentials of a pod's service account: files of token and authority, address in variables."""

import os
from pathlib import Path
from typing import Final

from kubeapi.client.access import Access, header_of
from kubeapi.client.client_tls import ClientTls

FOLDER: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""The folder in which Kubernetes mounts the account (client-go, ``rest/config.go``)."""

_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


class NoPodError(ValueError):
    """This process does not run in a pod: its environment does not name an API server."""


def own_namespace(folder: Path = FOLDER) -> str:
    """The namespace of the pod that this process runs in; empty outside of a pod."""
    try:
        return (folder / "namespace").read_text().strip()
    except OSError:
        return ""


class ServiceAccount:
    """Credentials of the account in ``folder``."""

    reread = 60.0
    """Seconds until the token is read again, as in client-go; the kubelet replaces the token long before it expires."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._tls = ClientTls()
        self._access = Access("")

    def read(self) -> Access:
        """Read environment and files now. Raises :class:`NoPodError`, ``OSError``, or ``ValueError`` for the token."""
        host, port = os.environ.get(_HOST), os.environ.get(_PORT)
        if not host or not port:
            raise NoPodError(f"{_HOST} and {_PORT} are not set")
        token = (self._folder / "token").read_text()
        if not token.strip():
            raise ValueError("the token is empty")
        header = header_of(f"Bearer {token}")
        server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        tls = self._tls.context(authority=(self._folder / "ca.crt").read_bytes())
        self._access = Access(server=server, header=header, tls=tls)
        return self._access

    def renewed(self) -> Access:
        """The access that was read last: the token in its file is newer only once a minute has passed."""
        return self._access
