"""Answers of the API server that are kept for some seconds, because many reviews ask the same one after the other."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Asked = TypeVar("Asked", bound=Hashable)
Answered = TypeVar("Answered")


class KeptAnswers(Generic[Asked, Answered]):
    """At most ``most`` answers by what was asked, each for ``seconds`` on the ``clock``; then all make room."""

    __slots__ = ("_answers", "_clock", "_most", "_seconds")

    def __init__(self, clock: Callable[[], float], seconds: float, most: int) -> None:
        self._clock = clock
        self._seconds = seconds
        self._most = most
        self._answers: dict[Asked, tuple[Answered, float]] = {}

    def __len__(self) -> int:
        """The number of answers, those among them that no longer hold."""
        return len(self._answers)

    def at(self, asked: Asked) -> Answered | None:
        """The answer, if there is one that still holds."""
        kept = self._answers.get(asked)
        return kept[0] if kept is not None and kept[1] > self._clock() else None

    def keep(self, asked: Asked, answer: Answered, seconds: float | None = None) -> None:
        """Keep the answer from now on, for so many seconds if these are not the usual ones."""
        if len(self._answers) >= self._most:
            self._answers.clear()
        self._answers[asked] = answer, self._clock() + (self._seconds if seconds is None else seconds)

    async def find(self, asked: Asked, ask: Callable[[], Awaitable[Answered]]) -> Answered:
        """The kept answer, which may be ``None``; else what ``ask`` answers, which is kept unless it raises."""
        kept = self._answers.get(asked)
        if kept is not None and kept[1] > self._clock():
            return kept[0]
        answer = await ask()
        self.keep(asked, answer)
        return answer
