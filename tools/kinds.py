"""``python -m tools.kinds``: write what the chart and the docs say of the kinds of other operators, from their files.

These are ``kinds.yaml`` of the chart, by which it makes rules, and the table of ``docs/applications.md``.
"""

import json
import re
from collections.abc import Iterable, Sequence
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

    Definitions may leave the types of fields open, and templates of charts leave annotations empty. So each step of a
    path looks at the type first: an error would keep an object from being stored that has nothing to do with placement.
    Paths that begin alike are one path up to where they part, and macros are for lists alone: each of their steps costs
    the API server microseconds for every object of the kind.
    """
    return _asks("object", _tree(path.replace("[]", ".[]").split(".") for path in kind.metadata_paths))


Tree = dict[str, "Tree"]
"""Steps of paths to metadata: a name of a field, ``[]`` for every element of a list, or an empty one at the end."""


def _tree(paths: Iterable[Sequence[str]]) -> Tree:
    tree: Tree = {}
    for path in paths:
        place = tree
        for step in (*path, ""):
            place = place.setdefault(step, {})
    return tree


def _asks(value: str, tree: Tree, depth: int = 0) -> str:
    """The condition that metadata at the end of one of the paths, from the value on, have a key of this product."""
    conditions = [
        f"'{step}' in {value} && {_asks(f'{value}.{step}', after, depth)}"
        for step, after in tree.items()
        if step not in {"", "[]"}
    ]
    if "" in tree:
        conditions[:0] = _says(value)
    either = [f"type({value}) == map && {_any(conditions)}"] if conditions else []
    if "[]" in tree:
        name = f"l{depth or ''}"
        either += [f"type({value}) == list && {value}.exists({name}, {_asks(name, tree['[]'], depth + 1)})"]
    return _any(either)


def _any(conditions: Sequence[str]) -> str:
    return conditions[0] if len(conditions) == 1 else f"({' || '.join(conditions)})"


def _says(metadata: str) -> tuple[str, str]:
    """The conditions that annotations or labels have such a key."""
    annotations, labels = (
        f"'{field}' in {metadata} && type({metadata}.{field}) == map && "
        f"dyn({metadata}.{field}).exists(k, k.startsWith('streams.ibm.com/'))"
        for field in ("annotations", "labels")
    )
    return annotations, labels


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
