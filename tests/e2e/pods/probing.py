"""Probes of a container, by HTTP and TCP: readiness with the periods of the pod's spec times a factor."""

import http.client
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Any, Final

from tests.e2e.client.api import Object
from tests.e2e.pods.pod_sources import UnsupportedError

_PERIOD: Final = 10
_TIMEOUT: Final = 1
_FAILURES: Final = 3
"""Defaults of a probe: ``pkg/apis/core/v1/defaults.go`` of Kubernetes."""


class Check:
    """One probe; ``passed`` and ``failed`` say what its thresholds make of the answers so far."""

    def __init__(self, probe: Mapping[str, Any], container: Object, address: str, pace: float) -> None:
        self.passed = False
        self.failed = False
        self._probe = probe
        self._address = address
        self._ports = {port["name"]: port["containerPort"] for port in container.get("ports", ()) if "name" in port}
        self._period = probe.get("periodSeconds", _PERIOD) * pace
        self.due = time.monotonic() + probe.get("initialDelaySeconds", 0) * pace
        self._successes = self._failures = 0

    def ask_if_due(self) -> None:
        """Ask, if it is time."""
        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + self._period
        good = self._ask()
        self._successes = self._successes + 1 if good else 0
        self._failures = 0 if good else self._failures + 1
        if self._successes >= self._probe.get("successThreshold", 1):
            self.passed, self.failed = True, False
        if self._failures >= self._probe.get("failureThreshold", _FAILURES):
            self.passed, self.failed = False, True

    def _ask(self) -> bool:
        seconds = self._probe.get("timeoutSeconds", _TIMEOUT)
        if "httpGet" in self._probe:
            return self._get(self._probe["httpGet"], seconds)
        if "tcpSocket" in self._probe:
            try:
                socket.create_connection((self._address, self._port(self._probe["tcpSocket"])), seconds).close()
            except OSError:
                return False
            return True
        raise UnsupportedError("probes other than httpGet and tcpSocket")

    def _get(self, action: Mapping[str, Any], seconds: float) -> bool:
        connection = http.client.HTTPConnection(self._address, self._port(action), timeout=seconds)
        if action.get("scheme") == "HTTPS":
            anything = ssl._create_unverified_context()  # noqa: S323, SLF001 -- a kubelet does not verify either
            connection = http.client.HTTPSConnection(
                self._address, self._port(action), timeout=seconds, context=anything
            )
        try:
            headers = {one["name"]: one["value"] for one in action.get("httpHeaders", ())}
            connection.request("GET", action.get("path", "/"), headers=headers)
            return http.HTTPStatus.OK <= connection.getresponse().status < http.HTTPStatus.BAD_REQUEST
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _port(self, action: Mapping[str, Any]) -> int:
        """A number, or the name of a port of the container."""
        return int(self._ports.get(action["port"], action["port"]))


class Checks:
    """The probes of one run of a container.

    What decides whether it is killed has the time that the pod's spec gives: a process needs some seconds to start on a
    machine with other work, and would never get there.
    """

    def __init__(self, container: Object, address: str, pace: float) -> None:
        def check(name: str, pace: float) -> Check | None:
            return Check(container[name], container, address, pace) if name in container else None

        self._startup = check("startupProbe", 1)
        self._readiness = check("readinessProbe", pace)
        self._liveness = check("livenessProbe", 1)

    def ask(self) -> float:
        """Ask what is due; returns the seconds until the next one is."""
        waiting = self._startup is not None and not self._startup.passed
        asked = [one for one in ((self._startup,) if waiting else (self._readiness, self._liveness)) if one]
        for one in asked:
            one.ask_if_due()
        return max(0.0, min((one.due for one in asked), default=time.monotonic() + _PERIOD) - time.monotonic())

    @property
    def started(self) -> bool:
        """Whether the container has started, as its startup probe sees it."""
        return self._startup is None or self._startup.passed

    @property
    def ready(self) -> bool:
        """Whether Services may send requests."""
        return self.started and (self._readiness is None or self._readiness.passed)

    @property
    def dead(self) -> bool:
        """Whether it has to be started again."""
        return any(one is not None and one.failed for one in (self._startup, self._liveness))
