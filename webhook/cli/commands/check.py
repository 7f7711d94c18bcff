"""``check``: whether the webhook of a cluster decides, by an admission and a refusal that change nothing."""

import argparse
import asyncio
from typing import Final

from msgspec import Struct

from webhook.app import check as program
from webhook.app.check_result import CheckResult
from webhook.cli.arguments import given_settings
from webhook.cli.exits import Exit
from webhook.cli.screen import Screen
from webhook.cli.terminal.output import TEXT, write
from webhook.placement.text.problem import escape

_HOW: Final = {
    (True, True): ("ok", "green"), (True, False): ("not served", "yellow"), (False, True): ("FAILED", "bold red"),
}  # fmt: skip
"""The word for a result, and its style."""


class CheckAnswer(Struct, frozen=True):
    """The questions that were asked in a namespace, and their results."""

    namespace: str
    ok: bool
    checks: list[CheckResult]


def run(arguments: argparse.Namespace) -> int:
    """Show the results; returns ``Exit.TROUBLE`` if one of them is not as it should be."""
    settings = given_settings.read(arguments)
    namespace = given_settings.namespace(arguments, settings)
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
