"""A kubeconfig: contexts, client certificates, tokens, plugins, as the ``kubernetes`` package reads them.

That package is imported only when a kubeconfig is read: importing it takes a third of a second, and a pod does without.
It ships no types for these functions, so what it returns is ``Any``.
"""

import importlib
import math
import os
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from kubeapi.client.access import Access, header_of
from kubeapi.client.client_tls import ClientTls

DEFAULT: Final = "~/.kube/config"
"""Where kubectl has the kubeconfig, if ``KUBECONFIG`` does not say otherwise."""


def usual_files() -> str:
    """The files that kubectl reads, between ``os.pathsep``: those that ``KUBECONFIG`` names, or :data:`DEFAULT`."""
    return os.environ.get("KUBECONFIG") or DEFAULT


class Kubeconfig:
    """Credentials of one context of kubeconfig files; ``context`` ``None`` is the current one.

    ``files`` is as in ``KUBECONFIG``; without any they are the usual ones, of which at least one must exist. Without
    ``proxies`` the API server is always asked directly, whatever the files and the environment say.
    """

    reread = math.inf
    """Good until the API server refuses it; the package itself looks whether a plugin's token has expired."""

    def __init__(self, context: str | None = None, *, files: str = "", proxies: bool = True) -> None:
        self._context = context
        self._files = files
        self._proxies = proxies
        self._tls = ClientTls()
        self._found: Any = None

    def read(self) -> Access:
        """Read the files now, and ask the plugin that they may name."""
        files = self._files or _existing(usual_files())
        found = importlib.import_module("kubernetes.client").Configuration()
        importlib.import_module("kubernetes.config").load_kube_config(
            config_file=files, context=self._context, client_configuration=found
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
            proxy=_proxy(server, found.proxy) if self._proxies else None,
        )

    def header(self) -> str | None:
        """The token, or name and password; asking for it is what makes the package look whether it has expired."""
        header = self._found.get_api_key_with_prefix("BearerToken")
        return header_of(header) if header else None


def _existing(files: str) -> str:
    """The same files; ``FileNotFoundError`` if none of them exists."""
    if not any(Path(path).expanduser().exists() for path in files.split(os.pathsep)):
        raise FileNotFoundError(f"there is no file {files}")
    return files


def _proxy(server: str, stated: str | None) -> str | None:
    """The proxy that the kubeconfig or the environment names, unless ``no_proxy`` of the environment has the server."""
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
