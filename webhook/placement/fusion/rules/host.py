"""``host``: operators whose hosts exclude each other are never fused.

Different nodes exclude each other, and so do different indices of one HostPool. All operators of a processing element
are on one exclusive HostPool, or none is. Everything else about hosts is left to the placement.
"""

from collections.abc import Iterator, Sequence

from webhook.placement.fusion.application import PhysicalOperator
from webhook.placement.fusion.rules.mark import Mark, Setting
from webhook.placement.spl.clauses import ClauseName, PoolName

EXCLUSIVE = "exclusive"


def marks(operators: Sequence[PhysicalOperator], setting: Setting) -> list[Mark]:
    """The node, the index and the exclusive pool of each operator that has one."""
    return [*_hosts(operators, setting), *_exclusive(operators, setting)]


def _hosts(operators: Sequence[PhysicalOperator], setting: Setting) -> Iterator[Mark]:
    for at, operator in enumerate(operators):
        for clause in operator.of(ClauseName.HOST):
            said = operator.says(clause)
            if isinstance(clause.argument, str):
                yield Mark(at, "node", setting.nodes.get(clause.argument, clause.argument), said)
            elif isinstance(clause.argument, PoolName) and clause.argument.index is not None:
                yield Mark(at, f"host of {clause.argument.name}", str(clause.argument.index), said)


def _exclusive(operators: Sequence[PhysicalOperator], setting: Setting) -> Iterator[Mark]:
    pools: dict[int, tuple[str, str]] = {
        at: (clause.argument.name, operator.says(clause))
        for at, operator in enumerate(operators)
        for clause in operator.of(ClauseName.HOST)
        if isinstance(clause.argument, PoolName) and clause.argument.name in setting.exclusive
    }
    for at in range(len(operators)) if pools else ():
        name, said = pools.get(at, ("", ""))
        yield Mark(at, EXCLUSIVE, name, said)
