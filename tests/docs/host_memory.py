"""``hostMemory("64Gi")``: the node has at least that much memory, free or not; a second family that tests add."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.quantity import NANO, parse_quantity
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import AddNode, Fix
from webhook.placement.text.problem import Problem


class HostMemory(ConstraintDefaults, frozen=True, gc=False):
    """The memory that the node must have, in bytes."""

    rule: ClassVar[str] = "host-memory"
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: Clause
    wanted: str
    least: int
    soft: bool = False
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes with so much memory or more."""
        return world.inventory.nodes.capacity.fits({"memory": self.least})

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes."""
        yield Reason(f"has less memory than {self.wanted}", f"have less memory than {self.wanted}", out)

    def fix(self, _world: World, _out: Bits) -> Fix | None:
        """A larger node."""
        return AddNode(having=f"{self.wanted} of memory")


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint a clause."""
    for clause in ask.of(ClauseName.MEMORY):
        wanted = str(clause.argument)
        yield HostMemory(clause.written, wanted, (parse_quantity(wanted) or 0) // NANO)
