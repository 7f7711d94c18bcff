"""``python -m bench.e2e.bystanders``: what the chart costs objects that ask for nothing, through real API servers.

In two control planes by turns the same requests are made: plain pods with 0, 5 and 25 annotations are created, their
statuses are updated, pods live whole lives (created, bound, three updates of the status, deleted), nodes send
heartbeats, Leases are renewed, and Deployments are created. ``page`` says what is compared.
"""

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.e2e.bystanders import page
from bench.e2e.bystanders.pairs import Pairs
from bench.e2e.bystanders.planes import STATES, WITHOUT, plane
from bench.e2e.bystanders.requests import plain_requests
from bench.e2e.bystanders.turns import costs, measured
from tests.e2e.programs import binaries

RESULTS: Final = Path(__file__).parents[2] / "RESULTS-bystanders.md"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print the page."""
    parser = argparse.ArgumentParser(
        "python -m bench.e2e.bystanders", description="Measure what the chart costs others."
    )
    parser.add_argument("--blocks", type=int, default=20, help="pairs of blocks of requests by all clients in a turn")
    parser.add_argument("--singles", type=int, default=200, help="pairs of requests by one client in a turn")
    parser.add_argument(
        "--kinds", action="store_true", help="review all kinds of other operators, and make such objects"
    )
    parser.add_argument("--only", default="", metavar="WORD", help="requests with this word in their names, no others")
    parser.add_argument("--states", nargs="+", choices=STATES, default=list(STATES), help="the states to measure")
    parser.add_argument("--results", type=Path, help=f"file for the page, such as bench/{RESULTS.name}")
    chosen = parser.parse_args(argv)
    binaries.programs()
    kinds = [kind for kind in plain_requests(applications=chosen.kinds) if chosen.only in kind.name]
    turns: dict[str, dict[str, list[Pairs]]] = {state: {kind.name: [] for kind in kinds} for state in chosen.states}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-bystanders-")))
        first, second = (stack.enter_context(plane(folder / name, kinds=chosen.kinds)) for name in ("first", "second"))
        for kind in kinds:
            measured(first, second, kind, 2, chosen.singles)  # the first requests of all find small heaps
        for state in chosen.states:
            for own, without in ((first, second), (second, first)):
                without.enter(WITHOUT)
                own.enter(state)
                for kind in kinds:
                    turns[state][kind.name].append(measured(own, without, kind, chosen.blocks, chosen.singles))
                sys.stderr.write(f"{STATES[state]}: turn {len(turns[state][kinds[0].name])} of 2\n")
        first.enter("chart")
        spent = costs(first, kinds, chosen.singles)
    text = page.render(turns, spent, chosen.blocks, chosen.singles)
    print(text)
    if chosen.results:
        chosen.results.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
