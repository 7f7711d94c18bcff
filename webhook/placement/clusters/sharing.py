"""Clusters are shared among apps in contention, so that whatever is chosen from the lists can run together.

Where not all apps that a cluster could take fit into it together, the cluster stays in the lists of one of its maximal
sets of apps. An integer program chooses the sets: first every app keeps as many clusters as it is to run on, then the
best of these have the largest weights, then the further clusters are spread evenly, an app with few having the first
claim.
"""

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from webhook.placement.clusters.compatible_sets import rivals_of
from webhook.placement.clusters.examination import ExaminedCluster
from webhook.placement.decision.refusal.conflict import answered_in_turn, least_up_to
from webhook.placement.planning.search.linear_program import LinearProgram
from webhook.placement.planning.search.solver import Solving

LEVELS: Final = 64
"""Further clusters of an app that count one by one; all beyond them count the same."""

_Sets = tuple[tuple[int, ...], ...]
_Row = npt.NDArray[np.intp]


class Clash(Struct, frozen=True):
    """A smallest set of ``apps`` that cannot all have enough clusters.

    They could with as many more clusters for the apps in ``missing``, or if these were to run on so many fewer.
    ``missing`` is empty if that was not found in time.
    """

    apps: tuple[int, ...]
    missing: Mapping[int, int]


class Sharing(Struct, frozen=True):
    """For each cluster the apps in whose lists it stays, and the sets of apps that cannot all have enough clusters.

    ``decided`` tells that this is proved, or that there are none.
    """

    kept: tuple[tuple[int, ...], ...]
    clashing: tuple[Clash, ...] = ()
    decided: bool = True


class _Kind(Struct, frozen=True):
    """Clusters that are equal for the program: the sets of apps that they could keep, and their weights for apps."""

    sets: _Sets
    weights: tuple[int, ...]


async def share(wanted: Mapping[int, int], clusters: Sequence[ExaminedCluster], solving: Solving) -> Sharing:
    """Share the clusters among the apps at the positions ``wanted``, with the number of clusters that each must keep.

    Every one of these apps could have enough clusters if it were alone.
    """
    open_apps, clashing, decided = dict(wanted), list[tuple[int, ...]](), True
    while True:
        kinds = [_kind(cluster, open_apps) for cluster in clusters]
        status, kept = await _kept(open_apps, kinds, solving)
        if kept is not None:
            return Sharing(kept, await _remedied(clashing, wanted, open_apps, clusters, solving), decided)
        rivals = set().union(*(rivals_of(kind.sets) for kind in kinds))
        clash, proved = await _clash(
            {app: count for app, count in open_apps.items() if app in rivals}, clusters, solving
        )
        exact = all(cluster.sets.complete for cluster in clusters)
        decided = decided and proved and exact and status == "infeasible"
        clashing.append(clash)
        open_apps = {app: count for app, count in open_apps.items() if app not in clash}


async def _kept(wanted: Mapping[int, int], kinds: Sequence[_Kind], solving: Solving) -> tuple[str, _Sets | None]:
    """The set of apps that each cluster keeps if all of these can have enough, and the status of the program."""
    if all(len(kind.sets) == 1 for kind in kinds):
        return "optimal", tuple(kind.sets[0] for kind in kinds)
    status, solution = await _solved(wanted, kinds, solving)
    return status, None if solution is None else _dealt(kinds, solution)


async def _remedied(
    clashing: Iterable[tuple[int, ...]],
    wanted: Mapping[int, int],
    open_apps: Mapping[int, int],
    clusters: Sequence[ExaminedCluster],
    solving: Solving,
) -> tuple[Clash, ...]:
    """The clashes with what is missing beside all apps that have lists, and the clashes before."""
    beside, clashes = dict(open_apps), list[Clash]()
    for apps in clashing:
        together = beside | {app: wanted[app] for app in apps}
        missing = await _missing(apps, together, clusters, solving)
        beside = {app: count - missing.get(app, 0) for app, count in together.items()} if missing else beside
        clashes.append(Clash(apps, missing))
    return tuple(clashes)


async def _missing(
    apps: Sequence[int], wanted: Mapping[int, int], clusters: Sequence[ExaminedCluster], solving: Solving
) -> dict[int, int]:
    """How many clusters fewer these apps would have to run on so that all have enough: one of them, if that will do."""
    lowered: dict[int, int] = {}
    for at, first in enumerate(apps):
        best: tuple[int, int] | None = None
        for app in apps[at:]:
            most = best[0] - 1 if best else wanted[app]
            fewer = await _fewer(app, most, {**wanted, **dict.fromkeys(lowered, 0)}, clusters, solving)
            best = (fewer, app) if fewer else best
        if best:
            return {**lowered, best[1]: best[0]}
        lowered[first] = wanted[first]
    return {}


async def _fewer(
    app: int, most: int, wanted: Mapping[int, int], clusters: Sequence[ExaminedCluster], solving: Solving
) -> int:
    """How many clusters fewer, up to ``most``, the app would have to run on so that all have enough; 0 if unknown."""

    async def enough(fewer: int) -> bool:
        changed = {**wanted, app: wanted[app] - fewer}
        _, solution = await _solved(changed, [_kind(cluster, changed) for cluster in clusters], solving, weigh=False)
        return solution is not None

    return await answered_in_turn(least_up_to(most), enough)


