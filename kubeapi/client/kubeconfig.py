"""``Kubeconfig``: credentials of a kubeconfig (certificates, tokens, plugins), chosen as kubectl chooses them.

PyYAML is imported only when a kubeconfig is read: that takes 20 ms, and a pod does not need it.
"""

import base64
import ipaddress
import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit
from urllib.request import getproxies_environment

import msgspec
from msgspec import Struct

from kubeapi.client.access import Access, header_of
from kubeapi.client.client_tls import ClientTls

if TYPE_CHECKING:
    from kubeapi.client.kubeconfig_file import AuthProvider, NamedCluster, NamedUser, Plugin, StatedUser

TOKEN_SECONDS: Final = 60.0
"""Seconds after which the file of a token is read again, as in client-go (``transport/token_source.go``)."""

EARLY: Final = timedelta(seconds=10)
"""How long before its end an ``id-token`` counts as expired, as in client-go (``plugin/pkg/client/auth/oidc``)."""

_HEADER_NAME: Final = re.compile(r"[^a-z0-9!#$&'*+.^_`|~-]")
"""A character that client-go escapes in the name of a header (``transport/round_trippers.go``)."""


class _Identity(Struct):
    """Credentials of a user: PEM texts, the value of ``Authorization``, and when they expire."""

    cert: bytes = b""
    key: bytes = b""
    header: str | None = None
    expires: datetime | None = None


