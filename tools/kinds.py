"""``python -m tools.kinds``: write what the chart and the docs say of the kinds of other operators, from their files.

These are ``kinds.yaml`` of the chart, by which it makes rules, and the table of ``docs/applications.md``.
"""

import re
from pathlib import Path
from typing import Final

from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.kind import OperatorKind

ROOT: Final = Path(__file__).parents[1]
CHART: Final = ROOT / "charts" / "streams-placement" / "kinds.yaml"
PAGE: Final = ROOT / "docs" / "applications.md"

_HEAD: Final = "| kind | API | exact | an estimate, or not judged |\n|---|---|---|---|\n"


def chart_name(kind: OperatorKind) -> str:
    """The name of the kind among the values of the chart: a Job is called by its project, too."""
    project = kind.kind.group.split(".")[1].title() if kind.kind.kind == "Job" else ""
    return f"{project}{kind.kind.kind}"


def chart_file() -> str:
    """``kinds.yaml`` of the chart."""
    lines = ["# Kinds of other operators that workloads.kinds may name; `make kinds` writes this file."]
    for name, kind in sorted(
        ((chart_name(one), one.kind) for one in application_kinds().values()), key=lambda one: one[0]
    ):
        versions = ", ".join(kind.versions)
        lines.append(f"{name}: {{group: {kind.group}, resource: {kind.resource}, versions: [{versions}]}}")
    return "\n".join(lines) + "\n"


def table() -> str:
    """The table of kinds in the docs."""
    rows = [
        f"| `{name}` | `{kind.kind.group}/{', '.join(kind.kind.versions)}` | {kind.exact} | {kind.estimate} |\n"
        for name, kind in sorted(
            ((chart_name(kind), kind) for kind in application_kinds().values()), key=lambda one: one[0]
        )
    ]
    return _HEAD + "".join(rows)


def with_table(page: str) -> str:
    """The page with the table in place of the one that it has."""
    found = re.search(rf"^{re.escape(_HEAD)}(?:\|.*\n)*", page, re.MULTILINE)
    if found is None:
        raise ValueError("the page has no table of kinds")
    return page[: found.start()] + table() + page[found.end() :]


if __name__ == "__main__":
    CHART.write_text(chart_file())
    PAGE.write_text(with_table(PAGE.read_text()))
