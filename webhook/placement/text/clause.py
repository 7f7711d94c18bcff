"""``Clause``: one thing that a user wrote and that restricts the nodes of a pod, as a value.

Clauses are compared, ordered, dropped and counted as values. Only the writer of a message renders them.
"""

import enum
from collections.abc import Collection, Iterable
from typing import Final

from msgspec import Struct


class Source(enum.StrEnum):
    """The part of a pod or Job that a clause was written in."""

    PLACEMENT = enum.auto()
    """The annotation ``placement``."""
    MAPPING = enum.auto()
    """A node expression of worker mapping."""
    UNIFORM = enum.auto()
    """Uniform mapping."""
    POD_SELECTION = enum.auto()
    """``run-with`` and ``run-apart-from``."""
    BINDING = enum.auto()
    """CPU binding."""
    HARDWARE = enum.auto()
    """Hardware requirements."""
    STATED = enum.auto()
    """Resources that a Job states for its elements."""
    REQUESTS = enum.auto()
    """The requests of the pod's containers."""
    ZONES = enum.auto()
    """Those of them that kubelets align: pairs of a resource, of which NUMA zones have any, and an amount."""
    NODE_NAME = enum.auto()
    """``spec.nodeName``."""
    NODE_SELECTOR = enum.auto()
    """One label of ``spec.nodeSelector``, or a selector of many labels."""
    RUNTIME_CLASS = enum.auto()
    """A label that the pod's RuntimeClass selects."""
    NODE_AFFINITY = enum.auto()
    """Required node affinity."""
    POD_AFFINITY = enum.auto()
    """Required pod affinity on a topology key."""
    ANTI_AFFINITY = enum.auto()
    """Required pod anti-affinity on a topology key."""
    SPREAD = enum.auto()
    """A topology spread constraint."""
    PORTS = enum.auto()
    """Host ports."""
    VOLUME = enum.auto()
    """A volume of a claim."""
    DEVICES = enum.auto()
    """A ResourceClaim, or a resource that a DeviceClass maps."""


class Clause(Struct, frozen=True, gc=False, cache_hash=True):
    """What the user wrote in ``source``; ``parts`` are the values that it consists of, ``text`` is how messages say it.

    ``parts`` are hashable. Clauses with equal parts of one source are one clause, wherever they are written.
    """

    source: Source
    parts: tuple[object, ...]
    text: str

    def __str__(self) -> str:
        """Return ``text``."""
        return self.text


def parts_of(clauses: Iterable[Clause], source: Source) -> frozenset[object]:
    """The parts of all clauses of that source."""
    return frozenset(part for clause in clauses if clause.source is source for part in clause.parts)


REQUESTED: Final = frozenset({Source.REQUESTS, Source.ZONES})
"""Sources of clauses about requests that have to be lower."""


def zoned_alone(clauses: Collection[Clause]) -> frozenset[str]:
    """The resources of which less is to be requested by NUMA zone; none if less of all resources is."""
    if any(clause.source is Source.REQUESTS for clause in clauses):
        return frozenset()
    return frozenset(str(part[0]) for part in parts_of(clauses, Source.ZONES) if isinstance(part, tuple))


def outermost(clauses: Collection[Clause]) -> tuple[Clause, ...]:
    """The clauses without those that are parts of others, which say the same and more."""
    kept: list[Clause] = []
    for clause in clauses:  # loops, as each refusal comes here: generators would be calls for each pair
        for other in clauses:
            if clause.source is other.source and {*clause.parts} < {*other.parts}:
                break
        else:
            kept.append(clause)
    return tuple(kept)