async def _clash(
    wanted: Mapping[int, int], clusters: Sequence[ExaminedCluster], solving: Solving
) -> tuple[tuple[int, ...], bool]:
    """A smallest set of apps that cannot all have enough clusters, and whether there was time to find out."""
    chosen = dict(wanted)
    for app in wanted:
        without = {other: count for other, count in chosen.items() if other != app}
        kinds = [_kind(cluster, without) for cluster in clusters]
        status, _ = await _solved(without, kinds, solving, weigh=False)
        if status == "infeasible":
            chosen = without
    return tuple(chosen), solving.left() > 0


def _kind(cluster: ExaminedCluster, wanted: Mapping[int, int]) -> _Kind:
    """The cluster with only these apps."""
    among = {tuple(app for app in one if app in wanted) for one in cluster.sets.maximal} or {()}
    largest = [one for one in among if not any(set(one) < set(other) for other in among)]
    weights = tuple(cluster.fits[app].weight if cluster.takes(app) else 0 for app in wanted)
    return _Kind(tuple(sorted(largest)), weights)


async def _solved(
    wanted: Mapping[int, int], kinds: Sequence[_Kind], solving: Solving, *, weigh: bool = True
) -> tuple[str, Mapping[_Kind, tuple[int, ...]] | None]:
    """The status of the program, and how many clusters of each kind keep each of its sets."""
    if solving.left() <= 0:
        return "unknown", None
    program = _SharingProgram(wanted, Counter(kinds))
    least = 0
    if weigh and program.weighed:
        status, values = await solving.run(functools.partial(program.weighing().run, solving.left()))
        if values is None:
            return status, None
        least = program.weight(values)
    status, values = await solving.run(functools.partial(program.spreading(least).run, max(solving.left(), 0.1)))
    return status, None if values is None else program.chosen(values)


class _SharingProgram:
    """The programs of one question: columns for sets that clusters keep, for clusters in use, and for further ones."""

    def __init__(self, wanted: Mapping[int, int], kinds: Mapping[_Kind, int]) -> None:
        self._wanted = wanted
        self._kinds = kinds
        self._sets: dict[_Kind, _Row] = {}
        self._used: list[_Row] = []

    @property
    def weighed(self) -> bool:
        """Whether the clusters differ in weight for any app."""
        return any(len({kind.weights[at] for kind in self._kinds}) > 1 for at in range(len(self._wanted)))

    def weighing(self) -> LinearProgram:
        """The program for the largest sum of weights of the clusters that are used."""
        return self._program([-weights for weights in self._weights()], 0, spread=False)

    def spreading(self, least: int) -> LinearProgram:
        """The program for the most even lists among those with at least that sum of weights."""
        return self._program([np.zeros(len(self._kinds)) for _ in self._wanted], least, spread=True)

    def weight(self, values: npt.NDArray[np.float64]) -> int:
        """The sum of weights of a solution."""
        return round(
            sum(float(weights @ values[used]) for weights, used in zip(self._weights(), self._used, strict=True))
        )

    def chosen(self, values: npt.NDArray[np.float64]) -> Mapping[_Kind, tuple[int, ...]]:
        """How many clusters of each kind keep each of its sets in a solution."""
        return {kind: tuple(np.rint(values[columns]).astype(int).tolist()) for kind, columns in self._sets.items()}

    def _weights(self) -> list[npt.NDArray[np.float64]]:
        return [np.array([kind.weights[at] for kind in self._kinds], np.float64) for at in range(len(self._wanted))]

    def _program(self, costs: Sequence[npt.NDArray[np.float64]], least: int, *, spread: bool) -> LinearProgram:
        program = LinearProgram()
        sizes = np.array([*self._kinds.values()], np.float64)
        self._sets = {kind: program.columns(np.full(len(kind.sets), float(n))) for kind, n in self._kinds.items()}
        for kind, columns in self._sets.items():
            program.row(columns, np.ones(len(columns)), self._kinds[kind], self._kinds[kind])
        self._used = [program.columns(sizes, cost, whole=False) for cost in costs]
        for (app, count), used in zip(self._wanted.items(), self._used, strict=True):
            program.row(used, np.ones(len(used)), count, count)
            keeping = [self._keeping(kind, app) for kind in self._kinds]
            for column, mine in zip(used, keeping, strict=True):
                program.row([column, *mine], [1.0, *(-1.0,) * len(mine)], -np.inf, 0)
            if spread:
                self._further(program, count, [column for mine in keeping for column in mine])
        if least:
            program.row(np.concatenate(self._used), np.concatenate(self._weights()), least - 0.5, np.inf)
        return program

    def _keeping(self, kind: _Kind, app: int) -> list[int]:
        """The columns of the sets of that kind in which the app is."""
        return [int(column) for column, one in zip(self._sets[kind], kind.sets, strict=True) if app in one]

    def _further(self, program: LinearProgram, count: int, columns: Iterable[int]) -> None:
        """Each further cluster of an app counts less than the one before."""
        columns = [*columns]
        most = sum(self._kinds.values()) - count
        single = min(most, LEVELS)
        upper = np.append(np.ones(single), float(max(0, most - single)))
        levels = program.columns(upper, -np.arange(single + 1, 0, -1, dtype=np.float64), whole=False)
        program.row([*columns, *levels], [*(1.0,) * len(columns), *(-1.0,) * len(levels)], count, count)


def _dealt(kinds: Sequence[_Kind], chosen: Mapping[_Kind, tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """The set that each cluster keeps; clusters of one kind get the sets in their order."""
    queues = {
        kind: [one for one, count in zip(kind.sets, counts, strict=True) for _ in range(count)]
        for kind, counts in chosen.items()
    }
    return tuple(queues[kind].pop(0) for kind in kinds)
