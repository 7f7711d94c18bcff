"""``Company``: what a constraint demands of the other pods of a group that is placed as a whole."""

from typing import Final

from msgspec import Struct

ALL_OF: Final = "element "
"""Prefix of the key that every pod of a job marks; the job follows."""


class Company(Struct, frozen=True, gc=False):
    """What a constraint demands of the other pods of a group that is placed as a whole, by keys.

    Pods with a common key in ``together`` share a node. A pod that ``avoids`` a key shares no node with another pod
    that ``marks`` that key. A key is a text that names the job as ``namespace/name`` if it is about pods of one job.
    """

    together: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    avoids: tuple[str, ...] = ()

    @classmethod
    def apart(cls, key: str) -> "Company":
        """Pods that share no node with each other."""
        return cls(marks=(key,), avoids=(key,))


ANY_COMPANY: Final = Company()
"""The company of constraints that demand nothing of other pods."""
