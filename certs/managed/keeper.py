"""``Keeper``: the leader's loop: reads Secret and webhook configurations, takes one step, begins again."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from certs.managed.action import Action, Idle, WriteBundle, WriteSecret
from certs.managed.api import OUTDATED, Api
from certs.managed.bundle import write_bundle
from certs.managed.configuration import (
    CallingConfiguration,
    ConfigurationKind,
    Object,
    ServiceReference,
    configuration_of,
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

    The times are not stored outside the process, because they would have to be compared with another machine's clock.
    A process that takes over therefore measures from its own start, which makes a rotation longer, but not less safe.
    """

    def __init__(self) -> None:
        self._since: Final[dict[str, tuple[object, float]]] = {}

    def seconds(self, fact: str, value: object, moment: float) -> float:
        """Seconds since the fact was first seen with this value without a change; ``moment`` is a monotonic time."""
        known, since = self._since.get(fact, (None, moment))
        if known != value:
            since = moment
        self._since[fact] = (value, since)
        return moment - since


PAUSE: Final = 0.1
"""Seconds between an action and the next look at the objects."""

STREAK: Final = 10
"""Actions in a row after which another program probably undoes them, so that a whole interval passes after each.
A whole rotation has fewer actions."""

FIRST_RETRY: Final = 0.5
"""Seconds of the pause after a failure; doubled with each further failure, up to the interval."""


@dataclass(frozen=True, slots=True)
class ManagedObjects:
    """What ``manage`` writes: one Secret, and the webhook configurations and APIServices that call one Service."""

    service: ServiceReference
    secret: str
    configurations: tuple[tuple[ConfigurationKind, str], ...]

    @property
    def secrets(self) -> str:
        """The path of all Secrets of the namespace."""
        return f"/api/v1/namespaces/{self.service.namespace}/secrets"

    @property
    def paths(self) -> dict[str, str]:
        """The path of each configuration, by its name in the log (``mutating/<name>``)."""
        return {f"{kind}/{name}": configuration_path(kind, name) for kind, name in self.configurations}


@dataclass(frozen=True, slots=True)
class ReadObjects:
    """The objects as they were read, with their versions, and the facts that the rotation decides on."""

    secret: Object | None
    configurations: Mapping[str, CallingConfiguration]
    observed: Observed


class Keeper:
    """Keeps Secret and configurations as ``policy`` wants them. The fence of ``api`` stops writes without the lead."""

    def __init__(
        self,
        api: Api,
        election: Election,
        objects: ManagedObjects,
        policy: RotationPolicy,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._election = election
        self._objects = objects
        self._policy = policy
        self._clock = clock
        self._timer = StabilityTimer()

    async def run(self, interval: float) -> NoReturn:
        """Take turns until cancelled, at least one in ``interval`` seconds. Raises LostError, ForeignError."""
        streak = failures = 0
        while True:
            try:
                action = await self.turn()
                failures, pause = 0, _pause_after(action)
                streak = 0 if isinstance(action, Idle) else streak + 1
            except ApiError as failure:
                pause = FIRST_RETRY * 2**failures
                failures = min(failures + 1, 10)
                LOG.warning("%s", failure)
                if failure.cause in OUTDATED:
                    await self._election.renew()  # another program writes: does this process still hold the Lease?
            await asyncio.sleep(min(pause, interval) if streak < STREAK else interval)

    async def turn(self) -> Action:
        """Read the objects and take at most one step, which is returned. Raises ApiError, LostError, ForeignError."""
        read = await self._read()
        action = decide(read.observed, self._policy, self._api.now)
        if isinstance(action, WriteSecret):
            await self._write(read.secret, action)
        elif isinstance(action, WriteBundle):
            outcomes = [await self._trust(read.configurations[name], name, action) for name in action.configurations]
            for failure in filter(None, outcomes):
                raise failure
        return action

    async def _read(self) -> ReadObjects:
        secret = await self._api.find(f"{self._objects.secrets}/{self._objects.secret}")
        configurations = {}
        for name, path in self._objects.paths.items():
            # A missing configuration is not created: an operator may have deleted it in an emergency.
            if read := await self._api.find(path):
                kind = name.partition("/")[0]
                configurations[name] = configuration_of(kind, path, read, self._objects.service)
        holding, moment = read_secret(secret), self._clock()
        issuer = holding.issuer and holding.issuer.certificate
        trusted = {name: one.bundles for name, one in configurations.items()}
        editions = {name: (one.edition, one.bundles) for name, one in configurations.items()}
        observed = Observed(
            holding,
            trusted,
            trusted_for=self._timer.seconds("trusted", (write_bundle(holding.bundle), editions), moment),
            issued_for=self._timer.seconds("issuer", issuer, moment),
        )
        return ReadObjects(secret, configurations, observed)

    async def _write(self, secret: Object | None, action: WriteSecret) -> None:
        objects = self._objects
        wanted = written_secret(secret, action.holding, namespace=objects.service.namespace, name=objects.secret)
        if secret is None:
            await self._api.create(objects.secrets, wanted)
        else:
            await self._api.replace(f"{objects.secrets}/{objects.secret}", wanted)
        LOG.info("wrote the Secret %s: %s", objects.secret, action.reason)

    async def _trust(self, configuration: CallingConfiguration, name: str, action: WriteBundle) -> ApiError | None:
        try:
            await self._api.patch(configuration.path, configuration.patch(action.bundle))
        except ApiError as failure:
            return failure
        LOG.info("wrote the caBundle of %s", name)
        return None


def _pause_after(action: Action) -> float:
    """Seconds until the next look at the objects, apart from the interval."""
    if not isinstance(action, Idle):
        return PAUSE
    return float("inf") if action.seconds is None else max(action.seconds, PAUSE)
