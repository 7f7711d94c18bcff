"""The metrics of the controller, from what its caches hold."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw
from msgspec.structs import replace

from kubeapi.client.configuration import Configuration
from tests.builders import nodes, pool
from webhook.app.controller_figures import DEGRADED, ControllerFigures
from webhook.controller.jobstore.records import StoredElement, read_host_pool, read_job
from webhook.controller.program import Controller, LeaseRef
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.elements.element_status import ElementPhase
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.pool import Phase
from webhook.server.metrics import Metrics

NOW = 1_767_225_600.0
"""2026-01-01T00:00:00Z"""


class Nowhere:
    """Credentials for an API server that nobody asks."""

    reread = 60.0

    def read(self) -> Any:
        return None


class Observed:
    """A controller that does not run, and its metrics."""

    def __init__(self, *, naming: bool = True) -> None:
        self.metrics = Metrics("controller")
        settings = ReconcilerSettings(Policy())
        self.controller = Controller(Configuration(Nowhere()), settings, LeaseRef("streams", "controller"))
        self.now = NOW
        ControllerFigures(self.controller, self.metrics, naming=naming, now=lambda: self.now)
        self.watched, self.store = self.controller.work.watched, self.controller.work.jobs.store

    def figure(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(f"streams_placement_{name}", labels)

    def pool(self, name: str = "p", conditions: Any = ()) -> None:
        metadata = {"name": name, "namespace": "team"}
        self.store.pools.put(read_host_pool(raw({"metadata": metadata, "status": {"conditions": conditions}})))

    def job(self, phase: str, created: str = "2025-12-31T23:59:00Z", **more: Any) -> None:
        metadata = {"name": "j", "namespace": "team", "uid": "u", "creationTimestamp": created}
        self.store.jobs.put(read_job(raw({"metadata": metadata, "spec": {}, "status": {"phase": phase, **more}})))


def raw(document: Any) -> Raw:
    return Raw(msgspec.json.encode(document))


@pytest.fixture
def observed() -> Observed:
    return Observed()


def test_whoever_does_not_lead_shows_nothing(observed: Observed) -> None:
    names = [one.name.removeprefix("streams_placement_") for one in observed.metrics.described if one.kind == "gauge"]
    found = {name: observed.figure(name) for name in names if name not in {"info", "host_pool_degraded"}}
    assert {name: value for name, value in found.items() if value != 0} == {}


def test_pools_are_counted_by_phase(observed: Observed) -> None:
    for node in nodes(1):
        observed.watched.set_node(node)
    observed.watched.set_pool(pool("A", size=2, assigned=["node-a", "node-gone"]))
    observed.watched.set_pool(pool("B", size=1, phase=Phase.FAILED))
    assert [observed.figure(f"host_pools_{phase.lower()}") for phase in Phase] == [0, 1, 1, 0]
    assert (observed.figure("pool_hosts_assigned"), observed.figure("pool_hosts_gone")) == (2, 1)


def test_elements_and_jobs_are_counted_by_phase(observed: Observed) -> None:
    observed.store.elements.put(StoredElement(namespace="team", name="e", uid="u", phase=ElementPhase.FAILED))
    observed.job("Failed", conditions=[{"type": "Satisfiable", "status": "False"}])
    assert observed.figure("processing_elements_failed") == 1
    assert (observed.figure("jobs_failed"), observed.figure("jobs_unsatisfiable")) == (1, 1)


@pytest.mark.parametrize(
    ("created", "age"),
    [
        ("2025-12-31T23:58:00Z", 120),
        pytest.param("2026-01-01T00:00:30Z", 0, id="by a clock that is ahead"),
        pytest.param("", 0, id="not known"),
    ],
)
def test_the_oldest_that_waits_is_told(observed: Observed, created: str, age: float) -> None:
    observed.watched.set_pool(replace(pool(size=1, phase=Phase.PENDING), created=created))
    observed.job("Submitting", created)
    assert observed.figure("host_pools_pending_oldest_seconds") == age
    assert observed.figure("jobs_submitting_oldest_seconds") == age


def test_how_long_a_pool_has_waited_is_counted_when_it_gets_its_hosts(observed: Observed) -> None:
    waits = replace(pool(size=1, phase=Phase.PENDING), created="2025-12-31T23:59:56Z")
    for found in (waits, replace(waits, phase=Phase.READY), replace(waits, phase=Phase.RELEASING)):
        observed.watched.set_pool(found)
    observed.watched.remove_pool(waits.namespace, waits.name)
    assert observed.figure("host_pool_wait_seconds_count") == 1
    assert observed.figure("host_pool_wait_seconds_sum") == 4


def test_a_pool_that_has_too_few_hosts_again_has_not_waited_since_it_was_created(observed: Observed) -> None:
    serves = replace(pool(size=1), created="2025-01-01T00:00:00Z")
    waits = replace(serves, size=2, phase=Phase.PENDING)
    observed.watched.set_pool(serves)
    observed.watched.set_pool(waits)
    observed.now += 5
    observed.watched.set_pool(replace(waits, size=3))
    assert observed.figure("host_pools_pending_oldest_seconds") == 5
    observed.now += 2
    observed.watched.set_pool(serves)
    assert observed.figure("host_pool_wait_seconds_count") == 1
    assert observed.figure("host_pool_wait_seconds_sum") == 7


def test_a_pool_of_the_same_name_waits_since_its_own_creation(observed: Observed) -> None:
    serves = replace(pool(size=1), created="2025-12-31T23:58:00Z")
    waits = replace(serves, phase=Phase.PENDING)
    for found in (serves, waits):
        observed.watched.set_pool(found)
    observed.watched.remove_pool(waits.namespace, waits.name)
    observed.watched.set_pool(replace(waits, created="2025-12-31T23:59:00Z"))
    assert observed.figure("host_pools_pending_oldest_seconds") == 60


def test_a_job_that_is_submitted_again_has_not_waited_since_it_was_created(observed: Observed) -> None:
    observed.job("Submitting", "2025-01-01T00:00:00Z", submittedAt="2025-12-31T23:59:30Z")
    assert observed.figure("jobs_submitting_oldest_seconds") == 30
    observed.job("Running", "2025-01-01T00:00:00Z", submittedAt="2025-12-31T23:59:30Z")
    assert (observed.figure("job_wait_seconds_count"), observed.figure("job_wait_seconds_sum")) == (1, 30)


def test_a_pool_that_had_hosts_when_it_was_first_seen_has_waited_at_an_unknown_time(observed: Observed) -> None:
    observed.watched.set_pool(replace(pool(size=1), created="2025-12-31T23:59:56Z"))
    assert observed.figure("host_pool_wait_seconds_count") == 0


def test_a_pool_without_a_size_does_not_wait(observed: Observed) -> None:
    for phase in (Phase.PENDING, Phase.READY):
        observed.watched.set_pool(pool(phase=phase))
    assert observed.figure("host_pool_wait_seconds_count") == 0


def test_how_long_a_job_has_waited_is_counted_when_all_of_it_runs(observed: Observed) -> None:
    for phase in ("Submitting", "Running", "Degraded", "Running"):
        observed.job(phase)
    assert (observed.figure("job_wait_seconds_count"), observed.figure("job_wait_seconds_sum")) == (1, 60)


def test_pools_with_hosts_in_trouble_are_named(observed: Observed) -> None:
    observed.pool("well", [{"type": "Degraded", "status": "False"}])
    observed.pool("ill", [{"type": "Degraded", "status": "True"}])
    assert observed.figure("host_pools_degraded") == 1
    assert observed.figure("host_pool_degraded", host_pool_namespace="team", host_pool="ill") == 1
    assert observed.figure("host_pool_degraded", host_pool_namespace="team", host_pool="well") is None


def test_a_thousand_pools_in_trouble_make_few_series(observed: Observed) -> None:
    for number in range(1000):
        observed.pool(f"p-{number:04}", [{"type": "Degraded", "status": "True"}])
    text = observed.metrics.text()
    assert text.count(b"streams_placement_host_pool_degraded{") == DEGRADED
    assert b'host_pool="p-0019"' in text
    assert observed.figure("host_pools_degraded") == 1000


def test_pools_in_trouble_are_counted_and_not_named_unless_a_setting_says_so() -> None:
    observed = Observed(naming=False)
    observed.pool("secret", [{"type": "Degraded", "status": "True"}])
    assert observed.figure("host_pools_degraded") == 1
    assert b"secret" not in observed.metrics.text()
