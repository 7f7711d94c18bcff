"""Jobs and ProcessingElements at ``/validate``."""

import json
from typing import Any

import pytest

from tests.answers import refused, response, warnings
from tests.builders import UID, Json, cluster, job, node, pool, review
from webhook.admission.answer import Answer, FieldsQuestion, JobQuestion, JobRef, RightsQuestion, WholeQuestion
from webhook.admission.checks.jobs import problems_of
from webhook.admission.validate import validate
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.planning.search.solver import finished

GROUP = "streams.ibm.com"


def reviewed(
    kind: str, spec: object, inventory: Inventory | None = None, policy: Policy | None = None, **fields: Any
) -> Answer:
    found = {"metadata": {"name": "parallel", **fields.pop("metadata", {})}, "spec": spec}
    body = review(found, **{"operation": "CREATE"} | fields, kind=kind, group=GROUP)
    return validate(body, inventory or cluster(), policy or Policy())


def on_pool(name: str) -> Json:
    operators = [{"name": "Source", "placement": f"host({name})"}]
    return {"bundle": {"name": "a.sab"}, "processingElements": [{"operators": operators}]}


def test_a_job_that_breaks_no_rule_is_allowed() -> None:
    assert response(reviewed("Job", on_pool("P") | {"hostPools": [{"name": "P"}]}))["allowed"]


def test_a_job_that_breaks_rules_is_refused_for_all_of_them() -> None:
    spec = on_pool("P") | {"fusion": {"manual": 0}}
    assert refused(reviewed("Job", spec)) == (
        422,
        (
            "spec.fusion.manual: 0 is less than 1\n"
            'spec.processingElements[0].operators[0].placement: the Job declares no HostPool "P"; '
            "neither the Job nor its namespace has any\n"
            "  host(P)\n"
            "  ^"
        ),
    )


@pytest.mark.parametrize(
    ("pools", "allowed"),
    [
        pytest.param([pool("P")], True, id="of the namespace"),
        pytest.param([pool("P", job="parallel")], False, id="of a job"),
        pytest.param([pool("P", namespace="other")], False, id="of another namespace"),
    ],
)
def test_a_job_may_use_the_pools_of_its_namespace(pools: list[Any], *, allowed: bool) -> None:
    assert response(reviewed("Job", on_pool("P"), cluster(pools=pools)))["allowed"] is allowed


def test_an_unknown_field_of_a_job_is_refused() -> None:
    assert refused(reviewed("Job", {"bundles": {}})) == (
        422, "the Job is not readable: spec.bundles: there is no such field",
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["Job", "ProcessingElement"])
def test_what_is_being_deleted_is_not_held_back(kind: str) -> None:
    spec = {"fusion": {"manual": 0}} if kind == "Job" else {}
    assert response(reviewed(kind, spec, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}))["allowed"]


@pytest.mark.parametrize(
    ("old", "allowed"),
    [
        pytest.param({"spec": {"fusion": {"manual": 0}}}, True, id="as it was before the rule"),
        pytest.param({"spec": {}}, False, id="otherwise"),
        pytest.param({"spec": {"nonsense": 1}}, False, id="that cannot be read"),
    ],
)
def test_an_update_is_reviewed_if_the_spec_changes(old: Json, *, allowed: bool) -> None:
    answer = reviewed("Job", {"fusion": {"manual": 0}}, operation="UPDATE", old=old)
    assert response(answer)["allowed"] is allowed


# Processing elements


def test_an_element_of_a_job_that_lives_is_allowed() -> None:
    answer = reviewed("ProcessingElement", {"job": "parallel"}, cluster(jobs=[job({})]))
    assert (response(answer)["allowed"], answer.question) == (True, None)


def test_an_element_of_a_job_that_is_not_known_is_asked_about() -> None:
    answer = reviewed("ProcessingElement", {"job": "parallel"})
    assert refused(answer) == (403, 'spec.job: this namespace has no Job "parallel"')
    assert isinstance(answer.question, JobQuestion)
    assert answer.question.job == JobRef("default", "parallel")
    assert response(answer.question.resume(job({})))["allowed"]
    assert refused(answer.question.resume(None)) == (403, 'spec.job: this namespace has no Job "parallel"')
    leaving = StreamsJob("default", "parallel", deleting=True)
    assert refused(answer.question.resume(leaving)) == (403, 'spec.job: Job "parallel" is being deleted')


