"""Admission beside a flood of PlacementReviews by one user (``python -m bench.placementreviews --flood``).

Reviews of pods arrive at a fixed rate (open loop), alone and while a second client, of a process of its own, asks for
one PlacementReview after the other on as many connections as one user may have reviews. Both are measured in rounds
that take turns, so that what else the machine does counts for both. Server and copies that answer share one core, both
clients the other one.
"""

import contextlib
import http.client
import json
import ssl
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from bench.generated import bodies, generator
from bench.generated.topology import NAMESPACE, Scale
from bench.servers import client, processes
from bench.trouble import Trouble
from tests.e2e.programs.ports import free_ports
from tests.server.pki import Authority
from webhook.admission.review import read_review
from webhook.placementreview.review import API_VERSION, KIND, RESOURCE

RATE: Final = 500
"""Reviews of pods a second."""

CONNECTIONS: Final = 8
ROUNDS: Final = 3

FLOODING: Final = 4
"""Reviews that one user may have waiting or being answered."""

GOAL: Final = 1.1
"""How many times the 99th percentile alone that beside the flood may be."""


class FloodFigures(Struct, frozen=True):
    """The 99th percentiles of admission in milliseconds, and how many PlacementReviews were answered meanwhile."""

    alone: float
    beside: float
    answered: int

    @property
    def ratio(self) -> float:
        """How many times the one alone that beside the flood is."""
        return self.beside / self.alone


def measure_flood(scale: Scale, seconds: int, rate: int = RATE) -> FloodFigures:
    """The median of the rounds, each of so many seconds."""
    cache = generator.CACHE
    cache.mkdir(parents=True, exist_ok=True)
    proxies, port = Authority("front-proxy"), free_ports(1)[0]
    (cache / "front-proxy.crt").write_bytes(proxies.cert)
    pair = proxies.issue("front-proxy-client").write(cache, "front-proxy-client")
    reviews = list(bodies.mixed().values())
    flags = ("--placement-review", "--placement-review-port", str(port))
    alone, beside, answered = [], [], 0
    with (
        processes.listing(cache, generator.folder(scale), cache / "front-proxy.crt") as api,
        processes.watching(cache, api, flags) as product,
    ):
        for _ in range(ROUNDS):
            alone.append(_tail(product.url, reviews, rate, seconds))
            with _flood(port, *map(str, pair)) as flood:
                beside.append(_tail(product.url, reviews, rate, seconds))
            answered += flood.answered
    return FloodFigures(statistics.median(alone), statistics.median(beside), answered)


def _tail(url: str, reviews: Sequence[bytes], rate: int, seconds: int) -> float:
    """Milliseconds at the 99th percentile."""
    with processes.pinned(processes.cores()[1]):
        run = client.steady(url, reviews, rate=rate, seconds=seconds, connections=CONNECTIONS)
    ordered = sorted(run.durations)
    return ordered[len(ordered) * 99 // 100] * 1e3


class _Flood:
    answered = 0


@contextlib.contextmanager
def _flood(port: int, cert: str, key: str) -> Iterator[_Flood]:
    """The second client, which has had its first answer."""
    with processes.pinned(processes.cores()[1]):
        process = subprocess.Popen(  # noqa: S603 - this program, no shell
            (sys.executable, "-m", "bench.review_flood", str(port), cert, key),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert process.stdout is not None
    flood = _Flood()
    try:
        if process.stdout.readline().strip() != "flooding":
            raise Trouble("the client that asks for PlacementReviews got no answer")
        yield flood
        out, _ = process.communicate(timeout=60)
        if process.returncode:
            raise Trouble("the flood of PlacementReviews broke off before the end; what it was answered is above")
        flood.answered = json.loads(out)
    finally:
        process.kill()
        process.wait()


def _ask(port: int, cert: str, key: str) -> int:
    """Ask until standard input ends; prints ``flooding`` after the first answer, and at last their number.

    Returns 1 if there was another answer than a verdict, or none: then less was asked than there should have been.
    """
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # its certificate was just made
    context.load_cert_chain(cert, key)
    pods = [msgspec.json.decode(read_review(body).object) for body in bodies.mixed().values()]
    manifests = [{"apiVersion": "v1", "kind": "Pod", **pod} for pod in pods]
    for manifest in manifests:
        manifest["metadata"] = {**manifest["metadata"], "namespace": NAMESPACE}
    body = msgspec.json.encode({"apiVersion": API_VERSION, "kind": KIND, "spec": {"manifests": manifests}})
    going, first, answered, refused = threading.Event(), threading.Event(), list[int](), list[int]()
    going.set()

    def ask() -> None:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=context)
        headers = {"Content-Type": "application/json", "X-Remote-User": "flood"}
        path = f"/apis/{API_VERSION}/namespaces/{NAMESPACE}/{RESOURCE}"
        while going.is_set():
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            said = answer.read()
            if answer.status != http.HTTPStatus.CREATED:
                print(answer.status, said[:500], file=sys.stderr)
                refused.append(answer.status)
                break
            answered.append(answer.status)
            first.set()

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(FLOODING)]
    for thread in threads:
        thread.start()
    if first.wait(60):
        print("flooding", flush=True)
        sys.stdin.read()
        print(len(answered), flush=True)
    going.clear()
    return int(bool(refused) or not answered)


if __name__ == "__main__":
    sys.exit(_ask(int(sys.argv[1]), *sys.argv[2:4]))
