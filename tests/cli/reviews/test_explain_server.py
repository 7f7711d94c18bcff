"""``explain --server``: what is sent to the API server, what is shown of its answer, and what its errors mean."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from aiohttp import web

from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.server import status
from tests.cli.conftest import Explain
from tests.cli.reviews.conftest import PATH, ReviewServer
from tests.cli.test_schemas import schema
from tests.golden.examples import EXAMPLES
from tests.yaml_values import loaded
from webhook.app.review_requests import (
    ATTEMPTS,
    LargeReviewError,
    RejectedReviewError,
    ServerReviewer,
    SnapshotReviewer,
    reviewed,
)
from webhook.cluster.snapshot.manifests import read_manifests
from webhook.placementreview.review import ReviewSpec, ReviewStatus
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings

Asked = Callable[..., Awaitable[tuple[int, str, str]]]

pytestmark = pytest.mark.integration

POD = "examples/host-affinity.yaml"
MANIFEST = loaded((EXAMPLES.parent / POD).read_text())


def result(manifest: int = 0, **more: Any) -> dict[str, Any]:
    """The result about a pod that is admitted."""
    return {
        "manifest": manifest, "kind": "Pod", "namespace": "default", "name": "parallel-0-ioyms",
        "verdict": "Admitted", **more,
    }  # fmt: skip


def answering(*results: dict[str, Any], **more: Any) -> Callable[..., dict[str, Any]]:
    return lambda _namespace, _spec: {"results": list(results), **more}


PATCH = [{"op": "add", "path": "/metadata/labels/streams.ibm.com~1seal", "value": "7"}]


async def test_the_manifests_are_sent_and_the_answer_is_shown_as_against_a_snapshot(
    reviews: ReviewServer, asked: Asked
) -> None:
    reviews.answer = answering(
        result(
            candidates={"count": 1, "nodes": ["foo"]},
            closed=[
                {"rule": 'host("foo")', "reason": "is not named foo", "count": 2, "nodes": ["a", "b"]},
                {"rule": "has the taint x", "reason": "has the taint x", "count": 1, "nodes": ["c"]},
            ],
            patch=PATCH,
            warnings=["the pod is new"],
        )
    )
    code, out, err = await asked("-f", POD)
    assert (code, err) == (0, "")
    assert out == (
        "examples/host-affinity.yaml: Pod parallel-0-ioyms in namespace default\n"
        "  admitted, 1 of 4 nodes can run it\n"
        "       app: streams\n"
        "       streams.ibm.com/job: parallel\n"
        "       streams.ibm.com/pe: parallel-0\n"
        "  +    streams.ibm.com/seal: '7'\n"
        "     annotations:\n"
        '       streams.ibm.com/placement: host("foo.watson.ibm.com")\n'
        "       streams.ibm.com/host-binding: nodeAffinity\n"
        "  warning: the pod is new\n"
        "  candidates: foo\n"
        '  out: a, b (host("foo"): is not named foo)\n'
        "  out: c (has the taint x)\n"
    )
    assert reviews.paths == [PATH.format("default")]
    assert reviews.reviews == [
        {
            "apiVersion": "placement.streams.ibm.com/v1",
            "kind": "PlacementReview",
            "metadata": {"namespace": "default"},
            "spec": {"manifests": [MANIFEST]},
        }
    ]


async def test_a_refusal_is_1_and_nodes_that_may_not_be_listed_are_counted(reviews: ReviewServer, asked: Asked) -> None:
    reviews.answer = answering(
        result(
            verdict="Refused",
            message="host(P) cannot hold: 0 of 13 nodes can run this pod.\n  Nearest fix: label one more node",
            candidates={"count": 0},
            closed=[
                {"rule": "host(P)", "reason": "is not in HostPool P", "count": 12},
                {"rule": "isolation", "reason": "runs another", "count": 1},
            ],
            smallestSet=["host(P)"],
            nearestFix="label one more node",
        )
    )
    code, out, _ = await asked("-f", POD)
    assert code == 1
    assert out == (
        "examples/host-affinity.yaml: Pod parallel-0-ioyms in namespace default\n"
        "  refused, 0 of 13 nodes can run it\n"
        "  host(P) cannot hold: 0 of 13 nodes can run this pod.\n"
        "    Nearest fix: label one more node\n"
        "  out: 12 nodes (host(P): is not in HostPool P)\n"
        "  out: 1 node (isolation: runs another)\n"
    )


async def test_json_has_the_fields_of_explain_and_what_only_a_review_tells(reviews: ReviewServer, asked: Asked) -> None:
    reviews.answer = answering(
        result(verdict="Refused", message="no", candidates={"count": 0}, smallestSet=["host(P)"], nearestFix="drop it"),
        result(verdict="Waiting", message="no node yet", replicas=3, fit=1),
        result(verdict="NotJudged"),
    )
    code, out, _ = await asked("-f", POD, "-o", "json")
    assert code == 1
    answers = json.loads(out)
    jsonschema.validate(answers, schema("explain"))
    kept = ("verdict", "message", "asks", "waits", "candidateCount", "replicas", "fit", "smallestSet", "nearestFix")
    assert [[answer[field] for field in kept] for answer in answers] == [
        ["refused", "no", True, False, 0, None, None, ["host(P)"], "drop it"],
        ["admitted", "no node yet", True, True, None, 3, 1, [], ""],
        ["admitted", "", False, False, None, None, None, [], ""],
    ]
    assert [answer["after"] is None for answer in answers] == [True, False, False]


async def test_what_waits_and_what_asks_for_nothing_is_told(reviews: ReviewServer, asked: Asked) -> None:
    reviews.answer = answering(
        result(verdict="Waiting", message="no node yet: NodePool fast can make one", replicas=3, fit=1),
        result(verdict="NotJudged", replicas=2, fit=2),
    )
    code, out, _ = await asked("-f", POD)
    assert code == 0
    heading = "examples/host-affinity.yaml: Pod parallel-0-ioyms in namespace default\n"
    assert out == (
        f"{heading}"
        "  admitted, waits for a node\n"
        "  no node yet: NodePool fast can make one\n"
        f"{heading}"
        "  admitted unchanged (it does not ask for placement)\n"
    )


async def test_components_of_a_workload_are_shown_by_their_names(reviews: ReviewServer, asked: Asked) -> None:
    reviews.answer = answering(result(component="first"), result(component="HostPool second", candidates={"count": 1}))
    _, out, _ = await asked("-f", POD)
    assert [line for line in out.splitlines() if line[0] != " "] == [
        "examples/host-affinity.yaml: Pod parallel-0-ioyms, first in namespace default",
        "examples/host-affinity.yaml: Pod parallel-0-ioyms, HostPool second in namespace default",
    ]
    assert out.endswith("  admitted, 1 of 1 node could be its hosts\n")


async def test_a_patch_of_what_the_api_server_adds_is_shown_step_by_step(reviews: ReviewServer, asked: Asked) -> None:
    """Such as one of a pod that a LimitRange completes: it does not fit the manifest."""
    reviews.answer = answering(
        result(
            patch=[
                {"op": "remove", "path": "/spec/nothing"},
                {"op": "add", "path": "/spec/tolerations/7", "value": {"key": "x"}},
            ]
        )
    )
    _, out, _ = await asked("-f", POD)
    assert out.splitlines()[1:] == [
        "  admitted",
        "  patch: remove /spec/nothing",
        '  patch: add /spec/tolerations/7 {"key":"x"}',
    ]
    code, out, _ = await asked("-f", POD, "-o", "json")
    assert (code, json.loads(out)[0]["after"]) == (0, None)


SAME = (
    "host-affinity", "pool-tagged", "job", "replicas", "refused-pool-and-exlocation", "refused-syntax",
    "refused-job-whole", "refused-replicas", "mapping", "isolation",
)  # fmt: skip


@pytest.mark.parametrize("name", SAME)
async def test_the_webhook_answers_what_explain_answers_against_a_snapshot_of_its_cluster(
    name: str, reviews: ReviewServer, asked: Asked, explain: Explain
) -> None:
    """But for the costs of nodes, and for patches of the pods of workloads, which admission makes later."""
    judging = SnapshotReviewer(EXAMPLES / "cluster", Settings(snapshot=EXAMPLES / "cluster"))
    found = await judging.review("default", ReviewSpec(tuple(read_manifests(EXAMPLES / f"{name}.yaml"))))
    reviews.answer = lambda _namespace, _spec: msgspec.to_builtins(found)
    code, out, err = await asked("-f", f"examples/{name}.yaml")
    there, wanted, warned = await asyncio.to_thread(
        explain, "-f", f"examples/{name}.yaml", "--snapshot", "examples/cluster"
    )
    assert (code, err) == (there, warned)
    assert lines(out) == lines(wanted)


def lines(out: str) -> list[str]:
    """What is said of verdicts and of nodes."""
    said = ("examples/", "  admitted", "  refused", "  warning: ", "  candidates: ", "  out: ", "  Nearest fix: ")
    return [line for line in out.splitlines() if line.startswith(said)]


# Namespaces and sizes


def pods(*namespaces: str, size: int = 0) -> str:
    """A pod in each of the namespaces, with an annotation of so many characters."""
    return "\n---\n".join(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"p{at}", "annotations": {"text": "x" * size}}
                | ({"namespace": namespace} if namespace else {}),
            }
        )
        for at, namespace in enumerate(namespaces)
    )


def named(reviews: ReviewServer) -> list[tuple[str, list[str]]]:
    """The namespace of each review, and the names of its manifests."""
    return [
        (review["metadata"]["namespace"], [one["metadata"]["name"] for one in review["spec"]["manifests"]])
        for review in reviews.reviews
    ]


def echo(namespace: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Every manifest is admitted, and the last one is answered first."""
    found = [
        result(at, name=manifest["metadata"]["name"], namespace=namespace)
        for at, manifest in enumerate(spec["manifests"])
    ]
    return {"results": found[::-1]}


