"""``check``: what an API server with, without, and with a deaf webhook answers."""

import asyncio
import json
from typing import Any

import jsonschema
import pytest
from aiohttp import web

from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.server import ApiServer, Seen, status
from tests.cli.test_schemas import schema
from webhook.cli import main

pytestmark = pytest.mark.integration

REFUSAL = (
    'admission webhook "pods.placement.streams.ibm.com" denied the request: metadata.annotations: '
    'hostColocation("check") and hostExlocation("check") contradict each other'
)
UNSEEN = (
    "so the API server did not ask the webhook: the namespace may be excluded, the webhook may be in audit mode, or "
    "its configuration may be missing"
)


def admitted(seen: Seen) -> web.Response:
    """The pod as it is created, with what the webhook writes."""
    body = seen.json
    body["metadata"]["annotations"]["streams.ibm.com/injected"] = "{}"
    return web.json_response(body, status=201)


def created(seen: Seen) -> web.Response:
    return web.json_response(seen.json, status=201)


def deny(_: Seen) -> web.Response:
    return status(403, REFUSAL, reason="Forbidden")


def answers(server: ApiServer, *ways: Any) -> None:
    """The answers to the first pods."""
    left = list(ways)

    async def answer(seen: Seen) -> web.Response | None:
        await asyncio.sleep(0)
        found: web.Response | None = left.pop(0)(seen) if seen.method == "POST" else None
        return found

    server.before = answer


async def asked(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], str]:
    code = await asyncio.to_thread(main, ["check", *words])
    said = capfd.readouterr()
    return code, said.out.splitlines(), said.err