def test_a_job_that_is_being_deleted_may_have_been_made_again() -> None:
    answer = reviewed(
        "ProcessingElement", {"job": "parallel"}, cluster(jobs=[StreamsJob("default", "parallel", deleting=True)])
    )
    assert refused(answer) == (403, 'spec.job: Job "parallel" is being deleted')
    assert isinstance(answer.question, JobQuestion)


def test_an_element_that_breaks_a_rule_is_refused() -> None:
    assert refused(reviewed("ProcessingElement", {"job": "parallel", "launchCount": 0})) == (
        422, "spec.launchCount: 0 is less than 1",
    )  # fmt: skip


def test_a_changed_element_keeps_the_rules() -> None:
    old = {"spec": {"job": "parallel"}}
    new = {"job": "parallel", "buildType": "fast"}
    assert refused(reviewed("ProcessingElement", new, operation="UPDATE", old=old)) == (
        422, 'spec.buildType: "fast" is not one of debug, release',
    )  # fmt: skip
    assert response(reviewed("ProcessingElement", old["spec"] | {"launchCount": 2}, operation="UPDATE", old=old))[
        "allowed"
    ]


def test_in_audit_mode_a_refusal_is_a_warning() -> None:
    answer = reviewed("Job", {"fusion": {"manual": 0}}, policy=Policy(audit=True))
    assert json.loads(answer.body)["response"]["warnings"] == ["audit: this would be refused: 0 is less than 1"]


def test_a_job_that_is_not_a_review_is_checked_as_well() -> None:
    found = {"metadata": {"name": "parallel"}, "spec": on_pool("P")}
    assert [problem.message for problem in problems_of(found, "default", cluster(pools=[pool("P")]))] == []
    [problem] = problems_of({"metadata": {}, "spec": {"bundles": {}}}, "default", cluster())
    assert (problem.field, problem.message) == (
        "spec.bundles", "there is no such field",
    )  # fmt: skip


USED = pool("P", name="object")


def test_whoever_submits_a_job_needs_the_right_to_use_pools_of_the_namespace() -> None:
    answer = reviewed("Job", on_pool("P"), cluster(pools=[USED]))
    assert isinstance(answer.question, RightsQuestion)
    assert answer.question.pools == (("object", "host(P)"),)
    assert refused(answer.question.resume(answer.question.pools)) == (
        403,
        (
            'spec.processingElements: host(P): user "alice" may not use HostPool object of namespace "default": '
            "this needs the verb use on streamshostpools.streams.ibm.com"
        ),
    )


def in_template(text: str) -> Json:
    annotations = {"streams.ibm.com/placement": text}
    return {"metadata": {"annotations": annotations}, "spec": {"containers": [{"name": "c"}]}}


def test_pools_that_a_template_names_take_the_right_as_well() -> None:
    answer = reviewed("Job", {"processingElements": [{"template": in_template("host(P)")}]}, cluster(pools=[USED]))
    assert isinstance(answer.question, RightsQuestion)
    assert answer.question.pools == (("object", "host(P)"),)


PREFERRED = in_template("host(P)")
PREFERRED["metadata"]["annotations"]["streams.ibm.com/preferred"] = "host"


def test_a_pool_that_is_only_preferred_takes_the_right_to_use_it_and_need_not_exist() -> None:
    """Pods tolerate the taint of an exclusive pool that they only prefer."""
    spec = {"processingElements": [{"template": PREFERRED}]}
    answer = reviewed("Job", spec, cluster(pools=[USED]))
    assert isinstance(answer.question, RightsQuestion)
    assert answer.question.pools == (("object", "host(P)"),)
    assert isinstance(reviewed("Job", spec).question, WholeQuestion)


def test_an_element_may_prefer_a_pool_that_does_not_exist() -> None:
    answer = reviewed("ProcessingElement", {"job": "parallel", "template": PREFERRED}, cluster(jobs=[job({})]))
    assert response(answer) == {
        "uid": UID,
        "allowed": True,
        "warnings": ['host(P): this namespace has no HostPool "P" that Job "parallel" may use'],
    }


