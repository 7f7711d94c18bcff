"""A clock of tests, for whatever takes a function that returns seconds."""


class FakeClock:
    """Seconds that stand still until a test sets ``now``."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
