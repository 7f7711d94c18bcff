"""The number of processing elements of a Job, by its fusion scheme: ``manual``, ``legacy`` or ``automatic``.

The automatic number follows the estimate of the Streams instance operator: the CPU that the application needs lies
between that of its necessary threads and that of all of its operators, and a pod has what a node has
(``docs/fusion.md``).
"""

import enum
import math
from collections.abc import Iterator, Sequence
from typing import Final

from webhook.placement.fusion.application import PhysicalOperator
from webhook.placement.fusion.graph import Graph
from webhook.placement.kube.quantity import NANO
from webhook.placement.objects.jobs.job_resources import divided
from webhook.placement.objects.jobs.job_spec import ELEMENT_LIMIT, Fusion, JobSpec

_LEAST_OPERATORS: Final = 2
"""Operators of a processing element on average at least: single light operators are not worth a pod."""


class Scheme(enum.StrEnum):
    """The values of ``spec.fusion`` that choose the number of processing elements."""

    AUTOMATIC = "automatic"
    MANUAL = "manual"
    LEGACY = "legacy"


def scheme_of(fusion: Fusion | None) -> Scheme:
    """The scheme that a Job states, else automatic."""
    if fusion is not None and fusion.manual is not None:
        return Scheme.MANUAL
    return Scheme.LEGACY if fusion is not None and fusion.legacy else Scheme.AUTOMATIC


def asked_elements(spec: JobSpec, graph: Graph, node_cpu: int) -> int:
    """The number of elements that the scheme asks for; ``node_cpu`` is that of a usual node, in nano-units."""
    scheme, units = scheme_of(spec.fusion), len(graph.units)
    if scheme is Scheme.MANUAL:
        return spec.fusion.manual or 1 if spec.fusion else 1
    if scheme is Scheme.LEGACY:
        return units
    operators = graph.application.operators
    needed = math.ceil(_cpu(operators, graph.application.fed) / max(node_cpu, NANO))
    return max(1, min(needed, units, ELEMENT_LIMIT, len(operators) // _LEAST_OPERATORS))


def _cpu(operators: Sequence[PhysicalOperator], fed: frozenset[int]) -> int:
    """The CPU that the application is expected to need, in nano-units.

    It is what the operators cost, if some say so. Otherwise it is the mean of one CPU for each necessary thread, which
    operators without incoming streams and threaded ones have, and one for each operator.
    """
    stated = [operator.cost for operator in operators if operator.cost is not None]
    if stated:
        return sum(stated)
    threads = sum(operator.threaded or at not in fed for at, operator in enumerate(operators))
    return (threads + len(operators)) * NANO // 2


def nearest_first(spec: JobSpec, graph: Graph, asked: int) -> Iterator[int]:
    """Numbers of processing elements, the nearest to ``asked`` first, of two that are as near the smaller one.

    Numbers among which the resources of the Job do not divide are left out.
    """
    most = min(len(graph.units), ELEMENT_LIMIT)
    for count in sorted(range(1, most + 1), key=lambda count: (abs(count - asked), count)):
        if divides(spec, count):
            yield count


def divides(spec: JobSpec, count: int) -> bool:
    """Whether the resources of the Job can be divided among so many processing elements."""
    return spec.resources is None or not divided(spec.resources, count, "spec.resources")[1]
