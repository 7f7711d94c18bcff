"""``Constraint``, the interface of all constraint families, with ``Reason``, ``Spread`` and the types of parsers.

A family is one file in ``constraints/`` with a function of type :class:`Parse` and frozen types that have the members
of :class:`Constraint`. Every family is listed in ``families.py``, at its place in the order of reasons
(``docs/architecture.md`` shows how to add a family). A family that depends on what all others add to the pod has a
parser of type :class:`ParseFinished`. :class:`ConstraintDefaults` is the base of all constraints, :class:`NodeSet` and
:class:`EveryNode` are bases for constraints of two simple shapes.
"""

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, Protocol, cast

from msgspec import Struct

from webhook.placement.constraints.company import ANY_COMPANY, Company
from webhook.placement.constraints.topology_limit import Limit
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selection.selector import NAME_FIELD
from webhook.placement.objects.pool import Pool
from webhook.placement.provision.effects import Effect
from webhook.placement.request.ask import Ask
from webhook.placement.request.claimed_devices import WantedDevices
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import Fix
from webhook.placement.text.keys import MEMBERSHIP
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule

_NO_AMOUNTS: Final[Tally] = {}


class Reason(Struct, frozen=True):
    """Why ``nodes`` are out: ``one`` continues the text "1 node", ``many`` continues "3 nodes"."""

    one: str
    many: str
    nodes: Bits

    def __str__(self) -> str:
        """The line of a refusal: the number of nodes and why."""
        count = self.nodes.bit_count()
        return f"1 node {self.one}" if count == 1 else f"{count} nodes {self.many}"


class Spread(enum.StrEnum):
    """How several pods with the same constraint can be spread over nodes."""

    FREE = enum.auto()
    """Any number of them on a node."""
    APART = enum.auto()
    """Each on a node of its own."""
    TOGETHER = enum.auto()
    """All of them on one node."""


class Tie(enum.Enum):
    """Whether a node that is added can meet a constraint."""

    NONE = enum.auto()
    """A new node can meet it."""
    HOSTS = enum.auto()
    """Only existing nodes can meet it, such as hosts of a pool or nodes of live pods."""
    HOST = enum.auto()
    """The constraint names one node."""


