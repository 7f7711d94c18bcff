"""``python -m bench``: run all measurements, show progress, and write the results."""

import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from bench import machine, memory
from bench.generated import bodies, generator
from bench.generated.topology import Scale, node_name, topology
from bench.reviews import evaluation, latency, options, report, throughput
from bench.reviews.findings import Findings
from bench.reviews.goals import Scales, scales
from bench.reviews.options import Options
from bench.servers import processes
from bench.trouble import Trouble

TROUBLE = 3
INTERRUPTED = 130


class Scenario(Struct, frozen=True):
    """One product over one cluster, and the names of the figures to take from it; empty ones are not taken."""

    scale: Scale
    throughput: str = ""
    latency: str = ""
    memory: str = ""
    start: str = ""
    watched: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; returns the exit code."""
    chosen = options.read(argv)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it otherwise
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return _measure(chosen)
    except Trouble as trouble:
        print(f"bench: {trouble}", file=sys.stderr)
        return TROUBLE
    except KeyboardInterrupt:
        print("bench: interrupted, every server is stopped", file=sys.stderr)
        return INTERRUPTED


def _measure(chosen: Options) -> int:
    processes.compile_product()
    found, sizes = Findings(), scales(chosen.nodes, chosen.pods)
    if chosen.wants("evaluation"):
        _evaluate("", sizes.small, chosen, found)
        _evaluate("_large", sizes.large, chosen, found)
    loaded = throughput.installed()
    if chosen.wants("throughput", "latency", "memory"):
        _serve(_scenarios(sizes, chosen, loaded=loaded), chosen, found)
    if chosen.wants("memory"):
        seconds = memory.import_seconds(chosen.rounds)
        found.figure("import", seconds, f"{seconds:.2f} s")
    print(f"\n{report.table(found.figures, sizes)}\n")
    if chosen.wants("throughput") and not loaded:
        print(f"bench: {throughput.HINT}", file=sys.stderr)
        return TROUBLE
    if chosen.results:
        page = report.render(found.figures, found.facts, sizes, machine.describe(), datetime.now(UTC).date())
        chosen.results.write_text(page)
        found.tell(f"written to {chosen.results.name}")
    return 0


def _scenarios(sizes: Scales, chosen: Options, *, loaded: bool) -> list[Scenario]:
    every = (
        Scenario(sizes.small, throughput="throughput", latency="p99"),
        Scenario(sizes.large, throughput="throughput_large"),
        Scenario(
            sizes.small_full, throughput="throughput_pods", memory="memory", start="start", watched="memory_watched"
        ),
        Scenario(sizes.large_full, memory="memory_large"),
    )
    wanted = [
        Scenario(
            each.scale,
            each.throughput if chosen.wants("throughput") and loaded else "",
            each.latency if chosen.wants("latency") else "",
            each.memory if chosen.wants("memory") else "",
            each.start if chosen.wants("memory") else "",
            each.watched if chosen.wants("memory") else "",
        )
        for each in every
    ]
    return [each for each in wanted if each.throughput or each.latency or each.memory]


def _evaluate(suffix: str, scale: Scale, chosen: Options, found: Findings) -> None:
    found.tell(f"deciding, {scale}")
    seen = evaluation.measure(scale, chosen.evaluations)
    found.figure(f"evaluation{suffix}", seen.cached.p99, str(seen.cached))
    found.figure(f"loop{suffix}", seen.ratio, f"{seen.ratio:.0f} x (loop {seen.looped})")
    found.fact(f"{scale}: decision with its text parsed anew {seen.parsed}; whole review {seen.mutated}")
    by_kind = "; ".join(f"{kind}: {median:.0f}" for kind, median in seen.kinds.items())
    found.fact(f"{scale}: median decision in µs, by kind and size of the pod: {by_kind}")


def _serve(scenarios: Sequence[Scenario], chosen: Options, found: Findings) -> None:
    cache = generator.CACHE
    cache.mkdir(parents=True, exist_ok=True)
    files = bodies.write(cache / "mixed", bodies.mixed().values())
    with processes.echo(cache) as echo:
        for scenario in scenarios:
            found.tell(f"writing the cluster, {scenario.scale}")
            folder = generator.folder(scenario.scale)
            with processes.product(cache, folder) as product:
                found.tell(f"product ready after {product.ready_seconds:.1f} s, {scenario.scale}")
                _hold(scenario, product, found)
                latency.check(product, list(bodies.mixed().values()))
                _load(scenario, echo, product, files, chosen, found)
            if scenario.watched:
                _watch(scenario, cache, folder, found)


def _watch(scenario: Scenario, cache: Path, folder: Path, found: Findings) -> None:
    """What the product holds of the same cluster when it lists it from an API server."""
    with processes.listing(cache, folder) as api, processes.watching(cache, api) as product:
        found.tell(f"product has listed everything after {product.ready_seconds:.1f} s, {scenario.scale}")
        usage = memory.measure(product.pid)
    if usage is not None:
        found.figure(scenario.watched, usage.resident, f"{usage.resident:.0f} MB (peak {usage.peak:.0f} MB)")
        found.figure("start_cpu_watched", usage.cpu_seconds, f"{usage.cpu_seconds:.1f} s")


def _hold(scenario: Scenario, product: processes.Server, found: Findings) -> None:
    """What the product holds, and what it took to get there."""
    usage = memory.measure(product.pid)
    if usage is None:
        found.tell("this system does not say how much memory and time a process takes: not measured")
        return
    if scenario.memory:
        found.figure(scenario.memory, usage.resident, f"{usage.resident:.0f} MB (peak {usage.peak:.0f} MB)")
    if scenario.start:
        found.figure(scenario.start, product.ready_seconds, f"{product.ready_seconds:.1f} s")
        found.figure(f"{scenario.start}_cpu", usage.cpu_seconds, f"{usage.cpu_seconds:.1f} s")


def _load(
    scenario: Scenario,
    echo: processes.Server,
    product: processes.Server,
    files: Sequence[Path],
    chosen: Options,
    found: Findings,
) -> None:
    """Rounds of reviews for both, closed loop and open loop."""
    rounds, seconds = chosen.rounds, chosen.seconds
    if scenario.throughput:
        load = throughput.measure(echo, product, files, rounds=rounds, seconds=seconds, tell=found.tell)
        found.figure(scenario.throughput, load.ratio, str(load))
        costs = f"echo {load.echo_cpu:.0f} µs, product {load.product_cpu:.0f} µs"
        found.fact(f"{scenario.scale}: CPU time of a review: {costs}")
    if scenario.throughput == "throughput":
        for kind, reviews in _others(scenario.scale):
            others = bodies.write(generator.CACHE / kind, reviews)
            load = throughput.measure(echo, product, others, rounds=rounds, seconds=seconds, tell=found.tell)
            found.figure(f"throughput_{kind}", load.ratio, str(load))
            costs = f"echo {load.echo_cpu:.0f} µs, product {load.product_cpu:.0f} µs"
            found.fact(f"{scenario.scale}, {kind}: CPU time of a review: {costs}")
    if scenario.latency:
        mixed = list(bodies.mixed().values())
        delay = latency.measure(echo, product, mixed, rounds=rounds, seconds=seconds, tell=found.tell)
        found.figure(scenario.latency, delay.ratio.median, str(delay.ratio), sound=delay.sound)


def _others(scale: Scale) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Other reviews than the mixed set, by the end of the name of their figure."""
    yield "families", bodies.families().values()
    yield "operators", bodies.operators()
    yield "strangers", bodies.strangers()
    yield "bound", bodies.bound([node_name(index) for index in topology(scale.nodes).open])


if __name__ == "__main__":
    sys.exit(main())
