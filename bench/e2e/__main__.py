"""``python -m bench.e2e``: start a control plane, measure, show progress, and write the results."""

import signal
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench import machine
from bench.e2e.cluster import cluster
from bench.e2e.creations import options, report
from bench.e2e.creations.observation import observe
from bench.e2e.creations.options import Options
from bench.e2e.creations.results import results
from bench.reviews.findings import Findings
from bench.trouble import Trouble
from tests.e2e.programs import binaries

TROUBLE: Final = 3
INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; returns the exit code."""
    chosen = options.read(argv)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it otherwise
    try:
        _measure(chosen)
    except Trouble as trouble:
        print(f"bench.e2e: {trouble}", file=sys.stderr)
        return TROUBLE
    except KeyboardInterrupt:
        print("bench.e2e: interrupted, everything is stopped", file=sys.stderr)
        return INTERRUPTED
    return 0


def _measure(chosen: Options) -> None:
    found = Findings()
    binaries.programs()  # here, where its progress is seen
    with tempfile.TemporaryDirectory(prefix="bench-e2e-") as folder:
        found.tell(f"starting a control plane with {chosen.nodes:,} nodes and the chart")
        with cluster(Path(folder), chosen.nodes) as running:
            found.tell("everything is there")
            seen = observe(running, chosen, found.tell)
            found.tell("stopping everything")
    versions = ", ".join(f"{name} {version}" for name, version in running.versions.items())
    about = [*machine.describe(), ("versions", versions)]
    page = report.render(results(seen, chosen), chosen, about, datetime.now(UTC).date())
    print(f"\n{page}")
    if chosen.results:
        chosen.results.write_text(page)
        found.tell(f"written to {chosen.results.name}")


if __name__ == "__main__":
    sys.exit(main())