class Constraint(Protocol):
    """One condition on the node of a pod, valid in the world in which it was parsed.

    Families derive their constraints from :class:`ConstraintDefaults`, which has the members that few families change.
    """

    @property
    def clause(self) -> Clause | None:
        """The clause that the user wrote; ``None`` for a standing condition, such as that on taints."""
        ...

    @property
    def soft(self) -> bool:
        """Whether the constraint is only preferred, so that it takes no node away."""
        ...

    @property
    def node(self) -> str:
        """The name of the only node that can meet the constraint, if the clause names one; else empty.

        No change of the cluster can reconcile two constraints that name different nodes.
        """
        ...

    @property
    def verb(self) -> str:
        """What the user can do with the clause: ``drop`` or ``lower``."""
        ...

    @property
    def spread(self) -> Spread | Limit:
        """How replicas with this constraint can be spread: over nodes, or over the domains of a topology key."""
        ...

    @property
    def rule(self) -> str:
        """The word under which refusals that name the clause are counted: a :class:`Rule`, or one of the family."""
        ...

    @property
    def needs(self) -> tuple[Requirement, ...]:
        """The requirements that the constraint makes on labels of the node, all of which must hold."""
        ...

    @property
    def tie(self) -> Tie:
        """Whether a node that is added can meet the constraint."""
        ...

    @property
    def pool(self) -> Pool | None:
        """The HostPool to whose hosts the constraint restricts the pod, if there is one."""
        ...

    @property
    def index(self) -> int | None:
        """The index of the one host of ``pool`` that meets the constraint; ``None`` if each host does."""
        ...

    @property
    def requests(self) -> Tally:
        """The amounts of resources that the constraint wants room for on the node."""
        ...

    @property
    def zoned(self) -> bool:
        """Whether the kubelet of the node has to align amounts of the pod with its NUMA zones."""
        ...

    @property
    def devices(self) -> tuple[WantedDevices, ...]:
        """What of the pod gets devices of the node by the constraint."""
        ...

    @property
    def equipment(self) -> str | None:
        """What a node that is added has to have for the constraint beside labels, in words; empty for nothing.

        ``None`` if it is not known whether a node can have it.
        """
        ...

    @property
    def pinned(self) -> Bits:
        """The nodes where ``requests`` are compared with free room in place of allocatable room."""
        ...

    @property
    def topology(self) -> str:
        """The topology key in whose domains the constraint counts pods, so that labels of nodes change what it counts.

        Empty for a constraint that counts no pods by domain.
        """
        ...

    @property
    def about_taints(self) -> bool:
        """Whether the nodes that the constraint rules out are out for their taints."""
        ...

    @property
    def separable(self) -> bool:
        """Whether all other constraints of the pod stay as they are if the clause is dropped.

        Only constraints of the families that read the finished pod, and how the pod is bound, may then change.
        """
        ...

    def company(self, job: str, /) -> Company:
        """What the constraint demands of other pods of its group; ``job`` is ``namespace/name`` of the pod's job."""
        ...

    def companies(self, job: str, /) -> Iterable[tuple[Clause | None, Company]]:
        """The clause with its company; of a constraint that is made of several clauses each one with its own."""
        ...

    def by_itself(self) -> "Constraint":
        """The constraint as it would be if the pod had no other one of the family."""
        ...

    def at_once(self, ask: Ask, world: World, /) -> Iterable["Constraint"]:
        """Further constraints of a pod that must not wait for others to end: on what runs on the nodes now."""
        ...

    def beside(self, ask: Ask, world: World, /) -> Mapping[int, Sequence[Tally]]:
        """What live pods request with which the pod must share a node, by the slot of that node."""
        ...

    def filter(self, world: World, /) -> Bits:
        """Nodes that meet the constraint; bits of slots without a node do not matter."""
        ...

    def inject(self, world: World, /) -> Iterable[Effect]:
        """What must be added to the pod so that Kubernetes keeps the constraint."""
        ...

    def explain(self, world: World, out: Bits, /) -> Iterator[Reason]:
        """Why the nodes in ``out`` do not meet the constraint; each node is in one reason."""
        ...

    def fix(self, world: World, out: Bits, /) -> Fix | None:
        """The change that would open one of the nodes in ``out``; ``None`` if there is none."""
        ...


class ConstraintDefaults(Struct, frozen=True, gc=False):
    """Base of all constraints, with the members of :class:`Constraint` that hold for most families.

    A subclass has ``clause``, ``soft``, ``node``, ``verb``, ``spread`` and the four methods that concern nodes, and
    overrides a member of this base, by a field, a class variable or a property, where its family differs.
    """

    @property
    def rule(self) -> str:
        """The rule of families that refusals are not counted by."""
        return Rule.OTHER

    @property
    def needs(self) -> tuple[Requirement, ...]:
        """No label."""
        return ()

    @property
    def tie(self) -> Tie:
        """A new node can meet the constraint."""
        return Tie.NONE

    @property
    def pool(self) -> Pool | None:
        """No HostPool."""
        return None

    @property
    def index(self) -> int | None:
        """No index."""
        return None

    @property
    def requests(self) -> Tally:
        """No amounts."""
        return _NO_AMOUNTS

    @property
    def zoned(self) -> bool:
        """No amounts are aligned."""
        return False

    @property
    def devices(self) -> tuple[WantedDevices, ...]:
        """No devices."""
        return ()

    @property
    def equipment(self) -> str | None:
        """Nothing."""
        return ""

    @property
    def pinned(self) -> Bits:
        """No nodes."""
        return 0

    @property
    def topology(self) -> str:
        """No topology key."""
        return ""

    @property
    def about_taints(self) -> bool:
        """The constraint is not about taints."""
        return False

    @property
    def separable(self) -> bool:
        """Other constraints may change if the clause is dropped."""
        return False

    def company(self, _job: str) -> Company:
        """No demands on other pods."""
        return ANY_COMPANY

    def companies(self, job: str) -> Iterable[tuple[Clause | None, Company]]:
        """The one clause with its company."""
        return ((cast("Constraint", self).clause, self.company(job)),)

    def by_itself(self) -> Constraint:
        """The constraint itself."""
        return cast("Constraint", self)

    def at_once(self, _ask: Ask, _world: World) -> Iterable[Constraint]:
        """No further constraints."""
        return ()

    def beside(self, _ask: Ask, _world: World) -> Mapping[int, Sequence[Tally]]:
        """No pods."""
        return {}

    def inject(self, _world: World) -> Iterable[Effect]:
        """No effects: Kubernetes already enforces what the constraint stands for."""
        return ()

    def fix(self, _world: World, _out: Bits) -> Fix | None:
        """No fix: no single label or added node opens a node."""
        return None


