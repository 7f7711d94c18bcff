"""The benchmark of what the chart costs others: its requests, and admission objects that are created again."""

from bench.e2e.bystanders.planes import definition
from bench.e2e.bystanders.requests import KINDS, application, life, plain_requests
from bench.e2e.chart import new_object


def test_a_life_is_one_request_after_the_other() -> None:
    pod = "/api/v1/namespaces/bench-bystanders/pods/plain-7"
    whole = life(7)
    assert [(each.method, each.path) for each in (whole, *whole.following)] == [
        ("POST", "/api/v1/namespaces/bench-bystanders/pods"),
        ("POST", f"{pod}/binding"),
        *[("PATCH", f"{pod}/status")] * 3,
        ("DELETE", pod),
    ]


def test_an_object_is_created_again_with_all_but_what_the_api_server_wrote() -> None:
    metadata = {"name": "a", "labels": {"b": "c"}}
    stored = {"metadata": {**metadata, "uid": "1", "resourceVersion": "2"}, "webhooks": [], "status": {}}
    assert new_object(stored) == {
        "apiVersion": "admissionregistration.k8s.io/v1", "webhooks": [], "metadata": metadata,
    }  # fmt: skip


def test_applications_of_all_kinds_ask_for_nothing() -> None:
    made = [application(number) for number in range(len(KINDS))]
    assert len({each.path for each in made}) == len(KINDS)
    assert {each.method for each in made} == {"POST"}
    assert not any(b"streams.ibm.com" in each.body for each in made)
    definitions = [definition(kind)["spec"] for kind in KINDS]
    paths = [f"/apis/{one['group']}/{one['versions'][0]['name']}/" for one in definitions]
    assert all(each.path.startswith(path) for each, path in zip(made, paths, strict=True))


def test_a_turn_has_as_many_requests_of_each_kind_as_were_asked_for() -> None:
    made = {kind.name: len(kind.of(3, 10)) for kind in plain_requests(applications=True)}
    assert made == {
        "pods with 0 annotations": 13,
        "pods with 5 annotations": 13,
        "pods with 25 annotations": 13,
        "status updates of pods": 13,
        "whole lives of pods": 5,
        "heartbeats of nodes": 13,
        "renewals of Leases": 13,
        "Deployments": 13,
        "applications of other operators": 13,
    }
    assert "applications of other operators" not in {kind.name for kind in plain_requests(applications=False)}
