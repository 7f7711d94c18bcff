"""The loop of the leader: read the objects, decide on one step, write it, and begin again."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from certs.managed.action import Action, Idle, Trust, Write
from certs.managed.api import OUTDATED, Api
from certs.managed.bundle import write_bundle
from certs.managed.configuration import (
    ConfigurationKind,
    Object,
    ServiceReference,
    WebhookConfiguration,
    configuration_path,
)
from certs.managed.logs import LOG
from certs.managed.observed import Observed, RotationPolicy
from certs.managed.rotation import decide
from certs.managed.secret import read_secret, written_secret
from kubeapi.client.errors import ApiError
from kubeapi.leaderelection.election import Election


class StabilityTimer:
    """Remembers since when each fact has had its value.

    It lives no longer than its process. Another process that takes over waits anew, which costs time but never safety:
    a time that is written down would have to be compared with another machine's clock.
    """

    def __init__(self) -> None:
        self._since: Final[dict[str, tuple[object, float]]] = {}

    def seconds(self, fact: str, value: object, moment: float) -> float:
        """For how many seconds the fact was seen with this value; ``moment`` is of a monotonic clock."""
        known, since = self._since.get(fact, (None, moment))
        if known != value:
            since = moment
        self._since[fact] = (value, since)
        return moment - since


PAUSE: Final = 0.1
"""Seconds after an action, before the next look at what it led to."""

STREAK: Final = 10
"""Actions in a row after which another program is taken to undo them, so that a whole interval passes after each.
A whole rotation has fewer."""

FIRST_RETRY: Final = 0.5
"""Seconds after a failure; doubled with each further one, up to the interval."""


@dataclass(frozen=True, slots=True)
class ManagedObjects:
    """The objects that ``manage`` writes: one Secret, and the webhook configurations that call one Service."""

    service: ServiceReference
    secret: str
    configurations: tuple[tuple[ConfigurationKind, str], ...]

    @property
    def secrets(self) -> str:
        """The path of all Secrets of the namespace."""
        return f"/api/v1/namespaces/{self.service.namespace}/secrets"

    @property
    def paths(self) -> dict[str, str]:
        """The path of each configuration, by what a log calls it."""
        return {f"{kind}/{name}": configuration_path(kind, name) for kind, name in self.configurations}


@dataclass(frozen=True, slots=True)
class Sight:
    """The objects as they were read, with their versions, and what they show."""

    secret: Object | None
    configurations: Mapping[str, WebhookConfiguration]
    view: Observed


class Keeper:
    """Keeps the objects as they should be. The fence of ``api`` stops every write while ``election`` does not lead."""

    def __init__(
        self,
        api: Api,
        election: Election,
        objects: ManagedObjects,
        terms: RotationPolicy,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._election = election
        self._objects = objects
        self._terms = terms
        self._clock = clock
        self._steady = StabilityTimer()

    async def run(self, interval: float) -> NoReturn:
        """Turn after turn, at least one per interval. Raises LostError, ForeignError."""
        streak = failures = 0
        while True:
            try:
                action = await self.turn()
                failures, rest = 0, _rest(action)
                streak = 0 if isinstance(action, Idle) else streak + 1
            except ApiError as failure:
                rest = FIRST_RETRY * 2**failures
                failures = min(failures + 1, 10)
                LOG.warning("%s", failure)
                if failure.cause in OUTDATED:
                    await self._election.renew()  # another program writes: does this process still hold the Lease?
            await asyncio.sleep(min(rest, interval) if streak < STREAK else interval)

    async def turn(self) -> Action:
        """One look, and at most one step, which is returned. Raises ApiError, LostError, ForeignError."""
        sight = await self._look()
        action = decide(sight.view, self._terms, self._api.now)
        if isinstance(action, Write):
            await self._write(sight.secret, action)
        elif isinstance(action, Trust):
            outcomes = [await self._trust(sight.configurations[name], name, action) for name in action.configurations]
            for failure in filter(None, outcomes):
                raise failure
        return action

    async def _look(self) -> Sight:
        secret = await self._api.find(f"{self._objects.secrets}/{self._objects.secret}")
        found = {}
        for name, path in self._objects.paths.items():
            # One that is not there is not made: somebody may have deleted it in an emergency.
            if read := await self._api.find(path):
                found[name] = WebhookConfiguration.of(path, read, self._objects.service)
        holding, moment = read_secret(secret), self._clock()
        issuer = holding.issuer and holding.issuer.certificate
        trusted = {name: one.bundles for name, one in found.items()}
        editions = {name: (one.edition, one.bundles) for name, one in found.items()}
        view = Observed(
            holding,
            trusted,
            trusted_for=self._steady.seconds("trusted", (write_bundle(holding.bundle), editions), moment),
            issued_for=self._steady.seconds("issuer", issuer, moment),
        )
        return Sight(secret, found, view)

    async def _write(self, secret: Object | None, action: Write) -> None:
        objects = self._objects
        wanted = written_secret(secret, action.holding, namespace=objects.service.namespace, name=objects.secret)
        if secret is None:
            await self._api.create(objects.secrets, wanted)
        else:
            await self._api.replace(f"{objects.secrets}/{objects.secret}", wanted)
        LOG.info("wrote the Secret %s: %s", objects.secret, action.reason)

    async def _trust(self, configuration: WebhookConfiguration, name: str, action: Trust) -> ApiError | None:
        try:
            await self._api.patch(configuration.path, configuration.patch(action.bundle))
        except ApiError as failure:
            return failure
        LOG.info("wrote the caBundle of %s", name)
        return None


def _rest(action: Action) -> float:
    """Seconds until the next look, if there is no interval to mind."""
    if not isinstance(action, Idle):
        return PAUSE
    return float("inf") if action.seconds is None else max(action.seconds, PAUSE)
