"""``python -m bench.placementreviews``: the CPU time of the answer to a PlacementReview of one pod.

The pods are those of the mixed set, each asked about by a user who may list nodes and by one who may list nothing.
With ``--flood`` it measures admission instead, alone and beside a flood of PlacementReviews (``bench.review_flood``).
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from time import thread_time_ns
from typing import Final

import msgspec

from bench.generated import bodies
from bench.generated.generator import inventory
from bench.generated.topology import NAMESPACE, Scale
from bench.review_flood import GOAL as FLOOD_GOAL
from bench.review_flood import RATE, FloodFigures, measure_flood
from bench.reviews.evaluation import POLICY, Times, times
from webhook.admission.review import read_review
from webhook.app.cluster_source import settle
from webhook.placementreview.answer import ReviewedCluster, answer
from webhook.placementreview.review import ReviewSpec, Visible

GOAL: Final = 50_000.0
"""Microseconds at the 99th percentile."""

USERS: Final = {"nodes and pods": Visible(nodes=True, all_pods=True), "nothing": Visible()}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a row for each user; 1 if the goal is missed."""
    parser = argparse.ArgumentParser("python -m bench.placementreviews", description="Measure answers about one pod.")
    parser.add_argument("--nodes", type=int, default=5000, help="nodes of the cluster")
    parser.add_argument("--pods", type=int, default=150_000, help="pods of the cluster")
    parser.add_argument("--rounds", type=int, default=20, help="times that every pod is asked about")
    parser.add_argument("--flood", action="store_true", help="measure admission beside a flood of them instead")
    parser.add_argument("--seconds", type=int, default=10, help="with --flood, of each of the six runs")
    chosen = parser.parse_args(argv)
    if chosen.flood:
        return _flooded(measure_flood(Scale(nodes=chosen.nodes, pods=chosen.pods), chosen.seconds))
    found = measure(Scale(nodes=chosen.nodes, pods=chosen.pods), chosen.rounds)
    print("| the user may list | answer |\n|---|---|")
    for user, figures in found.items():
        print(f"| {user} | {figures} |")
    return int(any(figures.p99 > GOAL for figures in found.values()))


def _flooded(found: FloodFigures) -> int:
    """Print the row; 1 if the goal is missed."""
    print(f"| p99 of admission at {RATE} a second | beside PlacementReviews of one user | ratio | answered |")
    print("|---|---|---|---|")
    said = f"{found.ratio:.2f}, goal at most {FLOOD_GOAL}"
    print(f"| {found.alone:.2f} ms | {found.beside:.2f} ms | {said} | {found.answered} |")
    return int(found.ratio > FLOOD_GOAL)


def measure(scale: Scale, rounds: int) -> dict[str, Times]:
    """The distribution of answers for each user, in microseconds."""
    cluster = ReviewedCluster(inventory(scale), POLICY)
    settle()  # as the server does once it has read the cluster
    pods = [msgspec.json.decode(read_review(body).object) for body in bodies.mixed().values()]
    with asyncio.Runner() as runner:
        return {user: runner.run(_answers(cluster, pods * rounds, visible)) for user, visible in USERS.items()}


async def _answers(cluster: ReviewedCluster, pods: Sequence[dict[str, object]], visible: Visible) -> Times:
    found = []
    for pod in pods:
        manifest = {"apiVersion": "v1", "kind": "Pod", **pod}
        before = thread_time_ns()
        await answer(ReviewSpec((manifest,)), NAMESPACE, cluster, visible)
        found.append((thread_time_ns() - before) / 1000)
    return times(found)


if __name__ == "__main__":
    sys.exit(main())
