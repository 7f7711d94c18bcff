"""``mcp``: a server of the Model Context Protocol on standard input and output, for assistants and pipelines."""

import argparse
import asyncio
from importlib import metadata
from typing import Final

from webhook.app.review_requests import reviewer_of
from webhook.cli import PROGRAM, Subparsers
from webhook.cli.arguments import flags
from webhook.cli.arguments.command_help import HelpExample, declare
from webhook.cli.exits import Exit
from webhook.cli.modelcontext.review_tools import ReviewTools
from webhook.server.fatal_error import FatalError

_DESCRIPTION: Final = (
    "Answer the calls of an assistant by the Model Context Protocol, on standard input and output, until the input "
    "ends. The tools are review_placement, plan_placement and explain_message; they change nothing. Reviews are asked "
    "of the webhook of the cluster, with your own rights and its settings; with --snapshot they are answered here, by "
    "the settings below. This takes the extra mcp of the package."
)

HELP_EXAMPLES: Final = (
    HelpExample("about the cluster of a context", "streams-placement mcp --context kind-lab", cluster=True),
    HelpExample("about a snapshot of a cluster", "streams-placement mcp --snapshot examples/cluster < /dev/null"),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "mcp", _DESCRIPTION, HELP_EXAMPLES)
    flags.add_namespace(parser, "Namespace of objects that state none")
    flags.add(parser, ("snapshot", "context", *flags.JUDGING))


def run(arguments: argparse.Namespace) -> int:
    """Answer until the input ends; raises FatalError if the SDK is not installed."""
    settings = flags.read(arguments)
    if settings.snapshot is None:
        namespace = flags.namespace(arguments, settings)
    else:
        namespace = arguments.namespace or flags.DEFAULT_NAMESPACE
    try:
        from webhook.cli.modelcontext.tool_server import serve  # noqa: PLC0415 -- takes the extra
    except ModuleNotFoundError as error:
        raise FatalError(
            f"the SDK of the Model Context Protocol is not installed ({error.name} is missing): "
            "pip install 'streams-placement[mcp]'"
        ) from error
    tools = ReviewTools(lambda: reviewer_of(settings), namespace)
    asyncio.run(serve(tools, metadata.version(PROGRAM)))
    return Exit.OK
