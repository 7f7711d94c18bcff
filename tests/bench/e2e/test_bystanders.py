"""The benchmark of what the chart costs others: its table, and admission objects that are created again."""

from bench.e2e.bystanders import STATES, Figures, new_object, table


def test_the_table_has_ratios_to_the_same_round_without_the_chart() -> None:
    seen = {state: [{"Leases": Figures(100.0 / number, float(number))}] for number, state in enumerate(STATES, 1)}
    assert list(table(seen))[2:] == ["| Leases | 100 · 1.00 | 0.50 / 0.50 | 0.33 / 0.33 |"]


def test_an_object_is_created_again_with_all_but_what_the_api_server_wrote() -> None:
    metadata = {"name": "a", "labels": {"b": "c"}}
    stored = {"metadata": {**metadata, "uid": "1", "resourceVersion": "2"}, "webhooks": [], "status": {}}
    assert new_object(stored) == {
        "apiVersion": "admissionregistration.k8s.io/v1", "webhooks": [], "metadata": metadata,
    }  # fmt: skip