@pytest.mark.parametrize(
    "said",
    [
        pytest.param({"operators": [{"name": "Source", "placement": "host(P)"}]}, id="of an operator"),
        pytest.param({"template": in_template("host(P)")}, id="of a template"),
    ],
)
@pytest.mark.parametrize("old", [None, {"spec": {"job": "parallel"}}])
def test_whoever_submits_an_element_needs_the_right_to_use_its_pools(said: Json, old: Json | None) -> None:
    inventory = cluster(pools=[USED], jobs=[job({})])
    fields: Json = {"operation": "UPDATE", "old": old} if old else {}
    answer = reviewed("ProcessingElement", {"job": "parallel"} | said, inventory, **fields)
    assert isinstance(answer.question, RightsQuestion)
    assert answer.question.pools == (("object", "host(P)"),)
    assert refused(answer.question.resume(answer.question.pools)) == (
        403,
        (
            'spec: host(P): user "alice" may not use HostPool object of namespace "default": '
            "this needs the verb use on streamshostpools.streams.ibm.com"
        ),
    )


def test_the_right_is_asked_for_once_the_job_of_an_element_is_known() -> None:
    spec = {"job": "parallel", "operators": [{"name": "Source", "placement": "host(P)"}]}
    answer = reviewed("ProcessingElement", spec, cluster(pools=[USED]))
    assert isinstance(answer.question, JobQuestion)
    assert isinstance(answer.question.resume(job({})).question, RightsQuestion)


def test_an_element_keeps_the_pools_that_it_names() -> None:
    spec = {"job": "parallel", "operators": [{"name": "Source", "placement": "host(P)"}]}
    for inventory in (cluster(pools=[USED]), cluster()):
        answer = reviewed("ProcessingElement", spec | {"launchCount": 2}, inventory, operation="UPDATE",
                          old={"spec": spec})  # fmt: skip
        assert (response(answer)["allowed"], answer.question) == (True, None)


def test_an_element_names_pools_that_its_job_may_use() -> None:
    spec = {"job": "parallel", "operators": [{"name": "Source", "placement": "host(P)"}]}
    answer = reviewed("ProcessingElement", spec, cluster(pools=[pool("P", job="other")], jobs=[job({})]))
    assert refused(answer) == (
        403,
        ('spec.operators[0].placement: this namespace has no HostPool "P" that Job "parallel" may use\n  host(P)\n  ^'),
    )


def test_the_pools_that_a_job_declares_are_its_own() -> None:
    question = reviewed("Job", on_pool("P") | {"hostPools": [{"name": "P"}]}).question
    assert isinstance(question, WholeQuestion)


def whole(answer: Answer) -> Answer:
    assert isinstance(answer.question, WholeQuestion)
    return finished(answer.question.resume(AtOnce()))


APART: Json = {
    "bundle": {"name": "a.sab"},
    "processingElements": [{"operators": [{"name": f"Op{at}", "placement": 'hostExlocation("t")'}]} for at in range(3)],
}
"""Three elements, each on a node of its own."""

TOO_MANY = (
    'hostExlocation("t") cannot hold: 2 of 3 processing elements fit (parallel-0, parallel-1, parallel-2).\n'
    'Nearest fix: add a node, or drop hostExlocation("t") (all 3 would fit), or run 2 of these 3.'
)


def test_a_job_that_fits_as_a_whole_is_allowed() -> None:
    assert response(whole(reviewed("Job", APART, cluster(map(node, "abc"))))) == {"uid": UID, "allowed": True}


def test_a_job_that_does_not_fit_as_a_whole_is_refused() -> None:
    assert refused(whole(reviewed("Job", APART, cluster(map(node, "ab"))))) == (403, TOO_MANY)


def test_in_audit_mode_a_job_that_does_not_fit_is_a_warning() -> None:
    answer = whole(reviewed("Job", APART, cluster(map(node, "ab")), Policy(audit=True)))
    assert response(answer)["warnings"] == [f"audit: this would be refused: {TOO_MANY.partition(chr(10))[0]}"]


def test_a_job_without_a_name_is_not_judged_as_a_whole() -> None:
    assert reviewed("Job", APART, metadata={"name": None}).question is None


def changed(old: Json, new: Json) -> Answer:
    return reviewed("Job", new, operation="UPDATE", old={"metadata": {"name": "parallel"}, "spec": old})


