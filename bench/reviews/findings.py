"""The results of one run, and the progress shown during it."""

from time import monotonic

from msgspec import Struct


class Figure(Struct, frozen=True):
    """A measured value that has a goal, and how to show it; without ``sound`` it proves nothing."""

    value: float
    text: str
    sound: bool = True


class Findings:
    """Figures by the name of their goal; ``facts`` are what is worth knowing besides."""

    def __init__(self) -> None:
        self.figures: dict[str, Figure] = {}
        self.facts: list[str] = []
        self._start = monotonic()

    def tell(self, sentence: str) -> None:
        """A line of progress, with the seconds since the start."""
        print(f"[{monotonic() - self._start:5.0f} s] {sentence}", flush=True)

    def figure(self, name: str, value: float, text: str, *, sound: bool = True) -> None:
        """A value was measured."""
        self.figures[name] = Figure(value, text, sound)

    def fact(self, sentence: str) -> None:
        """Something worth knowing was found."""
        self.facts.append(sentence)
        self.tell(sentence)
