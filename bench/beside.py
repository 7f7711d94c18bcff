"""``python -m bench.beside``: how long reviews of pods take while whole Jobs are judged, one after another.

Reviews of pods arrive at a fixed rate (open loop); a second client posts Jobs of one kind of ``bench.wholejobs`` to
``/validate``, the next one as soon as the last one is answered. Each kind is compared with the same reviews alone.
"""

import argparse
import json
import random
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import msgspec

from bench import bodies, client, generator, machine, processes
from bench.topology import Scale
from bench.trouble import Trouble
from bench.wholejobs import KINDS
from webhook.placement.text.api_kinds import STREAMS_JOB

RESULTS: Final = Path(__file__).parent / "RESULTS-beside.md"
SHOWN: Final = [kind for kind, make in KINDS.items() if "5,000" in kind and not make(random.Random(1))[0].host_pools]  # noqa: S311 -- the same ones each time
"""The kinds of Jobs of a thousand elements that fit into any cluster, whatever tags its nodes have."""

TOGETHER: Final = 10
"""Jobs that are posted on one connection, as the API server keeps its connections."""

RATE: Final = 200
"""Reviews of pods a second."""

CONNECTIONS: Final = 8
GOAL: Final = 2.0


def main(argv: Sequence[str] | None = None) -> int:
    """Measure each kind; returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench.beside", description=__doc__)
    parser.add_argument("--seconds", type=int, default=10, help="For each kind, and for the reviews alone.")
    parser.add_argument("--nodes", type=int, default=5000, help="Nodes of the cluster.")
    parser.add_argument("--results", type=Path, help="Where to write a table.")
    parser.add_argument("--post", nargs=2, metavar=("URL", "KIND"), help=argparse.SUPPRESS)
    chosen = parser.parse_args(argv)
    if chosen.post:
        return _post(*chosen.post)
    rows = list(_measured(chosen.seconds, chosen.nodes))
    if chosen.results:
        chosen.results.write_text(_page(rows, chosen.nodes))
    return 0


def _measured(seconds: int, nodes: int) -> Iterator[str]:
    """A row for each kind of Job."""
    cache = generator.CACHE
    cache.mkdir(parents=True, exist_ok=True)
    reviews = list(bodies.mixed().values())
    with processes.product(cache, generator.folder(Scale(nodes, 0))) as product:
        for kind in ("", *SHOWN):
            alone = _tail(product.url, reviews, seconds)
            with _jobs(_validating(product.url), kind) as judged:
                beside = _tail(product.url, reviews, seconds)
            each = statistics_of(judged)
            row = f"| {kind or 'no Jobs'} | {each} | {alone * 1e3:.2f} | {beside * 1e3:.2f} | {beside / alone:.1f} |"
            print(row, flush=True)
            yield row


def statistics_of(judged: Sequence[float]) -> str:
    """How many Jobs were judged, and the median time of one."""
    if not judged:
        return "-"
    return f"{len(judged)}, {sorted(judged)[len(judged) // 2] * 1e3:.0f} ms each"


def _tail(url: str, reviews: Sequence[bytes], seconds: int) -> float:
    with processes.pinned(processes.cores()[1]):
        run = client.steady(url, reviews, rate=RATE, seconds=seconds, connections=CONNECTIONS)
    ordered = sorted(run.durations)
    return ordered[len(ordered) * 99 // 100]


@contextmanager
def _jobs(url: str, kind: str) -> Iterator[list[float]]:
    """While it is open Jobs of that kind are judged, whose times are in the list at the end."""
    judged: list[float] = []
    if not kind:
        yield judged
        return
    with processes.pinned(processes.cores()[1]):
        poster = subprocess.Popen(  # noqa: S603 - this program, no shell
            (sys.executable, "-m", "bench.beside", "--post", url, kind),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert poster.stdout is not None
    poster.stdout.readline()  # the first one is answered
    yield judged
    out, _ = poster.communicate("stop\n", timeout=60)
    judged += json.loads(out)
    if not judged or poster.returncode:
        raise Trouble(f"no Job was judged beside the reviews: {kind}")


def _post(url: str, kind: str) -> int:
    """Post Jobs of that kind until standard input says otherwise; prints the seconds of each as JSON."""
    review = json.dumps(review_of(kind)).encode()
    stopped = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stopped.set()), daemon=True).start()
    seconds: list[float] = []
    while not stopped.is_set():
        run = client.in_turn(url, [review] * TOGETHER)
        for answer in run.answers:
            if b'"allowed":true' not in answer:
                raise Trouble(f"a Job was not admitted: {answer[:500]!r}")
        if not seconds:
            print("judged", flush=True)
        seconds += run.durations
    print(json.dumps(seconds))
    return 0


def review_of(kind: str) -> Mapping[str, Any]:
    """The review of a Job of that kind that is created."""
    spec, _ = KINDS[kind](random.Random(1))  # noqa: S311 -- the same one each time
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


def _page(rows: Sequence[str], nodes: int) -> str:
    when, where = f"{datetime.now(UTC):%Y-%m-%d}", ", ".join(f"{name} {value}" for name, value in machine.describe())
    return f"""# Reviews of pods beside whole Jobs

Measured on {when} by `python -m bench.beside --results bench/RESULTS-beside.md`: {where}. The server has one core, both
clients share the other one.

{nodes:,} nodes, {RATE} reviews of pods a second that are each admitted and patched, and one client that submits Jobs of
one kind, one after the other. Goal: at most {GOAL:.0f} times the 99th percentile of the same reviews alone.

| Jobs | judged | p99 alone, ms | p99 beside, ms | ratio |
|---|---|---|---|---|
{chr(10).join(rows)}
"""


if __name__ == "__main__":
    sys.exit(main())
