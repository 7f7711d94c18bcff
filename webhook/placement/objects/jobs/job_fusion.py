"""The fusion of a Job's operators, as its status states it (``docs/fusion.md``)."""

from typing import Final

import msgspec
from msgspec import Struct

SEPARATIONS: Final = 100
"""Maximum number of separations stored."""


class FusedElement(Struct, frozen=True, gc=False):
    """A processing element, and the operators that are fused into it, in the order of the Job."""

    name: str
    operators: tuple[str, ...] = ()


class Separation(Struct, frozen=True, gc=False):
    """Two operators with a stream between them that are in different elements, and the ``clause`` that demands it."""

    operators: tuple[str, ...] = ()
    clause: str = ""


class RegionWidth(Struct, frozen=True, gc=False):
    """The ``width`` with which a parallel region was fused, and what the Job ``stated`` then."""

    name: str
    width: int = 1
    stated: int = 1


class JobFusion(Struct, frozen=True, gc=False, rename="camel"):
    """The fusion of a Job: the ``scheme``, the numbers of elements ``asked`` for and ``made``, and the elements.

    ``inside`` is how much of the traffic stays within elements, ``inside_at_most`` how much any fusion into as many
    elements, none heavier than may be, keeps there, both in per cent. ``generation`` is that of the spec that was
    fused, ``regions`` are the parallel regions.
    """

    scheme: str = ""
    asked: int = 0
    made: int = 0
    inside: int = 100
    inside_at_most: int = 100
    processing_elements: tuple[FusedElement, ...] = ()
    separations: tuple[Separation, ...] = ()
    generation: int = 0
    regions: tuple[RegionWidth, ...] = ()


class _FusedStatus(Struct, frozen=True, gc=False):
    fusion: JobFusion | None = None


def fusion_of(status: bytes | msgspec.Raw) -> JobFusion | None:
    """The fusion in the JSON of a Job's status; ``None`` if it has none, or cannot be read."""
    try:
        return msgspec.json.decode(status, type=_FusedStatus).fusion
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # what hostile JSON raises
        return None
