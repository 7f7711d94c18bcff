"""The clauses of a refused pod and, for each clause, the set of nodes that meet it.

These sets tell at little cost which clauses conflict, and how many nodes dropping a clause would open. They are not
always right, since a clause may change what others mean: ``relaxation`` decides the pod anew to find out.
"""

import itertools
import operator
from collections.abc import Mapping, Sequence

from msgspec import Struct

from webhook.placement.decision.refusal.conflict import answered, smallest_failing
from webhook.placement.decision.verdict import Judged, Verdict
from webhook.placement.kube.bits import Bits
from webhook.placement.request.ask import Ask
from webhook.placement.text.clause import Clause, Source

_PAIRS = 300
"""Maximum number of pairs of clauses compared: all pairs of 24 clauses, more than anyone writes by hand."""


class ClauseNodes(Struct, frozen=True):
    """The clauses of a pod: ``verbs`` tell what to do with each, ``nodes`` which nodes meet it.

    A verb is ``drop`` or ``lower``. ``base`` are the nodes that are open to the pod whatever its clauses are.
    """

    verbs: Mapping[Clause, str]
    nodes: Mapping[Clause, Bits]
    base: Bits

    @classmethod
    def of(cls, verdict: Verdict, ask: Ask) -> "ClauseNodes":
        """The clauses of the hard constraints of a verdict."""
        base, nodes = verdict.everything, dict[Clause, Bits]()
        verbs = verbs_of(verdict.hard, ask)
        for judged in verdict.hard:
            clause = judged.constraint.clause
            if clause:
                nodes[clause] = nodes.get(clause, verdict.everything) & judged.nodes
            else:
                base &= judged.nodes
        return cls(verbs, {clause: nodes[clause] for clause in verbs}, base)

    def opening(self) -> dict[Clause, int]:
        """How many nodes each clause alone keeps closed."""
        opened = without_each(self.base, [*self.nodes.values()])
        return {clause: nodes.bit_count() for clause, nodes in zip(self.nodes, opened, strict=True)}

    def conflict(self) -> Sequence[Clause]:
        """A smallest set of clauses that no node meets together; empty if no node is open whatever the clauses are."""
        nodes, base = self.nodes, self.base

        def fails(chosen: Sequence[Clause]) -> bool:
            remaining = base
            for clause in chosen:
                remaining &= nodes[clause]
            return not remaining

        return answered(smallest_failing([clause for clause in nodes if base & ~nodes[clause]]), fails)

    def pairs(self) -> list[tuple[Clause, Clause]]:
        """Pairs of clauses; first those pairs that keep most nodes closed by both clauses and no third one."""
        once = twice = more = 0
        for able in self.nodes.values():
            out = self.base & ~able
            once, twice, more = once | out, twice | once & out, more | twice & out
        closed = {clause: self.base & ~more & ~nodes for clause, nodes in self.nodes.items()}
        pairs = itertools.islice(itertools.combinations(self.nodes, 2), _PAIRS)
        return sorted(pairs, key=lambda pair: -(closed[pair[0]] & closed[pair[1]]).bit_count())


def verbs_of(hard: Sequence[Judged], ask: Ask) -> dict[Clause, str]:
    """The verb of each clause: first the clauses of the placement as they are written, then all others."""
    order = {clause.written.parts[0]: at for at, clause in reversed(list(enumerate(ask.clauses)))}

    def place(clause: Clause) -> int:
        return order.get(clause.parts[0], len(order)) if clause.source is Source.PLACEMENT else len(order)

    verbs = {clause: judged.constraint.verb for judged in hard if (clause := judged.constraint.clause)}
    return {clause: verbs[clause] for clause in sorted(verbs, key=place)}


def without_each(everything: Bits, sets: Sequence[Bits]) -> list[Bits]:
    """For each set, the nodes that all the *other* sets have in common: by products from the left and the right."""
    before = list(itertools.accumulate(sets, operator.and_, initial=everything))
    after = list(itertools.accumulate(reversed(sets), operator.and_, initial=everything))
    return [before[at] & after[len(sets) - 1 - at] for at in range(len(sets))]
