"""How much a pod that asks for placement may say: just so much is judged, more is refused by its field."""

from typing import Any

import msgspec
import pytest

from tests.builders import cluster, nodes, pod, typed
from webhook.placement.decision.decision import decide, guard
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import NodeTerm, Pod, Requirement
from webhook.placement.kube.selection.node_terms import conjoin
from webhook.placement.kube.size_limits import oversized, words
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault, Problem

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
ALLOWED = "are allowed in a pod that asks for placement"

_EXPRESSION = {"key": "a", "operator": "In", "values": ["b"]}
_NEAR = {"topologyKey": "zone"}
_SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}


def _expressions(count: int) -> list[dict[str, Any]]:
    """Node terms of so many expressions with one value each."""
    return [{"matchExpressions": [_EXPRESSION] * 100} for _ in range(count // 100)]


def _preferences(count: int) -> list[dict[str, Any]]:
    return [{"weight": 1, "preference": term} for term in _expressions(count)]


def _container(**fields: Any) -> dict[str, Any]:
    return {"name": "c", "image": "i", **fields}


def _amounts(count: int) -> dict[str, str]:
    return {f"example.com/r{at}": "1" for at in range(count)}


CASES = {
    "containers": (
        {"containers": [_container()] * 400, "initContainers": [_container()] * 600},
        {"containers": [_container()] * 400, "initContainers": [_container()] * 601},
        f"spec.containers: has 1001 containers, init containers among them, at most 1000 {ALLOWED}",
    ),
    "amounts": (
        {
            "containers": [_container(resources={"requests": _amounts(2000), "limits": _amounts(2000)}), _container()],
            "overhead": _amounts(1000),
        },
        {"containers": [_container(resources={"requests": _amounts(2501), "limits": _amounts(2500)})]},
        f"spec.containers[].resources: has 5001 amounts of resources, at most 5000 {ALLOWED}",
    ),
    "ports": (
        {"containers": [_container(ports=[{"containerPort": 1}] * 20_000)]},
        {"containers": [_container(ports=[{"containerPort": 1}] * 20_001)]},
        f"spec.containers[].ports: has 20001 ports, at most 20000 {ALLOWED}",
    ),
    "labels": (
        {"nodeSelector": {f"k{at}": "v" for at in range(2000)}},
        {"nodeSelector": {f"k{at}": "v" for at in range(2001)}},
        f"spec.nodeSelector: has 2001 labels, at most 2000 {ALLOWED}",
    ),
    "node terms": (
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": _expressions(10_000)}}}},
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {"nodeSelectorTerms": [{"matchFields": [_EXPRESSION]}]},
                    PREFERRED: _preferences(10_000),
                }
            }
        },
        f"spec.affinity.nodeAffinity: has 20002 expressions and values of node terms, at most 20000 {ALLOWED}",
    ),
    "terms about pods": (
        {"affinity": {"podAffinity": {REQUIRED: [_NEAR] * 600}, "podAntiAffinity": {REQUIRED: [_NEAR] * 400}}},
        {"affinity": {"podAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": _NEAR}] * 1001}}},
        f"spec.affinity: has 1001 terms about pods, at most 1000 {ALLOWED}",
    ),
    "tolerations": (
        {"tolerations": [{"key": "a", "operator": "Exists"}] * 2000},
        {"tolerations": [{"key": "a", "operator": "Exists"}] * 2001},
        f"spec.tolerations: has 2001 tolerations, at most 2000 {ALLOWED}",
    ),
    "spread": (
        {"topologySpreadConstraints": [_SPREAD] * 10},
        {"topologySpreadConstraints": [_SPREAD] * 11},
        f"spec.topologySpreadConstraints: has 11 constraints, at most 10 {ALLOWED}",
    ),
}


def _read(spec: dict[str, Any]) -> Pod:
    return msgspec.convert({"spec": spec}, Pod)


@pytest.mark.parametrize(("most", "more", "message"), CASES.values(), ids=CASES.keys())
def test_a_part_of_a_spec_is_bounded(most: dict[str, Any], more: dict[str, Any], message: str) -> None:
    told = [f"{problem.field}: {problem.message}" for problem in oversized(_read(more))]
    assert (oversized(_read(most)), told) == ((), [message])


def test_a_comparison_counts_for_ten() -> None:
    needs = (Requirement("a", "Gt", ("1",)), Requirement("a", "Exists"))
    assert words([NodeTerm(needs)]) == 11


def test_the_product_of_terms_is_bounded_as_well() -> None:
    """Else a pod that the webhook made itself would be refused when it is reviewed again."""
    own = (NodeTerm((Requirement("a", "In", ("b",) * 99),)),) * 100
    ours = tuple(NodeTerm((Requirement("c", "In", (str(at),)),)) for at in range(3))
    message = "with the pod's own terms this makes 30600 expressions and values, at most 20000 are allowed"
    assert conjoin(own, [ours])[2] == [Problem("spec.affinity.nodeAffinity", message)]


def test_a_pod_without_a_spec_says_nothing_too_much() -> None:
    assert oversized(Pod()) == ()


def test_all_that_is_too_much_is_named_and_no_other_problem_of_the_spec() -> None:
    spec = {**CASES["spread"][1], **CASES["tolerations"][1], "nodeSelector": {"a": "b"}}
    decision = decide(msgspec.convert(pod("hostIsolation", **spec), Pod), "default", World(cluster(nodes(2)), Policy()))
    assert (decision.message.count("\n"), decision.fault, decision.refused) == (1, Fault.INVALID, True)
    assert decision.headline == f"spec.tolerations: has 2001 tolerations, at most 2000 {ALLOWED}"


def test_whoever_asks_for_nothing_may_say_as_much_as_the_api_server_takes() -> None:
    found = guard(_read(CASES["spread"][1]), "default", World(cluster(nodes(2)), Policy()))
    assert (found.refused, found.problems) == (False, ())


def test_a_label_that_names_the_job_or_the_element_is_no_longer_than_a_label() -> None:
    assert oversized(typed(pod(job="j" * 63, pe="p" * 63))) == ()
    found = oversized(typed(pod(job="j" * 64, pe="p" * 70, tolerations=CASES["tolerations"][1]["tolerations"])))
    assert [f"{problem.field}: {problem.message}" for problem in found] == [
        "metadata.labels[streams.ibm.com/job]: has 64 characters, at most 63 are allowed",
        "metadata.labels[streams.ibm.com/pe]: has 70 characters, at most 63 are allowed",
        CASES["tolerations"][2],
    ]
