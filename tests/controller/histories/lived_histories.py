"""Random histories that are lived in virtual time, each in a loop of its own, and told if something goes wrong."""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Protocol

from tests.controller.virtual_time import in_virtual_time


class Told(Protocol):
    """A history that keeps what has happened, a line each."""

    @property
    def story(self) -> Sequence[str]:
        """What has happened."""
        ...


def live_each(lived: Callable[[int], Coroutine[None, None, object]], seeds: Iterable[int]) -> None:
    """Live the history of each seed; a failure names the seed."""
    for seed in seeds:
        try:
            in_virtual_time(lived(seed))
        except AssertionError as error:
            raise AssertionError(f"history {seed}: {error}") from None


def telling(history: Told, violations: Iterable[object]) -> str:
    """The story of a history, and what is wrong in the end."""
    return "\n".join([*history.story, *map(str, violations)])