ELEMENTS: list[Json] = APART["processingElements"]
OPERATORS: list[Json] = [{"name": "Source"}, {"name": "Sink"}]
FUSED: Json = {"bundle": {"name": "a.sab"}, "operators": OPERATORS}


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(APART | {"processingElements": ELEMENTS[:2]}, id="an element less"),
        pytest.param(APART | {"submissionTimeOutInSeconds": 60}, id="more time"),
        pytest.param(APART | {"processingElement": {"restartFailedPod": True}}, id="an option of all"),
        pytest.param(
            APART | {"processingElements": [*ELEMENTS[:2], ELEMENTS[2] | {"restartFailedPod": True}]}, id="an option"
        ),
        pytest.param(APART | {"processingElements": ELEMENTS[::-1]}, id="another order"),
    ],
)
def test_a_change_that_demands_no_more_is_not_judged(new: Json) -> None:
    answer = changed(APART, new)
    assert (response(answer)["allowed"], answer.question) == (True, None)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(APART, APART | {"processingElements": [*ELEMENTS, {}]}, id="an element more"),
        pytest.param(APART, APART | {"hostPools": [{"name": "P", "size": 2}]}, id="a pool"),
        pytest.param(APART, APART | {"processingElement": {"resources": {"requests": {"cpu": "1"}}}}, id="more cpu"),
        pytest.param(
            APART | {"resources": {"requests": {"cpu": "6"}}},
            APART | {"resources": {"requests": {"cpu": "6"}}, "processingElements": ELEMENTS[:2]},
            id="a larger share of the resources of all",
        ),
        pytest.param({"processingElements": 7}, APART, id="of what is not readable"),
        pytest.param(FUSED | {"operators": OPERATORS[:1]}, FUSED, id="an operator more"),
    ],
)
def test_a_change_that_demands_more_is_judged(old: Json, new: Json) -> None:
    assert isinstance(changed(old, new).question, WholeQuestion)


def test_a_user_who_may_use_the_pools_of_a_job_is_told_whether_it_fits() -> None:
    question = reviewed("Job", on_pool("P"), cluster(pools=[USED])).question
    assert isinstance(question, RightsQuestion)
    assert isinstance(question.then, WholeQuestion)


# Large Jobs


def large(placement: str = "", **more: Any) -> Json:
    """The spec of a Job with more elements than are checked at once; the last one has a name of its own."""
    elements: list[Json] = [{"operators": [{"name": f"Op{at}", "placement": placement}]} for at in range(30)]
    return {"bundle": {"name": "a.sab"}, "processingElements": [*elements, {"name": "last"}], **more}


def test_the_rules_of_a_large_job_are_checked_while_others_go_on() -> None:
    answer = reviewed("Job", large("host(P)"), cluster(map(node, "a")))
    assert response(answer)["allowed"]
    code, message = refused(whole(answer))
    assert (code, len(message.splitlines()) > 3) == (403, True)
    assert message.startswith(
        'spec.processingElements[0].operators[0].placement: the Job declares no HostPool "P"; '
        "neither the Job nor its namespace has any\n"
    )


def test_a_large_job_is_asked_for_rights_and_then_whether_it_fits() -> None:
    checked = whole(reviewed("Job", large("host(P)"), cluster(map(node, "a"), pools=[USED])))
    assert isinstance(checked.question, RightsQuestion)
    assert isinstance(checked.question.then, WholeQuestion)
    plain = whole(reviewed("Job", large(), cluster(map(node, "a"))))
    assert response(whole(plain)) == {"uid": UID, "allowed": True}


def test_a_large_job_that_demands_no_more_than_before_is_allowed() -> None:
    smaller = large() | {"processingElements": large()["processingElements"][1:]}
    answer = reviewed("Job", smaller, cluster(), operation="UPDATE", old={"spec": large()})
    found = whole(answer)
    assert (response(found)["allowed"], found.question) == (True, None)


def test_in_audit_mode_a_large_job_gets_its_problems_as_warnings() -> None:
    answer = whole(reviewed("Job", large("host("), cluster(), Policy(audit=True)))
    assert response(answer)["allowed"]
    assert response(answer)["warnings"][0].startswith("audit: this would be refused: expected a string or a host pool")


# Fields of templates

MISSPELT = {"spec": {"containers": [{"name": "c", "image": "i"}], "nodeSelektor": {"a": "b"}}}
FIELD = ("spec", "nodeSelektor")
UNKNOWN = "spec.processingElements[0].template.spec.nodeSelektor: unknown field, did you mean nodeSelector?"


def misspelt(policy: Policy | None = None, **fields: Any) -> FieldsQuestion:
    """What is asked about a Job with a misspelt field."""
    answer = reviewed("Job", {"processingElements": [{"template": MISSPELT}]}, cluster([node()]), policy, **fields)
    assert response(answer)["allowed"]
    assert isinstance(answer.question, FieldsQuestion)
    return answer.question


