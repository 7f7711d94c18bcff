"""Tables of a plan, complete without JavaScript: elements with their nodes, HostPools, and nodes that get something.

The scripts of the page rely on the order of rows: that of the document. Names of elements and pools become buttons.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from webhook.cli.planpage.markup import Markup, joined, tag
from webhook.cli.planpage.room import room
from webhook.placement.text.problem import counted, enumerated
from webhook.placementreview.plans.document import (
    Neighbour,
    PlanDocument,
    PlannedElement,
    PlannedFusion,
    PlannedNode,
    PlannedOperator,
    PlannedPool,
    PoolHostNode,
    Subject,
    SubjectVerdict,
    pool_owners,
    pool_titles,
)
from webhook.placementreview.plans.natural_order import in_natural_order

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

_NUMBER: Final = "number"
"""The class of cells with a number."""

_NAMED: Final = 50
"""Nodes that one cell names: a DaemonSet, or a HostPool without a size, may have thousands."""


def elements_table(document: PlanDocument) -> Markup:
    """Each element with its node, cost, constraints and requests, under its subject."""
    head = tag("thead", tag("tr", *(tag("th", name, scope="col", class_=kind) for name, kind in _COLUMNS)))
    bodies = (_subject(subject) for subject in document.subjects)
    return tag("table", head, *bodies, class_="elements", aria_labelledby="elements-heading")


def pools_table(document: PlanDocument) -> Markup:
    """Each HostPool with its mode, size and hosts, and the elements that name it and have a node."""
    columns = ("HostPool", "Mode", "Size", "Hosts", "Elements there")
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in columns)))
    rows = (_pool(place, owner, document) for place, owner in enumerate(pool_owners(document.pools)))
    return tag("table", head, tag("tbody", *rows), class_="pools", aria_labelledby="pools-heading")


def nodes_table(document: PlanDocument) -> Markup:
    """Each node that gets something: what then stays free, and what it gets."""
    residents = residents_of(document.subjects)
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in ("Node", "Stays free", "Elements"))))
    rows = (_node(node, residents) for node in document.nodes if node.name in residents)
    return tag("table", tag("caption", "Nodes that get something"), head, tag("tbody", *rows), class_="planned")


def groups_tables(document: PlanDocument) -> Markup:
    """For each way in which nodes are grouped, how many nodes and elements each group has."""
    return joined(*(_groups(title, groups, document) for title, groups in _groupings(document) if len(groups) > 1))


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
    notes = [tag("span", warning, class_="warning") for warning in subject.warnings]
    if subject.fusion is not None:
        notes.append(tag("small", _fusion(subject.fusion), class_="fusion"))
    group = tag("tr", tag("th", about, *notes, colspan=len(_COLUMNS), scope="rowgroup"), class_="subject")
    return tag("tbody", group, *map(_element, subject.elements))


def _fusion(fusion: PlannedFusion) -> str:
    """How the operators of a Job are fused, in a sentence."""
    asked = "" if fusion.asked == fusion.made else f" ({fusion.asked} asked for)"
    made = f"Fused ({fusion.scheme}) into {counted(fusion.made, 'element')}{asked}"
    return f"{made}: {fusion.inside} % of the traffic stays inside, {fusion.between_nodes} % leaves its node."


def _operators(operators: Sequence[PlannedOperator]) -> Markup:
    """The operators of an element; what separates one from its neighbours is shown while it has the focus."""
    if not operators:
        return Markup()
    items = [tag("li", _operator(operator)) for operator in operators[:_NAMED]]
    if len(operators) > _NAMED:
        items.append(tag("li", f"and {len(operators) - _NAMED:,} more"))
    return tag("ul", *items, class_="operators")


def _operator(operator: PlannedOperator) -> Markup:
    if not operator.apart:
        return tag("span", operator.name, class_="operator")
    lines = [tag("span", f"apart from {one.operator}", _why(one)) for one in operator.apart]
    return tag("span", operator.name, tag("span", *lines, class_="apart"), class_="operator", tabindex="0")


def _why(neighbour: Neighbour) -> Markup:
    return joined(": ", tag("code", neighbour.clause)) if neighbour.clause else joined(", to balance the elements")


def _place(subject: Subject) -> str:
    return f"in namespace {subject.namespace}, from {subject.file}"


def _element(element: PlannedElement) -> Markup:
    nodes = list(placed(element))
    where = enumerated(nodes, _NAMED, lambda item: times(*item)) or "no node"
    named = times(element.name, element.replicas)
    return tag(
        "tr",
        tag("th", tag("span", named, class_="name"), _operators(element.operators), scope="row"),
        tag("td", f"{where} (runs there)" if element.fixed else where, class_="long" if nodes else "long none"),
        tag("td", "" if element.cost is None else f"{element.cost:,}", class_="number"),
        tag("td", ", ".join(element.clauses), class_="clauses long"),
        tag("td", ", ".join(f"{name} {amount}" for name, amount in element.requests.items()), class_="requests"),
        class_="element",
    )


def _pool(place: int, owner: str, document: PlanDocument) -> Markup:
    pool = document.pools[place]
    elements = (element for subject in document.subjects for element in subject.elements if place in element.pools)
    there = [times(element.name, element.replicas) for element in elements if any(placed(element))]
    name = joined(tag("span", pool.name, class_="name"), " ", tag("small", owner))
    return tag(
        "tr",
        tag("th", name, scope="row"),
        tag("td", pool.mode),
        tag("td", "none" if pool.size is None else f"{pool.size:,}"),
        tag("td", _hosts(pool, document.nodes), class_="hosts long"),
        tag("td", enumerated(there, _NAMED) or "none", class_="there long"),
    )


def _hosts(pool: PlannedPool, nodes: Sequence[PlannedNode]) -> str:
    """The hosts of a pool in words; those of a pool without a size are its eligible nodes."""
    if pool.size is not None:
        return enumerated(pool.hosts, _NAMED, _host) or "none yet"
    names = _host_names(pool, nodes)
    if not names:
        return "no eligible node"
    return f"{len(names):,} eligible node{'s' * (len(names) != 1)}: {enumerated(names, _NAMED)}"


def _groupings(document: PlanDocument) -> Iterator[tuple[str, Mapping[str, Sequence[str]]]]:
    """The names of nodes by the HostPools that they are hosts of, and by each label that says where they are."""
    pools = defaultdict[str, list[str]](list)
    for pool, title in zip(document.pools, pool_titles(document.pools), strict=True):
        for name in _host_names(pool, document.nodes):
            pools[name].append(title)
    if pools:
        yield "HostPool", _grouped((", ".join(pools[node.name]), node.name) for node in document.nodes)
    for label in sorted({label for node in document.nodes for label in node.labels}):
        yield label, _grouped((node.labels.get(label, ""), node.name) for node in document.nodes)


def _grouped(named: Iterable[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    groups = defaultdict[str, list[str]](list)
    for group, name in named:
        groups[group].append(name)
    return {group: groups[group] for group in in_natural_order(groups)}


def _groups(title: str, groups: Mapping[str, Sequence[str]], document: PlanDocument) -> Markup:
    residents = residents_of(document.subjects)
    columns = ("Group", "Nodes", "Get something", "Elements")
    head = tag(
        "thead", tag("tr", *(tag("th", name, scope="col", class_=_NUMBER * (name != "Group")) for name in columns))
    )
    rows = []
    for group, names in groups.items():
        chosen = [residents[name] for name in names if name in residents]
        figures = (len(names), len(chosen), sum(count for here in chosen for _, count in here))
        cells = (tag("td", f"{figure:,}", class_=_NUMBER) for figure in figures)
        rows.append(tag("tr", tag("th", group or "none", scope="row"), *cells))
    return tag("table", tag("caption", f"Nodes by {title}"), head, tag("tbody", *rows), class_="groups")


def _host_names(pool: PlannedPool, nodes: Sequence[PlannedNode]) -> Sequence[str]:
    """The names of a pool's hosts; those of a pool without a size are its eligible nodes."""
    if pool.size is not None:
        return [host.node for host in pool.hosts]
    return [nodes[place].name for first, last in pool.eligible for place in range(first, last + 1)]


def _host(host: PoolHostNode) -> str:
    return f"[{host.index}] {host.node}"


def _node(node: PlannedNode, residents: Residents) -> Markup:
    free = ", ".join(f"{each.name} {room(each.free, each.offers)}" for each in node.resources)
    names = ", ".join(times(element.name, count) for element, count in residents[node.name])
    return tag("tr", tag("th", tag("span", node.name, class_="name"), scope="row"), tag("td", free), tag("td", names))


def summary(document: PlanDocument) -> Iterator[tuple[str, str]]:
    """Figures about the whole document, each with what it counts."""
    elements = [element for subject in document.subjects for element in subject.elements]
    on_nodes = sum(1 for element in elements if any(placed(element)))
    yield "with a node", f"{on_nodes:,} of {len(elements):,} element{'s' * (len(elements) != 1)}"
    yield "nodes that get something", f"{len(residents_of(document.subjects)):,} of {len(document.nodes):,}"
    if document.total_cost is not None:
        cost = f"{document.total_cost:,}"
        yield "total cost", cost if document.cheapest else f"{cost} (the cheapest found in time)"
