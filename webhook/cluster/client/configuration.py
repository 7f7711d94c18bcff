"""Where the API server is, and how to prove who asks: from the pod that this runs in, or from a kubeconfig."""

import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from webhook.cluster.client.access import Access, Credentials
from webhook.cluster.client.kubeconfig import Kubeconfig
from webhook.cluster.client.service_account import FOLDER, ServiceAccount
from webhook.placement.text.problem import escape


class NoClusterError(Exception):
    """There is no cluster to talk to; the text is a sentence for whoever started the program."""


class Configuration:
    """What credentials say, read again as often as they need it; raises whatever is wrong at first."""

    def __init__(self, credentials: Credentials, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.trouble = ""
        """Why the last reading failed; empty if it did not."""
        self._credentials = credentials
        self._clock = clock
        self._access = credentials.read()
        self._due = clock() + credentials.reread

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return self._access.server

    def access(self, *, refused: Access | None = None) -> Access:
        """How to ask now, or after that one was refused; it may read files or run a plugin, so not on an event loop.

        Where it cannot be found out again, what was known last stays, and ``trouble`` says why.
        """
        try:
            if refused is self._access or self._clock() >= self._due:
                self._due = self._clock() + self._credentials.reread
                self._access = self._credentials.read()
            elif (header := self._credentials.header()) != self._access.header:
                self._access = replace(self._access, header=header)
            self.trouble = ""
        except Exception as error:  # noqa: BLE001 damaged files, and plugins, lead to whatever they like
            self.trouble = _clause(error)
        return self._access


def connect(context: str | None = None, *, account: Path = FOLDER) -> Configuration:
    """The configuration of that kubeconfig context; by default of the pod around us, else of the current context.

    ``account`` is the folder of the pod's service account. Raises :class:`NoClusterError` where there is none.
    """
    reasons = []
    if context is None:
        try:
            return Configuration(ServiceAccount(account))
        except Exception as error:  # noqa: BLE001 whatever is wrong with the pod's files, there may be a kubeconfig
            reasons.append(f"this is not a pod with a service account ({_clause(error)})")
    try:
        return Configuration(Kubeconfig(context))
    except Exception as error:  # noqa: BLE001 damaged files, and plugins, lead to whatever they like
        reasons.append(f"there is no usable kubeconfig ({_clause(error)})")
    raise NoClusterError(f"there is no cluster to talk to: {', and '.join(reasons)}")


def _clause(error: Exception) -> str:
    return escape(str(error) or type(error).__name__).rstrip(".")
