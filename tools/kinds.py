"""``python -m tools.kinds``: write what the chart and the docs say of the kinds of other operators, from their files.

These are ``kinds.yaml`` of the chart, by which it makes rules, and the table of ``docs/applications.md``.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.kind import GroupKind, OperatorKind, ReferencedKind

ROOT: Final = Path(__file__).parents[1]
CHART: Final = ROOT / "charts" / "streams-placement" / "kinds.yaml"
PAGE: Final = ROOT / "docs" / "applications.md"

_HEAD: Final = "| kind | API | exact | an estimate, or not judged | who creates the pods |\n|---|---|---|---|---|\n"


def chart_name(kind: OperatorKind) -> str:
    """The name of the kind among the values of the chart: a Job is called by its project, too."""
    project = kind.kind.group.split(".")[1].title() if kind.kind.kind == "Job" else ""
    return f"{project}{kind.kind.kind}"


def asks(kind: OperatorKind) -> str:
    """The CEL condition that an object of the kind says something of this product.

    Every object of the kind pays for it, so each step of a path is one look whether there is such a field. A value on
    the way that has no fields is an error.
    """
    return _asks("object", _tree(kind), safely=False)


def asks_safely(kind: OperatorKind) -> str:
    """The same condition, which is an error for no object; it costs the API server twice as much.

    Definitions may leave the types of fields open, and templates of charts leave annotations empty: an error would keep
    an object from being stored that has nothing to do with placement. So each step of a path looks at the type first.

    The API server compiles the conditions of an entry again every ten minutes, and a request waits for it. For each
    call in an expression the type checker of CEL copies all types that it has inferred so far, and each comparison of
    types adds some. So the type of a value is looked at once, by a comparison, and all else is ``has``.
    """
    return _asks("object", _tree(kind), safely=True)


Tree = dict[str, "Tree"]
"""Steps of paths to metadata: a name of a field, ``[]`` for every element of a list, or an empty one at the end."""


def _tree(kind: OperatorKind) -> Tree:
    """The paths to all metadata of an object of the kind."""
    tree: Tree = {}
    for path in kind.metadata_paths:
        place = tree
        for step in (*path.replace("[]", ".[]").split("."), ""):
            place = place.setdefault(step, {})
    return tree


def _asks(value: str, tree: Tree, depth: int = 0, *, safely: bool) -> str:
    """The condition that metadata at the end of one of the paths, from the value on, have a key of this product.

    With ``safely`` each step looks at the type of the value first; the object itself is always a map.
    """

    def typed(one: str, name: str) -> str:
        return f"type({one}) == {name} && " if safely and one != "object" else ""

    conditions = [
        f"has({value}.{step}) && {_asks(f'{value}.{step}', after, depth, safely=safely)}"
        for step, after in tree.items()
        if step not in {"", "[]"}
    ]
    if "" in tree:
        fields = [f"{value}.{field}" for field in _FIELDS]
        conditions[:0] = (f"has({field}) && {typed(field, 'map')}{_has_key(field)}" for field in fields)
    either = [f"{typed(value, 'map')}{_any(conditions)}"] if conditions else []
    if "[]" in tree:
        name = f"l{depth or ''}"
        inner = _asks(name, tree["[]"], depth + 1, safely=safely)
        either.append(f"{typed(value, 'list')}{value}.exists({name}, {inner})")
    return _any(either)


_FIELDS: Final = ("annotations", "labels")
"""Fields of metadata whose keys may be of this product."""


def _has_key(value: str) -> str:
    """The condition that a map has a key of this product."""
    return f"{value}.exists(k, k.startsWith('streams.ibm.com/'))"


def _any(conditions: Iterable[str]) -> str:
    first, *others = conditions
    return f"({' || '.join((first, *others))})" if others else first


def chart_file() -> str:
    """``kinds.yaml`` of the chart."""
    lines = ["# Kinds of other operators that workloads.kinds may name; `make kinds` writes this file."]
    for name, kind in _named():
        stated = kind.kind
        reads: list[GroupKind | ReferencedKind] = [*kind.through, stated, *_referenced(kind)]
        lines += (
            f"{name}:",
            f"  group: {stated.group}",
            f"  kind: {stated.kind}",
            f"  resource: {stated.resource}",
            f"  versions: [{', '.join(stated.versions)}]",
            f"  reads: [{', '.join(map(_read, reads))}]",
            *(["  scale: true"] if kind.spec_replicas_path else []),
            f"  asks: {json.dumps(asks(kind))}",
            f"  asksSafely: {json.dumps(asks_safely(kind))}",
        )
    return "\n".join(lines) + "\n"


def _referenced(kind: OperatorKind) -> tuple[ReferencedKind, ...]:
    return kind.reference.kinds if kind.reference else ()


def _read(kind: GroupKind | ReferencedKind) -> str:
    return f"{{group: {kind.group}, resource: {kind.resource}}}"


def _named() -> list[tuple[str, OperatorKind]]:
    """All kinds in the order of their names in the chart."""
    return sorted(((chart_name(one), one) for one in application_kinds().values()), key=lambda one: one[0])


def table() -> str:
    """The table of kinds in the docs."""
    rows = [
        f"| `{name}` | `{kind.kind.group}/{', '.join(kind.kind.versions)}` "
        f"| {kind.exact} | {kind.estimate} | {kind.creates} |\n"
        for name, kind in _named()
    ]
    return _HEAD + "".join(rows)


def with_table(page: str) -> str:
    """The page with the table in place of the one that it has."""
    standing = re.search(rf"^{re.escape(_HEAD)}(?:\|.*\n)*", page, re.MULTILINE)
    if standing is None:
        raise ValueError("the page has no table of kinds")
    return page[: standing.start()] + table() + page[standing.end() :]


if __name__ == "__main__":
    CHART.write_text(chart_file())
    PAGE.write_text(with_table(PAGE.read_text()))
