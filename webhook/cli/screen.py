"""Output of ``explain`` and ``tour`` for a person: coloured on a terminal, plain text anywhere else."""

import itertools
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from webhook.cli.terminal.console import console
from webhook.cli.terminal.differences import changed_lines
from webhook.placement.objects.jobs.job_fusion import JobFusion
from webhook.placement.text.problem import counted, enumerated, escape, shorten
from webhook.placement.workload.ranking import Ranked
from webhook.placementreview.explanations.explanation import Explanation, PodExplanation
from webhook.placementreview.explanations.job_explanation import JobExplanation
from webhook.placementreview.explanations.pool_explanation import PoolExplanation

_STYLES = {"+": "green", "-": "red"}
_LISTED = 12
"""Names of nodes that one line lists at most; ``-o json`` has all."""
_GAP = 2
"""Blanks between two columns."""
_BEST = 5
"""Nodes that are shown with their cost, the cheapest first."""


class StyledLine(NamedTuple):
    """A line, in printable ASCII, and its style."""

    text: str
    style: str = ""


class Screen:
    """Prints results; on a terminal in colour, and with tables that fit it.

    Anywhere else tables and prose fit into ``width`` columns, and are as wide as need be without a ``width``.
    """

    def __init__(self, shown: Console | None = None, *, width: int | None = None) -> None:
        self._console = shown or console(sys.stdout)
        self._width = None if self._console.file.isatty() else width

    def say(self, text: str, style: str = "") -> None:
        """Print one or more lines; what a terminal would act on is shown as an escape."""
        self._console.print(Text("\n".join(map(escape, text.split("\n"))), style=style))

    def lines(self, lines: Iterable[StyledLine]) -> None:
        """Print lines, each in its style."""
        for line in lines:
            self.say(line.text, line.style)

    def prose(self, line: str, style: str = "") -> None:
        """Print a line for a person to read, wrapped with a deeper indent if it is too long."""
        shown = escape(line)
        if self._width and len(shown) > self._width:
            indent = " " * (len(shown) - len(shown.lstrip()))
            wrapped = textwrap.wrap(
                shown.lstrip(), self._width, initial_indent=indent, subsequent_indent=f"{indent}  ",
                break_on_hyphens=False,
            )  # fmt: skip
            shown = "\n".join(wrapped)
        self.say(shown, style)

    def heading(self, text: str) -> None:
        """Print a heading for the following lines."""
        self.say(text, "bold")

    def table(self, head: Sequence[str], cells: Iterable[Sequence[str]], *, fixed: Collection[str]) -> None:
        """Print a line for each row; a terminal wraps the last column, and cuts others unless ``fixed``.

        Where there is a width the last column is cut as well.
        """
        rows = [[*map(escape, row)] for row in cells]
        widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
        if not self._console.file.isatty():
            fitting = _fitting(widths, [title in fixed for title in head], self._width) if self._width else widths
            for row in (head, *rows):
                cut = map(shorten, row, fitting)
                self.say((" " * _GAP).join(map(str.ljust, cut, fitting)).rstrip())
            return
        table = Table(box=None, expand=True, pad_edge=False, header_style="bold")
        for title, width in zip(head, widths, strict=True):
            kept = title in fixed
            wide = 2 if title == head[-1] else 1
            share = None if kept else wide
            table.add_column(title, width=width if kept else None, ratio=share, no_wrap=title != head[-1])
        for row in rows:
            table.add_row(*(Text(cell, style=_outcome(cell)) for cell in row))
        self._console.print(table, soft_wrap=False)

    def refusal(self, message: str) -> None:
        """Print a refusal as kubectl would show it to the user."""
        first, _, following = message.partition("\n")
        self.prose(f"  {first}", "bold red")
        for line in following.splitlines():
            self.prose(f"  {line}")

    def difference(self, lines: Iterable[str]) -> None:
        """Print the lines of a difference: added lines green, removed lines red."""
        for line in lines:
            self.say(f"  {line}", _STYLES.get(line[:1], "dim"))

    def explanation(self, explanation: Explanation) -> None:
        """Print the explanation of one pod."""
        self._verdict(explanation, "can run it")
        if explanation.after is None:
            self.refusal(explanation.message)
        else:
            self.difference(changed_lines(explanation.before, explanation.after))
        self._nodes(explanation)

    def pool(self, explanation: PoolExplanation) -> None:
        """Print the explanation of one HostPool."""
        self._verdict(explanation, "could be its hosts")
        if explanation.refused:
            self.refusal(explanation.message)
        elif explanation.hosts:
            self.say(f"  hosts: {_listed(explanation.hosts)}")
        self._nodes(explanation)

    def job(self, explanation: JobExplanation) -> None:
        """Print the explanation of one Job."""
        self._verdict(explanation, "")
        if explanation.refused:
            self.refusal(explanation.message)
        self._nodes(explanation)
        if explanation.fusion and explanation.fusion.processing_elements:
            self._fusion(explanation.fusion)

    def _fusion(self, fusion: JobFusion) -> None:
        """Print the processing elements with their operators, and what keeps operators with a stream apart."""
        kept = f"{fusion.inside} % of the traffic stays inside"
        self.say(f"  fused ({escape(fusion.scheme)}) into {counted(fusion.made, 'processing element')}, {kept}:")
        for element in fusion.processing_elements:
            self.say(f"    {escape(element.name)}: {_listed(element.operators)}")
        for one in fusion.separations[:_LISTED]:
            self.say(f"  apart: {' and '.join(map(escape, one.operators))} ({escape(one.clause)})")

    def _verdict(self, explanation: Explanation, can: str) -> None:
        style = "bold red" if explanation.refused else "bold green"
        total = len(explanation.candidates) + sum(len(removed.nodes) for removed in explanation.removed)
        count = f", {len(explanation.candidates)} of {counted(total, 'node')} {can}" if total else ""
        self.heading(
            f"{escape(explanation.file)}: {escape(explanation.origin)} in namespace {escape(explanation.namespace)}"
        )
        unread = not explanation.refused and isinstance(explanation, PodExplanation) and not explanation.asks
        verdict = f"{explanation.verdict} unchanged (it does not ask for placement)" if unread else explanation.verdict
        self.say(f"  {verdict}{count}", style)

    def _nodes(self, explanation: Explanation) -> None:
        for warning in explanation.warnings:
            self.say(f"  warning: {escape(warning)}", "yellow")
        if explanation.candidates:
            self.say(f"  candidates: {_listed(explanation.candidates)}")
        if isinstance(explanation, PodExplanation) and not explanation.refused:
            self._ranking(explanation.ranking)
        for removed in explanation.removed:
            clause = f"{escape(removed.clause)}: " if removed.clause else ""
            self.say(f"  out: {_listed(removed.nodes)} ({clause}{escape(removed.reason)})", "dim")

    def _ranking(self, ranking: Sequence[Ranked]) -> None:
        """Print the cheapest candidates with their costs, if there are several, and how replicas would be spread."""
        if len(ranking) > 1:
            self.say(f"  cheapest: {_listed([f'{ranked.node} ({ranked.cost})' for ranked in ranking], _BEST)}")
        if shares := "; ".join(_shares(ranking)):
            self.say(f"  replicas: {shares}")


