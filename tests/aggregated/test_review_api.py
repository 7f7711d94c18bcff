"""PlacementReviews over TLS: who is believed, who may ask, which names an answer may tell, and the API's documents."""

import json
import ssl

import aiohttp
import pytest
from aiohttp import web
from msgspec import Raw

from tests.aggregated.review_client import PROXY, ROOT, ReviewBench, review, reviews_of
from tests.apiserver.server import Seen, status
from tests.server.pki import Authority
from webhook.aggregated.review_creation import ReviewOutcome
from webhook.placementreview.review import API_VERSION, GROUP, KIND

CREATED = "PlacementReview can only be created: nothing is stored that could be read or changed"
SPACED = f"PlacementReview is created in a namespace: POST {ROOT}/namespaces/<namespace>/placementreviews"
MISSING = "the server could not find the requested resource: there is no "
UNREADABLE = "the body is not a PlacementReview: "


async def test_a_review_is_answered_and_nothing_of_it_is_stored(bench: ReviewBench) -> None:
    body = {**review(plan=True, manifests=[{"kind": "Pod"}]), "metadata": {"name": "mine"}, "status": {"results": []}}
    code, answer = await bench.create(body)
    assert (code, answer["apiVersion"], answer["kind"]) == (201, API_VERSION, KIND)
    assert answer["metadata"] == {"name": "mine", "namespace": "team-a"}
    assert answer["spec"] == {"plan": True, "manifests": [{"kind": "Pod"}]}
    assert answer["status"] == {"namespace": "team-a", "spec": answer["spec"], "user": "jane"}
    assert [seen.method for seen in bench.api.seen if "subjectaccess" not in seen.path] == ["GET"]
    assert bench.figure("placement_reviews_total", code="201") == 1
    assert bench.figure("placement_review_seconds_count") == 1
    assert bench.figure("waiting_placement_reviews") == 0


async def test_a_long_answer_arrives_whole(bench: ReviewBench) -> None:
    bench.answering = lambda _: ReviewOutcome(Raw(b'"%b"' % (b"name " * 600_000)))
    code, answer = await bench.create()
    assert (code, answer["status"]) == (201, "name " * 600_000)


async def test_headers_of_a_client_without_a_certificate_are_not_believed(bench: ReviewBench) -> None:
    code, answer = await bench.create(tls=bench.client(), groups=["system:masters"])
    assert (code, answer["reason"]) == (401, "Unauthorized")
    assert answer["message"] == "the client has shown no certificate of the front proxy"
    assert bench.asked == []


async def test_a_certificate_with_another_name_is_not_believed(bench: ReviewBench) -> None:
    code, answer = await bench.create(tls=bench.client(bench.proxies, "kubelet"), groups=["system:masters"])
    assert (code, answer["message"]) == (401, "the name in the client's certificate is not that of a front proxy")
    assert bench.asked == []


async def test_a_certificate_of_another_authority_gets_no_connection(bench: ReviewBench) -> None:
    with pytest.raises((aiohttp.ClientError, ssl.SSLError, ConnectionError)):
        await bench.create(tls=bench.client(Authority(), PROXY))
    assert bench.asked == []


async def test_a_request_that_names_no_user_is_refused(bench: ReviewBench) -> None:
    assert await bench.ask("GET", ROOT, user="") == (401, {
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "metadata": {}, "code": 401,
        "reason": "Unauthorized", "message": "the request names no user",
    })  # fmt: skip


async def test_rights_are_asked_for_the_user_as_the_front_proxy_names_it(bench: ReviewBench) -> None:
    extra = {"X-Remote-Extra-Example.com%2fScopes": "a", "X-Remote-Uid": "u-1"}
    assert (await bench.create(groups=["developers", "team-a"], headers=extra))[0] == 201
    assert bench.asked[0] == {
        "user": "jane", "uid": "u-1", "groups": ["developers", "team-a"], "extra": {"example.com/scopes": ["a"]},
        "resourceAttributes": {
            "verb": "create", "group": GROUP, "version": "v1", "resource": "placementreviews", "namespace": "team-a",
        },
    }  # fmt: skip


async def test_a_user_without_the_right_to_create_reviews_gets_none(bench: ReviewBench) -> None:
    code, answer = await bench.create(namespace="team-b")
    assert (code, answer["reason"]) == (403, "Forbidden")
    assert answer["message"] == (
        f'placementreviews.{GROUP} is forbidden: User "jane" cannot create resource "placementreviews" in API group '
        f'"{GROUP}" in the namespace "team-b"'
    )


async def test_where_rights_cannot_be_checked_nothing_is_answered(bench: ReviewBench) -> None:
    async def failing(_seen: Seen) -> web.StreamResponse | None:
        return status(500)

    bench.api.before = failing
    code, answer = await bench.create()
    assert (code, answer["reason"]) == (503, "ServiceUnavailable")
    assert answer["message"].startswith("your rights cannot be checked: ")


