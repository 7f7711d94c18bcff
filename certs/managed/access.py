"""Where the API server is, and how to prove who asks: the account of the pod around us, or a kubeconfig."""

import importlib
import os
import ssl
from pathlib import Path
from typing import Any, Final, Protocol

FOLDER: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where Kubernetes mounts the account (client-go, ``rest/config.go``)."""

_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


class NoClusterError(Exception):
    """There is no cluster to talk to; the text is a clause that says why."""


class Access(Protocol):
    """How to ask; what may change is asked for at every request, which may raise OSError."""

    server: str
    """URL of the API server, without a slash at its end."""
    server_name: str | None
    """The name that its certificate is for, if it is not the one in the URL."""

    def authorization(self) -> str | None:
        """The value of the header; may read a file or run a plugin."""
        ...

    def tls(self) -> ssl.SSLContext:
        """Whom to believe, and the client certificate if there is one."""
        ...


class ServiceAccount:
    """The account that Kubernetes gives to a pod: a token and an authority in files that are replaced by and by."""

    server_name: str | None = None

    def __init__(self, folder: Path = FOLDER) -> None:
        """Raises :class:`NoClusterError` if there is none."""
        host, port = os.environ.get(_HOST), os.environ.get(_PORT)
        if not host or not port:
            raise NoClusterError(f"this is not a pod: {_HOST} and {_PORT} are not set")
        self.server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        self._folder = folder
        self._known = b""
        self._context: ssl.SSLContext | None = None
        try:
            self.authorization(), self.tls()
        except OSError as error:
            raise NoClusterError(f"the account in {folder} cannot be read: {error.strerror or error}") from None

    def authorization(self) -> str:
        """The token of this moment: it lives for an hour."""
        return f"Bearer {(self._folder / 'token').read_text().strip()}"

    def tls(self) -> ssl.SSLContext:
        """A context for the authority of this moment; another one only if that is another: it needs new connections."""
        authority = (self._folder / "ca.crt").read_bytes()
        if self._context is None or authority != self._known:
            self._context, self._known = _context(authority=authority.decode("ascii", "replace")), authority
        return self._context


class Kubeconfig:
    """A context of a kubeconfig file, as the ``kubernetes`` package reads it; it ships no types for these functions."""

    def __init__(self, file: str | None, context: str | None) -> None:
        """Raises :class:`NoClusterError` if it cannot be used; no file means what kubectl takes."""
        try:
            self._found: Any = importlib.import_module("kubernetes.client").Configuration()
            loader = importlib.import_module("kubernetes.config")
            loader.load_kube_config(config_file=file, context=context, client_configuration=self._found)
            found = self._found
            self._context = _context(found.ssl_ca_cert, found.cert_file, found.key_file, verify=found.verify_ssl)
            self.authorization()
        except Exception as error:  # noqa: BLE001 - damaged files, and plugins, lead to whatever they like
            raise NoClusterError(f"the kubeconfig cannot be used: {str(error) or type(error).__name__}") from None
        self.server: str = found.host.rstrip("/")
        self.server_name: str | None = found.tls_server_name or None

    def authorization(self) -> str | None:
        """The token, or name and password; asking makes the package renew it, and keep it where that fails."""
        header: str | None = self._found.get_api_key_with_prefix("BearerToken")
        return header

    def tls(self) -> ssl.SSLContext:
        """The authority and the client certificate that the file names."""
        return self._context


def _context(
    file: str | None = None,
    cert: str | None = None,
    key: str | None = None,
    *,
    authority: str = "",
    verify: bool = True,
) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=file, cadata=authority or None)
    # Python 3.13 turns it on, and the authorities of older clusters lack the key identifiers that it wants.
    context.verify_flags &= ~ssl.VerifyFlags.VERIFY_X509_STRICT
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if cert:
        context.load_cert_chain(cert, key)
    return context
