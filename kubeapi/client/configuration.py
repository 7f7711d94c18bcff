"""``Configuration``: the API server's address and credentials, from a pod's service account or a kubeconfig."""

import time
from collections.abc import Callable
from pathlib import Path

from kubeapi.client.access import Access, Credentials
from kubeapi.client.errors import escape
from kubeapi.client.kubeconfig import Kubeconfig
from kubeapi.client.service_account import FOLDER, ServiceAccount


class NoClusterError(Exception):
    """Neither a service account nor a kubeconfig can be used; the text says why, for the user."""


class Configuration:
    """The access that credentials give. Credentials are read again when they are due, or when they were refused.

    The constructor reads them for the first time, and raises errors of that reading.
    """

    def __init__(self, credentials: Credentials, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.trouble = ""
        """Why the last reading failed; empty if it succeeded."""
        self._credentials = credentials
        self._clock = clock
        self._access = credentials.read()
        self._due = clock() + credentials.reread

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return self._access.server

    def access(self, *, refused: Access | None = None) -> Access:
        """The access to use now; ``refused`` is an access whose credentials the API server has refused.

        This method may read files or run a plugin, so it must not be called on an event loop. If reading fails, the
        last access stays in use, and ``trouble`` says why.
        """
        try:
            if refused is self._access or self._clock() >= self._due:
                self._due = self._clock() + self._credentials.reread
                self._access = self._credentials.read()
                self._due = self._clock() + self._credentials.reread  # what was read may state another time
            else:
                self._access = self._credentials.renewed()
            self.trouble = ""
        except Exception as error:  # noqa: BLE001 damaged files, and plugins, raise any exception
            self.trouble = _clause(error)
        return self._access


def find_configuration(context: str | None = None, *, account: Path = FOLDER) -> Configuration:
    """The configuration of the kubeconfig context; without one, of the pod's account, else of the current context.

    ``account`` is the folder of the pod's service account. Raises :class:`NoClusterError` if none can be used.
    """
    reasons = []
    if context is None:
        try:
            return Configuration(ServiceAccount(account))
        except Exception as error:  # noqa: BLE001 after any error with the pod's files, a kubeconfig is tried
            reasons.append(f"this is not a pod with a service account ({_clause(error)})")
    try:
        return Configuration(Kubeconfig(context))
    except Exception as error:  # noqa: BLE001 damaged files, and plugins, raise any exception
        reasons.append(f"there is no usable kubeconfig ({_clause(error)})")
    raise NoClusterError(f"there is no cluster to connect to: {', and '.join(reasons)}")


def _clause(error: Exception) -> str:
    return escape(str(error) or type(error).__name__).rstrip(".")