class NodeSet(ConstraintDefaults, frozen=True, gc=False):
    """Base of constraints that are met by ``nodes``, known when the pod is parsed, and add nothing to the pod.

    ``one`` and ``many`` say why all other nodes are out (:class:`Reason`).
    """

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: Clause | None
    nodes: Bits
    one: str
    many: str
    node: str = ""
    soft: bool = False

    @property
    def tie(self) -> Tie:
        """One node, if the condition names it."""
        return Tie.HOST if self.node else Tie.NONE

    def filter(self, _world: World) -> Bits:
        """The nodes of the set."""
        return self.nodes

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes, under one reason."""
        yield Reason(self.one, self.many, out)


class VacantNodes(NodeSet, frozen=True, gc=False):
    """Nodes that run none of certain pods; a node that is added runs none."""


class EveryNode(ConstraintDefaults, frozen=True, gc=False):
    """Base of hard constraints that rule out no node for a single pod.

    A subclass has ``clause`` and ``spread``, and matters by that spread or by effects of its own.
    """

    verb: ClassVar[str] = "drop"
    soft: ClassVar[bool] = False
    node: ClassVar[str] = ""

    def filter(self, world: World) -> Bits:
        """All nodes."""
        return world.everything

    def explain(self, _world: World, _out: Bits) -> Iterator[Reason]:
        """No reasons: no node is out."""
        return iter(())


class StandingConstraint(EveryNode, frozen=True, gc=False):
    """A condition without a clause, which every node meets; it carries the demands of all pods."""

    spread: ClassVar[Spread] = Spread.FREE
    clause: Clause | None = None


class Parse(Protocol):
    """Parser of a family. It returns constraints, problems and warnings (texts), and never raises."""

    def __call__(self, ask: Ask, world: World, /) -> Iterable[Constraint | Problem | str]:
        """Everything the pod asks of this family."""
        ...


class Finished(Struct, frozen=True, gc=False):
    """The pod with the effects of all families but the last ones, as far as the last ones read it.

    ``labels`` are its labels, ``required`` the nodes that its ``nodeSelector`` and required node affinity match,
    ``tolerated`` the nodes without a taint that it does not tolerate. ``keys`` are the keys of labels and fields for
    which it asks for certain values, ``past`` tells that it goes past the scheduler by ``nodeName``.
    """

    labels: Mapping[str, str]
    required: Bits
    tolerated: Bits
    keys: frozenset[str]
    past: bool

    def open_to_new(self, key: str) -> bool:
        """Whether a new node could run the pod: it asks for no node by name, no host of a pool, no value of ``key``."""
        return self.keys.isdisjoint((key, NAME_FIELD)) and not any(
            own_key.startswith(MEMBERSHIP) for own_key in self.keys
        )


class ParseFinished(Protocol):
    """Parser of a family that reads what all the others add to the pod."""

    def __call__(self, ask: Ask, world: World, finished: Finished, /) -> Iterable[Constraint | Problem | str]:
        """Everything the pod asks of this family."""
        ...
