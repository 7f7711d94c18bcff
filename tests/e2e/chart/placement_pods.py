"""Pods that ask for hosts, and how often the webhook was called for a pod."""

import re
import urllib.request
from typing import Any, Final

from tests.e2e.chart.rendering import NAMESPACE
from tests.e2e.client.api import Api, Object
from tests.e2e.pods.addresses import loopback
from tests.e2e.workloads import is_ready, pod, pod_spec

PLACEMENT: Final = "streams.ibm.com/placement"
HEALTH_PORT: Final = 8081

_SECONDS: Final = 5
_WEBHOOK: Final = "app.kubernetes.io/component=webhook"
_REVIEWS: Final = re.compile(r"^streams_placement_reviews_total\{.*\} ([0-9.e+]+)$", re.MULTILINE)


def asking(name: str, space: str, placement: str = 'host("node-1")', spec: Object | None = None, **meta: Any) -> Object:
    """A pod with a placement of its own."""
    annotations = {PLACEMENT: placement, **meta.pop("annotations", {})}
    return pod(name, space, spec or pod_spec(), annotations=annotations, **meta)


def ready_pods(api: Api) -> list[Object]:
    """The webhook's pods that are ready and not about to end."""
    listed = api.get(f"/api/v1/namespaces/{NAMESPACE}/pods", labelSelector=_WEBHOOK)["items"]
    return [one for one in listed if is_ready(one) and "deletionTimestamp" not in one["metadata"]]


def reviews(api: Api) -> int:
    """Reviews that all processes together have answered."""
    return sum(_counted(one["status"]["podIP"]) for one in ready_pods(api))


def _counted(address: str) -> int:
    url = f"http://{loopback(address)}:{HEALTH_PORT}/metrics"
    with urllib.request.urlopen(url, timeout=_SECONDS) as reply:
        return int(sum(float(value) for value in _REVIEWS.findall(reply.read().decode())))
