"""Long work as a generator of steps: between two of them, which take some tenths of a millisecond, others may work.

Threads do not do as much for others: every step of a search holds the interpreter's lock, and other threads wait
milliseconds for it.
"""

from collections.abc import Generator
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")

Steps: TypeAlias = Generator[None, None, Result]
"""Yields after each step, and returns the result: ``solver.taken`` takes the steps."""
