"""When the server asks the API server whether a pool may be used, and when it need not."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kubeapi.client.connection import Connection
from tests.answers import response
from tests.apiserver.server import ApiServer
from tests.builders import cluster, nodes, pod, pool, review
from tests.cluster.live.lookups.authorizer import FakeAuthorizer
from webhook import app
from webhook.admission.answer import Answer
from webhook.app.serve import queries_of, validator
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.server.fatal_error import FatalError
from webhook.server.reviews import Reviewer
from webhook.settings import read

pytestmark = pytest.mark.integration

POLICY = Policy(verify_pods=False)


@pytest.fixture
async def live(objects: ApiServer) -> AsyncIterator[LiveCluster[Inventory]]:
    inventory = cluster(nodes(1, labels={"streams.ibm.com/hostpool": "ib"}), [pool(tags=["ib"])])
    async with Connection(objects.configuration()) as connection:
        yield LiveCluster(connection, inventory)


@pytest.fixture
def asking(live: LiveCluster[Inventory]) -> Reviewer:
    return validator(live, POLICY, queries_of(live, authorize=True))


async def test_a_pod_that_names_a_pool_is_asked_about(asking: Reviewer, rights: FakeAuthorizer) -> None:
    answer = asking(review(pod("host(MyPool)")))
    assert not isinstance(answer, Answer)
    assert (response(await answer)["allowed"], len(rights.asked)) == (False, 1)


NOT_ASKED = {"names no pool": pod('host("node-a")'), "is refused anyway": {"kind": "Pod", "spec": []}}


@pytest.mark.parametrize("found", NOT_ASKED.values(), ids=NOT_ASKED)
async def test_rights_are_not_checked_for_a_pod_that(asking: Reviewer, rights: FakeAuthorizer, found: object) -> None:
    assert isinstance(asking(review(found)), Answer)
    assert rights.asked == []


async def test_without_the_setting_rights_are_not_checked(live: LiveCluster[Inventory], rights: FakeAuthorizer) -> None:
    answer = validator(live, POLICY, queries_of(live))(review(pod("host(MyPool)")))
    assert isinstance(answer, Answer)
    assert (response(answer)["allowed"], rights.asked) == (True, [])


async def test_a_snapshot_knows_no_rights(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text('{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}')
    settings = read({"snapshot": str(tmp_path), "authorize_pools": True})
    with pytest.raises(
        FatalError, match="^--authorize-pools asks an API server about rights, and a snapshot has none$"
    ):
        await app.serve.serve(settings, lambda *_: None)
