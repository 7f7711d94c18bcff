"""Load during a rotation of certificates: a mount that follows the Secret, clients that connect for every review."""

import base64
import collections
import contextlib
import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tests.e2e.client.api import Api, Object, RefusedError
from tests.e2e.progress import say
from tests.e2e.workloads import pod

SPACE: Final = "managed-certificates"
SECRET: Final = f"/api/v1/namespaces/{SPACE}/secrets/pair"
CONFIGURATION: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/managed"

RATE: Final = 100
"""New connections a second."""

REVIEW: Final = json.dumps(
    {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "operation": "CREATE",
            "namespace": SPACE,
            "object": pod("p", SPACE),
        },
    }
)


class Mount:
    """The Secret as files that are swapped as a whole, as a kubelet does it; and the bundle, as a client knows it."""

    def __init__(self, admin: Api, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        """Where the server is that shows it."""
        self.trust: ssl.SSLContext | None = None
        self.certificate = b""
        """The leaf that a server should show by now."""
        self._admin = admin
        self._version = ""

    def refresh(self) -> None:
        secret = self._admin.find(SECRET)
        if secret is not None and secret["metadata"]["resourceVersion"] != self._version:
            self._write(secret)
        bundle = self._admin.get(CONFIGURATION)["webhooks"][0]["clientConfig"].get("caBundle")
        if bundle:
            self.trust = ssl.create_default_context(cadata=base64.b64decode(bundle).decode())

    def _write(self, secret: Object) -> None:
        self._version = secret["metadata"]["resourceVersion"]
        version = self.folder / f"..{self._version}"
        version.mkdir(parents=True)
        for name, text in secret["data"].items():
            (version / name).write_bytes(base64.b64decode(text))
        link = self.folder / "..data_tmp"
        link.symlink_to(version.name)
        link.replace(self.folder / "..data")
        self.certificate = base64.b64decode(secret["data"].get("tls.crt", "")) or self.certificate


class Load:
    """Clients that connect anew for each review, and pods that the API server asks about; outcomes by cause."""

    def __init__(self, mount: Mount, admin: Api) -> None:
        self.outcomes: collections.Counter[str] = collections.Counter()
        self.admissions: collections.Counter[str] = collections.Counter()
        self._mount = mount
        self._admin = admin

    def connect(self) -> None:
        connection = http.client.HTTPSConnection("127.0.0.1", self._mount.port, timeout=10, context=self._mount.trust)
        with contextlib.closing(connection):
            try:
                connection.request("POST", "/mutate", REVIEW, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                allowed = json.loads(reply.read())["response"]["allowed"]
                self.outcomes["ok" if reply.status == 200 and allowed else f"status {reply.status}"] += 1
            except (OSError, http.client.HTTPException) as error:
                self.outcomes[getattr(error, "reason", None) or type(error).__name__] += 1

    def admit(self) -> None:
        try:
            self._admin.create(pod("p", SPACE), dryRun="All")
            self.admissions["ok"] += 1
        except RefusedError as error:
            self.admissions[error.message[:200]] += 1


@contextlib.contextmanager
def again_and_again(work: Callable[[], object], pause: float) -> Iterator[None]:
    """Work in a thread of its own; what it raises is raised at the end."""
    ending = threading.Event()

    def turn() -> None:
        while not ending.wait(pause):
            work()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(turn)
        try:
            yield
        finally:
            ending.set()
        running.result(timeout=20)


@contextlib.contextmanager
def under_load(load: Load) -> Iterator[None]:
    """RATE connections a second from a clock, however long each takes, and 20 admissions."""
    began = time.monotonic()
    sent = 0
    with ThreadPoolExecutor(16) as clients:

        def due() -> None:
            nonlocal sent
            while sent < (time.monotonic() - began) * RATE:
                clients.submit(load.connect)
                sent += 1

        with again_and_again(due, 0.005), again_and_again(load.admit, 0.05):
            yield
    seconds = time.monotonic() - began
    say(f"{sent} connections in {seconds:.1f} s: {dict(load.outcomes)}; admissions: {dict(load.admissions)}")
    assert sum(load.outcomes.values()) == sent
    assert sent > 0.8 * RATE * seconds
