"""Where the API server is, and how to prove who asks: from the pod that this runs in, or from a kubeconfig.

The ``kubernetes`` package reads both. It is imported only here and only when there is a cluster to talk to: that takes
a third of a second and 11 MB.
"""

import importlib
import math
import os
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.cluster.tls import Tls, client_context
from webhook.placement.problem import escape

REREAD: Final = 60.0
"""Seconds after which a pod's token is read again, as client-go does; it is replaced long before it expires."""

_KUBECONFIG: Final = "~/.kube/config"


class NoClusterError(Exception):
    """There is no cluster to talk to; the text is a sentence for whoever started the program."""


class Access(Struct, frozen=True, eq=False):
    """How to ask, for now: ``header`` is the value of ``Authorization``, ``server`` a URL without a slash at its end."""

    server: str
    header: str | None = None
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    proxy: str | None = None


class Configuration:
    """What a cluster's configuration says, read again as often as its credentials need it.

    ``load`` returns a ``kubernetes.client.Configuration``; what it says is as good as new for ``reread`` seconds.
    """

    def __init__(
        self, load: Callable[[], Any], *, reread: float = math.inf, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._load = load
        self._reread = reread
        self._clock = clock
        self._tls = Tls()
        self.trouble = ""
        """Why the last reading failed; empty if it did not."""
        self._found = load()
        self._due = clock() + reread
        self._access = self._accepted(self._found)

    def access(self, *, refused: Access | None = None) -> Access:
        """How to ask now, or after that one was refused; it may read files or run a plugin, so not on an event loop.

        Where it cannot be found out again, what was known last stays, and ``trouble`` says why.
        """
        try:
            if refused is self._access or self._clock() >= self._due:
                self._due = self._clock() + self._reread
                self._found = self._load()
                self._access = self._accepted(self._found)
            elif (header := _header(self._found)) != self._access.header:
                self._access = replace(self._access, header=header)
            self.trouble = ""
        except Exception as error:  # noqa: BLE001 the package raises whatever a damaged file, or a plugin, leads it to
            self.trouble = _sentence(error)
        return self._access

    def _accepted(self, found: Any) -> Access:  # noqa: ANN401 the package's own type is not checked, see _package
        server = found.host.rstrip("/")
        secure = server.startswith("https://")
        return Access(
            server=server,
            header=_header(found),
            tls=self._tls.context(found) if secure else None,
            server_name=found.tls_server_name or None,
            proxy=_proxy(found),
        )
