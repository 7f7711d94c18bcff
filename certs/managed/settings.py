"""Reads the flags of ``manage`` as ``Management`` or problems; finds API server address and credentials."""

import re
from pathlib import Path
from typing import Final

from certs.managed.configuration import ConfigurationKind, ServiceReference
from certs.managed.flags import (
    ADOPTION,
    ADOPTION_SECONDS,
    API_SERVICE,
    CONTEXT,
    DAY_SECONDS,
    DURATION,
    INTERVAL,
    INTERVAL_SECONDS,
    KUBECONFIG,
    LEASE,
    LEASE_SECONDS,
    MUTATING,
    PROPAGATION,
    PROPAGATION_SECONDS,
    SECRET,
    VALIDATING,
)
from certs.managed.keeper import ManagedObjects
from certs.managed.observed import RotationPolicy
from certs.managed.run import Management
from certs.names import LOOPBACK, Names, quote
from certs.options import (
    AUTHORITY_DAYS,
    CA_DAYS,
    DAYS,
    LEAF_DAYS,
    LOOPBACK_NAMES,
    NAMESPACE,
    SERVICE,
    FlagValues,
    Option,
)
from kubeapi.client.configuration import Configuration, NoClusterError
from kubeapi.client.kubeconfig import Kubeconfig
from kubeapi.client.service_account import FOLDER, NoPodError, ServiceAccount

_SUBDOMAIN: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_SUBDOMAIN_LIMIT: Final = 253
"""Characters of an object's name (Kubernetes, Object Names and IDs: DNS subdomain names)."""


class ManageGiven(FlagValues):
    """Values of the flags of ``manage`` from command line and environment."""

    def management(self) -> Management:
        """The settings; to be used only if there are no ``problems`` afterwards."""
        names, (_, service), (_, namespace) = self._service(), self._one(SERVICE), self._one(NAMESPACE)
        if not names and not self.problems:
            self.problems.append("no service is given: use --service with --namespace")
        names += self._loopback() + self._further_names()
        secret = self._object(SECRET)
        if not secret:
            self.problems.append("no Secret is given: use --secret")
        configurations = (
            *self._configurations(MUTATING, "mutating"),
            *self._configurations(VALIDATING, "validating"),
            *self._configurations(API_SERVICE, "apiservice"),
        )
        policy = RotationPolicy(
            names,
            self._days(LEAF_DAYS, DAYS),
            self._days(CA_DAYS, AUTHORITY_DAYS),
            propagation=self._seconds(PROPAGATION, PROPAGATION_SECONDS, (1, DAY_SECONDS)),
            adoption=self._seconds(ADOPTION, ADOPTION_SECONDS, (1, DAY_SECONDS)),
        )
        return Management(
            ManagedObjects(ServiceReference(namespace, service), secret, configurations),
            policy,
            lease=self._object(LEASE) or secret,
            lease_seconds=int(self._seconds(DURATION, LEASE_SECONDS, (3, 3600))),
            interval=self._seconds(INTERVAL, INTERVAL_SECONDS, (0.1, 3600)),
        )

    def configuration(self) -> Configuration:
        """The API server's address, with credentials: of a kubeconfig if one is named, else of the pod's account.

        Raises NoClusterError.
        """
        (_, file), (_, context) = self._one(KUBECONFIG), self._one(CONTEXT)
        return named_kubeconfig(file, context) if file or context else pod_account()

    def _loopback(self) -> Names:
        return LOOPBACK if self._switch(LOOPBACK_NAMES) else Names()

    def _object(self, option: Option) -> str:
        source, text = self._one(option)
        if text:
            self._note(source, _object_fault(text))
        return text

    def _configurations(self, option: Option, kind: ConfigurationKind) -> tuple[tuple[ConfigurationKind, str], ...]:
        source, texts = self._many(option)
        return tuple((kind, text) for text in dict.fromkeys(texts) if self._note(source, _object_fault(text)))

    def _seconds(self, option: Option, default: float, limits: tuple[float, float]) -> float:
        source, text = self._one(option)
        lowest, highest = limits
        if not text:
            return default
        if re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", text) and lowest <= float(text) <= highest:
            return float(text)
        self.problems.append(f"{source} {quote(text)} is not a number of seconds: use {lowest:g} to {highest:g}")
        return default


def pod_account(folder: Path = FOLDER) -> Configuration:
    """The service account of the pod that this process runs in. Raises NoClusterError."""
    try:
        return Configuration(ServiceAccount(folder))
    except NoPodError as error:
        raise NoClusterError(f"this is not a pod: {error}") from None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise NoClusterError(f"the account in {folder} cannot be read: {reason}") from None


def named_kubeconfig(file: str, context: str) -> Configuration:
    """Credentials of a context of a kubeconfig; if one is empty, kubectl's default counts. Raises NoClusterError.

    No proxy is used, whatever the file and the environment say: keys pass through this connection.
    """
    try:
        return Configuration(Kubeconfig(context or None, files=file, proxies=False))
    except Exception as error:  # noqa: BLE001 - damaged files, and plugins, raise any exception
        raise NoClusterError(f"the kubeconfig cannot be used: {str(error) or type(error).__name__}") from None


def _object_fault(text: str) -> str:
    if len(text) <= _SUBDOMAIN_LIMIT and _SUBDOMAIN.fullmatch(text):
        return ""
    return (
        f"{quote(text)} is not the name of an object: use at most 253 lower-case letters, digits, '-' and '.', "
        "each part starting and ending with a letter or digit"
    )
