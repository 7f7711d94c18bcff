"""The results as Markdown: goals and whether they are met, what each variant costs, what the figures do not show."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from bench.e2e.clients.variants import NONE, VARIANTS
from bench.e2e.creations.figures import Row, percentile, shown
from bench.e2e.creations.options import Options
from bench.e2e.creations.results import Results
from bench.e2e.creations.rounds import Slot
from bench.reviews.findings import Figure
from bench.reviews.goals import Goal

_HEAD = """# Benchmark results, end to end

Made by `python -m bench.e2e`: pods created through a real API server. Each figure is the median of interleaved rounds,
with the smallest and the largest; what is added is the difference to the same round without any webhook. Times do not
travel from machine to machine; everything that runs here shares its cores, so with many clients a time is mostly what
all of them wait for CPU time."""

_NOTES = """
- All variants create the same pods of 4 KB, but for the prefix of annotations and labels: four templates of
  constraints, and a quarter of the pods with a text that no other pod has. They are deleted after each turn.
- Nobody schedules them (`schedulerName: nobody`): only the creation is measured.
- Only "streams-placement" has the chart: for all others its admission objects are deleted, and its processes stopped.
  So "no webhook" is a cluster that has nothing of the product, and what is added is all that it costs.
- The chart is as it is by default but for one process instead of two. The echo has copies of its mutating entry: once
  it allows all pods, once it answers with one constant patch, which is the least that anything that changes pods costs.
- Between the API server and a webhook stands the test bench's own stand-in for kube-proxy, a program in Python, for
  the echo, too. Its CPU time includes that of the program that measures.
- etcd does not wait for the disk; with one that does, a creation takes longer, and a webhook adds a smaller share.
""".strip()


def render(results: Results, chosen: Options, about: Iterable[tuple[str, str]], day: date) -> str:
    """The whole page."""
    size = (
        f"{chosen.nodes:,} nodes; each turn {chosen.singles:,} pods by one client, {chosen.pods:,} by {chosen.clients}"
    )
    lines = [("date", day.isoformat()), *about, ("size", size), ("rounds", _rounds(results))]
    parts = [
        _HEAD,
        "\n".join(f"- {name}: {value}" for name, value in lines),
        goal_table(results),
        "## Missed\n\n" + "\n".join(_missed(results)),
        *(f"## {_clients(clients)}\n\n{table(found)}" for clients, found in results.tables.items()),
        "## CPU time of a creation\n\nMilliseconds, all cores together.\n\n"
        + cpu_table(results.tables[chosen.clients]),
        "## Also seen\n\n" + "\n".join(f"- {fact}" for fact in results.facts),
        "## Rounds\n\nCreations a second, and the median, in each round, whether or not it counts.\n\n"
        + rounds_table(results.slots),
        "## How to read this\n\n" + _NOTES,
    ]
    return "\n\n".join(parts) + "\n"


def goal_table(results: Results) -> str:
    """Every goal, and whether it is met."""
    found = [(goal, results.figures[name]) for name, goal in results.goals.items()]
    rows = [(goal.what, str(goal), figure.text, _met(goal, figure)) for goal, figure in found]
    return _markdown(("what", "goal", "measured", "met?"), rows)


def table(found: Mapping[str, Row]) -> str:
    """What clients see of each variant."""
    head = ("", "creates/s", "x no webhook", "p50, ms", "p99, ms", "added to p50, ms", "reviews of a pod")
    return _markdown(head, (_cells(name, row) for name, row in found.items()))


def cpu_table(found: Mapping[str, Row]) -> str:
    """CPU time by variant and process."""
    roles = list(next(iter(found.values())).cpu)
    rows = (
        (VARIANTS[name].title, *(f"{row.cpu[role]:.2f}" for role in roles), f"{sum(row.cpu.values()):.2f}")
        for name, row in found.items()
    )
    return _markdown(("", *roles, "all"), rows)


def rounds_table(slots: Sequence[Slot]) -> str:
    """What was measured in each round."""
    turns: dict[tuple[int, int], dict[str, str]] = {}
    for slot in slots:
        cell = f"{slot.outcome.rate:,.0f}/s, {percentile(slot.outcome.durations, 50):.1f} ms"
        turns.setdefault((slot.round, slot.clients), {})[slot.variant] = cell
    rows = (
        (str(number), str(clients), *(found[name] for name in VARIANTS)) for (number, clients), found in turns.items()
    )
    return _markdown(("round", "clients", *(variant.title for variant in VARIANTS.values())), rows)


def _cells(name: str, row: Row) -> tuple[str, ...]:
    added = "-" if name == NONE.name else shown(row.added)
    return (
        VARIANTS[name].title,
        shown(row.rate, "{:,.0f}".format),
        shown(row.share, "{:.2f}".format),
        shown(row.p50),
        shown(row.p99),
        added,
        f"{row.reviews:.2f}",
    )


def _rounds(results: Results) -> str:
    if not results.kept:
        return f"{results.rounds}, every one disturbed by something else: the figures show that work, too"
    if results.kept < results.rounds:
        return f"{results.rounds}, of which {results.kept} count: the others were disturbed by something else"
    return str(results.rounds)


def _missed(results: Results) -> Iterator[str]:
    found = [(goal, results.figures[name]) for name, goal in results.goals.items()]
    for goal, figure in found:
        if not figure.sound:
            yield f"- {goal.what}: not known: the machine was busy, or the echo or the clients tell too little"
        elif not goal.met(figure.value):
            yield f"- {goal.what}: {figure.text}, {goal.missed_by(figure.value)} (goal: {goal})"
    if all(figure.sound and goal.met(figure.value) for goal, figure in found):
        yield "Nothing."


def _met(goal: Goal, figure: Figure) -> str:
    if not figure.sound:
        return "unknown"
    return "yes" if goal.met(figure.value) else "**no**"


def _clients(clients: int) -> str:
    return "One client" if clients == 1 else f"{clients} clients at a time"


def _markdown(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
