"""Sends reviews and health checks to a server: ``python asking_on.py REVIEWS HEALTH CA BODY SCHEDSTAT``.

Reviews and health checks are sent in turn, each on a connection that is kept, a millisecond apart. A line on standard
input ends a measurement: the answer is a line of JSON with the number of requests and their codes, and in milliseconds
the longest time, the 99th percentile, and the most ``work`` that the server did between a request and its answer. That
is the CPU time of its main thread (``/proc/PID/schedstat``): other processes on the machine do not add to it, while
everything that blocks the event loop does. The end of the input ends the program.
"""

import http.client
import json
import select
import ssl
import sys
import time
from pathlib import Path

FILE = Path(__file__)

PAUSE = 0.001
SECONDS = 30


class Stretch:
    """Figures of the questions so far."""

    def __init__(self) -> None:
        self._taken: list[float] = []
        self._codes: dict[int, int] = {}
        self._work = 0.0

    def add(self, code: int, taken: float, work: float) -> None:
        """One answer; both times in milliseconds."""
        self._taken.append(taken)
        self._codes[code] = self._codes.get(code, 0) + 1
        self._work = max(self._work, work)

    def __str__(self) -> str:
        ordered = sorted(self._taken)
        longest, most = ordered[-1], ordered[len(ordered) * 99 // 100]
        figures = {"longest": round(longest, 1), "p99": round(most, 1), "work": round(self._work, 1)}
        return json.dumps({"asked": len(ordered), "codes": self._codes, **figures})


def main(reviews: int, health: int, authority: str, file: str, schedstat: str) -> None:
    """Ask until there is no input any more."""
    tls = ssl.create_default_context(cafile=authority)
    body = Path(file).read_bytes()
    reviewing = http.client.HTTPSConnection("127.0.0.1", reviews, timeout=SECONDS, context=tls)
    checking = http.client.HTTPConnection("127.0.0.1", health, timeout=SECONDS)
    stretch = Stretch()
    questions = ((checking, "GET", "/healthz", None), (reviewing, "POST", "/mutate", body))
    while True:
        for connection, method, path, data in questions:
            worked, began = _worked(schedstat), time.perf_counter()
            connection.request(method, path, data, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            reply.read()
            stretch.add(reply.status, 1000 * (time.perf_counter() - began), _worked(schedstat) - worked)
            time.sleep(PAUSE)
        if select.select([sys.stdin], [], [], 0)[0]:
            if not sys.stdin.readline():
                return
            sys.stdout.write(f"{stretch}\n")
            sys.stdout.flush()
            stretch = Stretch()


def _worked(schedstat: str) -> float:
    """Milliseconds that the main thread of a process has run."""
    return int(Path(schedstat).read_text().split()[0]) / 1e6


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:6])
