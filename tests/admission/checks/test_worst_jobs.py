"""The most expensive Jobs that the API server takes: each is judged within a tenth of a second, or refused."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.answers import refused, response
from tests.builders import Json, cluster, nodes, review
from tests.work import Work, excess
from webhook.admission.answer import Answer
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.cluster.queries.review_queries import WholeQuestion
from webhook.placement.elements.pod_template import nested_too_deeply
from webhook.placement.inventory.policy import Policy
from webhook.placement.planning.search.solver import finished

LIMIT = Work(calls=1_000_000, seconds=0.100)
"""For the answer; the dearest makes 730,000 calls."""

LEAST = 600 * 1024
"""Bytes of each of the Jobs: etcd stores, by default, none of 1.5 MiB."""

CLUSTER = cluster(nodes(20))
CONTAINER = {"name": "a", "image": "b"}


def job(spec: object, operation: str = "CREATE", **metadata: Any) -> bytes:
    found = {"metadata": {"name": "j", **metadata}, "spec": spec}
    old = {"metadata": {"name": "j"}, "spec": {}} if operation == "UPDATE" else None
    return review(found, operation, old=old, kind="Job", group="streams.ibm.com", name="j")


def decided(body: bytes, policy: Policy | None = None) -> Answer:
    """The answer, with all that it takes to find it out."""
    answer = validate(body, CLUSTER, policy or Policy())
    while isinstance(answer.question, WholeQuestion):
        answer = finished(answer.question.resume(AtOnce()))
    return answer


def templates(count: int, template: Json, **element: Any) -> Json:
    return {"processingElements": [{"name": f"e{at}", "template": template, **element} for at in range(count)]}


def of_spec(**spec: Any) -> Json:
    return templates(1, {"spec": {"containers": [CONTAINER], **spec}})


def annotated(text: str) -> Json:
    return templates(1, {"metadata": {"annotations": {"x": text}}, "spec": {"containers": [CONTAINER]}})


def of_operators(elements: int, operators: int, placement: str = "") -> Json:
    found = templates(elements, {"spec": {"containers": [CONTAINER]}})
    for place, element in enumerate(found["processingElements"]):
        element["operators"] = [
            {"name": f"Main.Op{place}x{at}", **({"placement": placement.format(at)} if placement else {})}
            for at in range(operators)
        ]
    return found


def variables(count: int) -> list[Json]:
    return [{"name": f"V{at}", "value": "x" * 20} for at in range(count)]


def terms(count: int) -> list[Json]:
    return [{"matchExpressions": [{"key": f"a{at}", "operator": "Exists"}]} for at in range(count)]


def apart(count: int) -> list[Json]:
    selectors = [{"matchLabels": {"a": f"b{at}"}} for at in range(count)]
    return [{"topologyKey": "kubernetes.io/hostname", "labelSelector": selector} for selector in selectors]


DECIDED: dict[str, Callable[[], Json]] = {
    "a thousand templates": lambda: templates(1000, {"spec": {"containers": [{**CONTAINER, "env": variables(15)}]}}),
    "one of many variables": lambda: templates(1, {"spec": {"containers": [{**CONTAINER, "env": variables(17_000)}]}}),
    "one with a long text": lambda: annotated("y" * 900_000),
    "one with a text of brackets": lambda: annotated("[{" * 450_000),
    "many numbers that nobody asks for": lambda: of_spec(x=[1] * 440_000),
    "many volumes": lambda: of_spec(volumes=[{"name": f"v{at}", "emptyDir": {}} for at in range(20_000)]),
    "many operators": lambda: of_operators(38, 1000),
}  # fmt: skip

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

REFUSED: dict[str, tuple[Callable[[], Json], str]] = {
    "lists of lists": (
        lambda: of_spec(x=[[]] * 280_000),
        "spec: has 280010 lists and objects, at most 100000 are allowed",
    ),
    "lists in a second field": (
        lambda: {"processingElements": [{}, {"template": {"spec": {"x": [{}] * 210_000}}}]},
        "spec: has 210009 lists and objects, at most 100000 are allowed",
    ),
    "many terms about nodes": (
        lambda: of_spec(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms(14_000)}}}),
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms: has 14000 terms, at most 1000 are allowed",
    ),
    "many terms about pods": (
        lambda: of_spec(affinity={"podAntiAffinity": {REQUIRED: apart(9_000)}}),
        "spec.affinity: has 9000 terms about pods, at most 1000 are allowed in a pod that asks for placement",
    ),
    "many isolated operators": (
        lambda: of_operators(220, 60, "hostIsolation"),
        "spec.processingElements: 13200 operators with hostIsolation, at most 1000 are allowed",
    ),
    "many tokens": (
        lambda: of_operators(170, 60, 'hostColocation("t{}")'),
        "operators is one annotation of the pod: too many different tokens: at most 32 are allowed",
    ),
    "pools with many hosts": (
        lambda: {
            "bundle": {"name": "b"},
            "hostPools": [{"name": f"p{at}", "hosts": [f"host-{host}" for host in range(700)]} for at in range(100)],
            "processingElements": [{}],
        },
        "HostPools of the Job cannot have their hosts, for more than 10 reasons:",
    ),
}  # fmt: skip


@pytest.mark.examples
@pytest.mark.parametrize("spec", DECIDED.values(), ids=DECIDED)
def test_a_large_job_is_decided_about_quickly(spec: Callable[[], Json]) -> None:
    body = job(spec())
    assert len(body) >= LEAST
    answers: list[Answer] = []
    assert excess(lambda: answers.append(decided(body)), LIMIT) is None
    assert response(answers[0])["allowed"]


@pytest.mark.examples
@pytest.mark.parametrize(("spec", "said"), REFUSED.values(), ids=REFUSED)
def test_a_job_that_would_take_longer_is_refused_quickly(spec: Callable[[], Json], said: str) -> None:
    body = job(spec())
    assert len(body) >= LEAST
    answers: list[Answer] = []
    assert excess(lambda: answers.append(decided(body)), LIMIT) is None
    assert refused(answers[0])[1].split("\n")[0].endswith(said)


def test_in_audit_mode_its_size_is_a_warning() -> None:
    answer = decided(job(of_spec(x=[[]] * 280_000)), Policy(audit=True))
    said = "audit: this would be refused: has 280010 lists and objects, at most 100000 are allowed"
    assert response(answer)["warnings"] == [said]


def test_a_processing_element_has_the_same_limit() -> None:
    element = {"metadata": {"name": "e"}, "spec": {"job": "j", "template": {"spec": {"x": [[]] * 110_000}}}}
    answer = validate(review(element, kind="ProcessingElement", group="streams.ibm.com"), CLUSTER, Policy())
    assert refused(answer) == (422, "spec: has 110006 lists and objects, at most 100000 are allowed")


# Nesting


def nested(levels: int, end: object = 1) -> object:
    """That many lists and objects, one in the other."""
    found = end
    for at in range(levels):
        found = [found] if at % 2 else {"a": found}
    return found


DEEP = "spec.processingElements[0].template: nested too deeply: at most 100 levels are allowed"


def deep_body(levels: int, operation: str = "CREATE", **fields: Any) -> bytes:
    """The review of a Job whose template has so many levels, which Python itself could not write as JSON."""
    body = job(of_spec(x="?"), operation, **fields)
    return body.replace(b'"?"', b'{"a":[' * (levels // 2) + b"]}" * (levels // 2))


@pytest.mark.parametrize("levels", [100, 300, 700])
def test_a_template_nested_deep_is_refused(levels: int) -> None:
    assert refused(decided(deep_body(levels))) == (422, DEEP)


@pytest.mark.parametrize("levels", [1_000, 10_000, 400_000])
def test_one_that_cannot_even_be_read_is_refused(levels: int) -> None:
    said = "the Job is not readable: it is nested too deeply, at most 100 levels are allowed"
    assert refused(decided(deep_body(levels))) in {(422, said), (422, DEEP)}  # newer Pythons read a thousand levels


@pytest.mark.parametrize("levels", [100, 1_000, 10_000])
def test_a_job_that_is_being_deleted_does_not_become_unreadable(levels: int) -> None:
    deleted = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/mine"]}
    assert refused(decided(deep_body(levels, "UPDATE", **deleted)))[0] == 422


def test_neither_does_an_element_that_is_being_deleted() -> None:
    metadata = {"name": "e", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    element = {"metadata": metadata, "spec": {"job": "j", "template": nested(101)}}
    answer = validate(review(element, kind="ProcessingElement", group="streams.ibm.com"), CLUSTER, Policy())
    assert refused(answer) == (422, "spec.template: nested too deeply: at most 100 levels are allowed")


@pytest.mark.parametrize("entry", [validate, mutate])
def test_a_pod_that_cannot_be_read_is_refused(entry: Any) -> None:
    body = review({"metadata": {"name": "p"}, "x": "?"}).replace(b'"?"', b"[" * 100_000 + b"]" * 100_000)
    said = "the Pod is not readable: it is nested too deeply, at most 100 levels are allowed"
    assert refused(entry(body, CLUSTER, Policy())) == (422, said)


@pytest.mark.parametrize(("levels", "deep"), [(0, False), (1, False), (99, False), (100, False), (101, True)])
def test_levels_of_lists_and_objects_are_counted(levels: int, deep: bool) -> None:  # noqa: FBT001 -- one of a table
    assert nested_too_deeply(nested(levels)) is deep
    assert nested_too_deeply({"x": 1, "y": [nested(levels - 2)]} if levels > 1 else {}) is deep


# The same without a clock


def test_brackets_in_texts_are_no_lists() -> None:
    assert response(decided(job(annotated("[{" * 60_000))))["allowed"]


def test_many_isolated_operators_are_too_many() -> None:
    assert refused(decided(job(of_operators(20, 60, "hostIsolation"))))[1] == (
        "spec.processingElements: 1200 operators with hostIsolation, at most 1000 are allowed"
    )
