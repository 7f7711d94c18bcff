"""While a key pair is incomplete or invalid, the last good one serves, and no connection fails."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

import pytest

from certs.authority import Leaf
from certs.names import service_names
from tests.e2e.chart.clients import Clients, bundle, review, shown, trusting
from tests.e2e.chart.counters import addresses, counted
from tests.e2e.chart.managed.certificates import Certificates
from tests.e2e.chart.managed.paced_load import paced
from tests.e2e.chart.placement_pods import asking, ready_pods
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Api
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until

Pair: TypeAlias = tuple[bytes, bytes]
"""Certificate and key."""

RATE: Final = 60
"""New connections a second."""

LEAST: Final = 100
"""Connections that must have been made while the pair is bad for the test to mean anything."""

FOREIGN: Final = "the key does not belong to the certificate"
CUT: Final = "certificate or key is not PEM, or truncated"

BAD: Final[dict[str, tuple[Callable[[Leaf, Leaf], Pair], str]]] = {
    "the certificate came before its key": (lambda old, new: (new.certificate_pem, old.key_pem), FOREIGN),
    "the key came before its certificate": (lambda old, new: (old.certificate_pem, new.key_pem), FOREIGN),
    "half of the key is there": (lambda _, new: (new.certificate_pem, new.key_pem[:100]), CUT),
    "there is no certificate": (lambda _, new: (b"", new.key_pem), CUT),
    "there is only nonsense": (lambda _old, _new: (b"\x00certificate", b"\xffkey"), CUT),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _without_repair(certificates: Certificates) -> Iterator[None]:
    """The chart's own process would do so at once."""
    certificates.work(0)
    yield
    certificates.work(1)


def issued(certificates: Certificates) -> Leaf:
    """A good pair."""
    names = service_names(RELEASE, NAMESPACE)
    return certificates.authority.issue(names, datetime.now(UTC), lifetime=timedelta(days=1))


def warnings(admin: Api, managed: Kubelet) -> list[list[str]]:
    """What each process has warned of."""
    logs = [managed.worker(one["metadata"]["name"]).place.folder / "webhook.log" for one in ready_pods(admin)]
    lines = [[json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")] for log in logs]
    return [[line["message"] for line in own if line["level"] == "warning"] for own in lines]


@pytest.mark.parametrize(("spoil", "reason"), BAD.values(), ids=BAD.keys())
def test_the_last_good_pair_serves_while(
    admin: Api, managed: Kubelet, certificates: Certificates, spoil: Callable[[Leaf, Leaf], Pair], reason: str
) -> None:
    old, new = issued(certificates), issued(certificates)
    certificates.serve_leaf(old)
    trust = trusting(bundle(admin))
    clients = Clients(addresses(admin), lambda: trust, review(asking("p", "default")))
    failures = counted(admin, "certificate_reload_failures_total")[()]
    handshakes = counted(admin, "connection_failures_total", "cause")
    with paced("new connections", clients.anew, RATE) as load:
        certificates.serve(*spoil(old, new))
        until(lambda: counted(admin, "certificate_reload_failures_total")[()] == failures + 2, "both have noticed")
        noticed = len(load.outcomes)
        until(lambda: len(load.outcomes) >= noticed + LEAST, "connections are made meanwhile", 60)
        assert {shown(address) for address in addresses(admin)} == {old.certificate_pem.decode().strip()}
        certificates.serve_leaf(new)
    assert set(load.outcomes) == {"ok"}
    assert counted(admin, "connection_failures_total", "cause") == handshakes
    said = f"changed and cannot be used, so the last good pair keeps serving: {reason}"
    assert [own[-1].endswith(f"/tls.key {said}") for own in warnings(admin, managed)] == [True, True]
