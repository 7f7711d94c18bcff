"""The most that a pod can say of each kind, and what its reviews cost: ``python -m tests.admission.costs.worst_pods``.

Each kind comes in two sizes: as much of it as is judged, and two megabytes, which the API server would store.
"""

import sys
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any, Final

import msgspec

from tests.admission.costs.large_cluster import large_cluster
from tests.builders import pod, review
from tests.work import Work, seconds
from webhook.admission.answer import Answer
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

BYTES: Final = 2_000_000
"""Of the part of the pod that is large: etcd takes 1.5 MiB, and protobuf writes it shorter than JSON."""

LIMIT: Final = Work(calls=300_000, seconds=0.050)
"""For one answer, whatever the pod says; the dearest answers make a quarter of a million calls."""

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"

Spec = dict[str, Any]
Kind = Callable[[int], Spec]
"""A spec that says so many of something."""


def _expression(at: int) -> Spec:
    return {"key": f"example.com/k{at % 30}-{at}", "operator": "In", "values": [f"v{at}"]}


def _terms(one: Callable[[int], Spec]) -> Callable[[int], list[Spec]]:
    """Node terms of thirty expressions each."""
    return lambda count: [
        {"matchExpressions": [one(at) for at in range(first, first + 30)]} for first in range(0, count, 30)
    ]


