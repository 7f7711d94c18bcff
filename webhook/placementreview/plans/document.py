"""A plan, or an explanation, as one value: what ``-o json`` writes, and what the page is made from.

Names are camelCase in JSON. Amounts are texts as Kubernetes writes quantities (``1500m``, ``4Gi``). Nodes are
referred to by their place in ``PlanDocument.nodes`` where there may be thousands of them, and by name elsewhere.
Whatever many elements have in common is stored once: rules that close nodes, and pools.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

SubjectVerdict: TypeAlias = Literal["admitted", "refused", "undecided"]
"""``undecided`` is admitted with a warning: whether all elements fit could not be decided in time."""

RelationKind: TypeAlias = Literal["together", "apart", "alone"]
"""``together``: all elements on one host. ``apart``: no two of them on one host. ``alone``: each of them on a host
without any other element of its subject."""


class ClosedNodes(Struct, frozen=True, rename="camel"):
    """Nodes that one rule is the first to close for an element.

    ``clause`` is the user's text, empty if no user wrote the rule (taints, capacity). ``reason`` goes on after "1
    node" or a node's name: ``is not in HostPool MyPool (tag source)``. ``nodes`` are inclusive ranges of places in
    ``PlanDocument.nodes``, in ascending order: see :func:`ranges`.
    """

    clause: str
    reason: str
    nodes: tuple[tuple[int, int], ...]


class Neighbour(Struct, frozen=True, rename="camel"):
    """An operator in another element that a stream joins an operator to, and the clause that separates them.

    ``clause`` is empty if no clause does: the number and weight of elements decided.
    """

    operator: str
    clause: str


class PlannedOperator(Struct, frozen=True, rename="camel"):
    """An operator of a Job that the product fuses; ``apart`` are its neighbours in other elements."""

    name: str
    apart: tuple[Neighbour, ...] = ()


class PlannedStream(Struct, frozen=True, rename="camel", kw_only=True):
    """A stream between two elements: the operators at its ends, their elements, and its share of the traffic.

    ``share`` is in per cent. ``between_nodes`` tells that the elements are on different nodes. ``clause`` is that
    which separates the operators, empty if none does.
    """

    operators: tuple[str, str]
    elements: tuple[str, str]
    share: int
    between_nodes: bool
    clause: str = ""


class PlannedFusion(Struct, frozen=True, rename="camel", kw_only=True):
    """How the operators of a Job are fused: the scheme, and the numbers of elements asked for and made.

    ``inside`` is how much of the traffic stays inside elements, ``between_nodes`` how much leaves nodes, both in per
    cent. ``streams`` are those between elements, the ones with the most traffic first, at most a hundred.
    """

    scheme: str
    asked: int
    made: int
    inside: int
    between_nodes: int
    streams: tuple[PlannedStream, ...] = ()


class PlannedElement(Struct, frozen=True, rename="camel", kw_only=True):
    """A processing element of a Job, a pod, or the pods of a workload, and where it goes.

    ``node`` is empty if the element has none, or has ``replicas`` on several nodes: then ``placed`` has the number of
    them by the name of the node. ``fixed`` is whether the element runs there already. ``closed`` are places in
    ``PlanDocument.rules``, no node in two of them; all other nodes are open. It is ``None`` if no node was judged, as
    for an element whose placement text has a mistake. ``pools`` are places in ``PlanDocument.pools``: the pools that
    the element names.
    """

    name: str
    clauses: tuple[str, ...] = ()
    requests: dict[str, str] = {}
    node: str = ""
    cost: int | None = None
    fixed: bool = False
    replicas: int = 1
    placed: dict[str, int] = {}
    closed: tuple[int, ...] | None = None
    pools: tuple[int, ...] = ()
    operators: tuple[PlannedOperator, ...] = ()


class Relation(Struct, frozen=True, rename="camel"):
    """A clause that ties elements of a subject to each other; ``elements`` are their names."""

    kind: RelationKind
    clause: str
    elements: tuple[str, ...]


class Conflict(Struct, frozen=True, rename="camel"):
    """A smallest set of clauses that cannot hold together, the names of the elements with them, and the nearest fix.

    ``closed`` are places in ``PlanDocument.rules``: rules with all nodes that a clause closes, whatever other clauses
    close, and with those that are closed without a clause (taints). A clause without a rule closes no node by itself.
    """

    clauses: tuple[str, ...]
    elements: tuple[str, ...]
    fix: str
    closed: tuple[int, ...] = ()


class PlannedNewNodes(Struct, frozen=True, rename="camel"):
    """How many nodes of a node group a Job waits for; ``needs`` is what each must have and is not known to have."""

    group: str
    nodes: int
    needs: tuple[str, ...] = ()


class Subject(Struct, frozen=True, rename="camel", kw_only=True):
    """An object of a manifest that is judged as a whole: a Job, a workload, a pod, or a HostPool (without elements).

    ``origin`` is its kind and name (``Job parallel``), ``message`` the refusal, of several lines, or empty. ``pools``
    are places in ``PlanDocument.pools``: the pools that its elements name. ``conflicts`` has
    the conflict of the object as a whole, or one of each kind of elements that cannot run even by themselves.
    ``fusion`` says how the operators of a Job that states such are fused. ``waiting`` are the elements of a Job that
    need the ``new_nodes`` of node groups: its elements have no node in the plan.
    """

    file: str
    origin: str
    namespace: str
    verdict: SubjectVerdict
    message: str = ""
    warnings: tuple[str, ...] = ()
    elements: tuple[PlannedElement, ...] = ()
    pools: tuple[int, ...] = ()
    relations: tuple[Relation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    fusion: PlannedFusion | None = None
    waiting: tuple[str, ...] = ()
    new_nodes: tuple[PlannedNewNodes, ...] = ()


class PoolHostNode(Struct, frozen=True, rename="camel"):
    """A host of a pool with a size: its index, and the name of its node."""

    index: int
    node: str


class PlannedPool(Struct, frozen=True, rename="camel"):
    """A HostPool that a subject names; ``name`` is the one in placement texts.

    ``size`` is the number of hosts that the pool has or lists. It is ``None`` for a pool without a size: each of its
    eligible nodes is a host, and ``hosts`` is empty. ``eligible`` are the nodes that could be hosts, as inclusive
    ranges of places in ``PlanDocument.nodes``. ``job`` is the Job that declares the pool, empty if none does.
    """

    namespace: str
    name: str
    mode: str
    size: int | None
    hosts: tuple[PoolHostNode, ...]
    eligible: tuple[tuple[int, int], ...] = ()
    job: str = ""


class NodeResource(Struct, frozen=True, rename="camel"):
    """A resource of a node: what it offers, what pods that run have, what this plan adds, and what then stays free.

    The two shares are thousandths of what the node offers, for bars.
    """

    name: str
    offers: str
    used: str
    planned: str
    free: str
    used_permille: int
    planned_permille: int


class PlannedNode(Struct, frozen=True, rename="camel"):
    """A node: its resources, cpu and memory first, its taints, and the pools with a size it is a host of (``P[0]``).

    ``labels`` are those that say where the node is: its zone, and its rack.
    """

    name: str
    resources: tuple[NodeResource, ...]
    taints: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    labels: dict[str, str] = {}


class PlanDocument(Struct, frozen=True, rename="camel", kw_only=True):
    """All subjects of one run, over one state of the cluster.

    ``cluster`` is one line about where the nodes come from. ``total_cost`` is that of all elements that have a node,
    ``None`` where costs are not counted; ``cheapest`` is whether it is proved that no plan costs less. ``undecided`` is
    whether the verdict on a subject was not decided in time, so that its elements have no nodes.
    """

    title: str
    cluster: str
    subjects: tuple[Subject, ...]
    nodes: tuple[PlannedNode, ...]
    pools: tuple[PlannedPool, ...] = ()
    rules: tuple[ClosedNodes, ...] = ()
    total_cost: int | None = None
    undecided: bool = False
    cheapest: bool = True


class RuleTable:
    """Collects the rules of a document; equal ones have one place."""

    def __init__(self) -> None:
        self._places: dict[ClosedNodes, int] = {}

    def add(self, rule: ClosedNodes) -> int:
        """The place of the rule in ``PlanDocument.rules``."""
        return self._places.setdefault(rule, len(self._places))

    @property
    def rules(self) -> tuple[ClosedNodes, ...]:
        """The rules, each at its place."""
        return tuple(self._places)


def pool_titles(pools: Sequence[PlannedPool]) -> tuple[str, ...]:
    """The name of each pool; pools of one name are told apart by their owners."""
    names = Counter(pool.name for pool in pools)
    owners = pool_owners(pools)
    return tuple(
        pool.name if names[pool.name] == 1 else f"{pool.name} ({owner})"
        for pool, owner in zip(pools, owners, strict=True)
    )


def pool_owners(pools: Sequence[PlannedPool]) -> tuple[str, ...]:
    """For each pool the Job that declares it, with its namespace if pools have several; else the namespace alone."""
    several = len({pool.namespace for pool in pools}) > 1
    return tuple(
        f"Job {pool.job}{f' in namespace {pool.namespace}' * several}" if pool.job else f"namespace {pool.namespace}"
        for pool in pools
    )


def ranges(places: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Ascending numbers as inclusive ranges: ``1, 2, 3, 7`` are ``(1, 3), (7, 7)``."""
    pairs: list[tuple[int, int]] = []
    for place in places:
        if pairs and place == pairs[-1][1] + 1:
            pairs[-1] = (pairs[-1][0], place)
        else:
            pairs.append((place, place))
    return tuple(pairs)