async def test_each_namespace_gets_a_review_and_answers_come_in_the_order_of_the_manifests(
    reviews: ReviewServer, asked: Asked, tmp_path: Path
) -> None:
    reviews.answer = echo
    (tmp_path / "pods.yaml").write_text(pods("b", "", "a", "b"))
    code, out, _ = await asked("-f", str(tmp_path / "pods.yaml"), "-o", "json")
    assert code == 0
    assert named(reviews) == [("b", ["p0", "p3"]), ("default", ["p1"]), ("a", ["p2"])]
    assert [answer["origin"] for answer in json.loads(out)] == ["Pod p0", "Pod p1", "Pod p2", "Pod p3"]


async def test_more_than_a_hundred_manifests_are_sent_in_several_reviews(
    reviews: ReviewServer, asked: Asked, tmp_path: Path
) -> None:
    reviews.answer = echo
    (tmp_path / "pods.yaml").write_text(pods(*["a"] * 101))
    code, out, err = await asked("-f", str(tmp_path / "pods.yaml"), "-o", "json")
    assert (code, len(json.loads(out))) == (0, 101)
    assert [len(names) for _, names in named(reviews)] == [100, 1]
    assert err == (
        "streams-placement: warning: namespace a has 101 manifests, which are sent as 2 reviews: "
        "objects of one review do not count as applied in another\n"
    )


