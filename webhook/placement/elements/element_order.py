"""The placement of a processing element as its operators state it, and the order in which elements are submitted."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from webhook.placement.objects.jobs.job_spec import ElementSpec, OperatorSpec
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.spl.placement import format_placement, parse_placement
from webhook.placement.text import keys

_FIELD = f"metadata.annotations[{keys.PLACEMENT}]"


def placement_text(element: ElementSpec, own: str = "") -> str:
    """The annotation ``placement`` of the element's pod: ``Operator: clause, clause; Operator2: ...``.

    ``own``, the text of the element's template, comes first. A text with mistakes is kept as it is, so that the refusal
    can show them.
    """
    texts = (own.strip().rstrip(";"), *map(_of_operator, element.operators or ()))
    return "; ".join(filter(None, texts))


def own_annotations(element: ElementSpec) -> Mapping[str, Any]:
    """The annotations of the element's template; empty where there are none."""
    template = element.template if isinstance(element.template, dict) else {}
    metadata = template.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations if isinstance(annotations, dict) else {}


def own_placement(element: ElementSpec) -> str:
    """The placement text that the element's template states itself; empty if it states none."""
    return str(own_annotations(element).get(keys.PLACEMENT) or "")


def most_constrained_first(elements: Iterable[tuple[str, ElementSpec]]) -> list[tuple[str, ElementSpec]]:
    """The elements with ``hostIsolation`` first, then by the number of their clauses; else in the order of the Job."""
    return sorted(elements, key=lambda named: _rank(named[1]))


def _rank(element: ElementSpec) -> tuple[bool, int]:
    clauses = list(_clauses(element))
    return all(clause.name is not ClauseName.ISOLATION for clause in clauses), -len(clauses)


def _clauses(element: ElementSpec) -> Iterator[PlacementClause]:
    for operator in element.operators or ():
        yield from parse_placement(operator.placement, _FIELD)[0] if operator.placement else ()


def _of_operator(operator: OperatorSpec) -> str:
    text = (operator.placement or "").strip()
    if not text:
        return ""
    clauses, problems = parse_placement(text, _FIELD)
    if problems:
        return f"{operator.name}: {text}" if operator.name else text
    return format_placement(
        PlacementClause(clause.name, clause.argument, clause.operator or operator.name, clause.offset)
        for clause in clauses
    )
