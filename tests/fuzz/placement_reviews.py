"""What must hold of the body of a PlacementReview, which every user with the right may send."""

import asyncio
import json
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Raw

from tests.builders import bound_pod, cluster, job, nodes, pool
from tests.fuzz.oracles import readable, said, sayable
from tests.fuzz.seeds import EXAMPLES, compact, example_objects, files
from tests.yaml_values import all_loaded
from webhook.admission.review import MALFORMED, User
from webhook.aggregated.review_creation import ReviewOutcome, ReviewQuestion, ReviewRequest, answered
from webhook.aggregated.review_fault import ReviewFaultError
from webhook.placement.inventory.policy import Policy
from webhook.placementreview.answer import ReviewedCluster, UnanswerableReviewError, answer
from webhook.placementreview.review import API_VERSION, KIND, ReviewSpec, Visible
from webhook.placementreview.what_if import needed_pods

_SECONDS: Final = 0.02
"""Seconds for searches: the answers are no less readable for having found less."""

_MESSAGE: Final = 4096
"""Characters of a refusal at most: that of a whole Job has a line for each of some elements and HostPools."""

_NODES: Final = frozenset({"node-a", "node-b", "node-c"})

_PODS: Final = (
    {
        "metadata": {"name": "web", "namespace": "default", "uid": "w", "ownerReferences": []},
        "spec": {"nodeName": "node-a", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Running"},
    },
)
"""What the API server says of the pods that a what-if is about."""


def placement_reviews(data: bytes) -> None:
    """Every body gets an answer or a fault of its sender's that can be read; a hidden node is in no answer."""
    for visible in (Visible(nodes=True, all_pods=True), Visible()):
        request = ReviewRequest("default", data, User("alice", groups=("system:authenticated",)))
        try:
            reply = answered(request, lambda question, visible=visible: _outcome(question, visible))
        except ReviewFaultError as error:
            said(error)
            return
        code = int(reply[:3])
        if code != 201:
            assert code in {400, 422}
            return
        created = json.loads(reply[3:])
        assert (created["apiVersion"], created["kind"]) == (API_VERSION, KIND)
        if not visible.nodes:
            _hidden(data, created["status"])


def _hidden(data: bytes, status: object) -> None:
    """No node is named that the body does not name itself."""
    text = json.dumps(status)
    for name in _NODES:
        assert name.encode() in data or f'"{name}"' not in text, name


def _outcome(question: ReviewQuestion, visible: Visible) -> ReviewOutcome:
    """The answer as the process of a review makes it, without an API server."""
    try:
        spec = msgspec.json.decode(question.spec, type=ReviewSpec)
    except MALFORMED as error:
        return ReviewOutcome(code=400, message=f"spec: {error}")
    inventory = cluster(
        nodes(3),
        pools=[pool(tags=["a"])],
        pods=[bound_pod("node-a", uid="w")],
        jobs=[job({"parallel-1": "hostIsolation"})],
    )
    needed = needed_pods(spec.what_if, question.namespace)
    pods = _PODS if "node-a" in needed.nodes or ("default", "web") in needed.names else ()
    try:
        status = asyncio.run(
            answer(
                spec,
                question.namespace,
                ReviewedCluster(inventory, Policy(), pods),
                visible,
                user=question.user,
                seconds=_SECONDS,
            )
        )
    except UnanswerableReviewError as error:
        sayable(error.problems)
        readable(str(error))
        return ReviewOutcome(code=422, message=str(error))
    for result in status.results:
        readable(result.message, _MESSAGE)
        for warning in result.warnings:
            readable(warning)
    return ReviewOutcome(Raw(msgspec.json.encode(status)))


def placement_review_seeds() -> Iterator[bytes]:
    """Example objects in reviews, with plans and every what-if; and the examples of reviews."""
    what_ifs = (
        {"drain": ["node-a"], "cordon": ["node-b"]},
        {"addNodes": [{"count": 2, "like": "node-c"}], "removePods": [{"name": "web"}]},
        {
            "addNodes": [
                {
                    "shape": {
                        "allocatable": {"cpu": "4"},
                        "labels": {"a": "b"},
                        "taints": [{"key": "k", "effect": "NoSchedule"}],
                    }
                }
            ]
        },
        {"drain": ["node-x"], "addNodes": [{"count": 0}]},
    )
    for at, found in enumerate(example_objects()):
        spec = {"manifests": [found], "plan": at % 3 == 0}
        yield _review(spec | ({"whatIf": what_ifs[at % len(what_ifs)]} if at % 2 else {}))
    for what_if in what_ifs:
        yield _review({"whatIf": what_if})
    for content in files(EXAMPLES / "ask", ".yaml"):
        yield from (compact(found) for found in all_loaded(content) if found and found.get("kind") == KIND)


def _review(spec: object) -> bytes:
    return compact({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"namespace": "default"}, "spec": spec})