async def test_manifests_whose_answer_is_too_large_are_sent_in_several_reviews(
    reviews: ReviewServer, asked: Asked, tmp_path: Path
) -> None:
    def bounded(namespace: str, spec: dict[str, Any]) -> dict[str, Any] | web.Response:
        too_large = status(413, "the answer would be over 11 MiB; ask about fewer manifests at a time")
        return too_large if len(spec["manifests"]) > 1 else echo(namespace, spec)

    reviews.answer = bounded
    (tmp_path / "pods.yaml").write_text(pods("a", "a", "a"))
    code, out, err = await asked("-f", str(tmp_path / "pods.yaml"), "-o", "json")
    assert (code, [answer["origin"] for answer in json.loads(out)]) == (0, ["Pod p0", "Pod p1", "Pod p2"])
    assert [names for _, names in named(reviews)] == [["p0", "p1", "p2"], ["p0"], ["p1", "p2"], ["p1"], ["p2"]]
    assert err.splitlines() == [
        f"streams-placement: warning: the answer about {many} manifests of namespace a would be too large, so they are "
        "sent as 2 reviews: objects of one review do not count as applied in another"
        for many in (3, 2)
    ]


@pytest.mark.parametrize(
    ("spec", "many"), [(ReviewSpec(), 0), (ReviewSpec(), 1), (ReviewSpec(plan=True), 2)], ids=["none", "one", "plan"]
)
async def test_what_cannot_be_asked_in_parts_is_not(spec: ReviewSpec, many: int) -> None:
    class FullAnswers:
        """Answers nothing: each answer would be too large."""

        times = 0

        async def review(self, namespace: str, spec: ReviewSpec) -> ReviewStatus:
            self.times += 1
            raise LargeReviewError(f"{len(spec.manifests)} in {namespace}")

    full = FullAnswers()
    with pytest.raises(RejectedReviewError, match=f"^{many} in default$"):
        await reviewed(full, [MANIFEST] * many, "default", spec)
    assert full.times == 1