class Kubeconfig:
    """Credentials of one context of kubeconfig files; ``context`` ``None`` is the current one.

    ``files`` is a list as in ``KUBECONFIG``; if it is empty, the usual files are read, of which at least one must
    exist. With ``proxies`` ``False``, proxies of the files and of the environment are ignored.
    """

    def __init__(
        self,
        context: str | None = None,
        *,
        files: str = "",
        proxies: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.reread = math.inf
        """Seconds until the files are due: a minute if the token has a file of its own, else they never are. They are
        also read again when the credentials expire, or are refused."""
        self._context = context
        self._files = files
        self._proxies = proxies
        self._now = now
        self._tls = ClientTls()
        self._expires: datetime | None = None
        self._access = Access("")

    def read(self) -> Access:
        """Read the files now, and run the plugin if the context names one."""
        from kubeapi.client.kubeconfig_file import merged, usual_files  # noqa: PLC0415 -- see above

        named, named_user = merged(self._files or usual_files()).chosen(self._context)
        cluster, user = named.cluster, named_user.user
        server = _server(named)
        authority = _pem(
            f"cluster {named.name}",
            "certificate-authority",
            cluster.certificate_authority,
            cluster.certificate_authority_data,
        )
        identity, tls = _Identity(), None
        if server.startswith("https://"):  # like kubectl, nothing secret is sent to a server without TLS
            identity = self._identity(named, named_user, authority)
            if cluster.insecure_skip_tls_verify and authority:
                raise ValueError(
                    f"cluster {named.name} has both certificate-authority and insecure-skip-tls-verify: remove one"
                )
            tls = self._tls.context(
                authority=authority, cert=identity.cert, key=identity.key, verify=not cluster.insecure_skip_tls_verify
            )
        self.reread = TOKEN_SECONDS if user.token_file else math.inf
        self._expires = identity.expires
        self._access = Access(
            server=server,
            header=identity.header,
            tls=tls,
            server_name=cluster.tls_server_name or None,
            proxy=_proxy(server, cluster.proxy_url) if self._proxies else None,
            impersonation=tuple(_impersonation(named_user)),
        )
        return self._access

    def renewed(self) -> Access:
        """The access; all is read again, and the plugin run, if the credentials have expired."""
        if self._expires is not None and self._now() >= self._expires:
            return self.read()
        return self._access

    def _identity(self, cluster: "NamedCluster", named: "NamedUser", authority: bytes) -> _Identity:
        """The credentials that the user states, or that its plugin prints."""
        user, owner = named.user, f"user {named.name}"
        if user.token and (user.username or user.password):
            raise ValueError(f"{owner} has a token, and a username with password: remove one")
        if user.plugin and user.auth_provider:
            raise ValueError(f"{owner} has both exec and auth-provider: remove one")
        cert = _pem(owner, "client-certificate", user.client_certificate, user.client_certificate_data)
        key = _pem(owner, "client-key", user.client_key, user.client_key_data)
        if cert and not key:
            raise ValueError(f"{owner} has a client-certificate without client-key")
        if token := _token(user):
            return _Identity(cert, key, header_of(f"Bearer {token}"))
        if user.username or user.password:
            pair = base64.b64encode(f"{user.username}:{user.password}".encode()).decode()
            return _Identity(cert, key, f"Basic {pair}")
        if user.auth_provider:
            token, expires = _id_token(user.auth_provider, self._now())
            return _Identity(cert, key, header_of(f"Bearer {token}"), expires)
        return _Identity(cert, key) if cert or not user.plugin else _of_plugin(cluster, user.plugin, authority)


def namespace_of_context(context: str | None = None, files: str = "") -> str:
    """The namespace that the context states, ``None`` being the current one; empty if there is none.

    Files that cannot be read state nothing: who needs them says why.
    """
    import yaml  # noqa: PLC0415 -- see above

    from kubeapi.client.kubeconfig_file import entries, existing_files, read_texts, usual_files  # noqa: PLC0415

    current, namespaces = "", dict[str, str]()
    try:
        paths = existing_files(files or usual_files())
    except OSError:
        return ""
    for path in paths:
        try:
            config = read_texts(path)
        except (OSError, ValueError, yaml.YAMLError):
            continue
        current = current or str(config.get("current-context") or "") if isinstance(config, dict) else current
        for entry in entries(config, "contexts", "context"):
            namespaces.setdefault(entry["name"], str(entry["context"].get("namespace") or ""))
    return namespaces.get(context or current, "")


def servers_of_contexts(files: str = "") -> dict[str, str]:
    """The URL of the API server of every context of the kubeconfig files, the usual ones by default.

    Of two entries with one name the first one counts, as for kubectl. No plugin is run. Raises ``OSError`` or
    ``yaml.YAMLError`` for a file that cannot be read; malformed entries are skipped.
    """
    from kubeapi.client.kubeconfig_file import entries, existing_files, read_texts, usual_files  # noqa: PLC0415

    contexts: dict[str, str] = {}
    servers: dict[str, str] = {}
    for path in existing_files(files or usual_files()):
        config = read_texts(path)
        for context in entries(config, "contexts", "context"):
            contexts.setdefault(context["name"], str(context["context"].get("cluster", "")))
        for cluster in entries(config, "clusters", "cluster"):
            servers.setdefault(cluster["name"], str(cluster["cluster"].get("server", "")).rstrip("/"))
    return {name: servers[cluster] for name, cluster in contexts.items() if cluster in servers}


def _server(named: "NamedCluster") -> str:
    """The URL of the API server without a slash at its end, as client-go reads it (``rest/url_utils.go``)."""
    stated = named.cluster.server
    if not stated:
        raise ValueError(f"cluster {named.name} has no server")
    url = urlsplit(stated if "://" in stated else f"http://{stated}")
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise ValueError(f"the server {stated} of cluster {named.name} is not a URL of http:// or https://")
    return urlunsplit((url.scheme, url.netloc, url.path.rstrip("/"), "", ""))


def _pem(owner: str, field: str, path: str, data: str) -> bytes:
    """The text that ``data`` holds in base64, or else the file; empty without both."""
    if path and data:
        raise ValueError(f"{owner} has both {field} and {field}-data: remove one")
    if not data:
        return Path(path).read_bytes() if path else b""
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except ValueError:
        raise ValueError(f"{field}-data of {owner} is not in base64") from None


def _token(user: "StatedUser") -> str:
    """The token of the user; what is in its file counts more than what the kubeconfig states."""
    if not user.token_file:
        return user.token
    try:
        token = Path(user.token_file).read_text(encoding="utf-8").strip()
    except OSError:
        if user.token:
            return user.token
        raise
    if not token and not user.token:
        raise ValueError(f"the file {user.token_file} of the token is empty")
    return token or user.token


def _id_token(provider: "AuthProvider", now: datetime) -> tuple[str, datetime]:
    """The ``id-token`` of the auth-provider ``oidc``, and when it expires.

    Only kubectl renews it: it writes the new tokens into the kubeconfig, which a server must not do.
    """
    if provider.name != "oidc":
        raise ValueError(
            f"the auth-provider {provider.name} is not supported, as in kubectl: a credential plugin (exec) replaces it"
        )
    token = provider.config.get("id-token", "")
    try:
        claims = token.split(".")[1]
        expires = msgspec.json.decode(
            base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)), type=dict[str, object]
        )["exp"]
        ends = datetime.fromtimestamp(float(str(expires)), UTC) - EARLY
    except (IndexError, KeyError, ValueError, OverflowError, OSError, msgspec.MsgspecError):
        raise ValueError("the id-token of the auth-provider oidc is not a JSON Web Token with expiry (exp)") from None
    if now >= ends:
        raise ValueError(
            "the id-token of the auth-provider oidc has expired: run kubectl, which renews it, "
            "or use a credential plugin (exec)"
        )
    return token, ends


