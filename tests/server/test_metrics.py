"""Callers cannot make up label values."""

import pytest

from kubeapi.client.errors import Cause
from webhook.admission.answer import Answer, Outcome
from webhook.placement.text.rule import Rule
from webhook.server.metrics import Metrics, ReviewMetrics


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
    metrics = ReviewMetrics()
    for _ in range(2):
        metrics.reviewed("/mutate", Answer(200, b"", Outcome.DENIED, reason=reason, kind=kind), 0.001)
    found = metrics.registry.get_sample_value(
        "streams_placement_reviews_total",
        {"path": "/mutate", "outcome": "denied", "reason": labels[0], "kind": labels[1]},
    )
    assert found == 2


def test_ten_thousand_kinds_make_one_series() -> None:
    metrics = ReviewMetrics()
    for number in range(10_000):
        metrics.reviewed("/mutate", Answer(200, b"", Outcome.DENIED, kind=f"Kind{number}"), 0.001)
    assert metrics.text().count(b"streams_placement_reviews_total{") == 1


def test_a_kind_of_another_operator_has_a_value_where_it_is_reviewed() -> None:
    metrics = ReviewMetrics(["FlinkDeployment"])
    for kind in ("FlinkDeployment", "RayCluster", "Pod"):
        metrics.reviewed("/validate", Answer(200, b"", Outcome.DENIED, kind=kind, rules=(Rule.POOL,)), 0.001)
    found = {kind: refusals(metrics, kind=kind, mode="enforce") for kind in ("FlinkDeployment", "other", "Pod")}
    assert found == {kind: {"pool": 1} for kind in found}


def test_a_gauge_is_asked_at_every_scrape() -> None:
    metrics, ages = ReviewMetrics(), iter((1.0, 2.0))
    metrics.gauge("cache_age_seconds", "Age of the cache.", lambda: next(ages))
    assert [b"streams_placement_cache_age_seconds %.1f" % age in metrics.text() for age in (1, 2)] == [True, True]


def test_two_servers_share_nothing() -> None:
    first, second = ReviewMetrics(), ReviewMetrics()
    first.http_error(400)
    assert second.registry.get_sample_value("streams_placement_http_errors_total", {"code": "400"}) is None


def test_pods_that_wait_are_counted_by_cause() -> None:
    metrics = ReviewMetrics()
    for waits in ("condition", "", "controlled", "condition"):
        metrics.reviewed("/mutate", Answer(200, b"", Outcome.PATCHED, kind="Pod", waits=waits), 0.001)
    name = "streams_placement_waiting_pods_total"
    found = {cause: metrics.registry.get_sample_value(name, {"cause": cause}) for cause in ("condition", "controlled")}
    assert found == {"condition": 2, "controlled": 1}


def test_a_refusal_counts_once_for_each_of_its_rules() -> None:
    metrics, rules = ReviewMetrics(), (Rule.POOL, Rule.REQUESTS)
    metrics.reviewed("/mutate", Answer(200, b"", Outcome.DENIED, reason="Forbidden", kind="Pod", rules=rules), 0.001)
    metrics.reviewed("/mutate", Answer(200, b"", Outcome.ALLOWED, kind="Pod"), 0.001)
    assert refusals(metrics, kind="Pod", mode="enforce") == {"pool": 1, "requests": 1}


def test_what_would_be_refused_is_counted_apart() -> None:
    metrics = ReviewMetrics()
    metrics.reviewed("/mutate", Answer(200, b"", Outcome.ALLOWED, kind="Made up", rules=(Rule.MISTAKE,)), 0.001)
    assert refusals(metrics, kind="other", mode="audit") == {"mistake": 1}


def refusals(metrics: Metrics, *, kind: str, mode: str) -> dict[str, float]:
    name = "streams_placement_refusals_total"
    values = {
        rule.value: metrics.registry.get_sample_value(name, {"kind": kind, "rule": rule, "mode": mode}) for rule in Rule
    }
    return {rule: value for rule, value in values.items() if value is not None}


def test_failures_are_shown_before_the_first_one() -> None:
    """Prometheus does not see the step from no value to 1."""
    metrics = ReviewMetrics()
    metrics.begin(["/mutate"])
    name = "streams_placement_review_failures_total"
    values = [metrics.registry.get_sample_value(name, {"path": "/mutate"})]
    metrics.review_failed("/mutate")
    assert [*values, metrics.registry.get_sample_value(name, {"path": "/mutate"})] == [0, 1]


def test_a_listing_has_the_labels_that_there_are_at_the_time() -> None:
    metrics, there = Metrics("controller"), [(("team", "p"), 1.0)]
    metrics.listing("host_pool_degraded", "Pools.", ("host_pool_namespace", "host_pool"), lambda: there)
    line = b'streams_placement_host_pool_degraded{host_pool="p",host_pool_namespace="team"} 1.0'
    assert line in metrics.text()
    there.clear()
    assert line not in metrics.text()


def test_a_process_says_which_program_it_is() -> None:
    assert b'streams_placement_info{program="controller",version="' in Metrics("controller").text()


def test_decisions_about_whole_jobs_have_a_histogram_of_their_own() -> None:
    metrics = ReviewMetrics()
    metrics.job_decided(0.3)
    found = metrics.registry.get_sample_value("streams_placement_job_decision_seconds_bucket", {"le": "0.5"})
    assert (found, metrics.registry.get_sample_value("streams_placement_decision_seconds_count")) == (1, 0)


def test_failures_of_reading_are_counted_by_cause_and_shown_before_the_first_one() -> None:
    metrics = Metrics("controller")
    metrics.cluster_failures()(Cause.UNREACHABLE)
    name = "streams_placement_cluster_failures_total"
    found = {cause: metrics.registry.get_sample_value(name, {"cause": cause}) for cause in ("unreachable", "gone", "x")}
    assert found == {"unreachable": 1, "gone": 0, "x": None}
