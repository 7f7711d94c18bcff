"""Text for a person: coloured on a terminal, plain anywhere else."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from webhook.cli.differences import changed_lines
from webhook.cli.explanation import Explanation
from webhook.cli.pool_explanation import PoolExplanation
from webhook.placement.problem import escape

_STYLES = {"+": "green", "-": "red"}
_LISTED = 12
"""Names of nodes on one line; ``-o json`` has all of them."""


class Screen:
    """Where results are shown; ``console`` decides by itself whether it may use colour."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True)

    def say(self, text: str, style: str = "") -> None:
        """One or more lines, exactly as they are."""
        self._console.print(Text(text, style=style))

    def heading(self, text: str) -> None:
        """What the following lines are about."""
        self.say(text, "bold")

    def refusal(self, message: str) -> None:
        """A refusal, as the person at kubectl would see it."""
        first, _, rest = message.partition("\n")
        self.say(f"  {first}", "bold red")
        for line in rest.splitlines():
            self.say(f"  {line}")

    def difference(self, lines: Iterable[str]) -> None:
        """Lines of a difference, added ones green, removed ones red."""
        for line in lines:
            self.say(f"  {line}", _STYLES.get(line[:1], "dim"))

    def explanation(self, found: Explanation) -> None:
        """Everything about one pod."""
        self._verdict(found, "can run it")
        if found.after is None:
            self.refusal(found.message)
        else:
            self.difference(changed_lines(found.before, found.after))
        self._nodes(found)

    def pool(self, found: PoolExplanation) -> None:
        """Everything about one host pool."""
        self._verdict(found, "could be its hosts")
        if found.refused:
            self.refusal(found.message)
        elif found.hosts:
            self.say(f"  hosts: {_listed(found.hosts)}")
        self._nodes(found)

    def _verdict(self, found: Explanation, can: str) -> None:
        style = "bold red" if found.refused else "bold green"
        total = len(found.candidates) + sum(len(removed.nodes) for removed in found.removed)
        count = f", {len(found.candidates)} of {total} nodes {can}" if total else ""
        self.heading(f"{found.file}: {escape(found.origin)} in namespace {escape(found.namespace)}")
        self.say(f"  {found.verdict}{count}", style)

    def _nodes(self, found: Explanation) -> None:
        for warning in found.warnings:
            self.say(f"  warning: {escape(warning)}", "yellow")
        if found.candidates:
            self.say(f"  candidates: {_listed(found.candidates)}")
        for removed in found.removed:
            clause = f"{escape(removed.clause)}: " if removed.clause else ""
            self.say(f"  out: {_listed(removed.nodes)} ({clause}{escape(removed.reason)})", "dim")


def _listed(names: list[str]) -> str:
    rest = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {rest} more" if rest > 0 else "")