def _of_plugin(named: "NamedCluster", plugin: "Plugin", authority: bytes) -> _Identity:
    """The credentials that a plugin prints."""
    from kubeapi.client.credential_plugin import run_plugin, told  # noqa: PLC0415 -- few kubeconfigs have one
    from kubeapi.client.kubeconfig_file import told_plugin  # noqa: PLC0415 -- see above

    cluster = told(named.cluster, authority, told_plugin(named)) if plugin.provide_cluster_info else None
    credential = run_plugin(plugin, cluster)
    return _Identity(
        credential.client_certificate_data.encode(),
        credential.client_key_data.encode(),
        header_of(f"Bearer {credential.token}") if credential.token else None,
        credential.expiration_timestamp,
    )


def _impersonation(named: "NamedUser") -> Iterator[tuple[str, str]]:
    """The headers of whom the user impersonates (Kubernetes, user impersonation)."""
    user = named.user
    if user.impersonate:
        yield "Impersonate-User", header_of(user.impersonate, "impersonation")
    elif user.impersonate_uid or user.impersonate_groups or user.impersonate_extra:
        raise ValueError(f"user {named.name} has as-uid, as-groups or as-user-extra without as")
    if user.impersonate_uid:
        yield "Impersonate-Uid", header_of(user.impersonate_uid, "impersonation")
    for group in user.impersonate_groups:
        yield "Impersonate-Group", header_of(group, "impersonation")
    for name, values in sorted(user.impersonate_extra.items()):
        escaped = _HEADER_NAME.sub(lambda match: quote(match[0], safe=""), name)
        for value in values:
            yield f"Impersonate-Extra-{escaped}", header_of(value, "impersonation")


def _proxy(server: str, stated: str) -> str | None:
    """The proxy that the kubeconfig states, or else that of the environment, unless ``no_proxy`` has the server.

    As in Go's ``net/http``, a server on this machine is never reached through a proxy of the environment.
    """
    proxy = stated
    if not proxy:
        url = urlsplit(server)
        environment = getproxies_environment()
        proxy = "" if _left_out(url, environment.get("no", "")) else environment.get(url.scheme, "")
    if not proxy:
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        raise ValueError(f"the proxy {proxy} is not supported, only those of http:// and https:// are")
    return proxy


def _left_out(url: SplitResult, no_proxy: str) -> bool:
    """Whether ``no_proxy`` has the host: an address, a network, a domain with all in it, or ``.domain`` without itself.

    Python's own function knows no networks, and takes ``.domain`` for ``domain``.
    """
    host = url.hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if host == "localhost" or (address and address.is_loopback):
        return True
    for each in no_proxy.lower().split(","):
        name = each.strip().removeprefix("*") if len(each.strip()) > 1 else each.strip()
        try:
            if address and address in ipaddress.ip_network(name, strict=False):
                return True
        except ValueError:
            pass
        named, _, port = name.partition(":")
        if port and port != str(url.port or {"http": 80, "https": 443}[url.scheme]):
            continue
        if name == "*" or (named and (host == named or host.endswith(named if named[0] == "." else f".{named}"))):
            return True
    return False
