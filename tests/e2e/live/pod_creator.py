"""A client that creates pods at a fixed rate, and counts the results by cause."""

import collections
import http
import http.client
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple, Self

from tests.e2e.client.api import Answer, Api, Object
from tests.e2e.live.configurations import refusal_of_ours
from tests.e2e.progress import say

STORED: Final = "stored as it should be"
UNMUTATED: Final = "stored without a mutation"
REFUSED: Final = "refused by us"

INJECTED: Final = "streams.ibm.com/injected"

_CLIENTS: Final = 16
"""More than can wait at the same time: a review takes at most three seconds, and there are 20 pods a second."""

_END_SECONDS: Final = 20


class Outcome(NamedTuple):
    """When a pod was sent (``time.monotonic``), and what became of it."""

    at: float
    cause: str


class Creating:
    """``with Creating(apis, make, rate) as creating``: the APIs take turns; ``make`` gets a number."""

    def __init__(self, apis: Sequence[Api], make: Callable[[int], Object], rate: float) -> None:
        self.outcomes: list[Outcome] = []
        self.sent = 0
        self._turn = itertools.cycle(apis)
        self._make = make
        self._rate = rate
        self._over = threading.Event()
        self._clients = ThreadPoolExecutor(_CLIENTS)
        self._thread = threading.Thread(target=self._run, name="creating", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(_END_SECONDS)
        self._clients.shutdown()
        say(f"{self.sent} pods: {dict(self.causes())}")

    def causes(self, since: float = 0.0, until: float = float("inf")) -> collections.Counter[str]:
        """Pods by what became of them, of those that were sent in that time."""
        return collections.Counter(one.cause for one in list(self.outcomes) if since <= one.at < until)

    def _run(self) -> None:
        began = time.monotonic()
        while not self._over.wait(1 / self._rate / 2):
            while self.sent < (time.monotonic() - began) * self._rate:
                self._clients.submit(self._create, next(self._turn), self._make(self.sent))
                self.sent += 1

    def _create(self, api: Api, pod: Object) -> None:
        at = time.monotonic()
        try:
            answer = api.send("POST", f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods", pod)
        except (OSError, http.client.HTTPException) as error:
            self.outcomes.append(Outcome(at, type(error).__name__))
        else:
            self.outcomes.append(Outcome(at, _cause(answer)))


def mutated(pod: Object) -> bool:
    """Whether the webhook has seen a pod."""
    return INJECTED in pod["metadata"].get("annotations", {})


def _cause(answer: Answer) -> str:
    if answer.code == http.HTTPStatus.CREATED:
        return STORED if mutated(answer.body) else UNMUTATED
    return REFUSED if refusal_of_ours(answer.body) else f"{answer.code}: {answer.message[:150]}"
