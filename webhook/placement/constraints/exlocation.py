"""``hostExlocation("t")``: no two pods of the job with the same token share a host (``docs/exlocation.md``)."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement.annotations.placement_text import annotation
from webhook.placement.constraints import pod_terms as neighbours
from webhook.placement.constraints.constraint import Constraint, Reason, Spread
from webhook.placement.kube.bits import Bits
from webhook.placement.provision.effects import PREFERENCE, AddLabel, AwayFromPods, Effect
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import Clause, ClauseName
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem


class Exlocated(Struct, frozen=True, gc=False):
    """One token: ``held`` are the nodes with a live pod of the job that carries it."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.APART
    clause: str
    soft: bool
    job: str
    token: str
    held: Bits
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes with a host name of their own and no pod of the token."""
        return world.inventory.nodes.own_hostname & ~self.held

    def inject(self, _world: World) -> Iterable[Effect]:
        """The token's label and a term that keeps such pods away."""
        key = keys.EXLOCATION + keys.digest(self.token)
        term = neighbours.with_label(key, self.token, self.job)
        yield AddLabel(self.clause, key, self.token)
        yield AwayFromPods(self.clause, term, PREFERENCE if self.soft else None)
        if not self.soft:
            yield neighbours.hostnamed(self.clause)

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Without a host name of its own, or taken by a pod of the token."""
        return neighbours.taken(out, f"a pod of {self.clause}", world)

    def mend(self, _world: World, _out: Bits) -> str:
        """Nothing short of stopping one of the others."""
        return ""


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem]:
    """One constraint a token, and what is wrong with them."""
    clauses = ask.by_name.get(ClauseName.EXLOCATION)
    return _apart(clauses, ask, world) if clauses else ()


def _apart(clauses: tuple[Clause, ...], ask: Ask, world: World) -> Iterator[Constraint | Problem]:
    yield from neighbours.bad_tokens(clauses, annotation(keys.PLACEMENT))
    if not ask.job:
        yield neighbours.needs_job(str(clauses[0]))
        return
    siblings = world.siblings(ask.namespace, ask.job)
    soft = ClauseName.EXLOCATION in ask.soft
    tokens: dict[str, Clause] = {}
    for clause in clauses:
        tokens.setdefault(str(clause.argument), clause)
    for token, clause in tokens.items():
        mark = keys.EXLOCATION + keys.digest(token), token
        yield Exlocated(clause.text, soft, ask.job, token, siblings.holding((mark,)))
        if soft:
            yield from neighbours.repelled(clause.text, mark, f"a pod of {clause.text}", siblings, world)
