"""The API server is asked whether somebody may use a HostPool, once in a while."""

import json
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from tests.answers import refused
from tests.apiserver.server import ApiServer, Seen
from tests.apiserver.server import refused as said_no
from tests.builders import cluster, nodes, pod, pool, review
from tests.cluster.live.lookups.authorizer import FakeAuthorizer
from tests.fake_clock import FakeClock
from webhook.admission.answer import Answer, Outcome, RightsQuestion
from webhook.admission.review import User
from webhook.admission.validate import validate
from webhook.cluster.queries.lookups import authorization
from webhook.cluster.queries.lookups.authorization import Authorization
from webhook.cluster.queries.review_lookups import ReviewLookups
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.policy import Policy

pytestmark = pytest.mark.integration

JANE = User("jane", uid="u1", groups=("developers",), extra={"scopes": ("all",)})
POOLS = cluster(nodes(1, labels={"streams.ibm.com/hostpool": "ib"}), [pool(tags=["ib"]), pool("Other", tags=["ib"])])


@pytest.fixture
async def writes(objects: ApiServer) -> AsyncIterator[ObjectClient]:
    async with Connection(objects.configuration()) as connection:
        yield ObjectClient(connection)


async def test_the_whole_user_and_the_pool_are_asked_about(rights: FakeAuthorizer, writes: ObjectClient) -> None:
    assert not await Authorization(writes).may_use(JANE, "team", "p1")
    assert rights.asked == [
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "metadata": {},
            "spec": {
                "user": "jane",
                "uid": "u1",
                "groups": ["developers"],
                "extra": {"scopes": ["all"]},
                "resourceAttributes": {
                    "verb": "use",
                    "group": "streams.ibm.com",
                    "resource": "streamshostpools",
                    "namespace": "team",
                    "name": "p1",
                },
            },
        }
    ]


async def test_a_right_is_a_right(rights: FakeAuthorizer, writes: ObjectClient) -> None:
    rights.granted.add(("jane", "p1"))
    assert await Authorization(writes).may_use(JANE, "team", "p1")


@pytest.mark.parametrize(("granted", "seconds"), [(True, authorization.GRANTED), (False, authorization.DENIED)])
async def test_an_answer_holds_for_a_while(
    rights: FakeAuthorizer,
    writes: ObjectClient,
    granted: bool,  # noqa: FBT001 -- of a table
    seconds: float,
) -> None:
    clock = FakeClock(1000.0)
    rights.granted = {("jane", "p1")} if granted else set()
    asking = Authorization(writes, clock=clock)
    for passed, asked in ((0.0, 1), (seconds - 0.1, 1), (0.2, 2)):
        clock.now += passed
        assert await asking.may_use(JANE, "team", "p1") is granted
        assert len(rights.asked) == asked


async def test_another_user_pool_or_namespace_is_another_question(rights: FakeAuthorizer, writes: ObjectClient) -> None:
    asking = Authorization(writes)
    for user, namespace, name in (
        (JANE, "team", "p1"),
        (JANE, "team", "p2"),
        (JANE, "b", "p1"),
        (User("joe"), "team", "p1"),
    ):
        await asking.may_use(user, namespace, name)
    assert len(rights.asked) == 4


async def test_no_more_answers_are_kept_than_there_is_room_for(
    rights: FakeAuthorizer, writes: ObjectClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authorization, "KEPT", 2)
    asking = Authorization(writes)
    for name in ("p1", "p2", "p3", "p1"):
        await asking.may_use(JANE, "team", name)
    assert [seen["spec"]["resourceAttributes"]["name"] for seen in rights.asked] == ["p1", "p2", "p3", "p1"]  # type: ignore[index] -- JSON


async def test_an_answer_that_cannot_be_read_is_a_failure(objects: ApiServer, writes: ObjectClient) -> None:
    async def nonsense(_: Seen) -> web.StreamResponse:
        return web.json_response({"status": []})

    objects.before = nonsense
    with pytest.raises(ApiError, match="the API server's answer about rights is unreadable: ") as caught:
        await Authorization(writes).may_use(JANE, "team", "p1")
    assert caught.value.cause is Cause.UNREADABLE


# Reviews


def submitted(placement: str) -> Answer:
    """The answer about a pod of Jane's, before her rights are asked about."""
    body = review(pod(placement), userInfo={"username": "jane"})
    return validate(body, POOLS, Policy(verify_pods=False))


async def authorized(answer: Answer, writes: ObjectClient) -> Answer:
    """The answer once they have been."""
    later = ReviewQueries(ReviewLookups(rights=Authorization(writes))).completed(answer)
    assert not isinstance(later, Answer)
    return await later


async def test_who_may_use_all_pools_gets_the_answer_that_there_was(
    rights: FakeAuthorizer, writes: ObjectClient
) -> None:
    rights.granted = {("jane", "mypool"), ("jane", "other")}
    answer = submitted("a: host(MyPool); b: host(Other)")
    assert await authorized(answer, writes) is answer


async def test_who_may_not_use_one_is_told_which(rights: FakeAuthorizer, writes: ObjectClient) -> None:
    rights.granted = {("jane", "mypool")}
    answer = await authorized(submitted("a: host(MyPool); b: host(Other)"), writes)
    code, message = refused(answer)
    assert code == 403
    assert 'user "jane" may not use HostPool other of namespace "default"' in message
    assert "mypool" not in message


async def test_requests_are_refused_while_rights_cannot_be_checked(objects: ApiServer, writes: ObjectClient) -> None:
    async def down(_: Seen) -> web.StreamResponse:
        return said_no(500, "InternalError")

    objects.before = down
    answer = await authorized(submitted("host(MyPool)"), writes)
    assert (answer.status, answer.outcome) == (503, Outcome.ERRORED)
    assert json.loads(answer.body)["message"] == (
        "whether the HostPools may be used could not be determined: the API server answers 500: because InternalError"
    )


async def test_a_process_that_asks_by_others_gets_the_same_from_them(
    rights: FakeAuthorizer, writes: ObjectClient
) -> None:
    question = submitted("host(MyPool)").question
    assert isinstance(question, RightsQuestion)
    assert await ReviewQueries(ReviewLookups(rights=Authorization(writes))).found_out(question) == list(question.pools)
    assert await ReviewQueries().found_out(question) == []
    assert len(rights.asked) == 1
