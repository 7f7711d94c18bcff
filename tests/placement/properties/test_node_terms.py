"""Node terms as people write them, against what the API server and the scheduler do with them."""

from collections.abc import Mapping
from typing import Any

from hypothesis import event, given

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, Json
from tests.placement.properties.generated_pods import PREFERRED, REQUIRED
from tests.placement.properties.oracle.selectors import affinity_holds, readable, taken
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placement.properties.strategies import clusters
from webhook.placement.text.problem import Fault

TERMS = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
VALUES = ("2", "08", "many", "9223372036854775807", "9223372036854775808", "1.5", "-3", "a b", "", "0" * 30 + "4")
RIGHT: tuple[Json, ...] = (
    {"key": "cores", "operator": "Gt", "values": ["2"]},
    {"key": "cores", "operator": "Lt", "values": ["0008"]},
    {"key": "zone", "operator": "In", "values": ["a"]},
    {"key": "cores", "operator": "Exists"},
    {"key": "cores", "operator": "Gt", "values": ["many"]},
)


def requirement(choices: RandomChoices) -> Json:
    """A requirement on a label: mostly what the API server takes, now and then what it does not."""
    if choices.chance(5):
        return dict(choices.pick(RIGHT))
    operator = choices.pick(["Gt", "Lt", "Gt", "Lt", "In", "NotIn", "Exists", "DoesNotExist"])
    values = [] if operator.endswith("Exist") or operator == "Exists" else [choices.pick(VALUES)]
    return {
        "key": choices.pick(["cores", "zone"]),
        "operator": operator,
        "values": values + ["x"] * (choices.face(24) == 1),
    }


def term(choices: RandomChoices) -> Json:
    """A term of up to two requirements."""
    return {"matchExpressions": [requirement(choices) for _ in range(choices.pick([1, 1, 1, 2, 2, 0]))]}


def terms(choices: RandomChoices) -> Json:
    """A node affinity with required terms, preferred ones, or both."""
    found: Json = {}
    if choices.chance(7):
        found[REQUIRED] = {"nodeSelectorTerms": [term(choices) for _ in range(1 + choices.face(4))]}
    if choices.chance(3):
        found[PREFERRED] = [
            {"weight": 1 + choices.face(100), "preference": term(choices)} for _ in range(1 + choices.face(2))
        ]
    return found


def refused(required: list[Json], preferred: list[Json]) -> str:
    """Who would not take the pod, or never place it, whatever the cluster; nothing if it could run."""
    needs = [need for found in required for need in found["matchExpressions"]]
    wishes = [need for found in preferred for need in found["preference"]["matchExpressions"]]
    if not all(taken(need, required=True) for need in needs):
        return "the API server, a requirement"
    if not all(taken(need, required=False) for need in wishes):
        return "the API server, a preference"
    if not all(map(readable, wishes)):
        return "the scheduler"
    return "" if not required or any(map(could_match, required)) else "no term"


def could_match(found: Json) -> bool:
    """Whether the scheduler would try the term at all."""
    return bool(found["matchExpressions"]) and all(map(readable, found["matchExpressions"]))


@given(clusters(), drawn(60, terms))
@examples(400)
def test_terms_are_taken_as_the_api_server_and_the_scheduler_take_them(cluster: Cluster, said: Json) -> None:
    required: list[Json] = (said.get(REQUIRED) or {}).get("nodeSelectorTerms", [])
    affinity: Mapping[str, Any] = {"nodeAffinity": said}
    spec = {"containers": [{"name": "c"}], "affinity": affinity, "tolerations": [{"operator": "Exists"}]}
    decision = decision_core.decided({"metadata": {}, "spec": spec}, cluster)
    who = refused(required, said.get(PREFERRED, []))
    event(who or "nobody")
    wrong = [problem for problem in decision.problems if "Affinity" in problem.field]
    assert bool(wrong) == bool(who), decision.message
    assert not who or decision.fault is Fault.INVALID
    if decision.problems:  # if not for its terms, then for a way round exclusive hosts
        return
    verdict = decision.verdict
    assert verdict is not None
    own = [judged.nodes for judged in verdict.hard if "affinity" in str(judged.constraint.clause)] or [
        verdict.everything
    ]
    matching = {node.name for node in cluster.nodes if affinity_holds(affinity, node.name, node.labels)}
    assert decision_core.names(own[0] & verdict.everything, decision_core.inventory(cluster)) == matching
    if not decision.refused:
        never = [
            f"{TERMS}[{at}]" for at, one in enumerate(required) if one["matchExpressions"] and not could_match(one)
        ]
        assert [text.partition(":")[0] for text in decision.warnings] == never
