"""Family ``numa``: the kubelet of the node can align the pod with its NUMA zones (``docs/numa.md``).

A kubelet with the topology policy ``restricted`` or ``single-numa-node`` turns other pods away once the scheduler has
bound them (``TopologyAffinityError``). Zones are compared as if they were free: a kubelet that turns the pod away from
free zones always does.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.kube.quantity import format_quantity
from webhook.placement.numa.alignment import Misfit
from webhook.placement.numa.needs import together
from webhook.placement.numa.topology import Amounts, TopologyPolicy
from webhook.placement.provision.effects import Effect, RequireNodes
from webhook.placement.request.ask import Ask
from webhook.placement.request.numa_needs import needs_of
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause, Source
from webhook.placement.text.fix import LOWER, AddNode, Fix
from webhook.placement.text.keys import HOSTNAME
from webhook.placement.text.problem import Problem, enumerated
from webhook.placement.text.rule import Rule

NAMED: Final = 64
"""From so many nodes a pod is kept away by name; of more it is warned."""

_AMOUNTS: Final = 3
"""Maximum number of amounts named in a message."""

_Turned = tuple[TopologyPolicy, Misfit]
"""Why a kubelet turns the pod away: its policy, and what it cannot align."""


class Aligned(ConstraintDefaults, frozen=True, gc=False):
    """The condition that the node's kubelet can align these ``amounts`` of the pod.

    ``turned`` are the nodes whose kubelets cannot.
    """

    rule: ClassVar[str] = Rule.REQUESTS
    verb: ClassVar[str] = LOWER
    spread: ClassVar[Spread] = Spread.FREE
    clause: Clause
    amounts: Amounts
    turned: tuple[tuple[_Turned, Bits], ...]
    soft: bool = False
    node: str = ""

    @property
    def zoned(self) -> bool:
        """The amounts are."""
        return True

    def filter(self, world: World) -> Bits:
        """All nodes but those that turn the pod away."""
        return world.everything & ~self._out

    def inject(self, world: World) -> Iterable[Effect]:
        """Keeps the pod from the nodes that turn it away, which the scheduler does not know; not if these are many."""
        nodes = world.inventory.nodes
        names = sorted(nodes.nodes[slot].labels[HOSTNAME] for slot in slots(_named(self._out, world)))
        if names:
            term = NodeTerm(match_expressions=(Requirement(HOSTNAME, "NotIn", tuple(names)),))
            yield RequireNodes(self.clause.text, (term,), firm=False)

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """Each node by what its kubelet cannot align."""
        for (policy, what), nodes in self.turned:
            if ruled_out := nodes & out:
                whose = f"container {what.container}" if what.container else "all containers"
                amounts = f"{_in_words(what.amounts)} of {whose}"
                if policy is TopologyPolicy.SINGLE and what.container:
                    said = f"no NUMA zone with {amounts}"
                else:
                    said = f"no NUMA zones that {amounts} can be aligned with"
                yield Reason(f"has {said} (policy {policy})", f"have {said} (policy {policy})", ruled_out)

    def fix(self, _world: World, _out: Bits) -> Fix | None:
        """A node with larger zones."""
        return AddNode(having=f"NUMA zones for {_in_words(self.amounts)}")

    @property
    def _out(self) -> Bits:
        out = 0
        for _, nodes in self.turned:
            out |= nodes
        return out


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint if a kubelet turns the pod away, and a warning if there are too many to keep the pod from them."""
    return _parsed(ask, world) if world.inventory.topologies.by_node else ()


def _parsed(ask: Ask, world: World) -> Iterator[Constraint | str]:
    needs = needs_of(ask.spec)
    if not needs:
        return
    nodes = world.inventory.nodes
    turned = world.inventory.topologies.turned_away(needs, nodes.slot_of, nodes.version)
    out = sum(turned.values()) & world.everything  # each node has one kind of zones
    if not out:
        return
    named = {name for _, what in turned for name, _ in what.amounts}
    aligned = sorted(together(needs).items())
    amounts = tuple((name, amount) for name, amount in aligned if name in named)
    stated = world.inventory.topologies.stated(nodes.slot_of, nodes.version)
    every = tuple((name, amount) for name, amount in aligned if name in stated)
    clause = Clause(Source.ZONES, every, f"requests {_in_words(amounts)} by NUMA zone")
    loose = out & ~_named(out, world)
    if loose and out != world.everything:
        number = loose.bit_count()
        kubelets = "the kubelet of 1 node cannot" if number == 1 else f"the kubelets of {number} nodes cannot"
        yield f"{clause}: {kubelets} align this and {'turns' if number == 1 else 'turn'} the pod away"
    yield Aligned(clause, amounts, tuple(turned.items()))


def _named(out: Bits, world: World) -> Bits:
    """The nodes among ``out`` that the pod is kept off by hostname labels: none if there are many.

    Nodes whose label is missing, or shared with another node, are left out.
    """
    named = out & world.everything & world.inventory.nodes.own_hostname
    return named if named.bit_count() <= NAMED else 0


def _in_words(amounts: Amounts) -> str:
    return enumerated([f"{name} {format_quantity(amount)}" for name, amount in amounts], _AMOUNTS)
