"""During a rolling update of the webhook no request fails."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from tests.e2e.chart.placement_pods import asking, ready_pods
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.progress import say
from tests.e2e.workloads import namespace
from tests.suite.example_count import some_of

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "rollout"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"

CLIENTS: Final = 4
PAUSE: Final = 0.01
"""Seconds between two requests of a client: more than 100 reviews a second in all, since a pod is reviewed twice."""

PODS_ASKED_ABOUT: Final = some_of(5_000, every_day=500)
"""Each is two reviews, all of them while some process is being replaced; 5,000 pods in ``make e2e-long``."""

ROLLOUTS: Final = some_of(3, every_day=2)
"""At least, however quick the clients are."""

SECONDS: Final = 300
"""A machine that is busy with other things may take so long; 30 are enough."""


def test_no_request_fails_while_every_process_is_replaced(admin: Api, plane: ControlPlane) -> None:
    namespace(admin, SPACE)
    before = {one["metadata"]["uid"] for one in ready_pods(admin)}
    answers: list[tuple[int, str]] = []  # lists append atomically
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            answer = admin.send("POST", PODS, asking("p", SPACE))
            answers.append((answer.code, answer.message))
            time.sleep(PAUSE)

    began, rollouts = time.monotonic(), 0
    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(ask) for _ in range(CLIENTS)]
        try:
            while rollouts < ROLLOUTS or len(answers) < PODS_ASKED_ABOUT:
                assert time.monotonic() < began + SECONDS, "this machine is too slow for the test to mean anything"
                roll(plane)
                rollouts += 1
        finally:
            over.set()
    for client in clients:
        client.result()  # raises what it met
    say(f"{len(answers)} pods were created in {time.monotonic() - began:.0f} s, during {rollouts} rollouts")
    assert not before & {one["metadata"]["uid"] for one in ready_pods(admin)}
    assert [answer for answer in answers if answer[0] != 201] == []


def roll(plane: ControlPlane) -> None:
    """Replace every process, and wait until the old ones have ended."""
    deployment = (f"deployment/{RELEASE}", "--namespace", NAMESPACE)
    for command in (("restart", *deployment), ("status", *deployment, "--timeout", "240s")):
        done = plane.kubectl("rollout", *command)
        assert done.returncode == 0, done.stderr
    time.sleep(1)  # they drain for so long after the new ones are ready
