"""``python -m bench.beside``: how long reviews of pods take while whole Jobs are judged, one after another.

Reviews of pods arrive at a fixed rate (open loop); a second client posts Jobs of one kind of ``bench.wholejobs`` to
``/validate``, or Jobs of operators that are yet to be fused, the next one as soon as the last one is answered. Each
kind is compared with the same reviews alone, in several rounds that take turns: what else a machine does then counts
for both. Both clients share a core, so the second one sleeps while it waits for an answer, as an API server does: one
that spins keeps the first from its core for milliseconds, and no Job needs to be judged for that.
"""

import argparse
import http.client
import json
import random
import select
import ssl
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import msgspec

from bench import fusion, machine, memory
from bench.generated import bodies, generator
from bench.generated.topology import Scale
from bench.servers import client, processes
from bench.trouble import Trouble
from bench.wholejobs import KINDS
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.text.api_kinds import STREAMS_JOB

RESULTS: Final = Path(__file__).parent / "RESULTS-beside.md"
TOGETHER: Final = ('partitionExlocation("x")', 'partitionExlocation("y")', 'hostExlocation("z")')
"""The clauses of operators: any cluster can keep them."""


def _of_operators(count: int) -> Callable[[random.Random], JobSpec]:
    """Makes Jobs of so many operators."""
    return lambda chance: fusion.operators(chance, count, TOGETHER)


def _of_elements(kind: str) -> Callable[[random.Random], JobSpec]:
    """Makes Jobs of that kind of ``bench.wholejobs``."""
    return lambda chance: KINDS[kind](chance)[0]


SHOWN: Final[Mapping[str, Callable[[random.Random], JobSpec]]] = {
    **{
        kind: _of_elements(kind)
        for kind, make in KINDS.items()
        if "5,000" in kind and not make(random.Random(1))[0].host_pools  # noqa: S311 -- the same ones each time
    },
    "500 operators to fuse": _of_operators(500),
    "5,000 operators to fuse": _of_operators(5000),
}
"""The kinds of Jobs that fit into any cluster, whatever tags its nodes have."""

RATE: Final = 200
"""Reviews of pods a second."""

ROUNDS: Final = 3
"""Rounds alone, and as many beside Jobs, for each kind: what is said is the median of each."""

CONNECTIONS: Final = 8
GOAL: Final = 2.0


def main(argv: Sequence[str] | None = None) -> int:
    """Measure each kind; returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench.beside", description=__doc__)
    parser.add_argument("--seconds", type=int, default=9, help="For each kind, and as long for the reviews alone.")
    parser.add_argument("--nodes", type=int, default=5000, help="Nodes of the cluster.")
    parser.add_argument("--pods", type=int, default=0, help="Pods on these nodes.")
    parser.add_argument("--kind", action="append", help="Only this kind of Jobs; may be given several times.")
    parser.add_argument("--results", type=Path, help="Where to write a table.")
    parser.add_argument("--post", nargs=2, metavar=("URL", "KIND"), help=argparse.SUPPRESS)
    chosen = parser.parse_args(argv)
    if chosen.post:
        return _post(*chosen.post)
    scale = Scale(chosen.nodes, chosen.pods)
    rows = list(_measured(chosen.kind or ["", *SHOWN], max(1, chosen.seconds // ROUNDS), scale))
    if chosen.results:
        chosen.results.write_text(_page(rows, scale))
    return 0


def _measured(kinds: Sequence[str], seconds: int, scale: Scale) -> Iterator[str]:
    """A row for each kind of Job."""
    cache = generator.CACHE
    cache.mkdir(parents=True, exist_ok=True)
    reviews = list(bodies.mixed().values())
    with processes.product(cache, generator.folder(scale)) as product:
        for kind in kinds:
            row = _row(product, reviews, kind, seconds)
            print(row, flush=True)
            yield row


def _row(product: processes.Server, reviews: Sequence[bytes], kind: str, seconds: int) -> str:
    """The row of one kind: both tails, and what the server and the processes that it started have in memory."""
    alone, beside = [], []
    with _poster(_validating(product.url), kind) as poster:
        for _ in range(ROUNDS):
            alone.append(_tail(product.url, reviews, seconds))
            with poster.posting():
                beside.append(_tail(product.url, reviews, seconds))
    before, after = statistics.median(alone) * 1e3, statistics.median(beside) * 1e3
    sizes = " + ".join(f"{size:.0f}" for size in memory.shared(product.pid) or ())
    each = statistics_of(poster.judged)
    return f"| {kind or 'no Jobs'} | {each} | {before:.2f} | {after:.2f} | {after / before:.1f} | {sizes} |"


def statistics_of(judged: Sequence[float]) -> str:
    """How many Jobs were judged, and the median time of one."""
    if not judged:
        return "-"
    return f"{len(judged)}, {statistics.median(judged) * 1e3:.0f} ms each"


def _tail(url: str, reviews: Sequence[bytes], seconds: int) -> float:
    with processes.pinned(processes.cores()[1]):
        run = client.steady(url, reviews, rate=RATE, seconds=seconds, connections=CONNECTIONS)
    ordered = sorted(run.durations)
    return ordered[len(ordered) * 99 // 100]


class _Poster:
    """A process that posts Jobs while it is told to; ``judged`` are the seconds of each one at the end."""

    def __init__(self, process: "subprocess.Popen[str] | None" = None) -> None:
        self._process = process
        self.judged: list[float] = []

    @contextmanager
    def posting(self) -> Iterator[None]:
        """Jobs are judged while it is open."""
        self._say("post")
        yield
        self._say("rest")

    def _say(self, word: str) -> None:
        """Say it, and wait until it is done: one Job is answered, or none is under way."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        if self._process.stdout.readline().strip() != word:
            raise Trouble(f"the client that posts Jobs did not {word}")


