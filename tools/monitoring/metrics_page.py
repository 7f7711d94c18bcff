"""``docs/metrics.md``: every metric by the question that it answers, made of the code and the catalogue."""

import ast
import inspect
from collections.abc import Iterator
from typing import Final

from tools.monitoring.catalogue import LABELS, TOPICS, Entry
from tools.monitoring.registered import PROGRAMS, registered
from webhook.placement.text import rule
from webhook.placement.text.rule import Rule
from webhook.server.metrics import PREFIX, MetricDescription

_HEAD: Final = """# Metrics

<!-- Made by python -m tools.monitoring (make monitoring) of the code and tools/monitoring/catalogue.py. -->

Every process serves its metrics in Prometheus' text format: `serve` and `controller` at `/metrics` of the port for
[health](operations.md#health), `hpa-api` at `/metrics` of [its own](rest.md#who-may-ask). The chart has
ServiceMonitors, [alerts](alerts.md) and a Grafana dashboard ([how to switch them on](operations.md#metrics)).

Names begin with `streams_placement_`, which the tables leave out. A histogram also has the names that end in `_bucket`,
`_count` and `_sum`. The figures of the controller are those of the leader, and 0 in a process that stands by: queries
take their maximum. Beside these there are `process_...`: memory, CPU time and file descriptors of the process.
"""

_BOUNDED: Final = """Values that are not known in advance are counted as `other`, so that callers cannot create series.
The only names of users are those of HostPools that are degraded, at most 20 at a time, and only with the setting
`--name-degraded-pools`: every reader of metrics sees them.
"""

_RULES: Final = """`streams_placement_refusals_total` counts a refusal once for each rule that has a part in it: that of
`host(MyPool)` and `nodeSelector disktype=ssd`, which cannot both hold, under `pool` and under `own-nodes`.
"""


def text() -> str:
    """The whole page."""
    return "\n".join((_HEAD, *_topics(), "## Labels\n", _BOUNDED, *_labels(), "", "### Rules\n", _RULES, *_rules(), ""))


def _topics() -> Iterator[str]:
    known = registered()
    for topic in TOPICS:
        yield f"## {topic.question}\n"
        yield "| metric | type | labels | programs | what it says |"
        yield "|---|---|---|---|---|"
        for entry in topic.entries:
            yield _row(entry, *known[PREFIX + entry.name])
        yield "\n```promql"
        for entry in topic.entries:
            yield entry.query
        yield "```\n"


def _row(entry: Entry, metric: MetricDescription, programs: tuple[str, ...]) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    where = "all" if len(programs) == len(PROGRAMS) else ", ".join(f"`{one}`" for one in programs)
    return f"| `{entry.name}` | {metric.kind} | {labels} | {where} | {entry.answers} |"


def _labels() -> Iterator[str]:
    yield "| label | values |"
    yield "|---|---|"
    for label, values in sorted(LABELS.items()):
        yield f"| `{label}` | {values} |"


def _rules() -> Iterator[str]:
    said = _docstrings()
    yield "| rule | what a refusal by it means |"
    yield "|---|---|"
    for one in Rule:
        yield f"| `{one}` | {said[one.name].replace('``', '`').rstrip('.')} |"


def _docstrings() -> dict[str, str]:
    """What the code says below each member of ``Rule``."""
    (made,) = (node for node in ast.parse(inspect.getsource(rule)).body if isinstance(node, ast.ClassDef))
    said = {}
    for before, after in zip(made.body, made.body[1:], strict=False):
        if isinstance(before, ast.Assign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            said[ast.unparse(before.targets[0])] = str(after.value.value)
    return said