async def test_while_the_cluster_is_not_known_documents_are_served_and_reviews_are_not(bench: ReviewBench) -> None:
    bench.ready = "pods have not been listed yet"
    code, answer = await bench.create()
    assert (code, answer["message"]) == (503, "pods have not been listed yet")
    assert (await bench.ask("GET", ROOT))[0] == 200


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", f"{UNREADABLE}Input data was truncated"),
        (b'{"\\u001b[2J": 1}', f"{UNREADABLE}Object contains unknown field `\\x1b[2J`"),
        (b'{"spec": {"plan": true}, "metadata": 1}', f"{UNREADABLE}Expected `object | null`, got `int`"),
        (b'{"spec": [' + b"[" * 2000, UNREADABLE),
        (
            json.dumps({**review(), "sepc": {"plan": True}}).encode(),
            f"{UNREADABLE}Object contains unknown field `sepc`",
        ),
        (
            b'{"kind": "Pod", "apiVersion": "v1"}',
            f'the body is a "Pod" of "v1"; it must be a PlacementReview of {API_VERSION}',
        ),
        (
            json.dumps({**review(), "metadata": {"namespace": "team-b"}}).encode(),
            'metadata.namespace is "team-b"; the request is about "team-a"',
        ),
    ],
)  # fmt: skip
async def test_a_body_that_is_no_review_is_refused(bench: ReviewBench, body: bytes, said: str) -> None:
    headers = {"Content-Type": "application/json"}
    code, answer = await bench.ask("POST", reviews_of("team-a"), data=body, headers=headers)
    assert (code, answer["reason"]) == (400, "BadRequest")
    assert answer["message"].startswith(said)


async def test_other_forms_of_a_body_are_refused(bench: ReviewBench) -> None:
    path = reviews_of("team-a")
    for headers, said in (
        ({"Content-Type": "application/yaml"}, 'the content type is "application/yaml"; it must be application/json'),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, "the body is compressed; send it plain"),
    ):
        code, answer = await bench.ask("POST", path, data=b"{}", headers=headers)
        assert (code, answer["message"]) == (415, said)


async def test_what_the_work_refuses_is_passed_on(bench: ReviewBench) -> None:
    bench.answering = lambda _: ReviewOutcome(code=422, message="manifest 1 is of namespace team-b")
    code, answer = await bench.create()
    assert (code, answer["reason"], answer["message"]) == (422, "Invalid", "manifest 1 is of namespace team-b")


@pytest.mark.parametrize(
    ("method", "path", "code", "said"),
    [
        ("GET", reviews_of("team-a"), 405, CREATED),
        ("DELETE", reviews_of("team-a"), 405, CREATED),
        ("GET", f"{ROOT}/placementreviews", 405, CREATED),
        ("POST", f"{ROOT}/placementreviews", 404, SPACED),
        ("GET", f"{reviews_of('team-a')}/mine", 405, CREATED),
        ("PATCH", f"{reviews_of('team-a')}/mine", 405, CREATED),
        ("POST", f"{reviews_of('team-a')}/mine", 405, CREATED),
        ("GET", f"{reviews_of('team-a')}/mine/status", 404, MISSING),
        ("POST", reviews_of("A"), 404, MISSING),
        ("POST", "/mutate", 404, MISSING),
        ("POST", ROOT, 405, '"POST" is not allowed here; send a GET'),
    ],
)  # fmt: skip
async def test_reviews_can_be_created_and_nothing_else(
    bench: ReviewBench, method: str, path: str, code: int, said: str
) -> None:
    got, answer = await bench.ask(method, path)
    assert (got, answer["kind"]) == (code, "Status")
    assert answer["message"].startswith(said)
    assert bench.figure("placement_reviews_total", code=str(code)) == 1


async def test_discovery_says_what_there_is(bench: ReviewBench) -> None:
    assert [group["name"] for group in (await bench.ask("GET", "/apis"))[1]["groups"]] == [GROUP]
    assert (await bench.ask("GET", f"/apis/{GROUP}"))[1]["preferredVersion"]["groupVersion"] == API_VERSION
    (resource,) = (await bench.ask("GET", ROOT))[1]["resources"]
    assert (resource["name"], resource["verbs"], resource["namespaced"]) == ("placementreviews", ["create"], True)


async def test_aggregated_discovery_is_answered_in_the_version_that_is_asked_for_first(bench: ReviewBench) -> None:
    form = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
    for accept, version in (
        (f"{form.format('v2')},{form.format('v2beta1')},application/json", "v2"),
        (f"{form.format('v3')},{form.format('v2beta1')}", "v2beta1"),
    ):
        async with bench.session() as session:
            headers = {"X-Remote-User": "system:kube-aggregator", "Accept": accept}
            async with session.get("/apis", headers=headers) as reply:
                document, tag = await reply.json(content_type=None), reply.headers["ETag"]
                assert reply.headers["Content-Type"] == form.format(version)
                assert document["apiVersion"] == f"apidiscovery.k8s.io/{version}"
                assert document["items"][0]["versions"][0]["resources"][0]["verbs"] == ["create"]
            async with session.get("/apis", headers={**headers, "If-None-Match": tag}) as again:
                assert (again.status, await again.read()) == (304, b"")


async def test_openapi_documents_are_served(bench: ReviewBench) -> None:
    paths = (await bench.ask("GET", "/openapi/v3"))[1]["paths"]
    where = paths[ROOT.removeprefix("/")]["serverRelativeURL"]
    assert where.startswith(f"/openapi/v3{ROOT}?hash=")
    assert reviews_of("{namespace}") in (await bench.ask("GET", where))[1]["paths"]
    assert reviews_of("{namespace}") in (await bench.ask("GET", "/openapi/v2"))[1]["paths"]


async def test_the_log_names_who_asked_and_not_what(bench: ReviewBench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    await bench.create(review(manifests=[{"kind": "Secret", "data": {"a": "hidden"}}]))
    (line,) = (one.getMessage() for one in caplog.records if "by" in one.getMessage())
    assert line.startswith('placement review in namespace team-a by "jane": 201 in ')
    assert "hidden" not in caplog.text


async def test_a_server_that_stops_asks_its_clients_to_leave(bench: ReviewBench) -> None:
    bench.server.retire()
    async with bench.session() as session, session.get(ROOT, headers={"X-Remote-User": "jane"}) as reply:
        assert (reply.status, reply.headers["Connection"]) == (200, "close")