@contextmanager
def _poster(url: str, kind: str) -> Iterator[_Poster]:
    """A process that posts Jobs of that kind; nothing where there is no kind."""
    if not kind:
        yield _Poster()
        return
    with processes.pinned(processes.cores()[1]):
        process = subprocess.Popen(  # noqa: S603 - this program, no shell
            (sys.executable, "-m", "bench.beside", "--post", url, kind),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    poster = _Poster(process)
    yield poster
    out, _ = process.communicate(timeout=60)
    poster.judged += json.loads(out or "[]")
    if not poster.judged or process.returncode:
        raise Trouble(f"no Job was judged beside the reviews: {kind}")


def _post(url: str, kind: str) -> int:
    """Post Jobs of that kind as standard input says, until it ends; prints the seconds of each as JSON."""
    review = json.dumps(review_of(kind)).encode()
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # its certificate was just made
    parts = urlsplit(url)
    connection = http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=30, context=context)
    seconds: list[float] = []
    while sys.stdin.readline():
        seconds.append(_posted(connection, parts.path, review))
        print("post", flush=True)
        while not select.select([sys.stdin], [], [], 0)[0]:
            seconds.append(_posted(connection, parts.path, review))
        print(sys.stdin.readline().strip(), flush=True)
    print(json.dumps(seconds))
    return 0


def _posted(connection: http.client.HTTPSConnection, path: str, review: bytes) -> float:
    """Seconds until the review is answered: the Job is admitted."""
    begun = time.perf_counter()
    connection.request("POST", f"{path}?timeout=10s", review, {"Content-Type": "application/json"})
    answer = connection.getresponse().read()
    if b'"allowed":true' not in answer:
        raise Trouble(f"a Job was not admitted: {answer[:500]!r}")
    return time.perf_counter() - begun


def review_of(kind: str) -> Mapping[str, Any]:
    """The review of a Job of that kind that is created."""
    spec = SHOWN[kind](random.Random(1))  # noqa: S311 -- the same one each time
    job = {
        "apiVersion": STREAMS_JOB.api_version,
        "kind": STREAMS_JOB.name,
        "metadata": {"name": "beside", "namespace": "default"},
        "spec": {**_stated(msgspec.to_builtins(spec)), "bundle": {"name": "app.sab"}},
    }
    group, version = STREAMS_JOB.api_version.split("/")
    request = {
        "uid": "beside",
        "kind": {"group": group, "version": version, "kind": STREAMS_JOB.name},
        "resource": {"group": group, "version": version, "resource": STREAMS_JOB.resource},
        "name": "beside",
        "namespace": "default",
        "operation": "CREATE",
        "userInfo": {"username": "somebody"},
        "object": job,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def _stated(value: Any) -> Any:  # noqa: ANN401 -- JSON
    """The value without fields that say nothing."""
    if isinstance(value, dict):
        return {key: _stated(each) for key, each in value.items() if each is not None}
    return [_stated(each) for each in value] if isinstance(value, list | tuple) else value


def _validating(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, "/validate", "", ""))


def _page(rows: Sequence[str], scale: Scale) -> str:
    when, where = f"{datetime.now(UTC):%Y-%m-%d}", ", ".join(f"{name} {value}" for name, value in machine.describe())
    return f"""# Reviews of pods beside whole Jobs

Measured on {when} by `python -m bench.beside --results bench/RESULTS-beside.md`: {where}. The server has one core, both
clients share the other one.

{scale.nodes:,} nodes and {scale.pods:,} pods, {RATE} reviews of pods a second that are each admitted and
patched, and one client that submits Jobs of one kind, one after the other. Each 99th percentile is the median of
{ROUNDS} rounds. Goal: beside Jobs at most {GOAL:.0f} times the 99th percentile of the same reviews alone. Memory is
that of the server, and of each process that it has started, where pages that several have count in equal parts.

| Jobs | judged | p99 alone, ms | p99 beside, ms | ratio | memory, MB |
|---|---|---|---|---|---|
{chr(10).join(rows)}
"""


if __name__ == "__main__":
    sys.exit(main())
