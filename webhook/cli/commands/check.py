"""``check``: whether the webhook of a cluster decides, by an admission and a refusal that change nothing."""

import argparse
import asyncio
from typing import Final

from msgspec import Struct

from webhook.app import check as program
from webhook.cli import Subparsers
from webhook.cli.arguments import flags
from webhook.cli.arguments.command_help import HelpExample, declare
from webhook.cli.exits import Exit
from webhook.cli.screen import Screen
from webhook.cli.terminal.output import TEXT, add_output, write
from webhook.placement.text.problem import escape

_FLAGS: Final = ("context",)
_DESCRIPTION: Final = (
    "Submit a pod that can run anywhere and a pod that can run nowhere, both as a dry run: the webhook must admit the "
    "first and refuse the second. This needs the right to create pods in the namespace; nothing is created. `helm "
    "test` does the same."
)

HELP_EXAMPLES: Final = (
    HelpExample("in the namespace default", "streams-placement check", cluster=True),
    HelpExample("in a namespace that opts in", "streams-placement check -n team-a", cluster=True),
)
"""The examples of the help."""


class CheckAnswer(Struct, frozen=True):
    """The questions that were asked in a namespace, and their results."""

    namespace: str
    ok: bool
    checks: list[program.CheckResult]


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "check", _DESCRIPTION, HELP_EXAMPLES)
    flags.add_namespace(parser, "Namespace of the pods")
    parser.add_argument("--audit", action="store_true", help="Expect audit mode: nothing must be refused.")
    add_output(parser)
    flags.add(parser, _FLAGS)


def run(arguments: argparse.Namespace) -> int:
    """Show both results; returns ``Exit.TROUBLE`` if one of them is not as it should be."""
    settings = flags.read(arguments)
    namespace = flags.namespace(arguments, settings)
    results = asyncio.run(program.checked(settings, namespace, audit=arguments.audit))
    answer = CheckAnswer(namespace, all(one.ok for one in results), results)
    if arguments.output == TEXT:
        screen = Screen()
        for one in results:
            why = f": {escape(one.message)}" if one.message else ""
            screen.say(f"{'ok' if one.ok else 'FAILED'}  {one.name}{why}", "green" if one.ok else "bold red")
    else:
        write(answer, arguments.output)
    return Exit.OK if answer.ok else Exit.TROUBLE
