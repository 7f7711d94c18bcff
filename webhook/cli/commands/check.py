"""``check``: whether the webhook of a cluster decides, by an admission and a refusal that change nothing."""

import argparse
import asyncio
from typing import Final

from msgspec import Struct

from webhook.app import check as program
from webhook.app.check_result import CheckResult
from webhook.cli import Subparsers
from webhook.cli.arguments import flags
from webhook.cli.arguments.command_help import HelpExample, declare
from webhook.cli.exits import Exit
from webhook.cli.screen import Screen
from webhook.cli.terminal.output import TEXT, add_output, write
from webhook.placement.text.problem import escape

_FLAGS: Final = ("context", "reviewed_kinds")
_DESCRIPTION: Final = (
    "Submit a pod that can run anywhere and a pod that can run nowhere, both as a dry run: the webhook must admit the "
    "first and refuse the second. With --reviewed-kinds an application of each of these kinds that can run nowhere is "
    "submitted, too, and kinds that the API server does not serve are named. This needs the right to create pods, and "
    "objects of these kinds, in the namespace; nothing is created. `helm test` does the same."
)

_HOW: Final = {
    (True, True): ("ok", "green"), (True, False): ("not served", "yellow"), (False, True): ("FAILED", "bold red"),
}  # fmt: skip
"""The word for a result, and its style."""

HELP_EXAMPLES: Final = (
    HelpExample("in the namespace default", "streams-placement check", cluster=True),
    HelpExample("in a namespace that opts in", "streams-placement check -n team-a", cluster=True),
    HelpExample(
        "with two kinds of applications",
        "streams-placement check --reviewed-kinds RayCluster.ray.io,FlinkDeployment.flink.apache.org",
        cluster=True,
    ),
)
"""The examples of the help."""


class CheckAnswer(Struct, frozen=True):
    """The questions that were asked in a namespace, and their results."""

    namespace: str
    ok: bool
    checks: list[CheckResult]


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "check", _DESCRIPTION, HELP_EXAMPLES)
    flags.add_namespace(parser, "Namespace of the pods")
    parser.add_argument("--audit", action="store_true", help="Expect audit mode: nothing must be refused.")
    add_output(parser)
    flags.add(parser, _FLAGS)


def run(arguments: argparse.Namespace) -> int:
    """Show the results; returns ``Exit.TROUBLE`` if one of them is not as it should be."""
    settings = flags.read(arguments)
    namespace = flags.namespace(arguments, settings)
    results = asyncio.run(program.checked(settings, namespace, audit=arguments.audit))
    answer = CheckAnswer(namespace, all(one.ok for one in results), results)
    if arguments.output == TEXT:
        screen = Screen()
        for one in results:
            why = f": {escape(one.message)}" if one.message else ""
            said, style = _HOW[one.ok, one.served]
            screen.say(f"{said}  {one.name}{why}", style)
    else:
        write(answer, arguments.output)
    return Exit.OK if answer.ok else Exit.TROUBLE
