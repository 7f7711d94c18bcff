"""A Streams application as its placement sees it: host pools, and operators with their clauses.

SPL programs and their compiled descriptions are both read into this.
"""

from collections.abc import Iterable

from msgspec import Struct

from webhook.convert.findings import InputLine
from webhook.placement.spl.clauses import Clause
from webhook.placement.spl.host_pools import PoolDeclaration


class DeclaredPool(Struct, frozen=True, gc=False):
    """A host pool, and the line that declares it."""

    at: InputLine
    pool: PoolDeclaration


class StreamsOperator(Struct, frozen=True, gc=False):
    """An operator instance: its full name (``Result.Region1[0]``), its clauses, and whether it can be restarted."""

    at: InputLine
    name: str
    clauses: tuple[Clause, ...] = ()
    restartable: bool = True


class StreamsApplication(Struct, frozen=True, gc=False):
    """One application; ``name`` is that of its main composite, with its namespace: ``apps.parallel::Parallel``.

    ``bundle`` is the name of its bundle, empty if the text is only a part of a program.
    """

    at: InputLine
    name: str
    bundle: str
    pools: tuple[DeclaredPool, ...]
    operators: tuple[StreamsOperator, ...]

    @property
    def named_pools(self) -> Iterable[str]:
        """The names of the pools, in their order."""
        return (declared.pool.name for declared in self.pools)
