"""Answers that refuse say by which rules, for the metrics; those of audit mode say by which they would."""

from typing import Any

import pytest

from tests.builders import Json, bound_pod, cluster, job, node, pod, pool, review
from tests.workload_templates import group, workload
from webhook.admission.answer import Answer, Outcome, RightsQuestion, WholeQuestion
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.inventory.policy import Policy
from webhook.placement.planning.search.solver import finished
from webhook.placement.text import keys
from webhook.placement.text.rule import Rule

IB = {keys.TAG: "ib"}
THERE = cluster(
    [node("node-a", labels=IB), node("node-b", labels=IB)],
    [pool("P", size=1, tags=["ib"], assigned=["node-a"], mode="Exclusive"), pool("Q")],
    [bound_pod("node-a", pools=["P"])],
    jobs=[job({})],
)
GUARDED = {"guard_nodes": "refuse", "guard_bindings": True}
STREAMS = "streams.ibm.com"


def created(found: Json, policy: Policy) -> Answer:
    return mutate(review(found), THERE, policy)


def submitted(found: Json, policy: Policy) -> Answer:
    kind = found["kind"]
    return validate(review(found, kind=kind, group=group(kind)), THERE, policy)


def of_kind(kind: str, found: Any, policy: Policy, **fields: Any) -> Answer:
    return validate(review(found, **{"kind": kind, "group": STREAMS} | fields), THERE, policy)


def whole(spec: Json, policy: Policy) -> Answer:
    answer = of_kind("Job", {"metadata": {"name": "parallel"}, "spec": spec}, policy)
    assert isinstance(answer.question, WholeQuestion)
    return finished(answer.question.resume(AtOnce()))


def elements(placement: str, count: int) -> Json:
    found = [{"name": f"e-{at}", "operators": [{"name": f"o{at}", "placement": placement}]} for at in range(count)]
    return {"bundle": {"name": "a.sab"}, "processingElements": found}


NODE = {"kind": "Node", "metadata": {"name": "node-a", "uid": "u", "labels": IB}, "spec": {}}
BINDING = {"kind": "Binding", "metadata": {"name": "pe-9"}, "target": {"kind": "Node", "name": "node-a"}}
SIZED = {"metadata": {"name": "big"}, "spec": {"size": 9}}

CASES: dict[str, tuple[Any, tuple[Rule, ...]]] = {
    "a clause": (lambda policy: created(pod('host("gone")'), policy), (Rule.HOST,)),
    "a clause and a field": (
        lambda policy: created(pod('host("node-b")', nodeSelector={"x": "y"}), policy), (Rule.OWN_NODES,)
    ),
    "a mistake": (lambda policy: created(pod("Host(x)"), policy), (Rule.MISTAKE,)),
    "what is not there": (lambda policy: created(pod("host(Unknown)"), policy), (Rule.STATE,)),
    "replicas": (
        lambda policy: submitted(workload("Deployment", 'hostExlocation("t")', count=9), policy),
        (Rule.EXLOCATION, Rule.REPLICAS),
    ),
    "a change of a node": (
        lambda policy: of_kind("Node", None, policy, operation="DELETE", old=NODE, group="", name="node-a"),
        (Rule.GUARD,),
    ),
    "a pool": (lambda policy: of_kind("HostPool", SIZED, policy), (Rule.POOL,)),
    "an element of a Job": (lambda policy: whole(elements('host("gone")', 1), policy), (Rule.HOST,)),
    "a whole Job": (lambda policy: whole(elements('hostExlocation("t")', 3), policy), (Rule.EXLOCATION,)),
    "a pool of a Job": (
        lambda policy: whole({**elements("host(H)", 1), "hostPools": [{"name": "H", "hosts": ["gone"]}]}, policy),
        (Rule.POOL,),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "rules"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("audit", [False, True], ids=["enforce", "audit"])
def test_a_refusal_has_its_rules(answer: Any, rules: tuple[Rule, ...], *, audit: bool) -> None:
    found = answer(Policy(audit=audit, **GUARDED))
    assert (found.outcome, found.rules) == (Outcome.ALLOWED if audit else Outcome.DENIED, rules)


def test_a_user_without_a_right_is_refused_by_it() -> None:
    answer = validate(review(pod("host(Q)")), THERE, Policy(verify_pods=False))
    assert isinstance(answer.question, RightsQuestion)
    assert answer.question.resume([("q", "host(Q)")]).rules == (Rule.RIGHTS,)


def test_what_is_allowed_has_none() -> None:
    assert created(pod('host("node-b")'), Policy()).rules == ()
