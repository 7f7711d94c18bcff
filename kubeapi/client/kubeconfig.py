"""``Kubeconfig``: credentials of a kubeconfig (certificates, tokens, plugins), read by the package ``kubernetes``.

That package is imported only when a kubeconfig is read: importing it takes a third of a second, and a pod does not need
it. The package has no types for these functions, so their results are ``Any``.
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
"""The kubeconfig that kubectl reads if ``KUBECONFIG`` is not set."""


def usual_files() -> str:
    """The files that kubectl reads, between ``os.pathsep``: those that ``KUBECONFIG`` names, or :data:`DEFAULT`."""
    return os.environ.get("KUBECONFIG") or DEFAULT


class Kubeconfig:
    """Credentials of one context of kubeconfig files; ``context`` ``None`` is the current one.

    ``files`` is a list as in ``KUBECONFIG``; if it is empty, the usual files are read, of which at least one must
    exist. With ``proxies`` ``False``, proxies of the files and of the environment are ignored.
    """

    reread = math.inf
    """Never due: read again only if the API server refuses the credentials. The package ``kubernetes`` itself renews a
    plugin's token that has expired."""

    def __init__(self, context: str | None = None, *, files: str = "", proxies: bool = True) -> None:
        self._context = context
        self._files = files
        self._proxies = proxies
        self._tls = ClientTls()
        self._configuration: Any = None

    def read(self) -> Access:
        """Read the files now, and run the plugin if the context names one."""
        files = self._files or _existing(usual_files())
        configuration = importlib.import_module("kubernetes.client").Configuration()
        importlib.import_module("kubernetes.config").load_kube_config(
            config_file=files, context=self._context, client_configuration=configuration
        )
        self._configuration = configuration
        server = configuration.host.rstrip("/")
        tls = None
        if server.startswith("https://"):
            tls = self._tls.context(
                authority=configuration.ssl_ca_cert,
                cert=configuration.cert_file,
                key=configuration.key_file,
                verify=configuration.verify_ssl,
            )
        return Access(
            server=server,
            header=self.header(),
            tls=tls,
            server_name=configuration.tls_server_name or None,
            proxy=_proxy(server, configuration.proxy) if self._proxies else None,
        )

    def header(self) -> str | None:
        """The token, or name and password; this call makes the package ``kubernetes`` renew an expired token."""
        header = self._configuration.get_api_key_with_prefix("BearerToken")
        return header_of(header) if header else None


def namespace_of_context(context: str | None = None, files: str = "") -> str:
    """The namespace that the context states, ``None`` being the current one; empty if there is none.

    Files that cannot be read state nothing: who needs them says why.
    """
    yaml = importlib.import_module("yaml")
    current, namespaces = "", dict[str, str]()
    for name in (files or usual_files()).split(os.pathsep):
        try:
            config = yaml.safe_load(Path(name).expanduser().read_bytes())
        except (OSError, ValueError, yaml.YAMLError):
            continue
        current = current or str(config.get("current-context") or "") if isinstance(config, dict) else current
        for entry in _entries(config, "contexts", "context"):
            namespaces.setdefault(entry["name"], str(entry["context"].get("namespace") or ""))
    return namespaces.get(context or current, "")


def servers_of_contexts(files: str = "") -> dict[str, str]:
    """The URL of the API server of every context of the kubeconfig files, the usual ones by default.

    Of two entries with one name the first one counts, as for kubectl. No plugin is run. Raises ``OSError`` or
    ``yaml.YAMLError`` for a file that cannot be read; malformed entries are skipped.
    """
    yaml = importlib.import_module("yaml")
    contexts: dict[str, str] = {}
    servers: dict[str, str] = {}
    for path in _existing(files or usual_files()).split(os.pathsep):
        file = Path(path).expanduser()
        config = yaml.safe_load(file.read_bytes()) if file.exists() else None
        for context in _entries(config, "contexts", "context"):
            contexts.setdefault(context["name"], str(context["context"].get("cluster", "")))
        for cluster in _entries(config, "clusters", "cluster"):
            servers.setdefault(cluster["name"], str(cluster["cluster"].get("server", "")).rstrip("/"))
    return {name: servers[cluster] for name, cluster in contexts.items() if cluster in servers}


def _entries(config: Any, field: str, inner: str) -> list[dict[str, Any]]:  # noqa: ANN401 -- any YAML
    """The entries of a list of a kubeconfig that have a name and a mapping ``inner``."""
    listed = config.get(field) if isinstance(config, dict) else None
    return [
        entry
        for entry in (listed if isinstance(listed, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("name"), str) and isinstance(entry.get(inner), dict)
    ]


def _existing(files: str) -> str:
    """``files``, unchanged; raises ``FileNotFoundError`` if none of the files exists."""
    if not any(Path(path).expanduser().exists() for path in files.split(os.pathsep)):
        raise FileNotFoundError(f"there is no file {files}")
    return files


def _proxy(server: str, stated: str | None) -> str | None:
    """``stated``, the proxy of kubeconfig or environment; ``None`` if ``no_proxy`` of the environment has the host."""
    if not stated:
        return None
    if not stated.startswith(("http://", "https://")):
        raise ValueError(f"the proxy {stated} is not supported, only those of http:// and https:// are")
    url = urlsplit(server)
    environment = getproxies_environment()
    if stated in {environment.get(url.scheme), environment.get("all")}:
        host = url.hostname or ""
        # As in Go's net/http, a server on this machine is never reached through a proxy.
        if host in {"localhost", "::1"} or host.startswith("127.") or proxy_bypass(url.netloc):
            return None
    return stated
