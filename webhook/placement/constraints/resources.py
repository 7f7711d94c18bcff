"""Room for the pod's requests: of what a node has to give, or of what is free where nothing would wait for it.

A pod that the scheduler places may wait for others to finish, so it is refused only where no node could ever hold it.
A pod bound by ``nodeName`` waits for nothing: it needs free room now (``docs/verdicts.md``).
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement.ask import Ask
from webhook.placement.bits import Bits
from webhook.placement.clauses import ClauseName
from webhook.placement.cluster import Tally
from webhook.placement.constraint import Constraint, Reason
from webhook.placement.effects import Effect
from webhook.placement.problem import Problem
from webhook.placement.quantity import NANO, format_quantity
from webhook.placement.world import World

PODS = "pods"
"""The resource that counts pods: every pod needs one of it."""

SAID = 4
"""Resources named in a clause; the user knows the rest."""

_FIRST = ("cpu", "memory")
"""Resources that are named before the others."""


class Room(Struct, frozen=True):
    """The requests of the pod; ``free`` compares with what is left instead of with what there is."""

    verb: ClassVar[str] = "lower"
    requests: Tally
    free: bool
    soft: bool = False
    node: str = ""

    @property
    def clause(self) -> str:
        """The requests in words, but for that of one pod, which nobody writes; made only when somebody reads it."""
        return f"requests {self._wanted()}" if PODS not in self.requests else ""

    def filter(self, world: World) -> Bits:
        """Nodes that offer all of it."""
        return world.cluster.nodes.capacity.fits(self.requests, free=self.free)

    def inject(self, _world: World) -> Iterable[Effect]:
        """Nothing: the requests stay as they are."""
        return ()

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Each node under the first resource it lacks."""
        left = out
        for resource in ordered(self.requests):
            if not left:
                return
            short = left & ~world.cluster.nodes.capacity.fits({resource: self.requests[resource]}, free=self.free)
            if short:
                left &= ~short
                yield self._reason(resource, short)

    def mend(self, _world: World, _out: Bits) -> str:
        """More room, on another node or on this one."""
        if not self.clause:
            return "let another pod of the node finish" if self.free else "add a node with room for one more pod"
        return f"free {self._wanted()} on one node" if self.free else f"add a node with {self._wanted()} to offer"

    def _wanted(self) -> str:
        named = ordered(self.requests)
        said = [f"{resource} {amount(resource, self.requests[resource])}" for resource in named[:SAID]]
        return ", ".join(said) + (f" and {len(named) - SAID} more" if len(named) > SAID else "")

    def _reason(self, resource: str, nodes: Bits) -> Reason:
        if resource == PODS:
            return Reason("runs as many pods as it may", "run as many pods as they may", nodes)
        what = f"less than {resource} {amount(resource, self.requests[resource])}{' free' if self.free else ''}"
        return Reason(f"has {what}", f"have {what}", nodes)


def amount(resource: str, value: int) -> str:
    """An amount as Kubernetes writes it: milli-units of cpu, whole units of everything else."""
    return format_quantity(value * (NANO // 1000 if resource == "cpu" else NANO))


def ordered(requests: Tally) -> list[str]:
    """Resource names in the order of messages: cpu, memory, the others by name."""
    named = sorted(requests.keys() - set(_FIRST))
    return [resource for resource in (*_FIRST, *named) if resource in requests]


def parse(ask: Ask, _world: World) -> Iterator[Constraint | Problem]:
    """One constraint for what the pod requests, and a standing one for its place among the pods of a node."""
    free = _bound(ask)
    asked = {resource: wanted for resource, wanted in ask.requests.items() if resource != PODS}
    if asked:
        yield Room(asked, free)
    yield Room({PODS: ask.requests[PODS]}, free)


def _bound(ask: Ask) -> bool:
    """Whether the pod goes past the scheduler, so that nobody would wait for room on its behalf."""
    if ask.spec.node_name:
        return True
    named = any(isinstance(clause.argument, str) for clause in ask.of(ClauseName.HOST))
    return named and ask.binding == "nodeName" and ClauseName.HOST not in ask.soft
