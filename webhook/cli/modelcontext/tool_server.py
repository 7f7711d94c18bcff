"""The server: lists the tools with their schemas, and calls them, over standard input and output.

This is the one module that imports the SDK of the Model Context Protocol (the extra ``mcp``). A tool that fails answers
with a text that says what to do, as the protocol has it; an unknown tool is an error of the protocol.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

import mcp_types
import msgspec
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from kubeapi.client.decoding import reason
from webhook.aggregated.fields import FIELDS
from webhook.app.review_requests import RejectedReviewError
from webhook.cli.modelcontext.message_search import MessageArguments, MessageExplanation, explain_message
from webhook.cli.modelcontext.review_tools import PlanAnswer, ReviewAnswer, ReviewArguments, ReviewTools
from webhook.cluster.objects.report import SnapshotError
from webhook.placement.text.nearest import unknown
from webhook.server.fatal_error import FatalError

NAME: Final = "streams-placement"
"""The name of the server."""

_INSTRUCTIONS: Final = (
    "Ask where pods, workloads, Jobs and HostPools can run on a Kubernetes cluster before they are submitted. Nothing "
    "is created or changed. A refusal names the smallest set of constraints that cannot hold together, and the nearest "
    "fix: apply the fix to the manifests, and ask again."
)

_log = logging.getLogger(__name__)


class Tool(Struct, frozen=True):
    """A tool: its name, what it does, the types of its arguments and its answer, and the function."""

    name: str
    about: str
    given: type[Struct]
    answers: type[Struct]
    call: Callable[[Any], Awaitable[Struct]]


def tools_of(reviews: ReviewTools) -> tuple[Tool, ...]:
    """All tools."""

    async def explain(asked: MessageArguments) -> MessageExplanation:
        return explain_message(asked.message)

    return (
        Tool(
            "review_placement",
            "Tell for each object of the manifests whether the cluster would admit it, and why not: the verdict, the "
            "number of nodes that can run it, the rule that closes each of the others, the smallest set of constraints "
            "that cannot hold together, the nearest fix, and the patch that admission would make. With whatIf, answer "
            "as if nodes were drained, cordoned or added, or pods were gone; a drain also tells which pods find no "
            "node again.",
            ReviewArguments,
            ReviewAnswer,
            reviews.review_placement,
        ),
        Tool(
            "plan_placement",
            "Tell on which node each pod of the manifests would run, all of them together, at the lowest cost.",
            ReviewArguments,
            PlanAnswer,
            reviews.plan_placement,
        ),
        Tool(
            "explain_message",
            "Tell what a refusal, a warning or an error of streams-placement is about, and which page of its "
            "documentation says more.",
            MessageArguments,
            MessageExplanation,
            explain,
        ),
    )


def server_of(reviews: ReviewTools, version: str) -> Server[dict[str, Any]]:
    """The server with all tools."""
    tools = {tool.name: tool for tool in tools_of(reviews)}
    listed = mcp_types.ListToolsResult(tools=[_described(tool) for tool in tools.values()])

    async def list_tools(
        _context: ServerRequestContext[dict[str, Any]], _params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        return listed

    async def call_tool(
        _context: ServerRequestContext[dict[str, Any]], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(mcp_types.INVALID_PARAMS, unknown("tool", params.name[:_NAME_LIMIT], tools))
        return await _called(tool, params.arguments or {})

    return Server(NAME, version=version, instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


_NAME_LIMIT: Final = 100
"""Characters of a tool's name that an error repeats."""


async def _called(tool: Tool, arguments: dict[str, Any]) -> mcp_types.CallToolResult:
    """The answer of the tool, or its error."""
    try:
        answer = await tool.call(msgspec.convert(arguments, tool.given))
    except msgspec.ValidationError as error:
        return _failed(f"the arguments of {tool.name} are wrong: {reason(error)}")
    except (RejectedReviewError, FatalError, SnapshotError) as error:
        return _failed(str(error))
    except Exception:  # noqa: BLE001 -- a call that fails must not end the others; the log has the traceback
        _log.exception("%s failed", tool.name)
        return _failed(f"{tool.name} failed; the log of the server has the reason")
    content: dict[str, Any] = msgspec.to_builtins(answer)
    return mcp_types.CallToolResult(content=[_text(msgspec.json.encode(answer).decode())], structured_content=content)


def _failed(why: str) -> mcp_types.CallToolResult:
    return mcp_types.CallToolResult(content=[_text(why)], is_error=True)


def _text(text: str) -> mcp_types.TextContent:
    return mcp_types.TextContent(type="text", text=text)


def _described(tool: Tool) -> mcp_types.Tool:
    return mcp_types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=schema_of(tool.given),
        output_schema=schema_of(tool.answers),
        annotations=mcp_types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    )


def schema_of(shape: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of the type, with an object at its root, as the protocol requires."""
    _, definitions = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    described = {name: _cleaned(name, body) for name, body in definitions.items()}
    return {**described.pop(shape.__name__), "$defs": described}


def _cleaned(name: str, body: dict[str, Any]) -> dict[str, Any]:
    """The definition of a type, with its docstring as plain text, and what each field of a PlacementReview means."""
    about = FIELDS.get(name, {})
    properties = {
        field: {**schema, "description": about[field]} if field in about else schema
        for field, schema in body["properties"].items()
    }
    text = inspect.cleandoc(body.get("description", "")).replace("``", "`")
    return {**body, "description": text, "properties": properties}


async def serve(reviews: ReviewTools, version: str) -> None:
    """Answer on standard input and output until the input ends."""
    server = server_of(reviews, version)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
