"""The words of a refused pod and the nodes that meet each of them, taken for themselves.

What follows from sets of nodes is cheap to say and nearly always right; ``relaxation`` finds out whether it is.
"""

import itertools
import operator
from collections.abc import Mapping, Sequence

from msgspec import Struct

from webhook.placement.decision.conflict import smallest
from webhook.placement.decision.verdict import Judged, Verdict
from webhook.placement.kube.bits import Bits
from webhook.placement.request.ask import Ask

_PAIRS = 300
"""Pairs of words among which the likeliest are found: all of 24 words, more than anyone writes by hand."""


class NamedNodes(Struct, frozen=True):
    """What a pod says: ``verbs`` tell what to do with each word, ``nodes`` which nodes meet it.

    ``base`` are the nodes that are open to the pod whatever it says.
    """

    verbs: Mapping[str, str]
    nodes: Mapping[str, Bits]
    base: Bits

    @classmethod
    def by(cls, verdict: Verdict, ask: Ask) -> "NamedNodes":
        """The words of a verdict."""
        base, nodes = verdict.everything, dict[str, Bits]()
        verbs = verbs_of(verdict.hard, ask)
        for judged in verdict.hard:
            clause = judged.constraint.clause
            if clause:
                nodes[clause] = nodes.get(clause, verdict.everything) & judged.nodes
            else:
                base &= judged.nodes
        return cls(verbs, {text: nodes[text] for text in verbs}, base)

    def opening(self) -> dict[str, int]:
        """How many nodes each word alone keeps closed."""
        opened = without_each(self.base, [*self.nodes.values()])
        return {text: nodes.bit_count() for text, nodes in zip(self.nodes, opened, strict=True)}

    def conflict(self) -> list[str]:
        """A smallest choice of words that no node meets; none where no node is open whatever the pod says."""
        texts = [*self.nodes]
        return [texts[at] for at in smallest(self.base, [*self.nodes.values()])]

    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of words, those first that keep most nodes closed by both."""
        once = twice = more = 0
        for found in self.nodes.values():
            out = self.base & ~found
            once, twice, more = once | out, twice | once & out, more | twice & out
        closed = {text: self.base & ~more & ~nodes for text, nodes in self.nodes.items()}
        pairs = itertools.islice(itertools.combinations(self.nodes, 2), _PAIRS)
        return sorted(pairs, key=lambda pair: -(closed[pair[0]] & closed[pair[1]]).bit_count())


def verbs_of(hard: Sequence[Judged], ask: Ask) -> dict[str, str]:
    """The words and what to do with each: the placement as it is written, then what else the pod says."""
    order = {clause.text: at for at, clause in reversed(list(enumerate(ask.clauses)))}

    def place(clause: str) -> int:
        return order.get(clause, order.get(clause.partition(" and ")[0], len(order)))

    verbs = {judged.constraint.clause: judged.constraint.verb for judged in hard}
    return {text: verbs[text] for text in sorted(verbs, key=place) if text}


def without_each(everything: Bits, sets: Sequence[Bits]) -> list[Bits]:
    """For each set, what all the *others* have in common: by products from the left and from the right."""
    before = list(itertools.accumulate(sets, operator.and_, initial=everything))
    after = list(itertools.accumulate(reversed(sets), operator.and_, initial=everything))
    return [before[at] & after[len(sets) - 1 - at] for at in range(len(sets))]