async def test_manifests_that_are_too_large_together_are_sent_in_several_reviews(
    reviews: ReviewServer, asked: Asked, tmp_path: Path
) -> None:
    reviews.answer = echo
    (tmp_path / "pods.yaml").write_text(pods("a", "a", "a", size=900_000))
    code, _, err = await asked("-f", str(tmp_path / "pods.yaml"))
    assert (code, "sent as 2 reviews" in err) == (0, True)
    assert named(reviews) == [("a", ["p0", "p1"]), ("a", ["p2"])]


async def test_the_namespace_is_that_of_the_flag_or_of_the_context(
    reviews: ReviewServer, asked: Asked, kubeconfig: Kubeconfig, tmp_path: Path
) -> None:
    (tmp_path / "pods.yaml").write_text(pods(""))
    content = json.loads(kubeconfig.path.read_text())
    content["contexts"][0]["context"]["namespace"] = "team-a"
    kubeconfig.path.write_text(json.dumps(content))
    await asked("-f", str(tmp_path / "pods.yaml"))
    await asked("-f", str(tmp_path / "pods.yaml"), "-n", "team-b")
    assert [review["metadata"]["namespace"] for review in reviews.reviews] == ["team-a", "team-b"]


async def test_an_object_that_is_too_large_for_a_review_is_wrong_use(
    reviews: ReviewServer, asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "pods.yaml").write_text(pods("a", size=3_000_000))
    code, out, err = await asked("-f", str(tmp_path / "pods.yaml"))
    assert (code, out, reviews.reviews) == (2, "", [])
    assert err == "streams-placement: Pod p0 has more than 2097152 bytes as JSON, too many for a review\n"


def bomb(levels: int, width: int) -> str:
    """YAML whose aliases make ``width ** levels`` texts of a few lines."""
    lines = ["apiVersion: v1", "kind: Pod", "metadata: {name: bomb}", "spec:", "  l0: &l0 [x]"]
    lines += [f"  l{at}: &l{at} [{', '.join([f'*l{at - 1}'] * width)}]" for at in range(1, levels + 1)]
    return "\n".join(lines)


HOSTILE = {
    "aliases that make a thousand million values": (bomb(9, 10), "has more than 2097152 bytes as JSON"),
    "aliases that make a thousand levels": (bomb(1000, 1), "is nested more than 100 levels deep"),
}


@pytest.mark.parametrize(("text", "sentence"), HOSTILE.values(), ids=HOSTILE)
async def test_aliases_of_yaml_are_bounded(
    text: str, sentence: str, reviews: ReviewServer, asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "bomb.yaml").write_text(text)
    code, out, err = await asked("-f", str(tmp_path / "bomb.yaml"))
    assert (code, out, reviews.reviews) == (2, "", [])
    assert f"Pod bomb {sentence}" in err


async def test_yaml_with_a_key_that_json_does_not_have_is_wrong_use(
    reviews: ReviewServer, asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "map.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {null: 1}}")
    code, out, err = await asked("-f", str(tmp_path / "map.yaml"))
    assert (code, out, reviews.reviews) == (2, "", [])
    assert err == "streams-placement: ConfigMap m cannot be written as JSON: a key is not a string\n"


async def test_control_characters_count_as_json_writes_them(
    reviews: ReviewServer, asked: Asked, tmp_path: Path
) -> None:
    """A million characters that take six bytes each."""
    (tmp_path / "pod.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": "\x01" * 1_000_000})
    )
    code, _, err = await asked("-f", str(tmp_path / "pod.json"))
    assert (code, reviews.reviews) == (2, [])
    assert "Pod p has more than 2097152 bytes as JSON" in err


