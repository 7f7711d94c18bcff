"""``hpa-api`` as a process, which keeps intents in the cluster of a kubeconfig."""

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Final, Self

from tests.e2e.client.api import Answer
from tests.e2e.controlplane.identities import write_kubeconfig
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.programs.process import Process

ACCOUNT: Final = "streams-system/streams-placement-hpa-api"
"""The ServiceAccount that it asks with."""

_CLONE: Final = Path(__file__).resolve().parents[3]
_SECONDS: Final = 30

GROUP: Final = "/v2/projects/edge/composite-apps/capp/v1.0/deployment-intent-groups/dig"
INTENTS: Final = f"{GROUP}/hpa-intents"


class HpaProcess:
    """``with HpaProcess(folder, plane) as server``: started, and answering.

    Args:
        folder: an empty folder for its kubeconfig and log.
        plane: the cluster.
        identity: whose rights it has.
        flags: further flags of ``hpa-api``.
    """

    def __init__(self, folder: Path, plane: ControlPlane, identity: str, *flags: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        url = f"https://127.0.0.1:{plane.port}"
        kubeconfig = write_kubeconfig(folder, plane.identities[identity], url, plane.authority)
        command = [sys.executable, "-m", "webhook", "hpa-api", "--port", "0", "--drain", "0", *flags]
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "PYTHONPATH": str(_CLONE)}
        self.process = Process("hpa-api", command, folder / "hpa-api.log", environment)
        self.url = ""

    def __enter__(self) -> Self:
        self.process.start()
        until(lambda: "ready http" in self.process.tail() or not self.process.alive, "hpa-api is ready", 60)
        assert self.process.alive, self.process.tail()
        self.url = next(line for line in self.process.tail().splitlines() if line.startswith("ready ")).split()[1]
        until(lambda: self.ask("GET", "/readyz").code == 200, "it knows its cluster", 30)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stop()

    def ask(self, method: str, path: str, body: Any = None, token: str = "") -> Answer:
        """An answer; the token is that of an identity of the plane."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)  # noqa: S310 -- a URL of our own
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as reply:  # noqa: S310 -- the same
                return Answer(reply.status, _decoded(reply.read()))
        except urllib.error.HTTPError as refused:
            return Answer(refused.code, _decoded(refused.read()))


def _decoded(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.decode()
