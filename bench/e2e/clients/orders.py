"""The orders to the clients and the outcomes that they send back: one line of JSON each."""

from typing import Literal

from msgspec import Struct


class Order(Struct, frozen=True):
    """``count`` requests by so many clients, each with the next one in hand when the last is answered.

    ``create`` makes pods of a variant with numbers from ``first``; ``try`` asks for the same as a dry run; ``cheap``
    asks the API server for its version; ``review`` posts reviews to ``url``.
    """

    what: Literal["create", "try", "cheap", "review"]
    count: int
    clients: int
    variant: str = ""
    first: int = 0
    url: str = ""


class Outcome(Struct):
    """``ok`` and ``errors`` (by kind, with an ``example`` each) add up to ``sent``; times are seconds.

    ``durations`` are those of requests that went well, ``seconds`` from the first request to the last answer, ``cpu``
    what the clients' process took; ``patched`` counts pods that came back with an annotation that says so.
    """

    sent: int = 0
    ok: int = 0
    patched: int = 0
    errors: dict[str, int] = {}
    examples: dict[str, str] = {}
    durations: list[float] = []
    seconds: float = 0.0
    cpu: float = 0.0

    @property
    def rate(self) -> float:
        """Requests a second that went well."""
        return self.ok / self.seconds if self.seconds else 0.0
