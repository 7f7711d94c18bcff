"""Metrics of the API server: calls of webhooks by name, and the time that they took."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from tests.e2e.client.api import Api

_FAMILY: Final = "apiserver_admission_webhook_admission_duration_seconds_"
_LINE: Final = re.compile(rf"^{_FAMILY}(sum|count)\{{(.*)\}} (\S+)$", re.MULTILINE)
LABEL: Final = re.compile(r'(\w+)="([^"]*)"')
"""A label of a line in Prometheus' text format."""


class Calls(Struct, frozen=True):
    """How often a webhook was called, and for how many seconds altogether."""

    count: float = 0.0
    seconds: float = 0.0


def calls(admin: Api) -> dict[str, Calls]:
    """Since the API server started: by ``name type``, such as ``pods.placement.streams.ibm.com admit``."""
    return read(str(admin.get("/metrics")))


def read(text: str) -> dict[str, Calls]:
    """The same from a page in Prometheus' text format."""
    found: dict[str, dict[str, float]] = {}
    for kind, labels, value in _LINE.findall(text):
        named = dict(LABEL.findall(labels))
        sums = found.setdefault(f"{named['name']} {named['type']}", {"sum": 0.0, "count": 0.0})
        sums[kind] += float(value)  # a line for each operation, and for refusals
    return {name: Calls(sums["count"], sums["sum"]) for name, sums in found.items()}


def between(before: Mapping[str, Calls], after: Mapping[str, Calls]) -> dict[str, Calls]:
    """Calls since then, of those that were called."""
    gone = {name: before.get(name, Calls()) for name in after}
    found = {name: Calls(now.count - gone[name].count, now.seconds - gone[name].seconds) for name, now in after.items()}
    return {name: each for name, each in found.items() if each.count}


def total(found: Iterable[Calls]) -> float:
    """All calls."""
    return sum(each.count for each in found)
