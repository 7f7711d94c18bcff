"""``hostExlocation("t")``: no two pods of the job with the same token share a host (``docs/exlocation.md``)."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement import keys, neighbours
from webhook.placement.ask import Ask, annotation
from webhook.placement.bits import Bits
from webhook.placement.clauses import ClauseName
from webhook.placement.constraint import Constraint, Reason
from webhook.placement.effects import PREFERENCE, AddLabel, AwayFromPods, Effect
from webhook.placement.problem import Problem
from webhook.placement.world import World


class Apart(Struct, frozen=True):
    """One token: ``held`` are the nodes with a live pod of the job that carries it."""

    verb: ClassVar[str] = "drop"
    clause: str
    soft: bool
    job: str
    token: str
    held: Bits
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes with a host name of their own and no pod of the token."""
        return world.cluster.nodes.own_hostname & ~self.held

    def inject(self, _world: World) -> Iterable[Effect]:
        """The token's label and a term that keeps such pods away."""
        key = keys.EXLOCATION + keys.digest(self.token)
        term = neighbours.with_label(key, self.token, self.job)
        yield AddLabel(self.clause, key, self.token)
        yield AwayFromPods(self.clause, term, PREFERENCE if self.soft else None)

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Without a host name of its own, or taken by a pod of the token."""
        nameless = out & ~world.cluster.nodes.own_hostname
        if nameless:
            yield neighbours.nameless(nameless)
        if out & ~nameless:
            what = f"a pod of {self.clause}"
            yield Reason(f"already runs {what}", f"already run {what}", out & ~nameless)

    def mend(self, _world: World, _out: Bits) -> str:
        """Nothing short of stopping one of the others."""
        return ""


def parse(ask: Ask, world: World) -> Iterator[Constraint | Problem]:
    """One constraint a token, and what is wrong with them."""
    clauses = tuple(ask.of(ClauseName.EXLOCATION))
    if not clauses:
        return
    yield from neighbours.bad_tokens(clauses, annotation(keys.PLACEMENT))
    if not ask.job:
        yield neighbours.needs_job(str(clauses[0]))
        return
    siblings = world.cluster.siblings(ask.namespace, ask.job)
    for token in dict.fromkeys(str(clause.argument) for clause in clauses):
        clause = next(str(clause) for clause in clauses if clause.argument == token)
        held = siblings.holding([(keys.EXLOCATION + keys.digest(token), token)])
        yield Apart(clause, ClauseName.EXLOCATION in ask.soft, ask.job, token, held)
