"""The goals of the benchmark, for many clients at a time and for a single one."""

from collections.abc import Mapping
from typing import Final

from bench.reviews.goals import Goal

ADDED_MS: Final = 2.0
"""Milliseconds that the webhook may add to the median creation."""

TIMES_ECHO: Final = 1.5
"""How many times what a bare echo adds the webhook may add."""

OF_FLOOR: Final = 0.93
"""Share of the creations a second that the webhook reaches of those with an echo of one constant patch."""

TIMES_FLOOR: Final = 1.1
"""How many times the CPU time that such an echo adds the webhook may add."""

REVIEWS: Final = 1.0
"""Reviews of a pod that nobody changes."""


def goals(clients: int) -> Mapping[str, Goal]:
    """By the name of the figure, in the order of the table."""
    found = {}
    for name, many in (("", _at_a_time(clients)), ("_single", _at_a_time(1))):
        found[f"added{name}"] = Goal(f"added to the median creation, {many}", "", "at most", ADDED_MS, "ms")
        found[f"echo{name}"] = Goal(f"the same, {many}", "", "at most", TIMES_ECHO, "x what a bare echo adds")
        found[f"rate{name}"] = Goal(
            f"creations a second, {many}", "", "at least", OF_FLOOR, "x an echo of one constant patch"
        )
    found["cpu"] = Goal(
        "CPU time added to a creation", "", "at most", TIMES_FLOOR, "x what an echo of one constant patch adds"
    )
    found["reviews"] = Goal("reviews of a pod that nobody changes", "", "at most", REVIEWS, "a pod")
    return found


def _at_a_time(clients: int) -> str:
    return "1 client" if clients == 1 else f"{clients} clients"
