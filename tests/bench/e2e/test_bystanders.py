"""The benchmark of what the chart costs others: its tables, and admission objects that are created again."""

from argparse import Namespace

from bench.e2e.bystanders import STATES, Figures, cost_table, definition, render, rounds_table, table
from bench.e2e.chart import new_object
from bench.e2e.plain_requests import KINDS, application, life, plain_requests

SEEN = {
    state: [{"Leases": Figures(100.0 / number, float(number), 2.0 * number)}] for number, state in enumerate(STATES, 1)
}


def test_the_table_has_ratios_to_the_same_round_without_the_chart() -> None:
    assert list(table(SEEN))[2:] == [
        (
            "| Leases | 100/s / 1.00 ms / 2.00 ms | 0.50 (0.50 to 0.50) / 0.50 / 0.50 "
            "| 0.33 (0.33 to 0.33) / 0.33 / 0.33 | 0.25 (0.25 to 0.25) / 0.25 / 0.25 |"
        )
    ]


def test_what_conditions_cost_is_by_entry_and_kind_of_request() -> None:
    found = {"pods": {"guard": 10.4, "created": 20.0}, "Leases": {}, "nodes": {"nodes": 30.0}}
    assert list(cost_table(found))[2:] == [
        "| guard | 10 | - | - |",
        "| created | 20 | - | - |",
        "| nodes | - | - | 30 |",
        "| **all** | **30** | **0** | **30** |",
    ]


def test_a_life_is_one_request_after_the_other() -> None:
    pod = "/api/v1/namespaces/bench-bystanders/pods/plain-7"
    whole = life(7)
    assert [(each.method, each.path) for each in (whole, *whole.following)] == [
        ("POST", "/api/v1/namespaces/bench-bystanders/pods"),
        ("POST", f"{pod}/binding"),
        *[("PATCH", f"{pod}/status")] * 3,
        ("DELETE", pod),
    ]


def test_the_page_says_how_much_was_measured() -> None:
    page = render(SEEN, {"Leases": {}}, Namespace(count=7, singles=3))
    assert "- size: 50 nodes; each turn 3 requests of a kind by one client, 7 by 20; 1 rounds" in page.splitlines()


def test_an_object_is_created_again_with_all_but_what_the_api_server_wrote() -> None:
    metadata = {"name": "a", "labels": {"b": "c"}}
    stored = {"metadata": {**metadata, "uid": "1", "resourceVersion": "2"}, "webhooks": [], "status": {}}
    assert new_object(stored) == {
        "apiVersion": "admissionregistration.k8s.io/v1", "webhooks": [], "metadata": metadata,
    }  # fmt: skip


def test_every_round_is_kept() -> None:
    assert list(rounds_table(SEEN))[2:] == [
        "| Leases | 1 | 100/s, 1.00 ms | 50/s, 2.00 ms | 33/s, 3.00 ms | 25/s, 4.00 ms |"
    ]


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
