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
from webhook.placement.constraint import Constraint, Reason, Spread
from webhook.placement.effects import Effect
from webhook.placement.problem import Problem
from webhook.placement.quantity import NANO, format_quantity
from webhook.placement.world import World

PODS = "pods"
"""The resource that counts pods: every pod needs one of it."""

_ONE: Tally = {PODS: 1}

SAID = 4
"""Resources named in a clause; the user knows the rest."""

_FIRST = ("cpu", "memory")
"""Resources that are named before the others."""


class Room(Struct, frozen=True, gc=False):
    """The requests of the pod; on the ``pinned`` nodes they are compared with what is left, not with what there is."""

    verb: ClassVar[str] = "lower"
    spread: ClassVar[Spread] = Spread.FREE
    requests: Tally
    pinned: Bits = 0
    soft: bool = False
    node: str = ""

    @property
    def clause(self) -> str:
        """The requests in words, but for that of one pod, which nobody writes; made only when somebody reads it."""
        return f"requests {self._wanted()}" if PODS not in self.requests else ""

    def filter(self, world: World) -> Bits:
        """Nodes that offer all of it."""
        return self._fits(self.requests, world)

    def inject(self, _world: World) -> Iterable[Effect]:
        """Nothing: the requests stay as they are."""
        return ()

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Each node under the first resource it lacks."""
        left = out
        for resource in ordered(self.requests):
            if not left:
                return
            short = left & ~self._fits({resource: self.requests[resource]}, world)
            left &= ~short
            for nodes, free in ((short & ~self.pinned, ""), (short & self.pinned, " free")):
                if nodes:
                    yield self._reason(resource, nodes, free)

    def mend(self, _world: World, out: Bits) -> str:
        """More room, on another node or on this one."""
        pinned = bool(out & self.pinned)
        if not self.clause:
            return "let another pod of the node finish" if pinned else "add a node with room for one more pod"
        return f"free {self._wanted()} on one node" if pinned else f"add a node with {self._wanted()} to offer"

    def _fits(self, requests: Tally, world: World) -> Bits:
        capacity = world.cluster.nodes.capacity
        fitting = capacity.fits(requests)
        return fitting & (capacity.fits_free(requests) | ~self.pinned) if self.pinned else fitting

    def _wanted(self) -> str:
        named = ordered(self.requests)
        said = [f"{resource} {amount(resource, self.requests[resource])}" for resource in named[:SAID]]
        return ", ".join(said) + (f" and {len(named) - SAID} more" if len(named) > SAID else "")

    def _reason(self, resource: str, nodes: Bits, free: str) -> Reason:
        if resource == PODS:
            return Reason("runs as many pods as it may", "run as many pods as they may", nodes)
        what = f"less than {resource} {amount(resource, self.requests[resource])}{free}"
        return Reason(f"has {what}", f"have {what}", nodes)


def amount(resource: str, value: int) -> str:
    """An amount as Kubernetes writes it: milli-units of cpu, whole units of everything else."""
    return format_quantity(value * (NANO // 1000 if resource == "cpu" else NANO))


def ordered(requests: Tally) -> list[str]:
    """Resource names in the order of messages: cpu, memory, the others by name."""
    named = sorted(requests.keys() - set(_FIRST))
    return [resource for resource in (*_FIRST, *named) if resource in requests]


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem]:
    """One constraint for what the pod requests, and a standing one for its place among the pods of a node."""
    pinned = _pinned(ask, world)
    asked = {resource: wanted for resource, wanted in ask.requests.items() if resource != PODS}
    wanted = ask.requests[PODS]
    place = Room(_ONE if wanted == 1 else {PODS: wanted}, pinned)
    return (Room(asked, pinned), place) if asked else (place,)


def _pinned(ask: Ask, world: World) -> Bits:
    """The nodes to which the pod goes past the scheduler, so that nobody would wait for room on its behalf."""
    pinned = world.named(ask.spec.node_name) if ask.spec.node_name else 0
    hosts = ask.by_name.get(ClauseName.HOST)
    if hosts and ask.binding == "nodeName" and ClauseName.HOST not in ask.soft:
        for clause in hosts:
            if isinstance(clause.argument, str):
                pinned |= world.meant(clause.argument)
    return pinned
