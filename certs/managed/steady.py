"""For how long something has looked the same, by a clock that cannot be set."""

from typing import Final


class Steady:
    """Remembers since when each fact has had its value.

    It lives no longer than its process: whoever takes over waits anew, which costs time but never safety. A time that
    is written down would have to be compared with another machine's clock.
    """

    def __init__(self) -> None:
        self._since: Final[dict[str, tuple[object, float]]] = {}

    def seconds(self, fact: str, value: object, moment: float) -> float:
        """For how many seconds the fact has had this value, as seen; ``moment`` is of a monotonic clock."""
        known, since = self._since.get(fact, (None, moment))
        if known != value:
            since = moment
        self._since[fact] = (value, since)
        return moment - since
