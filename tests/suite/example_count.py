"""How many random examples a run of the tests tries: a thirtieth of them every day, all of them at night.

The variable ``PROPERTY_TIMES`` is a factor for the number that a test names: a thirtieth unless it is set, 1 for all of
them (``make nightly``), 25 to make 20,000 random clusters of 800. Every day the examples are the same ones, so one
state of the code has one result; runs that set the variable draw others each time.
"""

import os
from collections.abc import Callable
from typing import Any, Final

from hypothesis import HealthCheck, settings

EVERY_DAY: Final = "PROPERTY_TIMES" not in os.environ
"""Whether this run tries a part of the examples only."""

TIMES: Final = 1 / 30 if EVERY_DAY else float(os.environ["PROPERTY_TIMES"])

_SLOW: Final = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
"""Checks of hypothesis that depend on the speed of the machine, or on how choosy a test is."""


def some_of(count: int, *, every_day: int | None = None) -> int:
    """How many of so many examples are tried in this run; at least one.

    Where a single one takes long, or counts as coverage, ``every_day`` says how many of them are tried without the
    variable.
    """
    if EVERY_DAY and every_day is not None:
        return every_day
    return max(1, round(count * TIMES))


def examples(count: int) -> Callable[[Any], Any]:
    """Try a property on that part of so many examples."""
    return settings(max_examples=some_of(count), derandomize=EVERY_DAY, deadline=None, suppress_health_check=[*_SLOW])


def everyday_profile() -> None:
    """The same for properties that name no number: part of the hundred examples that hypothesis tries, without a clock.

    A busy machine takes longer than the 200 ms that hypothesis grants an example; that is no fault of the code.
    """
    settings.register_profile("part", examples(100))
    settings.load_profile("part")
