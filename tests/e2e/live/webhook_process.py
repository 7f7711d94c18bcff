"""The webhook as a process, which reads the cluster of a kubeconfig."""

import dataclasses
import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final, Self

from tests.e2e.client.api import Answer, Object
from tests.e2e.controlplane.identities import write_kubeconfig
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.live.bare_plane import ACCOUNT
from tests.e2e.polling import until
from tests.e2e.programs.ports import free_ports
from tests.e2e.programs.process import Process
from webhook.cli.client import admission_review

_CLONE: Final = Path(__file__).resolve().parents[3]
_SECONDS: Final = 10
_RESIDENT: Final = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)
_PEAK: Final = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """An answer of the port for health; code 0 if there was none."""

    code: int
    text: str


class Server:
    """``with Server(folder, plane, port) as server``: started, not necessarily ready.

    Args:
        folder: an empty folder for its certificate, kubeconfig and log.
        plane: the cluster.
        api_port: where it is to reach the API server, be it a gate; by default the API server itself.
        flags: further flags of ``serve``.
    """

    def __init__(self, folder: Path, plane: ControlPlane, api_port: int | None = None, *flags: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.port, self.health_port = free_ports(2)
        self.authority = folder / "certs" / "ca.crt"
        self.began = 0.0
        """When the process was started (``time.monotonic``)."""
        self._pair = folder / "certs"
        url = f"https://127.0.0.1:{api_port or plane.port}"
        kubeconfig = write_kubeconfig(folder, plane.identities[ACCOUNT], url, plane.authority)
        ports = ("--port", str(self.port), "--health-port", str(self.health_port), "--drain", "0")
        pair = ("--tls-cert", str(self._pair / "tls.crt"), "--tls-key", str(self._pair / "tls.key"))
        command = [sys.executable, "-m", "webhook", "serve", *ports, *pair, *flags]
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "PYTHONPATH": str(_CLONE)}
        self.process = Process("serve", command, folder / "serve.log", environment)

    def __enter__(self) -> Self:
        command = (sys.executable, "-m", "certs", "create", "--loopback", "--dir", str(self._pair))
        subprocess.run(command, check=True, capture_output=True, cwd=_CLONE)  # noqa: S603 -- our own program, no shell
        self._tls = ssl.create_default_context(cafile=self.authority)
        self.began = time.monotonic()
        self.process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stop()

    def wait(self, seconds: float = 60.0) -> float:
        """Wait until reviews are answered; the seconds from the start of the process until then."""
        until(lambda: self.ready() or not self.process.alive, "the webhook is ready", seconds)
        assert self.process.alive, self.process.tail()
        return time.monotonic() - self.began

    def ready(self) -> bool:
        """Whether it says that reviews are answered."""
        return self.page("/readyz").code == http.HTTPStatus.OK

    def page(self, path: str) -> Page:
        """A page of the port for health."""
        connection = http.client.HTTPConnection("127.0.0.1", self.health_port, timeout=_SECONDS)
        try:
            connection.request("GET", path)
            reply = connection.getresponse()
            return Page(reply.status, reply.read().decode())
        except OSError as error:
            return Page(0, str(error))
        finally:
            connection.close()

    def gauge(self, name: str) -> float:
        """A metric without labels."""
        found = re.search(rf"^streams_placement_{name} (\S+)$", self.page("/metrics").text, re.MULTILINE)
        assert found, f"there is no metric {name}"
        return float(found[1])

    def ask(self, path: str, thing: Object) -> Answer:
        """A review, as the API server would send it; raises ``OSError`` where nobody listens."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=_SECONDS, context=self._tls)
        try:
            body = json.dumps(admission_review(thing, thing["metadata"]["namespace"]))
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            return Answer(reply.status, json.loads(reply.read()))
        finally:
            connection.close()

    def log(self) -> list[dict[str, Any]]:
        """Every line of its log."""
        text = self.process.log.read_text() if self.process.log.exists() else ""
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def megabytes(self) -> tuple[float, float]:
        """Resident memory in MB of a million bytes, now and at its highest."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        resident, peak = (int(pattern.findall(status)[0]) * 1024 / 1e6 for pattern in (_RESIDENT, _PEAK))
        return resident, peak
