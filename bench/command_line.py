"""``python -m bench.command_line``: how long the command line makes a person wait.

Each command runs as a process of its own, as a user runs it. CPU is that of the process, which depends less on what
else the machine does than the elapsed time. Modules are compiled before, as they are once the program is installed.
"""

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from bench import machine
from bench.generated.generator import folder
from bench.generated.topology import Scale

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = Path(__file__).parent / "RESULTS-command-line.md"
LARGE: Final = Scale(nodes=5000, pods=150_000)


class Row(NamedTuple):
    """A command, its goal in seconds of CPU, and how many times it runs."""

    name: str
    words: tuple[str, ...]
    goal: float
    runs: int


class Spent(NamedTuple):
    """Seconds of CPU, elapsed seconds, and the largest resident memory of one run in MB."""

    cpu: float
    elapsed: float
    megabytes: float


def rows() -> list[Row]:
    """The commands that are measured."""
    example = ("explain", "-f", str(ROOT / "examples" / "pool-tagged.yaml"))
    small, large = str(ROOT / "examples" / "cluster"), str(folder(LARGE))
    return [
        Row("`--help`", ("--help",), 0.15, 15),
        Row("`explain --help`", ("explain", "--help"), 0.15, 15),
        Row("a completion of `explain --`", ("__complete", "explain", "--"), 0.15, 15),
        Row("`explain` of one manifest, 13 nodes", (*example, "--snapshot", small), 0.5, 15),
        Row("`explain` of one manifest, 5,000 nodes and 150,000 pods", (*example, "--snapshot", large), 3.0, 5),
    ]


def run(words: tuple[str, ...]) -> Spent:
    """One run of a command, which may refuse."""
    begun = time.perf_counter()
    # Copies are kept of compiled modules, whatever this process was told.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = (sys.executable, "-m", "webhook", *words)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)  # noqa: S603 -- ourselves
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}")
    return Spent(used.ru_utime + used.ru_stime, time.perf_counter() - begun, used.ru_maxrss / 1024)


def line(row: Row) -> str:
    """The line of the table for a command."""
    run(row.words)  # files are in memory from here on
    spent = [run(row.words) for _ in range(row.runs)]
    cpu = [one.cpu for one in spent]
    elapsed, memory = statistics.median(one.elapsed for one in spent), max(one.megabytes for one in spent)
    middle = statistics.median(cpu)
    verdict = "yes" if middle <= row.goal else "**no**"
    spread = f"{middle:.2f} ({min(cpu):.2f} to {max(cpu):.2f})"
    return f"| {row.name} | {spread} | {elapsed:.2f} | {memory:.0f} | {row.goal:g} | {verdict} |"


def main() -> None:
    """Measure, print, and write the page of results where that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.command_line")
    parser.add_argument("--results", type=Path, help=f"write the table there, such as {RESULTS.name}")
    options = parser.parse_args()
    for package in ("webhook", "kubeapi"):
        compileall.compile_dir(ROOT / package, quiet=2)
    said = [f"{name}: {value}" for name, value in machine.describe()]
    lines = [
        "# Results: the command line",
        "",
        f"`python -m bench.command_line`, {datetime.now(UTC):%Y-%m-%d}. Medians, and the range of CPU.",
        "",
        "| command | CPU, s | elapsed, s | memory, MB | goal, s of CPU | met |",
        "|---|---|---|---|---|---|",
        *[line(row) for row in rows()],
        "",
        *said,
        "",
    ]
    print("\n".join(lines))
    if options.results:
        options.results.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
