"""The operators of a planned Job: which of them share an element, and which streams leave elements and nodes."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

from webhook.placement.fusion.application import Application, application_of
from webhook.placement.fusion.rules.partition_colocation import contracted
from webhook.placement.objects.jobs.job_fusion import JobFusion
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placementreview.plans.document import Neighbour, PlannedFusion, PlannedOperator, PlannedStream

_STREAMS: Final = 100
"""Streams between elements that a plan has, those with the most traffic first."""

_NEIGHBOURS: Final = 20
"""Neighbours of an operator that are named."""


class OperatorPlan:
    """The operators of one Job that has been fused; ``nodes`` is the node of each element by its name."""

    def __init__(self, stated: JobSpec, fusion: JobFusion, nodes: Mapping[str, str]) -> None:
        self._fusion = fusion
        self._application = application_of(stated)
        self._nodes = nodes
        self._element = {name: one.name for one in fusion.processing_elements for name in one.operators}
        self._clauses = _clauses(self._application, fusion)
        self._crossing = sorted(self._streams(), key=lambda one: (-one[0], one[1], one[2]))
        self._apart: dict[str, list[Neighbour]] = {}
        for _, one, other in self._crossing:
            for operator, neighbour in ((one, other), (other, one)):
                self._apart.setdefault(operator, []).append(Neighbour(neighbour, self._clause(one, other)))

    def _streams(self) -> Iterator[tuple[int, str, str]]:
        """The streams between elements: traffic, and the operators at both ends."""
        names = [operator.name for operator in self._application.operators]
        for (one, other), traffic in self._application.traffic.items():
            if self._element[names[one]] != self._element[names[other]]:
                yield traffic, names[one], names[other]

    def fusion(self) -> PlannedFusion:
        """How the Job was fused, with the streams between its elements."""
        total = sum(self._application.traffic.values())
        between = sum(traffic for traffic, one, other in self._crossing if self._node(one) != self._node(other))
        return PlannedFusion(
            scheme=self._fusion.scheme,
            asked=self._fusion.asked,
            made=self._fusion.made,
            inside=self._fusion.inside,
            between_nodes=_per_cent(between, total),
            streams=tuple(
                PlannedStream(
                    operators=(one, other),
                    elements=(self._element[one], self._element[other]),
                    share=_per_cent(traffic, total),
                    between_nodes=self._node(one) != self._node(other),
                    clause=self._clause(one, other),
                )
                for traffic, one, other in self._crossing[:_STREAMS]
            ),
        )

    def operators(self) -> dict[str, tuple[PlannedOperator, ...]]:
        """The operators of each element by its name, each with the neighbours that it is separated from."""
        return {
            one.name: tuple(
                PlannedOperator(name, tuple(self._apart.get(name, ())[:_NEIGHBOURS])) for name in one.operators
            )
            for one in self._fusion.processing_elements
        }

    def _node(self, operator: str) -> str:
        return self._nodes.get(self._element[operator], "")

    def _clause(self, one: str, other: str) -> str:
        return self._clauses.get(frozenset((one, other)), "")


def _clauses(application: Application, fusion: JobFusion) -> dict[frozenset[str], str]:
    """The clause behind each separation, by the operators; operators that are fused in any case have it alike."""
    operators = application.operators
    alike: dict[str, list[str]] = {}
    for at, unit in enumerate(contracted(operators, {})):
        alike.setdefault(operators[min(unit)].name, []).append(operators[at].name)
    return {
        frozenset((one, other)): separation.clause
        for separation in fusion.separations
        for one, other in itertools.product(*(alike[operator] for operator in separation.operators))
    }


def _per_cent(part: int, total: int) -> int:
    return 100 * part // total if total else 0
