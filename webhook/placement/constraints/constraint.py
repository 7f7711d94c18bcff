"""The one interface of all constraint families: parse, inject, filter, explain.

A family is one file in ``constraints/`` with a function :class:`Parse` and a frozen type per clause that has the
methods of :class:`Constraint`. It is listed once, in ``families.py``, at its place in the order of reasons
(``docs/architecture.md`` shows how to add one). What depends on what all others add to the pod is parsed after them
(:class:`ParseFinished`).
"""

import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from msgspec import Struct

from webhook.placement.constraints.topology_limit import Limit
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.selector import NAME_FIELD
from webhook.placement.provision.effects import Effect
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.keys import MEMBERSHIP
from webhook.placement.text.problem import Problem

ADD_NODE: Final = "add a node"
"""How a change begins that brings one more node: it helps only where nothing else ties the pod to those there are."""


class Reason(Struct, frozen=True):
    """Why some nodes are out: ``one`` reads on from "1 node", ``many`` from "3 nodes"."""

    one: str
    many: str
    nodes: Bits

    def __str__(self) -> str:
        """The line of a refusal: the number of nodes and why."""
        count = self.nodes.bit_count()
        return f"1 node {self.one}" if count == 1 else f"{count} nodes {self.many}"


class Spread(enum.Enum):
    """How several pods that carry the same constraint can lie."""

    FREE = enum.auto()
    """Any number of them on a node."""
    APART = enum.auto()
    """Each on a node of its own."""
    TOGETHER = enum.auto()
    """All of them on one node."""


class Constraint(Protocol):
    """One condition on the node of a pod, resolved against the world it was parsed in.

    ``clause`` is the user's own text, empty for a standing condition that nobody wrote (taints, for example).
    ``soft`` constraints never take a node away. ``node`` is the name of the one node that the clause names, if it
    does: two different names cannot be reconciled by any change of the cluster.
    """

    @property
    def clause(self) -> str:
        """What the user wrote."""
        ...

    @property
    def soft(self) -> bool:
        """Whether it is only preferred."""
        ...

    @property
    def node(self) -> str:
        """The only node name that could ever meet it, or nothing."""
        ...

    @property
    def verb(self) -> str:
        """What the user can do with the clause: drop it, or lower it."""
        ...

    @property
    def spread(self) -> Spread | Limit:
        """How the replicas of a workload that carry it can lie: by nodes, or by the domains of a topology key."""
        ...

    def filter(self, world: World, /) -> Bits:
        """Nodes that meet the constraint; bits of slots without a node do not matter."""
        ...

    def inject(self, world: World, /) -> Iterable[Effect]:
        """What the pod must say so that Kubernetes keeps the constraint."""
        ...

    def explain(self, world: World, out: Bits, /) -> Iterator[Reason]:
        """Why the nodes in ``out``, which do not meet the constraint, do not: each node under one reason."""
        ...

    def mend(self, world: World, out: Bits, /) -> str:
        """The change of the cluster that would open one of the nodes in ``out``, or nothing."""
        ...


class Parse(Protocol):
    """The family's parser: what the pod asks of it, as constraints, problems and warnings (texts); it never raises."""

    def __call__(self, ask: Ask, world: World, /) -> Iterable[Constraint | Problem | str]:
        """Everything the pod asks of this family."""
        ...


class Finished(Struct, frozen=True, gc=False):
    """What a pod says once everything is added that its clauses ask for.

    ``required`` are the nodes that its ``nodeSelector`` and required node affinity match, ``tolerated`` those without a
    taint that it does not tolerate. ``keys`` are the labels and fields of which it wants certain values, ``past`` tells
    that it goes past the scheduler.
    """

    labels: Mapping[str, str]
    required: Bits
    tolerated: Bits
    keys: frozenset[str]
    past: bool

    def open_to_new(self, key: str) -> bool:
        """Whether a new node could be one for the pod: it asks for none by name, and for no value of the key."""
        return self.keys.isdisjoint((key, NAME_FIELD)) and not any(found.startswith(MEMBERSHIP) for found in self.keys)


class ParseFinished(Protocol):
    """The parser of a family that reads what all the others add."""

    def __call__(self, ask: Ask, world: World, finished: Finished, /) -> Iterable[Constraint | Problem | str]:
        """Everything the pod asks of this family."""
        ...
