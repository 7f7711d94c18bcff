"""Callers cannot make up label values."""

import pytest

from webhook.admission.responses import Answer, Outcome
from webhook.server.metrics import Metrics


@pytest.mark.parametrize(
    ("reason", "kind", "labels"),
    [
        ("Forbidden", "Pod", ("Forbidden", "Pod")),
        ("", "StatefulSet", ("", "StatefulSet")),
        ("Made up", "Pod", ("other", "Pod")),
        ("", "x" * 10_000, ("", "other")),
        ("", "", ("", "other")),
    ],
)
def test_unknown_values_are_counted_as_other(reason: str, kind: str, labels: tuple[str, str]) -> None:
    metrics = Metrics()
    for _ in range(2):
        metrics.reviewed("/mutate", Answer(200, b"", Outcome.DENIED, reason=reason, kind=kind), 0.001)
    found = metrics.registry.get_sample_value(
        "streams_placement_reviews_total",
        {"path": "/mutate", "outcome": "denied", "reason": labels[0], "kind": labels[1]},
    )
    assert found == 2


def test_ten_thousand_kinds_make_one_series() -> None:
    metrics = Metrics()
    for number in range(10_000):
        metrics.reviewed("/mutate", Answer(200, b"", Outcome.DENIED, kind=f"Kind{number}"), 0.001)
    assert metrics.text().count(b"streams_placement_reviews_total{") == 1


def test_a_gauge_is_asked_at_every_scrape() -> None:
    metrics, ages = Metrics(), iter((1.0, 2.0))
    metrics.gauge("cache_age_seconds", "Age of the cache.", lambda: next(ages))
    assert [b"streams_placement_cache_age_seconds %.1f" % age in metrics.text() for age in (1, 2)] == [True, True]


def test_two_servers_share_nothing() -> None:
    first, second = Metrics(), Metrics()
    first.http_error(400)
    assert second.registry.get_sample_value("streams_placement_http_errors_total", {"code": "400"}) is None


def test_pods_that_wait_are_counted_by_cause() -> None:
    metrics = Metrics()
    for waits in ("condition", "", "controlled", "condition"):
        metrics.reviewed("/mutate", Answer(200, b"", Outcome.PATCHED, kind="Pod", waits=waits), 0.001)
    name = "streams_placement_waiting_pods_total"
    found = {cause: metrics.registry.get_sample_value(name, {"cause": cause}) for cause in ("condition", "controlled")}
    assert found == {"condition": 2, "controlled": 1}
