"""Rotations of leaves and authorities under load: no review fails, on new or open connections."""

import collections
import contextlib
import itertools
import ssl
import time
from typing import Final

from tests.e2e.certificates.rotation_load import again_and_again
from tests.e2e.chart.clients import Clients, bundle, review, trusting
from tests.e2e.chart.counters import addresses
from tests.e2e.chart.managed.certificates import Certificates
from tests.e2e.chart.managed.paced_load import AT_ONCE, paced
from tests.e2e.chart.placement_pods import asking
from tests.e2e.client.api import Api
from tests.e2e.progress import say
from tests.suite.example_count import some_of

NEW: Final = some_of(5_000, every_day=500)
KEPT: Final = 3 * NEW
"""Reviews on new connections, and on connections that are used again; 5,000 and 15,000 in ``make e2e-long``."""

NEW_RATE: Final = 100
KEPT_RATE: Final = 300
"""How many of them a second, on a machine that is quick enough."""

DUE: Final = (*["tls.crt"] * 5, "authority.key")
"""What is taken away in turn: an authority is renewed after five leaves."""

SECONDS: Final = 300
"""A machine that is busy with other things may take so long; 50 are enough."""

LEAST: Final = some_of(14, every_day=6)
"""Rotations that happen meanwhile at least, the last one of all that are due among them."""

PODS: Final = "/api/v1/namespaces/default/pods?dryRun=All"


class Trust:
    """What a client trusts that learns of changes as late as an API server."""

    def __init__(self, admin: Api) -> None:
        self._admin = admin
        self.authorities = bundle(admin)
        self.context: ssl.SSLContext = trusting(self.authorities)

    def refresh(self) -> None:
        """Look again."""
        authorities = bundle(self._admin)
        if authorities != self.authorities:
            self.authorities, self.context = authorities, trusting(authorities)


def test_no_rotation_costs_a_review(admin: Api, certificates: Certificates) -> None:
    trust = Trust(admin)
    admissions: collections.Counter[str] = collections.Counter()
    clients = Clients(addresses(admin), lambda: trust.context, review(asking("p", "default")))
    leaves, authorities = {certificates.leaf}, {trust.authorities}

    def admit() -> None:
        answer = admin.send("POST", PODS, asking("p", "default"))
        admissions["ok" if answer.code == 201 else answer.message] += 1

    def under_way() -> bool:
        assert time.monotonic() < began + SECONDS, "this machine is too slow for the test to mean anything"
        return len(leaves) <= LEAST or len(new.outcomes) < NEW or len(kept.outcomes) < KEPT

    began, due = time.monotonic(), itertools.cycle(DUE)
    with contextlib.ExitStack() as running:
        running.callback(clients.close)
        running.enter_context(again_and_again(trust.refresh, 0.2))
        running.enter_context(again_and_again(admit, 0.05))
        new = running.enter_context(paced("reviews on new connections", clients.anew, NEW_RATE, NEW))
        kept = running.enter_context(paced("reviews on kept connections", clients.kept, KEPT_RATE, KEPT))
        while under_way():
            certificates.renew(next(due))
            leaves.add(certificates.leaf)
            authorities.add(bundle(admin))
    say(f"{len(leaves) - 1} leaves, {len(authorities) - 1} authorities; admissions: {dict(admissions)}")
    assert set(new.outcomes) | set(kept.outcomes) == {"ok"}
    assert set(admissions) == {"ok"}
    assert clients.connections <= AT_ONCE
    assert len(authorities) > LEAST // len(DUE)
