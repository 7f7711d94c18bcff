"""A review continues the trace of the API server; the collector asks for a token and has an authority of its own."""

import base64
from collections.abc import Iterator
from typing import Final

import pytest
from msgspec import Struct

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.rendering import NAMESPACE, Values
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.monitoring.span_collector import TOKEN, CollectedSpan, SpanCollector
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

SPACE: Final = "traced"
POOLS: Final = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamshostpools"

VALUES: Final[Values] = {
    "traces": {
        "headers": {"secret": "collector-token"},
        "certificate": {"configMap": "collector-ca", "key": "bundle.pem"},
        "compression": "gzip",
        "resourceAttributes": "k8s.cluster.name=east,deployment.environment.name=test",
    }
}


class Traced(Struct, frozen=True):
    """A control plane whose API server and chart send traces to the collector."""

    plane: ControlPlane
    collector: SpanCollector


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traced]:
    folder = tmp_path_factory.mktemp("traced")
    collector = SpanCollector(folder / "collector")
    collector.process.start()
    try:
        collector.wait()
        with ControlPlane(folder / "plane", tracing=collector.tracing(folder / "tracing.yaml")) as plane:
            create_nodes(plane.admin, [node("node-1")])
            namespace(plane.admin, SPACE)
            with kubelet(plane) as running:
                _give(plane, collector)
                settings = {**QUICK["settings"], "tracesEndpoint": collector.url, "tracesRatio": 1}
                install(plane, running, {**VALUES, "settings": settings})
                yield Traced(plane, collector)
    finally:
        collector.process.stop()


def _give(plane: ControlPlane, collector: SpanCollector) -> None:
    """The Secret and the ConfigMap that the values name."""
    header = f"authorization=Bearer {TOKEN}".replace(" ", "%20")
    data = {"headers": base64.b64encode(header.encode()).decode()}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "collector-token", "namespace": NAMESPACE}}
    plane.admin.create({**secret, "data": data})
    bundle = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "collector-ca", "namespace": NAMESPACE}}
    plane.admin.create({**bundle, "data": {"bundle.pem": collector.ca}})


def make_pool(plane: ControlPlane, name: str) -> None:
    pool = {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": {"name": name, "namespace": SPACE}}
    plane.admin.call("POST", POOLS, {**pool, "spec": {"size": 1}})


def review_of(collector: SpanCollector, path: str) -> CollectedSpan | None:
    """A review of our namespace at that path, once both it and its parent have arrived."""
    spans = collector.spans(f"POST {path}")
    ids = {span.id for span in spans}
    return next(
        (
            span
            for span in spans
            if span.name == f"POST {path}" and span.attributes.get("review.namespace") == SPACE and span.parent in ids
        ),
        None,
    )


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
def test_a_review_is_a_part_of_the_trace_of_the_api_server(traced: Traced, path: str) -> None:
    if path == "/mutate":
        traced.plane.admin.create(asking("p", SPACE))
    else:  # the API server sees by the seal that a pod needs no second review
        make_pool(traced.plane, "reviewed")
    review = until(lambda: review_of(traced.collector, path), "the review and its parent have arrived", 60)
    spans = [span for span in traced.collector.spans(review.name) if span.trace == review.trace]
    parent = next(span for span in spans if span.id == review.parent)
    assert parent.resource["service.name"] == "apiserver"
    request = [span for span in spans if span.resource["service.name"] == "apiserver" and not span.parent]
    assert request, "the trace begins with the request of the API server"
    judged = [span for span in spans if span.parent == review.id]
    assert "judge" in {span.name for span in judged}
    assert review.resource == {
        **review.resource,
        "service.name": "streams-placement-webhook",
        "service.namespace": "streams-placement",
        "k8s.cluster.name": "east",
        "deployment.environment.name": "test",
    }


def test_a_reconcile_of_the_controller_arrives_as_well(traced: Traced) -> None:
    make_pool(traced.plane, "reconciled")

    def reconciled() -> CollectedSpan | None:
        found = traced.collector.spans("reconcile host pool")
        key = f"{SPACE}/reconciled"
        return next((span for span in found if span.attributes.get("reconcile.key") == key), None)

    span = until(reconciled, "a reconcile has arrived", 60)
    assert span.name == "reconcile host pool"
    assert span.resource["service.name"] == "streams-placement-controller"
    assert span.resource["k8s.cluster.name"] == "east"