# What the API server refuses

PLAIN = web.Response
NOT_SERVED = (
    "streams-placement: the API server does not serve placementreviews.placement.streams.ibm.com: set "
    "placementReview.enabled in the values of the chart, or review against a folder with --snapshot\n"
)
DENIED = (
    'placementreviews.placement.streams.ibm.com is forbidden: User "eve" cannot create resource '
    '"placementreviews" in API group "placement.streams.ibm.com" in the namespace "default"'
)

REFUSED: dict[str, tuple[Callable[[], web.Response], int, str]] = {
    "not served": (lambda: web.Response(status=404, text="404 page not found\n"), 3, NOT_SERVED),
    "an APIService without a server": (
        lambda: status(503, "service unavailable"),
        3,
        (
            "streams-placement: placementreviews.placement.streams.ibm.com cannot be answered now: "
            "service unavailable; kubectl get apiservice v1.placement.streams.ibm.com shows whether the API "
            "server reaches the webhook\n"
        ),
    ),
    "forbidden": (
        lambda: status(403, DENIED, reason="Forbidden"),
        3,
        (
            "streams-placement: you may not create placementreviews.placement.streams.ibm.com in namespace "
            "default: ask for the role edit, or for a role of its own: kubectl create role placement-reviews "
            "--verb=create --resource=placementreviews.placement.streams.ibm.com -n default\n"
        ),
    ),
    "without a right that a what-if takes": (
        lambda: status(403, "spec.whatIf.drain: needs the right to list nodes", reason="Forbidden"),
        3,
        (
            "streams-placement: the API server refuses the review in namespace default: "
            "--drain: needs the right to list nodes\n"
        ),
    ),
    "too large": (
        lambda: status(413, "Request entity too large: limit is 3145728"),
        2,
        "streams-placement: the review of 1 manifest in namespace default is too large for the API server\n",
    ),
    "invalid": (
        lambda: status(422, "spec.manifests[0]: is in namespace b", reason="Invalid"),
        2,
        (
            "streams-placement: the API server refuses the review in namespace default: "
            "spec.manifests[0]: is in namespace b\n"
        ),
    ),
    "bad": (
        lambda: status(400, "the body is no JSON"),
        2,
        "streams-placement: the API server refuses the review in namespace default: the body is no JSON\n",
    ),
    "broken": (lambda: status(500, "etcd is away"), 3, "streams-placement: the API server answers 500: etcd is away\n"),
    "no JSON": (
        lambda: web.Response(status=201, text="<html>"),
        3,
        (
            "streams-placement: the API server's answer is not a PlacementReview: "
            "JSON is malformed: invalid character (byte 0)\n"
        ),
    ),
    "another type": (
        lambda: web.json_response({"status": {"results": [{"manifest": "0"}]}}, status=201),
        3,
        (
            "streams-placement: the API server's answer is not a PlacementReview: "
            "status.results[0].manifest: expected `int`, got `str`\n"
        ),
    ),
    "another manifest": (
        lambda: web.json_response({"status": {"results": [result(7)]}}, status=201),
        3,
        "streams-placement: the API server's answer is about manifest 7 of 1 manifest\n",
    ),
}


@pytest.mark.parametrize(("response", "code", "sentence"), REFUSED.values(), ids=REFUSED)
async def test_an_error_says_what_to_do(
    response: Callable[[], web.Response], code: int, sentence: str, reviews: ReviewServer, asked: Asked
) -> None:
    reviews.answer = lambda _namespace, _spec: response()
    assert await asked("-f", POD) == (code, "", sentence)


async def test_without_an_api_server_it_is_trouble(reviews: ReviewServer, asked: Asked) -> None:
    await reviews.server.stop()
    code, out, err = await asked("-f", POD)
    assert (code, out) == (3, "")
    assert err.startswith("streams-placement: the API server does not answer: ")


