"""``mcp``: a server of the Model Context Protocol on standard input and output, for assistants and pipelines."""

import argparse
import asyncio
from importlib import metadata

from webhook.app.review_requests import reviewer_of
from webhook.cli import PROGRAM
from webhook.cli.arguments import given_settings
from webhook.cli.declarations.setting_flags import DEFAULT_NAMESPACE
from webhook.cli.exits import Exit
from webhook.cli.modelcontext.review_tools import ReviewTools
from webhook.server.fatal_error import FatalError


def run(arguments: argparse.Namespace) -> int:
    """Answer until the input ends; raises FatalError if the SDK is not installed."""
    settings = given_settings.read(arguments)
    if settings.snapshot is None:
        namespace = given_settings.namespace(arguments, settings)
    else:
        namespace = arguments.namespace or DEFAULT_NAMESPACE
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
