"""What the tools say of themselves, and what they answer to arguments of any kind."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import jsonschema
import msgspec
import pytest

from tests.cli.modelcontext.conftest import failed
from tests.cli.reviews.test_explain_server import bomb
from webhook.app.review_requests import Reviewer
from webhook.cli.modelcontext.review_tools import NAMED, ReviewAnswer, ReviewTools
from webhook.placementreview.review import (
    CandidateNodes,
    ClosedByRule,
    EvictedElsewhere,
    EvictedPod,
    ReviewResult,
    ReviewSpec,
    ReviewStatus,
)
from webhook.server.fatal_error import FatalError

if TYPE_CHECKING:
    from mcp import Client

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"


class Answering:
    """Answers every review with ``status``, or raises it; ``asked`` are the reviews."""

    def __init__(self, status: ReviewStatus | Exception) -> None:
        self.status = status
        self.asked: list[tuple[str, ReviewSpec]] = []

    async def review(self, namespace: str, spec: ReviewSpec) -> ReviewStatus:
        self.asked.append((namespace, spec))
        if isinstance(self.status, Exception):
            raise self.status
        return self.status


@asynccontextmanager
async def client_of(reviewer: Reviewer) -> AsyncIterator["Client"]:
    """A client in the process of the server; who collects tests does not import the SDK, which takes a second."""
    from mcp import Client  # noqa: PLC0415

    from webhook.cli.modelcontext.tool_server import server_of  # noqa: PLC0415

    @asynccontextmanager
    async def connect() -> AsyncIterator[Reviewer]:
        yield reviewer

    async with Client(server_of(ReviewTools(connect, "team-a"), "1.2.3")) as client:
        yield client


async def called(status: ReviewStatus | Exception, tool: str = "review_placement", **arguments: Any) -> Any:
    async with client_of(Answering(status)) as client:
        return await client.call_tool(tool, arguments)


REFUSED = ReviewResult(
    manifest=0, kind="Pod", namespace="team-a", name="p", verdict="Refused", message="no", smallest_set=("host(P)",),
)  # fmt: skip


async def test_each_tool_describes_its_arguments_and_its_answer_and_changes_nothing() -> None:
    async with client_of(Answering(ReviewStatus())) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["review_placement", "plan_placement", "explain_message"]
    for tool in tools:
        assert tool.annotations
        assert tool.annotations.read_only_hint is True
        for schema in (tool.input_schema, tool.output_schema):
            assert schema
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"


async def test_a_review_is_structured_content_of_the_schema_and_the_same_as_text() -> None:
    evicted = (EvictedPod("team-a", "x", "Unplaced"),)
    answer = await called(
        ReviewStatus(results=(REFUSED,), evicted=evicted, evicted_elsewhere=EvictedElsewhere(count=1, placed=1)),
        manifests=POD,
    )
    content = answer.structured_content
    from webhook.cli.modelcontext.tool_server import schema_of  # noqa: PLC0415 -- as above

    jsonschema.validate(content, schema_of(ReviewAnswer))
    assert content == {
        "admitted": False,
        "results": [
            {
                "manifest": 0, "kind": "Pod", "namespace": "team-a", "name": "p", "verdict": "Refused", "message": "no",
                "smallestSet": ["host(P)"],
            }
        ],
        "evicted": [{"namespace": "team-a", "name": "x", "verdict": "Unplaced"}],
        "evictedElsewhere": {"count": 1, "placed": 1},
    }  # fmt: skip
    assert (json.loads(answer.content[0].text), answer.is_error) == (content, False)


async def test_the_arguments_become_a_review() -> None:
    reviewer = Answering(ReviewStatus())
    changes = {
        "drain": ["a"], "cordon": ["b"], "addNodes": [{"count": 3, "like": "a"}, {"shape": {"labels": {"x": "y"}}}],
        "removePods": [{"name": "p", "namespace": "n"}],
    }  # fmt: skip
    async with client_of(reviewer) as client:
        answer = await client.call_tool(
            "review_placement", {"manifests": POD + "---\n" + POD, "namespace": "team-b", "whatIf": changes}
        )
        await client.call_tool("review_placement", {"whatIf": {"drain": ["a"]}})
    assert answer.structured_content == {"admitted": True, "results": []}
    (namespace, spec), (other, bare) = reviewer.asked
    assert (namespace, [one["metadata"]["name"] for one in spec.manifests]) == ("team-b", ["p", "p"])
    assert spec.what_if
    assert json.loads(msgspec.json.encode(spec.what_if)) == changes
    assert (other, bare.manifests) == ("team-a", ())


async def test_names_of_nodes_are_cut_and_counts_are_complete() -> None:
    names = tuple(f"node-{at}" for at in range(NAMED + 5))
    rule = ClosedByRule("host(P)", "is not in HostPool P", len(names), names)
    unnamed = ClosedByRule("isolation", "runs another", 3)
    result = ReviewResult(
        manifest=0, kind="Pod", namespace="team-a", name="p", verdict="Admitted",
        candidates=CandidateNodes(len(names), names), closed=(rule, unnamed),
    )  # fmt: skip
    found = (await called(ReviewStatus(results=(result,)), manifests=POD)).structured_content["results"][0]
    assert (found["candidates"]["count"], len(found["candidates"]["nodes"])) == (NAMED + 5, NAMED)
    assert [(one["count"], len(one.get("nodes", ()))) for one in found["closed"]] == [(NAMED + 5, NAMED), (3, 0)]


async def test_a_plan_says_where_each_element_goes() -> None:
    reviewer = Answering(
        ReviewStatus(
            plan={
                "title": "Plan",
                "subjects": [
                    {
                        "origin": "Job parallel", "namespace": "team-a", "verdict": "admitted", "file": "f",
                        "elements": [
                            {"name": "parallel-0", "node": "a", "replicas": 1, "cost": 3},
                            {"name": "w", "node": "", "replicas": 3, "placed": {"a": 1, "b": 2}},
                        ],
                    }
                ],
                "totalCost": 7, "cheapest": True, "undecided": False, "nodes": [{"name": "a"}],
            }
        )
    )  # fmt: skip
    async with client_of(reviewer) as client:
        answer = await client.call_tool("plan_placement", {"manifests": POD})
    assert reviewer.asked[0][1].plan
    assert answer.structured_content == {
        "subjects": [
            {
                "origin": "Job parallel", "namespace": "team-a", "verdict": "admitted",
                "elements": [
                    {"name": "parallel-0", "node": "a"},
                    {"name": "w", "replicas": 3, "placed": {"a": 1, "b": 2}},
                ],
            }
        ],
        "totalCost": 7, "cheapest": True,
    }  # fmt: skip


async def test_without_a_plan_there_are_no_subjects() -> None:
    assert (await called(ReviewStatus(), "plan_placement", manifests=POD)).structured_content == {}


async def test_a_message_is_explained() -> None:
    answer = await called(ReviewStatus(), "explain_message", message="  2 nodes do not have the label disktype=ssd")
    first = answer.structured_content["matches"][0]
    assert first["text"] == "do not have the label …"
    assert first["topic"] == "Nodes that cannot run the pod"
    assert "refusals (docs/refusals.md#no-node-can-run-the-pod)" in first["advice"]


# Hostile arguments

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "manifests of another type": (
        {"manifests": ["x"]},
        "the arguments of review_placement are wrong: manifests: expected `str`, got `array`",
    ),
    "too much text": (
        {"manifests": "x" * ((1 << 20) + 1)},
        "the arguments of review_placement are wrong: manifests: expected `str` of length <= 1048576",
    ),
    "an unknown argument": (
        {"manifest": "x"},
        "the arguments of review_placement are wrong: object contains unknown field `manifest`",
    ),
    "a what-if of another type": (
        {"whatIf": {"drain": "node-a"}},
        "the arguments of review_placement are wrong: whatIf.drain: expected `array`, got `str`",
    ),
    "an unknown what-if": (
        {"whatIf": {"reboot": ["node-a"]}},
        "the arguments of review_placement are wrong: whatIf: object contains unknown field `reboot`",
    ),
    "no object": ({"manifests": "- 1"}, "manifests: a document is not a Kubernetes object: it has no kind"),
    "no YAML": ({"manifests": "{"}, "manifests: line 2, column 1: did not find expected node content"),
    "a tag that would build an object": (
        {"manifests": "kind: Pod\nspec: !!python/name:os.system x"},
        "manifests: line 2: the tag tag:yaml.org,2002:python/name:os.system is not supported",
    ),
    "an alias of itself": ({"manifests": "kind: Pod\nspec: &a [*a]"}, "manifests: line 2: the alias *a has no anchor"),
    "a hundred levels too many": (
        {"manifests": "kind: Pod\nspec: " + "[" * 300},
        "manifests: line 2: nested more than 200 levels deep",
    ),
    "aliases that make a thousand million values": (
        {"manifests": bomb(9, 10)},
        "Pod bomb has more than 2097152 bytes as JSON, too many for a review",
    ),
    "aliases that make a thousand levels": (
        {"manifests": bomb(1000, 1)},
        "Pod bomb is nested more than 100 levels deep",
    ),
    "too many objects": (
        {"manifests": "---\n".join([POD] * 101)},
        "manifests has 101 objects: ask about at most 100 at a time",
    ),
    "no arguments": ({}, "manifests has no object: give one, or nodes to drain in whatIf"),
    "a comment": ({"manifests": "# a pod\n"}, "manifests has no object: give one, or nodes to drain in whatIf"),
    "changes and nothing that they matter to": (
        {"whatIf": {"cordon": ["node-a"]}},
        "manifests has no object: give one, or nodes to drain in whatIf",
    ),
    "half a character": ({"manifests": "\ud800"}, "manifests: a document is not a Kubernetes object: it has no kind"),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG.values(), ids=WRONG)
async def test_arguments_that_cannot_be_used_are_told_and_nothing_is_asked(
    arguments: dict[str, Any], sentence: str
) -> None:
    reviewer = Answering(ReviewStatus())
    async with client_of(reviewer) as client:
        assert failed(await client.call_tool("review_placement", arguments)) == sentence
    assert reviewer.asked == []


async def test_an_empty_message_is_wrong() -> None:
    assert failed(await called(ReviewStatus(), "explain_message", message="")) == (
        "the arguments of explain_message are wrong: message: expected `str` of length >= 1"
    )


async def test_an_unknown_tool_is_an_error_of_the_protocol() -> None:
    from mcp.shared.exceptions import MCPError  # noqa: PLC0415 -- as above

    async with client_of(Answering(ReviewStatus())) as client:
        with pytest.raises(MCPError) as error:
            await client.call_tool("plan_placment")
    assert str(error.value) == 'unknown tool "plan_placment" (did you mean plan_placement?)'


async def test_a_cluster_that_does_not_answer_is_told() -> None:
    assert failed(await called(FatalError("there is no cluster"), manifests=POD)) == "there is no cluster"


async def test_a_defect_is_told_without_its_text_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = await called(KeyError("secret"), manifests=POD)
    assert failed(answer) == "review_placement failed; the log of the server has the reason"
    assert "KeyError: 'secret'" in caplog.text


async def test_a_plan_of_nothing_is_not_asked_for() -> None:
    answer = await called(ReviewStatus(), "plan_placement", whatIf={"drain": ["node-a"]})
    assert failed(answer) == "manifests has no object to plan: give one"


async def test_schemas_say_what_each_field_of_a_review_means() -> None:
    async with client_of(Answering(ReviewStatus())) as client:
        review = (await client.list_tools()).tools[0]
    assert review.output_schema
    cordon = review.input_schema["$defs"]["WhatIf"]["properties"]["cordon"]
    assert cordon["description"] == "Nodes that take no new pods."
    verdict = review.output_schema["$defs"]["ReviewResult"]["properties"]["verdict"]
    assert verdict["description"].startswith("Waiting is admitted")
    assert verdict["enum"] == ["Admitted", "NotJudged", "Refused", "Waiting"]
