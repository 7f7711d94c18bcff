"""``FrontProxy``: who may speak for users, and in which headers (Kubernetes, Configure the Aggregation Layer).

The API server authenticates a user, and passes on who that is in headers. Any client can write such headers, so they
count only on a connection whose client has shown a certificate of the front proxy's authority, with a name that is
allowed. The cluster publishes both in the ConfigMap ``extension-apiserver-authentication``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

import msgspec
from msgspec import Struct
from multidict import CIMultiDictProxy

from webhook.admission.review import User

PATH: Final = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
"""Where the API server publishes it; the Role ``extension-apiserver-authentication-reader`` is the right to read it."""

_NAMES: Final = msgspec.json.Decoder(tuple[str, ...])


class FrontProxyError(ValueError):
    """The ConfigMap does not say who may speak for users; the text says why."""


class UntrustedError(Exception):
    """The client may not speak for users, or does not say for whom it speaks; the text says why."""


class _FrontProxyMap(Struct, frozen=True):
    data: dict[str, str] = {}


class FrontProxy(Struct, frozen=True):
    """The front proxy's authorities in PEM, the common names that count, all if empty, and the names of the headers."""

    authorities: str
    names: tuple[str, ...] = ()
    username_headers: tuple[str, ...] = ()
    uid_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ()

    def user(self, certificate: Mapping[str, Any] | None, headers: CIMultiDictProxy[str]) -> User:
        """The user for whom the client speaks; ``certificate`` is the client's, verified, as Python's ssl has it.

        Raises :class:`UntrustedError` if the client may not speak for users, or names none.
        """
        if not certificate:
            raise UntrustedError("the client has shown no certificate of the front proxy")
        if self.names and not common_names(certificate).intersection(self.names):
            raise UntrustedError("the name in the client's certificate is not that of a front proxy")
        username = next((value for name in self.username_headers if (value := headers.get(name))), "")
        if not username:
            raise UntrustedError("the request names no user")
        uid = next((value for name in self.uid_headers if (value := headers.get(name))), "")
        groups = tuple(value for name in self.group_headers for value in headers.getall(name, ()) if value)
        user = User(username, uid, groups, self._extra(headers))
        try:
            msgspec.json.encode(user)
        except UnicodeEncodeError:  # bytes that are not UTF-8, which no question about rights can carry
            raise UntrustedError("the request names a user that is not UTF-8") from None
        return user

    def _extra(self, headers: CIMultiDictProxy[str]) -> dict[str, tuple[str, ...]]:
        extra: dict[str, tuple[str, ...]] = {}
        for prefix in map(str.lower, self.extra_prefixes):
            for name, value in headers.items():
                if name.lower().startswith(prefix):
                    key = unquote(name.lower()[len(prefix) :])
                    extra[key] = (*extra.get(key, ()), value)
        return extra


def front_proxy_of(body: bytes) -> FrontProxy:
    """What the ConfigMap, as JSON, says; raises :class:`FrontProxyError` where it says too little to believe anyone."""
    try:
        data = msgspec.json.decode(body, type=_FrontProxyMap).data
        proxy = FrontProxy(
            data.get("requestheader-client-ca-file", ""),
            _listed(data, "requestheader-allowed-names"),
            _listed(data, "requestheader-username-headers"),
            _listed(data, "requestheader-uid-headers"),
            _listed(data, "requestheader-group-headers"),
            _listed(data, "requestheader-extra-headers-prefix"),
        )
    except msgspec.MsgspecError as error:
        raise FrontProxyError(f"the ConfigMap extension-apiserver-authentication is unreadable: {error}") from None
    if not proxy.authorities.strip() or not proxy.username_headers:
        raise FrontProxyError(
            "the API server has no aggregation layer: the ConfigMap extension-apiserver-authentication lacks "
            "requestheader-client-ca-file or requestheader-username-headers"
        )
    return proxy


def common_names(certificate: Mapping[str, Any]) -> set[str]:
    """The common names of the subject of a certificate, as Python's ssl has it."""
    parts: Sequence[Sequence[tuple[str, str]]] = certificate.get("subject", ())
    return {value for part in parts for name, value in part if name == "commonName"}


def _listed(data: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(filter(None, _NAMES.decode(data.get(key) or "[]")))
