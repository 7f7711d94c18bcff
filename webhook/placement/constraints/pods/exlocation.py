"""Family ``hostExlocation("t")``: no two pods of the job with the same token share a host (``docs/exlocation.md``)."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from webhook.placement.annotations.placement_text import annotation
from webhook.placement.constraints.company import Company
from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread
from webhook.placement.constraints.pods import pod_terms
from webhook.placement.kube.bits import Bits
from webhook.placement.provision.effects import PREFERENCE, AddLabel, AwayFromPods, Effect
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule


class Exlocated(ConstraintDefaults, frozen=True, gc=False):
    """The condition for one token: ``held`` are the nodes with a live pod of the job that has the token."""

    separable: ClassVar[bool] = True
    rule: ClassVar[str] = Rule.EXLOCATION
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.APART
    clause: Clause
    soft: bool
    job: str
    token: str
    occupied: Bits
    node: str = ""

    def company(self, job: str) -> Company:
        """Pods with the token share no node."""
        return Company.apart(f"exlocation {job} {self.token}")

    def filter(self, world: World) -> Bits:
        """Nodes with a host name of their own and no pod of the token."""
        return world.inventory.nodes.own_hostname & ~self.occupied

    def inject(self, world: World) -> Iterable[Effect]:
        """The token's label, and a term that keeps pods with that label away."""
        key = keys.EXLOCATION + keys.digest(self.token)
        term = pod_terms.with_label(key, self.token, self.job)
        yield AddLabel(self.clause.text, key, self.token)
        yield AwayFromPods(self.clause.text, term, PREFERENCE if self.soft else None)
        if not self.soft:
            yield from pod_terms.hostnamed(self.clause.text, world)

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Nodes without a host name of their own, then nodes with a pod of the token."""
        return pod_terms.taken(out, f"a pod of {self.clause}", world)


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem]:
    """One constraint for each token, and what is wrong with the clauses."""
    clauses = ask.by_name.get(ClauseName.EXLOCATION)
    return _apart(clauses, ask, world) if clauses else ()


def _apart(clauses: tuple[PlacementClause, ...], ask: Ask, world: World) -> Iterator[Constraint | Problem]:
    """Constraints and problems of these ``hostExlocation`` clauses."""
    yield from pod_terms.bad_tokens(clauses, annotation(keys.PLACEMENT))
    if not ask.job:
        yield pod_terms.needs_job(clauses[0])
        return
    job_pods = world.job_pods(ask.namespace, ask.job)
    soft = ClauseName.EXLOCATION in ask.soft
    tokens: dict[str, PlacementClause] = {}
    for clause in clauses:
        tokens.setdefault(str(clause.argument), clause)
    for token, clause in tokens.items():
        label = keys.EXLOCATION + keys.digest(token), token
        yield Exlocated(clause.written, soft, ask.job, token, job_pods.holding((label,)))
        if soft:
            yield from pod_terms.repelled(clause.written, label, f"a pod of {clause.text}", job_pods, world)
