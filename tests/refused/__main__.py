"""Counts refused random cases of each kind: ``python -m tests.refused --count 4000 [--first SEED] [--seconds 300]``.

Each fix is applied, each set that is named is checked, and the advice followed to its end (``census``). Ends with 1 if
something was wrong.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Final

from tests.refused.census import Tried, census, table
from tests.refused.random_pods import random_pod, random_workload
from tests.refused.refused_aligned_replicas import random_replicas
from tests.refused.refused_applications import random_refused
from tests.refused.refused_daemon_sets import random_daemon_set
from tests.refused.refused_devices import random_devices
from tests.refused.refused_growth import random_growth
from tests.refused.refused_jobs import random_job, random_pool, random_pools_of_job
from tests.refused.refused_nodes import random_node
from tests.refused.refused_numa import random_alignment
from tests.refused.refused_quotas import random_quota
from tests.refused.refused_regions import random_region

KINDS: dict[str, Callable[[int], Tried]] = {
    "pods": random_pod,
    "workloads": random_workload,
    "DaemonSets": random_daemon_set,
    "devices": random_devices,
    "NUMA zones": random_alignment,
    "NUMA zones of workloads": random_replicas,
    "node groups": random_growth,
    "changes of nodes": random_node,
    "Jobs": random_job,
    "HostPools": random_pool,
    "quotas": random_quota,
    "HostPools of Jobs": random_pools_of_job,
    "applications": random_refused,
    "parallel regions": random_region,
}

SLOW: Final = {"parallel regions": 20}
"""Kinds of which so many times fewer cases are tried: each takes seconds."""


def number_of(kind: str, count: int) -> int:
    """How many cases of a kind are tried where there are ``count`` of the others."""
    return -(-count // SLOW.get(kind, 1))


def main(words: Sequence[str]) -> int:
    """Print the table; 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.refused", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=4000, help="refused cases in all")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case of each kind")
    parser.add_argument("--seconds", type=float, default=1800, help="processor time of each kind at most")
    parser.add_argument("--kind", choices=KINDS, action="append", help="this kind only")
    asked = parser.parse_args(words)
    kinds = asked.kind or [*KINDS]
    each = -(-asked.count // len(kinds))
    found = []
    for kind in kinds:
        found.append(census(kind, KINDS[kind], number_of(kind, each), first=asked.first, seconds=asked.seconds))
        print(table(found[-1:]), file=sys.stderr, flush=True)  # noqa: T201 -- progress
    print(table(found))  # noqa: T201 -- the command's result
    return 1 if any(one.wrong for one in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
