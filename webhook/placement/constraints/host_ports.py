"""Host ports of the pod's containers: no two pods of one template can be on a node (``docs/workloads.md``).

Which ports pods of others take on which node is for the scheduler to find (``NodePorts`` of its plugins).
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement.constraints.constraint import Constraint, Reason, Spread
from webhook.placement.kube.bits import Bits
from webhook.placement.provision.effects import Effect
from webhook.placement.request.ask import Ask
from webhook.placement.request.pod_text import ports
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem


class TakenPorts(Struct, frozen=True, gc=False):
    """Ports of its node that the pod takes, which another like it would take as well."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.APART
    soft: ClassVar[bool] = False
    node: ClassVar[str] = ""
    clause: str

    def filter(self, world: World) -> Bits:
        """Any node: ports that are taken are not known."""
        return world.everything

    def inject(self, _world: World) -> Iterable[Effect]:
        """Nothing: the pod says it already."""
        return ()

    def explain(self, _world: World, _out: Bits) -> Iterator[Reason]:
        """No node is out for it."""
        return iter(())

    def mend(self, _world: World, _out: Bits) -> str:
        """No node is out for it."""
        return ""


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint for all ports, of which each is enough to keep pods apart."""
    clause = ports(ask.spec)
    return (TakenPorts(clause),) if clause else ()
