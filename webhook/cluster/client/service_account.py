"""The account that Kubernetes gives to a pod: a token and an authority in files, the API server in the environment."""

import os
from pathlib import Path
from typing import Final

from webhook.cluster.client.access import Access, header_of
from webhook.cluster.client.client_tls import ClientTls

FOLDER: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where Kubernetes mounts it (client-go, ``rest/config.go``)."""

_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


def own_namespace(folder: Path = FOLDER) -> str:
    """The namespace of the pod around us; empty outside of a pod."""
    try:
        return (folder / "namespace").read_text().strip()
    except OSError:
        return ""


class ServiceAccount:
    """The account in ``folder``.

    The ``kubernetes`` package reads it as well, but importing that takes a third of a second and 11 MB, in every
    replica, for two files and two variables.
    """

    reread = 60.0
    """As client-go does; the files are replaced long before they expire."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._tls = ClientTls()
        self._header: str | None = None

    def read(self) -> Access:
        """What the environment and the files say now."""
        host, port = os.environ.get(_HOST), os.environ.get(_PORT)
        if not host or not port:
            raise ValueError(f"{_HOST} and {_PORT} are not set")
        token = (self._folder / "token").read_text()
        if not token.strip():
            raise ValueError("the token is empty")
        self._header = header_of(f"Bearer {token}")
        server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        return Access(server=server, header=self._header, tls=self._tls.context(authority=self._folder / "ca.crt"))

    def header(self) -> str | None:
        """The token as it was read last."""
        return self._header