def test_whether_a_field_is_known_is_asked() -> None:
    assert misspelt().fields == (FIELD,)


def test_one_that_the_api_server_does_not_know_is_refused() -> None:
    assert refused(misspelt().resume(frozenset({FIELD}))) == (422, UNKNOWN)
    assert warnings(misspelt(Policy(audit=True)).resume(frozenset({FIELD}))) == [
        "audit: this would be refused: unknown field, did you mean nodeSelector?"
    ]


def test_one_that_it_knows_is_decided_about() -> None:
    answer = misspelt().resume(frozenset())
    assert isinstance(answer.question, WholeQuestion)
    assert warnings(finished(answer.question.resume(AtOnce()))) == []


def test_without_an_answer_of_the_api_server_there_is_a_warning() -> None:
    answer = misspelt().resume(None)
    assert isinstance(answer.question, WholeQuestion)
    assert warnings(finished(answer.question.resume(AtOnce()))) == [UNKNOWN]


def test_so_there_is_for_a_job_that_needs_no_decision() -> None:
    spec = {"processingElements": [{"template": MISSPELT}], "fusion": {"manual": 2}}
    old = {"metadata": {"name": "parallel"}, "spec": spec}
    answer = misspelt(operation="UPDATE", old=old).resume(None)
    assert (warnings(answer), answer.question) == ([UNKNOWN], None)


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
def test_elements_are_asked_about_alike(operation: str) -> None:
    spec = {"job": "parallel", "template": MISSPELT}
    old = {"spec": {"job": "parallel"}} if operation == "UPDATE" else None
    answer = reviewed("ProcessingElement", spec, cluster(jobs=[job({})]), operation=operation, old=old)
    assert isinstance(answer.question, FieldsQuestion)
    said = "spec.template.spec.nodeSelektor: unknown field, did you mean nodeSelector?"
    assert refused(answer.question.resume(frozenset({FIELD}))) == (422, said)
    assert warnings(answer.question.resume(None)) == [said]
    assert warnings(answer.question.resume(frozenset())) == []


def test_a_refusal_has_no_such_warning() -> None:
    answer = reviewed("ProcessingElement", {"job": "absent", "template": MISSPELT})
    assert isinstance(answer.question, FieldsQuestion)
    assert refused(answer.question.resume(None))[0] == 403


def test_without_a_cluster_the_table_decides() -> None:
    document = {"metadata": {"name": "j"}, "spec": {"processingElements": [{"template": MISSPELT}]}}
    assert [f"{one.field}: {one.message}" for one in problems_of(document, "default", cluster())] == [UNKNOWN]


def test_an_element_whose_spec_stays_is_not_looked_at() -> None:
    spec = {"job": "absent", "template": MISSPELT}
    answer = reviewed("ProcessingElement", spec, operation="UPDATE", old={"spec": spec})
    assert (response(answer)["allowed"], answer.question) == (True, None)


def test_operators_are_reviewed_as_elements_are() -> None:
    """Rights to pools, misspelt fields of templates, and nesting."""
    spec = {"bundle": {"name": "a.sab"}, "operators": [{"name": "A", "placement": "host(Q)"}]}
    assert refused(reviewed("Job", spec))[1] == (
        'spec.operators[0].placement: the Job declares no HostPool "Q"; neither the Job nor its namespace has any\n'
        "  host(Q)\n"
        "  ^"
    )
    question = reviewed("Job", spec, cluster(pools=[pool("Q")])).question
    assert isinstance(question, RightsQuestion)
    template = {"spec": {"containers": [{"name": "a", "image": "a", "immage": "b"}]}}
    odd = {**spec, "operators": [{"name": "A", "template": template}]}
    assert isinstance(reviewed("Job", odd).question, FieldsQuestion)
    document = {"metadata": {"name": "j"}, "spec": spec}
    assert [each.field for each in problems_of(document, "default", cluster())] == ["spec.operators[0].placement"]


def test_a_job_of_operators_is_fused_when_it_is_submitted() -> None:
    spec = {"bundle": {"name": "a.sab"}, "operators": [{"name": "A", "placement": 'host("node-a")'}]}
    for there, allowed in (([node()], True), ([], False)):
        question = reviewed("Job", spec, cluster(there)).question
        assert isinstance(question, WholeQuestion)
        assert response(finished(question.resume(AtOnce())))["allowed"] is allowed
