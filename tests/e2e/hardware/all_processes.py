"""The answers of every process of the webhook to a new pod, since each has a cache of its own, which may lag behind."""

import base64
import contextlib
from typing import NamedTuple

from tests.e2e.chart.clients import Connection, bundle, review, trusting
from tests.e2e.chart.counters import addresses
from tests.e2e.client.api import Api, Object


class ProcessAnswer(NamedTuple):
    """An answer; the patch is its text, empty if there is none."""

    allowed: bool
    warnings: tuple[str, ...]
    patch: str


def everyone(admin: Api, one: Object) -> set[ProcessAnswer]:
    """The different answers; one, if all agree."""
    body, trust = review(one), trusting(bundle(admin))
    found = set()
    for address in addresses(admin):
        with contextlib.closing(Connection(address, trust)) as connection:
            answer = connection.ask("/mutate", body)
            patch = base64.b64decode(answer.get("patch", "")).decode()
            found.add(ProcessAnswer(bool(answer["allowed"]), tuple(answer.get("warnings", ())), patch))
    return found
