"""Tables of a plan, complete without JavaScript: elements with their nodes, HostPools, and nodes that get something.

The scripts of the page rely on the order of rows: that of the document. Names of elements and pools become buttons.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from webhook.cli.planpage.document import (
    PlanDocument,
    PlannedElement,
    PlannedNode,
    PlannedPool,
    PoolHostNode,
    Subject,
    SubjectVerdict,
)
from webhook.cli.planpage.markup import Markup, joined, tag
from webhook.placement.text.problem import enumerated

VERDICTS: Final[Mapping[SubjectVerdict, str]] = {
    "refused": "refused",
    "undecided": "not decided in time",
    "admitted": "admitted",
}
"""Each verdict in words, the worst first."""

Residents: TypeAlias = Mapping[str, Sequence[tuple[PlannedElement, int]]]
"""The elements of each node that gets any, by its name, and how many replicas of each."""

_COLUMNS: Final = (
    ("Element", None),
    ("Node", None),
    ("Cost", "number"),
    ("Constraints", "clauses long"),
    ("Requests", "requests"),
)
"""The columns of the table of elements, with the classes of their heads."""

_NAMED: Final = 50
"""Nodes that one cell names: a DaemonSet, or a HostPool without a size, may have thousands."""


def elements_table(document: PlanDocument) -> Markup:
    """Each element with its node, cost, constraints and requests, under its subject."""
    head = tag("thead", tag("tr", *(tag("th", name, scope="col", class_=kind) for name, kind in _COLUMNS)))
    bodies = (_subject(subject) for subject in document.subjects)
    return tag("table", head, *bodies, class_="elements", aria_labelledby="elements-heading")


def pools_table(pools: Sequence[PlannedPool]) -> Markup:
    """Each HostPool with its mode, size and hosts."""
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in ("HostPool", "Mode", "Size", "Hosts"))))
    rows = (
        tag(
            "tr",
            tag("th", tag("span", pool.name, class_="name"), scope="row"),
            tag("td", pool.mode),
            tag("td", "none" if pool.size is None else f"{pool.size:,}"),
            tag("td", enumerated(pool.hosts, _NAMED, _host) or "none yet", class_="hosts long"),
        )
        for pool in pools
    )
    return tag("table", head, tag("tbody", *rows), class_="pools", aria_labelledby="pools-heading")


def nodes_table(document: PlanDocument) -> Markup:
    """Each node that gets something: what then stays free, and what it gets."""
    residents = residents_of(document.subjects)
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in ("Node", "Stays free", "Elements"))))
    rows = (_node(node, residents) for node in document.nodes if node.name in residents)
    return tag("table", tag("caption", "Nodes that get something"), head, tag("tbody", *rows), class_="planned")


def residents_of(subjects: Iterable[Subject]) -> Residents:
    """The elements that go to each node, in the order of the document."""
    residents = defaultdict[str, list[tuple[PlannedElement, int]]](list)
    for subject in subjects:
        for element in subject.elements:
            for node, count in placed(element):
                residents[node].append((element, count))
    return residents


def placed(element: PlannedElement) -> Iterator[tuple[str, int]]:
    """The nodes of an element, each with its number of replicas there."""
    if element.placed:
        yield from element.placed.items()
    elif element.node:
        yield element.node, element.replicas


def times(name: str, count: int) -> str:
    """The name, and how often if it is more than once: ``worker-1 x 2``."""
    return name if count == 1 else f"{name} \u00d7 {count:,}"


def _subject(subject: Subject) -> Markup:
    """The rows of a subject: its verdict, its warnings, and its elements."""
    verdict = tag("span", VERDICTS[subject.verdict], class_=f"verdict {subject.verdict}")
    about = joined(tag("span", subject.origin, class_="name"), " ", verdict, " ", tag("small", _place(subject)))
    notes = (tag("span", warning, class_="warning") for warning in subject.warnings)
    group = tag("tr", tag("th", about, *notes, colspan=len(_COLUMNS), scope="rowgroup"), class_="subject")
    return tag("tbody", group, *map(_element, subject.elements))


def _place(subject: Subject) -> str:
    return f"in namespace {subject.namespace}, from {subject.file}"


def _element(element: PlannedElement) -> Markup:
    nodes = list(placed(element))
    where = enumerated(nodes, _NAMED, lambda item: times(*item)) or "no node"
    named = times(element.name, element.replicas)
    return tag(
        "tr",
        tag("th", tag("span", named, class_="name"), scope="row"),
        tag("td", f"{where} (runs there)" if element.fixed else where, class_="long" if nodes else "long none"),
        tag("td", "" if element.cost is None else f"{element.cost:,}", class_="number"),
        tag("td", ", ".join(element.clauses), class_="clauses long"),
        tag("td", ", ".join(f"{name} {amount}" for name, amount in element.requests.items()), class_="requests"),
        class_="element",
    )


def _host(host: PoolHostNode) -> str:
    return host.node if host.index is None else f"[{host.index}] {host.node}"


def _node(node: PlannedNode, residents: Residents) -> Markup:
    free = ", ".join(f"{each.name} {each.free} of {each.offers}" for each in node.resources)
    names = ", ".join(times(element.name, count) for element, count in residents[node.name])
    return tag("tr", tag("th", tag("span", node.name, class_="name"), scope="row"), tag("td", free), tag("td", names))


def summary(document: PlanDocument) -> Iterator[tuple[str, str]]:
    """Figures about the whole document, each with what it counts."""
    elements = [element for subject in document.subjects for element in subject.elements]
    on_nodes = sum(1 for element in elements if any(placed(element)))
    yield "with a node", f"{on_nodes:,} of {len(elements):,} element{'s' * (len(elements) != 1)}"
    yield "nodes that get something", f"{len(residents_of(document.subjects)):,} of {len(document.nodes):,}"
    if document.total_cost is not None:
        yield "total cost", f"{document.total_cost:,}"