async def test_without_credentials_it_is_trouble(asked: Asked, kubeconfig: Kubeconfig) -> None:
    kubeconfig.write(
        exec={"apiVersion": "client.authentication.k8s.io/v1", "command": "false", "interactiveMode": "Never"}
    )
    code, out, err = await asked("-f", POD)
    assert (code, out) == (3, "")
    assert err.startswith("streams-placement: there is no cluster to connect to: ")


async def test_a_review_is_sent_again_while_the_api_server_is_busy(server_reviewer: Any, reviews: ReviewServer) -> None:
    busy = [
        web.Response(status=429, headers={"Retry-After": "7"}),
        web.Response(status=429),
        web.Response(status=503, headers={"Retry-After": "20"}),
        {"results": [result()]},
    ]
    reviews.answer = lambda _namespace, _spec: busy.pop(0)  # type: ignore[return-value]
    waits: list[float] = []
    found = await server_reviewer(waits).review("default", ReviewSpec())
    assert ([one.name for one in found.results], waits) == (["parallel-0-ioyms"], [7.0, 1.0, 10.0])


async def test_an_api_server_that_stays_busy_is_trouble(server_reviewer: Any, reviews: ReviewServer) -> None:
    reviews.answer = lambda _namespace, _spec: status(429, "too many reviews", reason="TooManyRequests")
    waits: list[float] = []
    with pytest.raises(FatalError, match="the API server answers 429: too many reviews"):
        await server_reviewer(waits).review("default", ReviewSpec())
    assert (len(reviews.reviews), waits) == (ATTEMPTS, [1.0] * (ATTEMPTS - 1))


async def test_without_credentials_nothing_is_sent() -> None:
    class Locked(ObjectClient):
        def __init__(self) -> None: ...

        async def create(self, _path: str, _body: object) -> bytes:
            raise ApiError(Cause.UNAUTHORIZED, "no credentials arrived within 30 seconds")

    with pytest.raises(FatalError, match="no credentials arrived within 30 seconds"):
        await ServerReviewer(Locked()).review("default", ReviewSpec())


# Flags

