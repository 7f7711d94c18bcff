"""Probes of a container: one that is not ready yet is not killed."""

from typing import Final

from tests.e2e.pods.probing import Checks
from tests.e2e.programs.ports import free_ports

DEAF: Final = "127.0.0.1"
"""Where nothing listens on the port."""


def test_a_process_that_does_not_answer_is_not_killed_before_the_seconds_of_its_specification() -> None:
    [port] = free_ports(1)
    probe = {"httpGet": {"path": "/", "port": port}, "failureThreshold": 2}
    checks = Checks({"readinessProbe": {**probe, "periodSeconds": 10}, "livenessProbe": probe}, DEAF, pace=0)
    for _ in range(5):
        assert checks.ask() == 0  # the next question about readiness is due
    assert (checks.started, checks.ready, checks.dead) == (True, False, False)