def _required(one: Callable[[int], Spec]) -> Kind:
    return lambda count: {"affinity": {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": _terms(one)(count)}}}}


def _preferred(count: int) -> Spec:
    terms = [{"weight": 1, "preference": term} for term in _terms(_expression)(count)]
    return {"affinity": {"nodeAffinity": {_PREFERRED: terms}}}


def _values(count: int) -> Spec:
    needs = [{"key": "size", "operator": "In", "values": [str(at) for at in range(count)]}]
    return {"affinity": {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": needs}]}}}}


def _pod_term(at: int) -> Spec:
    expressions = [{"key": f"e{need}", "operator": "In", "values": ["a", "b"]} for need in range(5)]
    labels = {f"k{need}": f"v{at}" for need in range(5)}
    return {
        "labelSelector": {"matchLabels": labels, "matchExpressions": expressions},
        "topologyKey": f"example.com/z{at}",
    }


def _about_pods(kind: str) -> Kind:
    return lambda count: {"affinity": {kind: {_REQUIRED: [_pod_term(at) for at in range(count)]}}}


def _spread(selector: Spec) -> Kind:
    return lambda count: {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": f"k{at % 64}",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": selector,
            }
            for at in range(count)
        ]
    }


def _container(at: int) -> Spec:
    amounts = {"cpu": f"{at}m", "memory": f"{at}Ki"}
    return {"name": f"c{at}", "image": "i", "resources": {"requests": amounts, "limits": amounts}}


def _listed(field: str, one: Callable[[int], Spec]) -> Kind:
    return lambda count: {field: [one(at) for at in range(count)]}


KINDS: Final[dict[str, tuple[int, Kind]]] = {
    "expressions of node terms": (9_990, _required(_expression)),
    "expressions of node terms that nodes meet": (
        9_990, _required(lambda at: {"key": f"k{at % 64}", "operator": "NotIn", "values": [f"w{at}"]}),
    ),
    "comparisons of node terms": (
        1_980, _required(lambda at: {"key": "size", "operator": "Gt", "values": [str(at % 900)]}),
    ),
    "comparisons with no number": (
        1_980, _required(lambda at: {"key": "size", "operator": "Gt", "values": [f"x{at}"]}),
    ),
    "values of an expression": (19_999, _values),
    "expressions of preferred node terms": (9_990, _preferred),
    "terms near pods": (1000, _about_pods("podAffinity")),
    "terms away from pods": (1000, _about_pods("podAntiAffinity")),
    "spread constraints": (10, _spread({"matchLabels": {"a": "b"}})),
    "spread constraints within the job": (10, _spread({"matchLabels": {keys.JOB: "parallel"}})),
    "tolerations": (2000, _listed("tolerations", lambda at: {"key": f"k{at}", "operator": "Exists"})),
    "tolerations of a taint": (
        2000, _listed("tolerations", lambda at: {"key": "a", "operator": "Equal", "value": f"x{at}"}),
    ),
    "tolerations of everything": (2000, _listed("tolerations", lambda _: {"operator": "Exists"})),
    "containers": (1000, _listed("containers", _container)),
    "init containers": (1000, _listed("initContainers", _container)),
    "amounts": (
        5000,
        lambda count: {"containers": [{"resources": {"requests": {f"example.com/r{at}": "1" for at in range(count)}}}]},
    ),
    "ports": (
        20_000, lambda count: {"containers": [{"ports": [{"hostPort": at, "containerPort": 1} for at in range(count)]}]}
    ),
    "labels of the node selector": (2000, lambda count: {"nodeSelector": {f"k{at}": "v" for at in range(count)}}),
    "volumes": (
        40_000, _listed("volumes", lambda at: {"name": f"v{at}", "persistentVolumeClaim": {"claimName": "c"}})
    ),
    "resource claims": (40_000, _listed("resourceClaims", lambda at: {"name": f"v{at}"})),
    "scheduling gates": (60_000, _listed("schedulingGates", lambda at: {"name": f"v{at}"})),
    "environment variables": (
        50_000, lambda count: {"containers": [{"env": [{"name": f"E{at}", "value": "v"} for at in range(count)]}]}
    ),
}  # fmt: skip
"""What there may be many of, how many of it are judged, and a spec of so many; where nothing bounds them,
as many as two megabytes hold."""

CLAUSES: Final = {"apart": 'hostExlocation("t")', "nowhere": "host(T1)", "host": 'host("node-0001")'}

ENTRIES: Final[dict[str, Callable[[bytes, Inventory], Answer]]] = {
    "mutate": lambda body, there: mutate(body, there, Policy()),
    "validate": lambda body, there: validate(body, there, Policy()),
}


SIZES: Final = ("most", "2 MB")
"""As many of a kind as Kubernetes accepts, and as many as a review may carry."""


def bodies(name: str, clause: str, sizes: Collection[str] = SIZES) -> Iterator[tuple[str, str, bytes]]:
    """Entry, size and body of the reviews of such a pod, and of the Deployment with its template."""
    most, kind = KINDS[name]
    one = len(msgspec.json.encode(kind(200))) / 200
    for size, count in zip(SIZES, (most, max(most, int(BYTES / one))), strict=True):
        if size not in sizes:
            continue
        found = pod(clause, **kind(count))
        template = {"metadata": found["metadata"], "spec": found["spec"]}
        workload = {"metadata": {"name": "d"}, "spec": {"replicas": 3, "template": template}}
        body = _review(found)
        for entry in ENTRIES:
            yield entry, size, body
        yield "validate", f"{size}, Deployment", _review(workload, kind="Deployment", group="apps")


def _review(found: Spec, **fields: str) -> bytes:
    """The review of the object, which msgspec writes: it takes a tenth of the time of the JSON of Python."""
    return review("?", **fields).replace(b'"?"', msgspec.json.encode(found))


def main() -> None:
    """Print the table: milliseconds of CPU for each kind of pod, the dearest of its clauses."""
    say = sys.stdout.write
    say("| what the pod says most of | mutate | validate | Deployment | of 2 MB: mutate | validate | Deployment |\n")
    say("|---|---|---|---|---|---|---|\n")
    for name in KINDS:
        costs: dict[tuple[str, str], float] = {}
        for clause in CLAUSES.values():
            for entry, size, body in bodies(name, clause):
                costs[entry, size] = max(
                    costs.get((entry, size), 0), seconds(partial(ENTRIES[entry], body, large_cluster()), 0)
                )
        say(f"| {name} | {' | '.join(f'{seconds * 1000:.0f} ms' for seconds in costs.values())} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
