"""Which metrics each program registers: made by the same functions as in a running program, and never read."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final
from unittest.mock import Mock

from webhook.aggregated.review_metrics import PlacementReviewMetrics
from webhook.app.controller_figures import ControllerFigures
from webhook.app.serve import cluster_figures
from webhook.rest.rest_metrics import RestMetrics
from webhook.server.certificate import CertificateWatcher, Files
from webhook.server.metrics import MetricDescription, Metrics, ReviewMetrics
from webhook.server.reviews import Reviews

_NOWHERE: Final = Files(Path("tls.crt"), Path("tls.key"))


def _ready() -> None:
    """Nothing is wrong."""


def _connections() -> int:
    return 0


def serve() -> Metrics:
    """The metrics of the webhook."""
    metrics = ReviewMetrics()
    Reviews({}, ready=_ready, metrics=metrics)
    CertificateWatcher(_NOWHERE, metrics)
    metrics.cluster_failures()
    metrics.job_process(lambda: True)
    cluster_figures(Mock(), metrics)
    metrics.serving(_ready, _connections)
    PlacementReviewMetrics(metrics, _connections)
    return metrics


def controller() -> Metrics:
    """The metrics of the controller."""
    metrics = Metrics("controller")
    metrics.cluster_failures()
    ControllerFigures(Mock(), metrics)
    metrics.readiness(_ready)
    return metrics


def hpa_api() -> Metrics:
    """The metrics of the REST interface."""
    metrics = Metrics("hpa-api")
    RestMetrics(metrics)
    CertificateWatcher(_NOWHERE, metrics)
    metrics.serving(_ready, _connections)
    return metrics


PROGRAMS: Final = {"serve": serve, "controller": controller, "hpa-api": hpa_api}
"""The programs that have metrics, by the name of their command."""


def registered() -> dict[str, tuple[MetricDescription, tuple[str, ...]]]:
    """Every metric by its name, with the programs that have it; raises if two programs describe one differently."""
    metrics: dict[str, tuple[MetricDescription, tuple[str, ...]]] = {}
    for program, make in PROGRAMS.items():
        for one in make().described:
            known, programs = metrics.get(one.name, (one, ()))
            if known != one:
                raise ValueError(f"{one.name} is described as {known} and as {one}")
            metrics[one.name] = (one, (*programs, program))
    return metrics


def sample_names(metrics: Iterable[MetricDescription]) -> set[str]:
    """The names that queries may use: of a histogram those of its buckets, count and sum."""
    names = set[str]()
    for one in metrics:
        names |= (
            {f"{one.name}{end}" for end in ("_bucket", "_count", "_sum")} if one.kind == "histogram" else {one.name}
        )
    return names