async def test_a_webhook_that_decides(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    answers(server, admitted, deny)
    assert await asked(capfd, "-n", "team-a") == (0, ["ok  an admission", "ok  a refusal"], "")
    posts = [seen for seen in server.seen if seen.method == "POST"]
    assert [(seen.path, seen.query) for seen in posts] == [("/api/v1/namespaces/team-a/pods", {"dryRun": "All"})] * 2
    assert {seen.json["metadata"]["generateName"] for seen in posts} == {"streams-placement-check-"}


async def test_a_webhook_that_is_not_asked(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    answers(server, created, created)
    assert await asked(capfd) == (
        3,
        [
            f"FAILED  an admission: the pod was created unchanged, {UNSEEN}",
            f"FAILED  a refusal: a pod that cannot run anywhere was created, {UNSEEN}",
        ],
        "",
    )


async def test_a_webhook_in_audit_mode(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    answers(server, created, created)
    assert (await asked(capfd, "--audit"))[:2] == (0, ["ok  an admission", "ok  a refusal"])
    answers(server, created, deny)
    assert (await asked(capfd, "--audit"))[:2] == (
        3,
        [
            "ok  an admission",
            "FAILED  a refusal: it was refused, although the installation is said to be in audit mode",
        ],
    )


async def test_a_user_without_the_right(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    def no(_: Seen) -> web.Response:
        return status(403, 'pods is forbidden: User "jane" cannot create resource "pods"', reason="Forbidden")

    answers(server, no, no)
    code, lines, _ = await asked(capfd)
    said = 'the API server answers 403: pods is forbidden: User "jane" cannot create resource "pods"'
    assert (code, lines) == (3, [f"FAILED  an admission: {said}", f"FAILED  a refusal: {said}"])


async def test_an_api_server_that_accepts_no_identity(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    answers(server, *[lambda _: status(401, "who are you?", reason="Unauthorized")] * 3)
    code, lines, err = await asked(capfd)
    assert (code, lines) == (3, [])
    assert err.startswith("streams-placement: the API server answers 401")


async def test_for_programs(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    answers(server, admitted, created)
    code, lines, _ = await asked(capfd, "-o", "json")
    found = json.loads("\n".join(lines))
    jsonschema.Draft202012Validator(schema("check")).validate(found)
    assert (code, found["ok"], [one["ok"] for one in found["checks"]]) == (3, False, [True, False])


async def test_the_namespace_is_that_of_the_context(
    server: ApiServer, kubeconfig: Kubeconfig, capfd: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(kubeconfig.path.read_text())
    content["contexts"][0]["context"]["namespace"] = "team-b"
    kubeconfig.path.write_text(json.dumps(content))
    answers(server, admitted, deny)
    assert (await asked(capfd))[0] == 0
    assert {seen.path for seen in server.seen if seen.method == "POST"} == {"/api/v1/namespaces/team-b/pods"}


APPLICATION = (
    'admission webhook "applications.placement.streams.ibm.com" denied the request: component head: '
    'hostColocation("check") and hostExlocation("check") contradict each other'
)


def kinds_of(server: ApiServer, *ways: Any) -> None:
    """The answers to the objects that come after both pods."""
    answers(server, admitted, deny, *ways)


def missing(_: Seen) -> web.Response:
    return status(404, "the server could not find the requested resource", reason="NotFound")


def denied(text: str) -> Any:
    return lambda _: status(403, text, reason="Forbidden")


UNREFUSED = (
    "an application that cannot run anywhere was created, so the API server did not ask the webhook: the namespace may "
    "be excluded, or the chart's value workloads.kinds lacks the kind"
)
UNKNOWN = "no kind of that name is known: the chart's value workloads.kinds lists all of them"
RAY, KAFKA = "a refusal of RayCluster.ray.io", "a refusal of Kafka.kafka.strimzi.io"
TRAIN = "a refusal of TrainJob.trainer.kubeflow.org"


async def test_kinds_of_other_operators_are_tried(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    kinds_of(server, missing, denied(APPLICATION), denied(APPLICATION))
    code, lines, _ = await asked(capfd, "-n", "team-a", "--reviewed-kinds", "RayCluster.ray.io,Kafka.kafka.strimzi.io")
    assert (code, lines[2:]) == (0, [f"ok  {KAFKA}", f"ok  {RAY}"])
    posts = [seen for seen in server.seen if seen.method == "POST"][2:]
    assert [seen.path for seen in posts] == [
        "/apis/kafka.strimzi.io/v1beta2/namespaces/team-a/kafkas",
        "/apis/kafka.strimzi.io/v1/namespaces/team-a/kafkas",
        "/apis/ray.io/v1/namespaces/team-a/rayclusters",
    ]
    assert {seen.query["dryRun"] for seen in posts} == {"All"}
    assert posts[2].json["spec"]["headGroupSpec"]["rayStartParams"] == {}


async def test_a_kind_that_is_not_served_is_named_and_no_fault(
    server: ApiServer, capfd: pytest.CaptureFixture[str]
) -> None:
    kinds_of(server, missing)
    code, lines, _ = await asked(capfd, "--reviewed-kinds", "RayCluster.ray.io")
    said = "the API server does not serve the kind, so its objects are not judged until its CRD exists"
    assert (code, lines[2:]) == (0, [f"not served  {RAY}: {said}"])


@pytest.mark.parametrize(
    ("way", "words", "line"),
    [
        (created, ["RayCluster.ray.io"], f"{RAY}: {UNREFUSED}"),
        (denied("no right"), ["RayCluster.ray.io"], f"{RAY}: the API server answers 403: no right"),
        (
            denied(APPLICATION), ["RayCluster.ray.io", "--audit"],
            f"{RAY}: it was refused, although the installation is said to be in audit mode",
        ),
        (created, ["Thing.example.com"], f"a refusal of Thing.example.com: {UNKNOWN}"),
        (denied("no right"), ["TrainJob.trainer.kubeflow.org"], f"{TRAIN}: the API server answers 403: no right"),
    ],
)  # fmt: skip
async def test_a_kind_that_is_not_judged_is_a_fault(
    server: ApiServer, capfd: pytest.CaptureFixture[str], way: Any, words: list[str], line: str
) -> None:
    kinds_of(server, way)
    if "--audit" in words:
        answers(server, created, created, way)
    code, lines, _ = await asked(capfd, "--reviewed-kinds", *words)
    assert (code, lines[2:]) == (3, [f"FAILED  {line}"])


@pytest.mark.parametrize(
    "way", [created, denied('admission webhook "validator.trainer" denied the request: no runtime')]
)
async def test_a_kind_whose_pods_another_object_describes_is_only_looked_for(
    server: ApiServer, capfd: pytest.CaptureFixture[str], way: Any
) -> None:
    kinds_of(server, way)
    code, lines, _ = await asked(capfd, "--reviewed-kinds", "TrainJob.trainer.kubeflow.org")
    said = "the kind is served; another object describes its pods, so a refusal was not tested"
    assert (code, lines[2:]) == (0, [f"ok  {TRAIN}: {said}"])


async def test_kinds_in_audit_mode_are_created(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    answers(server, created, created, created)
    code, lines, _ = await asked(capfd, "--audit", "--reviewed-kinds", "RayCluster.ray.io")
    assert (code, lines[2:]) == (0, [f"ok  {RAY}"])
