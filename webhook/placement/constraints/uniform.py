"""Uniform worker mapping: all workers of a job on one node, or each on a node of its own (``docs/mapping.md``).

The workers of a job are its pods that ask for it; they carry a label by which they know one another.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement.annotations.worker_mapping import uniformly
from webhook.placement.constraints import pod_terms as neighbours
from webhook.placement.constraints.constraint import Constraint, Reason, Spread
from webhook.placement.constraints.shared_room import room_beside
from webhook.placement.inventory.job_pods import JobPods, PodLabel
from webhook.placement.kube.bits import Bits
from webhook.placement.provision.effects import PREFERENCE, AddLabel, AwayFromPods, Effect, NearPods
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem

SOFT = "uniform"
"""What the annotation ``preferred`` calls it."""

MARK: PodLabel = keys.WORKER, "true"
"""The label of a worker."""

_SEPARATE = "a worker of all-separate-nodes"


class SameNode(Struct, frozen=True, gc=False):
    """All on one node: ``held`` are the nodes with live workers, ``roomy`` those with room for one more beside them."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.TOGETHER
    clause: str
    soft: bool
    job: str
    held: Bits
    roomy: Bits
    node: str = ""

    def filter(self, world: World) -> Bits:
        """The node of the others, if there are any, else all that have a host name of their own."""
        return world.inventory.nodes.own_hostname & (self.roomy if self.held else world.everything)

    def inject(self, _world: World) -> Iterable[Effect]:
        """The label of a worker, and a term that keeps the pod beside others that have it."""
        yield AddLabel(self.clause, *MARK)
        yield NearPods(self.clause, neighbours.with_label(*MARK, self.job), PREFERENCE if self.soft else None)
        if not self.soft:
            yield neighbours.hostnamed(self.clause)

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Without a host name of its own, not where the others are, or no room there."""
        return neighbours.elsewhere(out, self.held, "the job's other workers", world)

    def mend(self, _world: World, _out: Bits) -> str:
        """Nothing short of moving the others."""
        return ""


class SeparateNodes(Struct, frozen=True, gc=False):
    """Each on a node of its own: ``held`` are the nodes with live workers."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.APART
    clause: str
    soft: bool
    job: str
    held: Bits
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes with a host name of their own and no worker."""
        return world.inventory.nodes.own_hostname & ~self.held

    def inject(self, _world: World) -> Iterable[Effect]:
        """The label of a worker, and a term that keeps the pod away from others that have it."""
        yield AddLabel(self.clause, *MARK)
        yield AwayFromPods(self.clause, neighbours.with_label(*MARK, self.job), PREFERENCE if self.soft else None)
        if not self.soft:
            yield neighbours.hostnamed(self.clause)

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Without a host name of its own, or taken by a worker."""
        return neighbours.taken(out, "another worker of the job", world)

    def mend(self, _world: World, _out: Bits) -> str:
        """Nothing short of stopping one of the others."""
        return ""


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem | str]:
    """The one constraint, if the pod asks for it, and what the live workers of the job mean for it."""
    uniform = ask.mapping.uniform
    if uniform == "none":
        return ()
    clause = uniformly(uniform)
    if not ask.job:
        return (neighbours.needs_job(clause),)
    siblings = world.siblings(ask.namespace, ask.job)
    found = _separate if uniform == "all-separate-nodes" else _same
    return found(ask, clause, siblings, world)


def _separate(ask: Ask, clause: str, siblings: JobPods, world: World) -> Iterator[Constraint]:
    soft = SOFT in ask.soft
    yield SeparateNodes(clause, soft, ask.job, siblings.holding((MARK,)))
    if soft:
        yield from neighbours.repelled(clause, MARK, _SEPARATE, siblings, world)


def _same(ask: Ask, clause: str, siblings: JobPods, world: World) -> Iterator[Constraint | str]:
    soft, held = SOFT in ask.soft, siblings.holding((MARK,)) & world.everything
    yield SameNode(clause, soft, ask.job, held, room_beside(held, (MARK,), siblings, ask.requests, world))
    yield from neighbours.repelled(clause, MARK, _SEPARATE, siblings, world)
    if not soft:
        yield from neighbours.shared_hostnames(world)
        if not held:
            yield from neighbours.ending((MARK,), (ask.namespace, ask.job), clause, world)
