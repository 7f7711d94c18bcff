"""Figures without goals that the results mention, one sentence each."""

from collections.abc import Iterator, Sequence

from bench.e2e.clients.orders import Outcome
from bench.e2e.clients.variants import ECHO, NONE, OURS, SAME, VARIANTS
from bench.e2e.creations import figures
from bench.e2e.creations.observation import Observation
from bench.e2e.creations.options import Options
from bench.e2e.creations.rounds import Slot


def every(seen: Observation, used: Sequence[Slot], chosen: Options) -> Iterator[str]:
    """All of them; ``used`` are the turns that count."""
    for clients in (chosen.clients, 1):
        yield from _waits(used, clients)
    yield from _cpu_time(used, chosen.clients)
    yield from _clients(used, seen.control)
    yield f"the stand-in for kube-proxy makes a review {seen.detour:.2f} ms longer, asked one after the other"
    yield from (_pods(name, seen.slots) for name in VARIANTS)


def _waits(slots: Sequence[Slot], clients: int) -> Iterator[str]:
    """What creations wait for."""
    many = "1 client" if clients == 1 else f"{clients} clients"
    against = figures.against(slots, clients, SAME.name, sound=True)
    yield f"{many}: added to the median, against an echo of one constant patch: {against.text}"
    waits = (f"{name} {seconds * 1e3:.2f}" for name, seconds in figures.seconds_by_call(slots, clients).items())
    yield f"{many}: mean time that the API server waits for a review, ms: {', '.join(waits)}"


def _cpu_time(slots: Sequence[Slot], clients: int) -> Iterator[str]:
    """What it costs, whoever waits."""
    cpu = {name: sum(row.cpu.values()) for name, row in figures.rows(slots, clients).items()}
    added = ", ".join(f"{each.title} {cpu[each.name] - cpu[NONE.name]:.2f} ms" for each in (OURS, ECHO, SAME))
    yield f"CPU time added to a creation, by all processes together: {added}"
    most = max(slot.usage.others for slot in slots)
    yield f"programs that are not the benchmark's took up to {most:.0%} of the machine in one turn"


def _clients(slots: Sequence[Slot], control: Outcome) -> Iterator[str]:
    """Whether the clients were what was measured."""
    cpu, seconds = sum(slot.outcome.cpu for slot in slots), sum(slot.outcome.seconds for slot in slots)
    sent, times = sum(slot.outcome.sent for slot in slots), figures.headroom(control, slots)
    yield (
        f"control: the same clients get {control.rate:,.0f} cheap answers a second (the API server's version), "
        f"{times:.1f} times the fastest creations"
    )
    yield f"the clients' process took {cpu / sent * 1e6:,.0f} µs of CPU time a creation, {cpu / seconds:.0%} of a core"


def _pods(name: str, slots: Sequence[Slot]) -> str:
    """What became of a variant's pods."""
    own = [slot.outcome for slot in slots if slot.variant == name]
    sent, ok, patched = (sum(getattr(each, what) for each in own) for what in ("sent", "ok", "patched"))
    errors = "; ".join(
        f"{count} x {kind}: {each.examples[kind]}" for each in own for kind, count in each.errors.items()
    )
    return (
        f"{VARIANTS[name].title}: {sent:,} pods sent, {ok:,} created, {patched:,} patched; errors: {errors or 'none'}"
    )
