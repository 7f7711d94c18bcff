"""A rolling update that nobody notices."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from tests.e2e.api import Api
from tests.e2e.chart.asking import asking, ready_pods
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.plane import ControlPlane
from tests.e2e.say import say
from tests.e2e.workloads import namespace

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "rollout"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"

CLIENTS: Final = 4
PAUSE: Final = 0.04
"""Seconds between two requests of a client: some 100 reviews a second in all, since a pod is reviewed twice."""

ROLLOUTS: Final = 3

LEAST: Final = 300
"""Requests that must have been under way meanwhile for the test to mean anything."""


def test_no_request_fails_while_every_process_is_replaced(admin: Api, plane: ControlPlane) -> None:
    namespace(admin, SPACE)
    before = {one["metadata"]["uid"] for one in ready_pods(admin)}
    over = threading.Event()

    def ask() -> list[tuple[int, str]]:
        answers = []
        while not over.is_set():
            answer = admin.send("POST", PODS, asking("p", SPACE))
            answers.append((answer.code, answer.message))
            time.sleep(PAUSE)
        return answers

    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(ask) for _ in range(CLIENTS)]
        try:
            for _ in range(ROLLOUTS):
                roll(plane)
        finally:
            over.set()
    assert not before & {one["metadata"]["uid"] for one in ready_pods(admin)}
    answers = [answer for client in clients for answer in client.result()]
    say(f"{len(answers)} pods were created during {ROLLOUTS} rollouts")
    assert len(answers) >= LEAST
    assert [answer for answer in answers if answer[0] != 201] == []


def roll(plane: ControlPlane) -> None:
    """Replace every process, and wait until the old ones have ended."""
    deployment = (f"deployment/{RELEASE}", "--namespace", NAMESPACE)
    for command in (("restart", *deployment), ("status", *deployment, "--timeout", "60s")):
        done = plane.kubectl("rollout", *command)
        assert done.returncode == 0, done.stderr
    time.sleep(1)  # they drain for so long after the new ones are ready
