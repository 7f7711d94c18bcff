"""A refused pod without some of its words, decided anew: which of them cannot hold together, and which to drop.

Words change what others mean: of several tags each is a label of its own, an exclusive pool opens its hosts, company
makes a pod wait. So nothing is concluded from sets of nodes; they only say what to try first (``docs/refusals.md``).
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

Fitting = Callable[[frozenset[str]], int]
"""Given words: how many nodes could run the pod if it lacked them, or how many of a workload's pods would fit.

:data:`REFUSED` where such a pod would be refused for something else.
"""

REFUSED: Final = -1

_FEWEST, _MOST, _EFFORT = 8, 24, 384
"""Words without which a pod is decided anew one by one, and then pairs of them, and choices for the first line: all of
those that people write, fewer of many, since each decision costs the more the more words there are. Together they are
some milliseconds."""


class Relaxation:
    """A pod that is refused as long as fewer than ``enough`` fit: ``words`` are what it says, each with its verb.

    ``alone`` tells how many fit if one word is dropped (or lowered), for those that were tried: the ``likely`` ones
    first.
    """

    def __init__(
        self, words: Mapping[str, str], fitting: Fitting, enough: int = 1, *, likely: Callable[[str], int]
    ) -> None:
        self.words = words
        self._fitting = fitting
        self._enough = enough
        self._known = {frozenset[str](): enough - 1}
        self._tries = min(_MOST, max(_FEWEST, _EFFORT // max(1, len(words))))
        tried = {*sorted(words, key=lambda text: -likely(text))[: self._tries]}
        self.alone = {text: self.fit({text}) for text in words if text in tried}
        self._firm = {text for text, count in self.alone.items() if count == REFUSED}

    def fit(self, dropped: Collection[str]) -> int:
        """How many fit without these words."""
        choice = frozenset(dropped)
        if choice not in self._known:
            self._known[choice] = self._fitting(choice)
        return self._known[choice]

    def conflict(self, guess: Collection[str]) -> tuple[str, ...]:
        """Words that too few fit: as few as ``guess`` says, where that proves right.

        They fail by themselves, and each is needed: without it the others of them would fit, or all that the pod says.
        What the pod may not lack stays whatever is left out; if that alone is too much, ``guess`` says of it what is.
        """
        needed = {text for text, count in self.alone.items() if count >= self._enough}
        chosen = needed.union(guess) - self._firm
        left = (chosen - {text} for text in chosen - needed)
        if not self._fails(chosen) or not all(self._gone(kept) >= self._enough for kept in left):
            chosen = self._reduced(needed)
        chosen = chosen or self._firm.intersection(guess)
        return tuple(text for text in self.words if text in chosen)

    def best(self) -> tuple[int, str]:
        """The word without which most fit, and how many; nothing if none helps."""
        text, count = max(self.alone.items(), key=lambda found: found[1], default=("", 0))
        return (count, text) if count > 0 else (0, "")

    def best_of(self, choices: Iterable[tuple[str, str]]) -> tuple[int, tuple[str, ...]]:
        """Of the first choices the one without which most fit, and how many; nothing if none helps."""
        found: tuple[int, tuple[str, ...]] = (0, ())
        for choice, _ in zip(choices, range(self._tries), strict=False):
            count = self.fit(choice)
            if count > found[0]:
                found = count, choice
        return found

    def _gone(self, kept: Collection[str]) -> int:
        """How many fit if nothing but these words is left, and what the pod may not lack."""
        return self.fit(self.words.keys() - self._firm.union(kept))

    def _fails(self, kept: Collection[str]) -> bool:
        """Whether these words alone are too much; they are not if such a pod would be refused for something else."""
        return REFUSED < self._gone(kept) < self._enough

    def _reduced(self, needed: Collection[str]) -> set[str]:
        """Leave out what the conflict does not need: many words at a time at first, in the end one by one."""
        chosen, size, tries = self.words.keys() - self._firm, len(self.words), 2 * self._tries
        while tries > 0:
            before = len(chosen)
            left = [text for text in reversed([*self.words]) if text in chosen and text not in needed]
            for at in range(0, min(len(left), tries * size), size):
                some = {*left[at : at + size]}
                chosen -= some if self._fails(chosen - some) else set()
                tries -= 1
            if size == 1 and len(chosen) == before:
                break
            size = max(1, size // 2)
        return chosen