def _fitting(widths: Sequence[int], fixed: Sequence[bool], width: int) -> list[int]:
    """The widths of columns that fit into ``width``: those not ``fixed`` share the room, and the last has two shares.

    What one of them does not need is left to the others.
    """
    room = width - _GAP * (len(widths) - 1) - sum(itertools.compress(widths, fixed))
    shares = [*(int(not kept) for kept in fixed[:-1]), 2]
    fitted = [*widths]
    for at in (at for at, kept in enumerate(fixed) if not kept):
        others = sum(wide for wide, kept in zip(widths[at + 1 :], fixed[at + 1 :], strict=True) if not kept)
        fitted[at] = min(widths[at], max(room * shares[at] // sum(shares[at:]), room - others))
        room -= fitted[at]
    return fitted


def _outcome(cell: str) -> str:
    """The style of a table cell: green for ``admitted``, red for ``refused``, else none."""
    return {"admitted": "green", "refused": "red"}.get(cell.partition(" ")[0], "")


def _listed(names: Sequence[str], most: int = _LISTED) -> str:
    return enumerated(names, most, escape)


def _shares(ranking: Iterable[Ranked]) -> Iterator[str]:
    """Texts that say which nodes would get how many replicas, the largest number first."""
    nodes: dict[int, list[str]] = {}
    for ranked in ranking:
        nodes.setdefault(ranked.replicas or 0, []).append(ranked.node)
    for count in sorted(nodes.keys() - {0}, reverse=True):
        each = "each of " if len(nodes[count]) > 1 else ""
        yield f"{count} on {each}{_listed(nodes[count])}"
