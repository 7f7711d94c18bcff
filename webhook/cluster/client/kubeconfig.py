"""A kubeconfig: contexts, client certificates, tokens, plugins, as the ``kubernetes`` package reads them.

That package is imported only when it is needed, see :mod:`webhook.cluster.client.service_account`. It ships no types
for these functions, so what it returns is ``Any``.
"""

import importlib
import math
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from webhook.cluster.client.access import Access, header_of
from webhook.cluster.client.client_tls import ClientTls

DEFAULT = "~/.kube/config"


class Kubeconfig:
    """One context of the files that ``KUBECONFIG`` names; ``None`` is the current one."""

    reread = math.inf
    """What it says is good until it is refused; the package itself looks whether a plugin's token has expired."""

    def __init__(self, context: str | None = None) -> None:
        self._context = context
        self._tls = ClientTls()
        self._found: Any = None

    def read(self) -> Access:
        """What the files say now, and the plugin that they may name."""
        paths = os.environ.get("KUBECONFIG") or DEFAULT
        if not any(Path(path).expanduser().exists() for path in paths.split(os.pathsep)):
            raise FileNotFoundError(f"there is no file {paths}")
        found = importlib.import_module("kubernetes.client").Configuration()
        importlib.import_module("kubernetes.config").load_kube_config(
            config_file=paths, context=self._context, client_configuration=found
        )
        self._found = found
        server = found.host.rstrip("/")
        tls = None
        if server.startswith("https://"):
            tls = self._tls.context(
                authority=found.ssl_ca_cert, cert=found.cert_file, key=found.key_file, verify=found.verify_ssl
            )
        return Access(
            server=server,
            header=self.header(),
            tls=tls,
            server_name=found.tls_server_name or None,
            proxy=_proxy(server, found.proxy),
        )

    def header(self) -> str | None:
        """The token, or name and password; asking for it is what makes the package look whether it has expired."""
        header = self._found.get_api_key_with_prefix("BearerToken")
        return header_of(header) if header else None


def _proxy(server: str, stated: str | None) -> str | None:
    """The proxy that the kubeconfig or the environment names, unless the latter leaves this server out."""
    if not stated:
        return None
    if not stated.startswith(("http://", "https://")):
        raise ValueError(f"the proxy {stated} is not supported, only those of http:// and https:// are")
    url = urlsplit(server)
    environment = getproxies_environment()
    if stated in {environment.get(url.scheme), environment.get("all")}:
        host = url.hostname or ""
        # As Go has it, what is on this machine is never asked for through a proxy.
        if host in {"localhost", "::1"} or host.startswith("127.") or proxy_bypass(url.netloc):
            return None
    return stated
