"""Control planes with the chart, each in a state of its own."""

import contextlib
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from bench.e2e import counters, usage
from bench.e2e.bystanders.requests import KINDS, NODES, SPACE, collection_of
from bench.e2e.chart import RESOURCES, Chart
from bench.e2e.cluster import process_ids
from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.chart.rendering import render as render_chart
from tests.e2e.client.api import Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.operators.open_definition import open_definition
from tests.e2e.polling import until
from tests.e2e.workloads import namespace
from tools.kinds import chart_name
from webhook.placement.kinds.kind import OperatorKind

WITHOUT: Final = "without"
STATES: Final[Mapping[str, str]] = {
    WITHOUT: "without, in both",
    "processes": "processes only",
    "elsewhere": "chart for other namespaces",
    "chart": "chart",
}
"""The states of a plane, with their titles, in the order of the table."""

ELSEWHERE: Final = {"webhook": {"namespaceSelector": {"matchLabels": {"example.com/streams": "enabled"}}}}
"""Values of the chart by which the namespace of the benchmark has nothing to do with it."""

_EVALUATION: Final = re.compile(
    r"^apiserver_admission_match_condition_evaluation_seconds_sum\{(.*)\} (\S+)$", re.MULTILINE
)


class Plane(Struct, frozen=True):
    """A control plane in which the chart is installed; ``pids`` are its processes by what they do."""

    control: ControlPlane
    chart: Chart
    pids: Mapping[str, Sequence[int]]

    def enter(self, state: str) -> None:
        """Make the plane be in one of the STATES."""
        if state == "chart":
            self.chart.present()
        else:
            self.chart.absent(_elsewhere() if state == "elsewhere" else [], running=state != WITHOUT)

    def evaluations(self) -> dict[str, float]:
        """Seconds that match conditions have taken so far, by entry of a webhook or policy."""
        sums = dict[str, float]()
        for labels, value in _EVALUATION.findall(str(self.control.admin.get("/metrics"))):
            named = dict(counters.LABEL.findall(labels))
            name = f"{named['name']} ({named['type']})".removeprefix("streams-placement-")
            if "placement" in labels:
                sums[name] = sums.get(name, 0.0) + float(value)
        return sums

    def cpu_seconds(self) -> float:
        """CPU time that all processes of the plane have taken so far."""
        return sum(seconds for role, seconds in usage.now(self.pids).roles.items() if role != "forwarder")


@contextlib.contextmanager
def plane(folder: Path, *, kinds: bool) -> Iterator[Plane]:
    """A control plane with the chart, which reviews all ``kinds`` of other operators or none."""
    with ControlPlane(folder) as control:
        create_nodes(control.admin, [node(f"node-{number}") for number in range(NODES)])
        namespace(control.admin, SPACE)
        with kubelet(control, pace=1.0) as running:  # probes cost the processes as much as in a cluster
            install(control, running, _with_kinds(control) if kinds else QUICK)
            yield Plane(control, Chart(control.admin, running), process_ids(control, running))


def _with_kinds(control: ControlPlane) -> dict[str, Any]:
    """Values of the chart that review all kinds of other operators, whose definitions are there then."""
    for kind in KINDS:
        control.admin.create(definition(kind))
    for kind in KINDS:
        path = collection_of(kind)
        until(functools.partial(_is_served, control, path), f"{path} is served")
    return {**QUICK, "workloads": {"kinds": [chart_name(kind) for kind in KINDS]}}


def _is_served(control: ControlPlane, path: str) -> bool:
    return control.admin.send("GET", path).code == HTTPStatus.OK


def definition(kind: OperatorKind) -> Object:
    """The definition of a kind, without its schema: the API server checks every object against the real ones alike."""
    stated = kind.kind
    return open_definition(
        stated.group, stated.kind, stated.versions[0], plural=stated.resource, approved="unapproved, for a benchmark"
    )


def _elsewhere() -> list[tuple[str, Object]]:
    """The chart's admission objects, for other namespaces."""
    rendered = ((RESOURCES.get(each["kind"]), each) for each in render_chart(ELSEWHERE))
    known = [(resource, each) for resource, each in rendered if resource]
    return sorted(known, key=lambda pair: list(RESOURCES.values()).index(pair[0]))
