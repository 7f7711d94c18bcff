"""Metrics of the webhook's processes, summed over all of them."""

import urllib.request
from collections import Counter
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.chart.placement_pods import HEALTH_PORT, ready_pods
from tests.e2e.client.api import Api
from tests.e2e.pods.addresses import loopback

_SECONDS: Final = 5


def addresses(api: Api) -> list[str]:
    """Where the ready processes listen."""
    return [loopback(one["status"]["podIP"]) for one in ready_pods(api)]


def counted(api: Api, name: str, *labels: str) -> Counter[tuple[str, ...]]:
    """Values of a metric by the values of some of its labels; sums over the processes and all other labels."""
    found: Counter[tuple[str, ...]] = Counter()
    for address in addresses(api):
        with urllib.request.urlopen(f"http://{address}:{HEALTH_PORT}/metrics", timeout=_SECONDS) as reply:
            text = reply.read().decode()
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name == f"streams_placement_{name}":
                    found[tuple(sample.labels[label] for label in labels)] += int(sample.value)
    return found
