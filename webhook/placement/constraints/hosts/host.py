"""Family ``host("name")`` and ``host("address")``: the pod runs on exactly that node (``docs/host.md``).

A string is an address if the InetAddressValidator of Apache Commons accepts it, as in Streams host constraints. Any
other string must be the exact name of a node.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from webhook.placement.annotations.placement_text import annotation
from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread, Tie
from webhook.placement.kube.addresses import canonical
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.names import is_object_name
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.kube.selection.selector import NAME_FIELD
from webhook.placement.provision.effects import BindTo, Effect, PreferNodes, RequireNodes
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import AddNode, Fix
from webhook.placement.text.keys import PLACEMENT
from webhook.placement.text.problem import Fault, Problem
from webhook.placement.text.rule import Rule


class NamedHost(ConstraintDefaults, frozen=True, gc=False):
    """The condition that the node is the one that the clause names.

    ``text`` is the name or address, ``node`` the name (empty for an address). ``nodes`` is the set of that one node,
    ``target`` its name; both are empty if there is no such node. ``bound`` tells that the pod gets ``nodeName``.
    """

    separable: ClassVar[bool] = True
    rule: ClassVar[str] = Rule.HOST
    tie: ClassVar[Tie] = Tie.HOST
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: Clause
    soft: bool
    node: str
    text: str
    nodes: Bits
    target: str
    bound: bool

    def filter(self, _world: World) -> Bits:
        """The node that the clause names."""
        return self.nodes

    def inject(self, _world: World) -> Iterable[Effect]:
        """``nodeName``, or node affinity to that node; nothing if there is no such node."""
        if not self.target:
            return
        if self.bound and not self.soft:
            yield BindTo(self.clause.text, self.target, firm=bool(self.node))
            return
        term = NodeTerm(match_fields=(Requirement(NAME_FIELD, "In", (self.target,)),))
        if self.soft:
            yield PreferNodes(self.clause.text, term)
        else:
            yield RequireNodes(self.clause.text, (term,), firm=bool(self.node))

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes have another name, or another address."""
        if self.node:
            yield Reason(f"is not named {self.text}", f"are not named {self.text}", out)
        else:
            address = f"not have the address {self.text}"
            yield Reason(f"does {address}", f"do {address}", out)

    def fix(self, _world: World, _out: Bits) -> Fix | None:
        """Add the node, if it does not exist."""
        if self.nodes:
            return None
        return AddNode(f"named {self.text}") if self.node else AddNode(having=f"the address {self.text}")


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem]:
    """One constraint for each name or address; ambiguous addresses and impossible names are problems."""
    clauses = ask.by_name.get(ClauseName.HOST)
    return _named(clauses, ask, world) if clauses else ()


def _named(clauses: Iterable[PlacementClause], ask: Ask, world: World) -> Iterator[Constraint | Problem]:
    """Constraints and problems of those ``host`` clauses that name no pool."""
    soft = ClauseName.HOST in ask.soft
    for clause in clauses:
        text = clause.argument
        if isinstance(text, str):
            address = canonical(text)
            if address is None and not is_object_name(text):
                rule = "neither an IP address nor a node name (lower-case letters, digits, '-' and '.', at most 253)"
                yield Problem(annotation(PLACEMENT), f"{clause} is {rule}", str(clause), len("host("))
            elif address is None:
                named = world.named(text)
                yield NamedHost(clause.written, soft, text, text, named, text, ask.binding == "nodeName")
            else:
                yield _addressed(clause, address, soft=soft, ask=ask, world=world)


def _addressed(clause: PlacementClause, address: str, *, soft: bool, ask: Ask, world: World) -> Constraint | Problem:
    """The constraint of an address; a problem if several nodes have it, or if its node is yet to be added."""
    nodes = world.inventory.nodes.addresses.of(address)
    names = [world.inventory.nodes.names[slot] for slot in slots(nodes)]
    if len(names) > 1 and not soft:
        message = f"{clause}: {len(names)} nodes have this address; name the node instead"
        return Problem(annotation(PLACEMENT), message, fault=Fault.FORBIDDEN)
    if not names and ask.elastic and not soft:
        message = f"{clause}: no node has this address, and a node that is added later can only be chosen by its name"
        return Problem(annotation(PLACEMENT), message, fault=Fault.FORBIDDEN)
    one = nodes if len(names) == 1 else 0
    return NamedHost(clause.written, soft, "", address, one, names[0] if one else "", ask.binding == "nodeName")
