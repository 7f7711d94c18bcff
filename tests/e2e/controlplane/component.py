"""One program of the control plane: its process, and the check whether it is ready."""

import dataclasses
import http.client
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.e2e.polling import until
from tests.e2e.programs.process import Process

_READY_SECONDS: Final = 60
"""A start takes 1-3 s on idle cores; tests may share them with a build."""


class DiedError(RuntimeError):
    """A part of the control plane ended by itself."""


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """A page of loopback that answers 200 when the component is ready; over TLS if it has a certificate."""

    port: int
    path: str = "/healthz"
    tls: bool = True

    def passes(self) -> bool:
        """Ask once. The certificate is not looked at: the port is ours."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        if self.tls:
            anything = ssl._create_unverified_context()  # noqa: S323, SLF001 -- loopback, and only "200" is read
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=2, context=anything)
        try:
            connection.request("GET", self.path)
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


class Component:
    """A process of the control plane; ``own`` are variables that it gets beside those of the tests."""

    def __init__(
        self, name: str, command: list[str], folder: Path, probe: Probe, own: Mapping[str, str] | None = None
    ) -> None:
        self.process = Process(name, command, folder / f"{name}.log", {**os.environ, **(own or {})})
        self.probe = probe

    @property
    def name(self) -> str:
        """The program's name."""
        return self.process.name

    def start(self) -> None:
        """Start it, without waiting."""
        self.process.start()

    def wait(self) -> None:
        """Wait until it is ready; fails at once if it ends instead."""
        until(self._ready, f"{self.name} is ready\n{self.process.tail()}", _READY_SECONDS)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()

    def restart(self) -> None:
        """Start it again on the same ports and wait until it is ready."""
        self.start()
        self.wait()

    def _ready(self) -> bool:
        if not self.process.alive:
            raise DiedError(f"{self.name} ended with {self.process.exit_code}:\n{self.process.tail()}")
        return self.probe.passes()