WRONG = {
    "a snapshot": (
        ("--snapshot", "examples/cluster"),
        "--server asks an API server: leave out --snapshot, or --server",
    ),
    "a page": (("-o", "html"), "a review has no form html: give -o text, json or yaml"),
    "AdmissionReviews": (("-o", "review"), "a review has no form review: give -o text, json or yaml"),
    "a setting of verdicts": (
        ("--elastic",),
        "--elastic has no effect with --server: the settings of the webhook apply",
    ),
    "too many nodes": (
        ("--add-nodes", "a=0"),
        '--add-nodes "a=0" is not NODE or NODE=COUNT: write node-a=3 for three more nodes like node-a',
    ),
    "no pod": (("--remove-pod", "a/"), '--remove-pod "a/" is not NAME or NAMESPACE/NAME'),
    "no namespace": (("--remove-pod", "/a"), '--remove-pod "/a" is not NAME or NAMESPACE/NAME'),
    "two namespaces": (("--remove-pod", "a/b/c"), '--remove-pod "a/b/c" is not NAME or NAMESPACE/NAME'),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
async def test_flags_that_do_not_go_together_are_wrong_use(
    words: tuple[str, ...], sentence: str, asked: Asked, reviews: ReviewServer
) -> None:
    assert await asked("-f", POD, *words) == (2, "", f"streams-placement: {sentence}\n")
    assert reviews.reviews == []


async def test_nothing_to_judge_is_a_warning_or_wrong_use(reviews: ReviewServer, asked: Asked) -> None:
    reviews.answer = answering()
    said = "nothing to judge: no pod, workload or HostPool in the manifests, only Pod parallel-0-ioyms"
    assert await asked("-f", POD) == (0, "", f"streams-placement: warning: {said}\n")
    assert await asked("-f", POD, "--strict") == (2, "", f"streams-placement: {said}\n")


async def test_a_file_that_cannot_be_read_is_2_although_the_others_are_admitted(
    reviews: ReviewServer, asked: Asked, tmp_path: Path
) -> None:
    reviews.answer = answering(result())
    (tmp_path / "bad.yaml").write_text("{")
    code, out, err = await asked("-f", POD, str(tmp_path / "bad.yaml"))
    assert (code, out.splitlines()[1]) == (2, "  admitted")
    assert "(left out)" in err


# What if


async def test_a_drain_is_asked_about_without_manifests(reviews: ReviewServer, asked: Asked) -> None:
    reviews.answer = lambda _namespace, _spec: {
        "evicted": [{"namespace": "team-a", "name": "a", "verdict": "Unplaced", "message": "no room"}]
    }
    said = "drained: a\n  Pod a in namespace team-a finds no node: no room\n"
    assert await asked("-n", "team-a", "--drain", "a") == (1, said, "")
    assert reviews.reviews[0]["spec"] == {"whatIf": {"drain": ["a"]}}
    assert reviews.paths[0].split("/")[5] == "team-a"


async def test_changes_that_count_as_made_are_sent(reviews: ReviewServer, asked: Asked) -> None:
    await asked(
        "-f", POD, "--drain", "a", "b", "--cordon", "c", "--add-nodes", "d=3", "e", "--remove-pod", "x", "team-a/y",
    )  # fmt: skip
    assert reviews.reviews[0]["spec"]["whatIf"] == {
        "drain": ["a", "b"],
        "cordon": ["c"],
        "addNodes": [{"count": 3, "like": "d"}, {"like": "e"}],
        "removePods": [{"name": "x", "namespace": "default"}, {"name": "y", "namespace": "team-a"}],
    }


EVICTED = [
    {"namespace": "default", "name": "a", "verdict": "Placed", "node": "n1"},
    {"namespace": "default", "name": "b", "verdict": "Placed"},
    {"namespace": "default", "name": "c", "verdict": "Refused", "message": "host(P) cannot hold"},
    {"namespace": "default", "name": "d", "verdict": "Unplaced"},
    {"namespace": "default", "name": "e", "verdict": "Deleted", "message": "no controller recreates the pod"},
]


async def test_pods_that_a_drain_evicts_are_shown_and_one_without_a_node_is_1(
    reviews: ReviewServer, asked: Asked
) -> None:
    reviews.answer = answering(
        evicted=EVICTED, evictedElsewhere={"count": 4, "placed": 1, "refused": 1, "unplaced": 1, "deleted": 1}
    )
    code, out, _ = await asked("-f", POD, "--drain", "n0")
    assert code == 1
    assert out == (
        "drained: n0\n"
        "  Pod a in namespace default runs again on n1\n"
        "  Pod b in namespace default runs again on another node\n"
        "  Pod c in namespace default is refused when it is created again: host(P) cannot hold\n"
        "  Pod d in namespace default finds no node\n"
        "  Pod e in namespace default is deleted: no controller recreates the pod\n"
        "  4 pods of other namespaces: 1 placed, 1 refused, 1 without a node, 1 deleted\n"
    )


async def test_evicted_pods_are_explanations_for_a_program(reviews: ReviewServer, asked: Asked) -> None:
    reviews.answer = answering(evicted=EVICTED[:3], evictedElsewhere={"count": 2, "placed": 2})
    code, out, err = await asked("-f", POD, "--drain", "n0", "-o", "json")
    assert code == 1
    answers = json.loads(out)
    jsonschema.validate(answers, schema("explain"))
    assert [(one["origin"], one["verdict"], one["outcome"], one["node"]) for one in answers] == [
        ("Pod a", "admitted", "Placed", "n1"),
        ("Pod b", "admitted", "Placed", ""),
        ("Pod c", "refused", "Refused", ""),
    ]
    assert "warning: 2 pods of other namespaces: 2 placed\n" in err


@pytest.mark.parametrize(
    ("elsewhere", "code"),
    [({"count": 1, "placed": 1}, 0), ({"count": 1, "refused": 1}, 1), ({"count": 1, "unplaced": 1}, 1)],
)
async def test_pods_of_other_namespaces_count_as_well(
    elsewhere: dict[str, int], code: int, reviews: ReviewServer, asked: Asked
) -> None:
    reviews.answer = answering(evictedElsewhere=elsewhere)
    assert (await asked("-f", POD, "--drain", "n0"))[0] == code


async def test_a_drain_that_evicts_nothing_says_so(asked: Asked) -> None:
    _, out, _ = await asked("-f", POD, "--drain", "n0")
    assert out == "drained: n0\n  no pod is evicted\n"
