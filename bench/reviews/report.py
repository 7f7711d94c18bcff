"""The results as Markdown: each goal and whether it is met, by how much others were missed, the machine, the date."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from bench.reviews.findings import Figure
from bench.reviews.goals import GOALS, Goal, Scales

_HEAD = """# Benchmark results

Made by `python -m bench`. Ratios inside one run travel from machine to machine, times do not.
Ratios are medians of interleaved rounds, with the smallest and the largest; rounds that something else on the
machine disturbed do not count, as long as there are others."""


def render(
    figures: Mapping[str, Figure], facts: Iterable[str], scales: Scales, machine: Iterable[tuple[str, str]], day: date
) -> str:
    """The whole page."""
    about = [("date", day.isoformat()), *machine]
    parts = [
        _HEAD,
        "\n".join(f"- {name}: {value}" for name, value in about),
        table(figures, scales),
        "## Missed\n\n" + "\n".join(_missed(figures, scales)),
        "## Also seen\n\n" + ("\n".join(f"- {fact}" for fact in facts) or "Nothing."),
    ]
    return "\n\n".join(parts) + "\n"


def table(figures: Mapping[str, Figure], scales: Scales) -> str:
    """Every goal that was measured, and whether it is met."""
    rows = [("what", "goal", "measured", "met?"), ("---", "---", "---", "---")]
    rows += [(_what(goal, scales), str(goal), figure.text, _met(goal, figure)) for goal, figure in _measured(figures)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _measured(figures: Mapping[str, Figure]) -> Iterator[tuple[Goal, Figure]]:
    return ((goal, figures[name]) for name, goal in GOALS.items() if name in figures)


def _met(goal: Goal, figure: Figure) -> str:
    if not figure.sound:
        return "unknown, the machine was busy"
    return "yes" if goal.met(figure.value) else "**no**"


def _missed(figures: Mapping[str, Figure], scales: Scales) -> Iterator[str]:
    missed = [(goal, figure) for goal, figure in _measured(figures) if figure.sound and not goal.met(figure.value)]
    for goal, figure in missed:
        yield f"- {_what(goal, scales)}: {figure.text}, {goal.missed_by(figure.value)} (goal: {goal})"
    if not missed:
        yield "Nothing."


def _what(goal: Goal, scales: Scales) -> str:
    return f"{goal.what}; {getattr(scales, goal.scale)}" if goal.scale else goal.what
