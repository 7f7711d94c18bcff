"""``FrontProxyWatch``: what the cluster says of its front proxy, followed, and the TLS context that goes with it."""

import asyncio
import logging
import re
import ssl
from typing import Final
from weakref import WeakKeyDictionary

from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from webhook.aggregated.front_proxy import PATH, FrontProxy, FrontProxyError, front_proxy_of
from webhook.server import tls
from webhook.server.certificate import Files, PairSignature

SECONDS: Final = 10.0
"""Seconds between two looks at the ConfigMap: one small request, which needs no watch. An authority is published long
before the API server shows a certificate of it."""

UNKNOWN: Final = "the front proxy is not known yet: the ConfigMap extension-apiserver-authentication has not been read"

_CERTIFICATE: Final = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)

_log = logging.getLogger(__name__)


class FrontProxyWatch:
    """The front proxy as the cluster last described it, and contexts that ask clients for its certificate.

    A context asks for a certificate and does not demand one, so that a client without one is told why it is refused.
    """

    def __init__(self, server: ObjectClient, files: Files) -> None:
        self._server = server
        self._files = files
        self._signature: PairSignature | None = None
        self._context: ssl.SSLContext | None = None
        self._trusted = ""
        self._trusts: WeakKeyDictionary[ssl.SSLContext, frozenset[str]] = WeakKeyDictionary()
        self._problem = ""
        self.proxy: FrontProxy | None = None

    @property
    def reason(self) -> str | None:
        """Why no client is trusted yet; ``None`` if the front proxy is known."""
        return None if self.proxy else self._problem or UNKNOWN

    def context(self) -> ssl.SSLContext:
        """The context for the next handshake: the present pair, and the present authorities of the front proxy.

        A pair that cannot be used leaves the last good one; ``ConnectionError`` if it cannot go with these authorities.
        """
        signature, trusted = self._files.signature(), self.proxy.authorities if self.proxy else ""
        if self._context is None or (signature, trusted) != (self._signature, self._trusted):
            try:
                self._context, _ = self._files.load(trusted.encode() or None)
            except tls.UnusableError as error:  # the pair is followed, and told of, where AdmissionReviews are answered
                if self._context is None or trusted != self._trusted:
                    raise ConnectionError(f"TLS cannot be served: {error}") from error
                return self._context
            self._signature, self._trusted = signature, trusted
            self._trusts[self._context] = _certificates(trusted)
        return self._context

    def vouches(self, context: ssl.SSLContext) -> bool:
        """Whether the front proxy still has all authorities by which that context verified its clients."""
        return self._trusts[context] <= _certificates(self.proxy.authorities if self.proxy else "")

    async def watch(self, seconds: float = SECONDS) -> None:
        """Look at the ConfigMap now, and once in so many seconds, until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(seconds)

    async def look(self) -> None:
        """Read the ConfigMap; what it said last stays in force if it cannot be read, or says too little."""
        try:
            proxy = front_proxy_of(await self._server.read(PATH))
            tls.authorities(proxy.authorities.encode())
        except (ApiError, FrontProxyError, tls.UnusableError) as error:
            if str(error) != self._problem:
                self._problem = str(error)
                _log.warning("placement reviews: %s", error)
            return
        if proxy != self.proxy:
            _log.info("placement reviews: the front proxy is known")
        self._problem = ""
        self.proxy = proxy


def _certificates(text: str) -> frozenset[str]:
    return frozenset(_CERTIFICATE.findall(text))
