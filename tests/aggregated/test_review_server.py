"""Where PlacementReviews are served: as the settings want it, and where they can be answered."""

import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from kubeapi.client.access import Access
from kubeapi.client.configuration import Configuration
from kubeapi.client.connection import Connection
from tests.apiserver.kubeconfig import Given
from tests.golden.examples import EXAMPLES
from webhook.app import placement_reviews
from webhook.app.placement_reviews import review_server_of
from webhook.app.serve import review_queries
from webhook.cluster.judging.changes import ChangeLog
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.cluster.snapshot.follow import SnapshotCluster
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.server.fatal_error import FatalError
from webhook.server.metrics import Metrics
from webhook.settings import read


def server_of(cluster: Any, **settings: Any) -> Any:
    """The server by these settings, with PlacementReviews wanted unless they say otherwise."""
    given = {"tls_cert": "tls.crt", "tls_key": "tls.key", "placement_review": True, **settings}
    return review_server_of(read(given), cluster, Policy(), ChangeLog(), lambda _connection: ReviewQueries(), Metrics())


@pytest.fixture
def configuration(monkeypatch: pytest.MonkeyPatch) -> Configuration:
    """The way to an API server, as the settings find it."""
    made = Configuration(Given(Access(server="http://127.0.0.1:1")))
    monkeypatch.setattr(placement_reviews, "configuration_of", lambda _settings: made)
    return made


def live(configuration: Configuration) -> LiveCluster[Inventory]:
    return LiveCluster(Connection(configuration), Inventory())


async def test_there_is_none_unless_it_is_wanted(configuration: Configuration) -> None:
    assert server_of(live(configuration), placement_review=False) is None
    assert server_of(live(configuration)).url == ""


def test_a_snapshot_has_no_users() -> None:
    cluster = SnapshotCluster(EXAMPLES / "cluster", Inventory)
    with pytest.raises(FatalError, match="--placement-review asks an API server about its users, and a snapshot has n"):
        server_of(cluster)


def test_processes_are_those_of_linux(configuration: Configuration, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(FatalError, match="--placement-review answers each review in a process of its own, which needs"):
        server_of(live(configuration))


def test_without_a_certificate_there_is_no_server(configuration: Configuration, tmp_path: Path) -> None:
    for missing in ({"tls_cert": None}, {"tls_key": None}):
        with pytest.raises(FatalError, match="a server needs a certificate and its key"):
            server_of(live(configuration), **{"tls_cert": str(tmp_path), **missing})


def test_answers_depend_on_what_those_of_admission_depend_on(configuration: Configuration) -> None:
    account = "system:serviceaccount:streams:streams-placement-controller"
    connection = Connection(configuration)
    asked = review_queries(read({"authorize_pools": True, "controller_account": account}), connection)
    assert [name for name, lookup in asdict(asked._lookups).items() if lookup is None] == []  # noqa: SLF001 -- what it asks
    assert review_queries(read({}), connection)._lookups.rights is None  # noqa: SLF001
