"""Clauses of one processing element that no cluster could ever meet together."""

from collections.abc import Iterator, Sequence

from webhook.placement.spl.clauses import Clause, ClauseName
from webhook.placement.text.problem import Problem


def contradictions(clauses: Sequence[Clause], field: str, text: str) -> Iterator[Problem]:
    """A problem for each pair that contradicts itself, at the later of the two clauses.

    A host cannot be shared with, and kept from, the pods of one token; and a processing element that must be alone on
    its host cannot share it with those of a token. ``text`` is the annotation ``field`` that the clauses stand in.
    """
    near = [clause for clause in clauses if clause.name is ClauseName.COLOCATION]
    away = {clause.argument: clause for clause in clauses if clause.name is ClauseName.EXLOCATION}
    alone = next((clause for clause in clauses if clause.name is ClauseName.ISOLATION), None)
    for clause in near:
        other = away.get(clause.argument) or alone
        if other is not None:
            first, second = sorted((clause, other), key=lambda found: found.offset)
            yield Problem(field, f"{first} and {second} contradict each other", text, second.offset)
