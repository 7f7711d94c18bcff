"""The API server's own counts of reviews."""

from bench.e2e.counters import Calls, between, read, total

FAMILY = "apiserver_admission_webhook_admission_duration_seconds"
TEXT = f"""# TYPE {FAMILY} histogram
{FAMILY}_bucket{{name="pods.example",operation="CREATE",rejected="false",type="admit",le="0.005"}} 7
{FAMILY}_sum{{name="pods.example",operation="CREATE",rejected="false",type="admit"}} 0.25
{FAMILY}_count{{name="pods.example",operation="CREATE",rejected="false",type="admit"}} 7
{FAMILY}_sum{{name="pods.example",operation="CREATE",rejected="true",type="admit"}} 0.5
{FAMILY}_count{{name="pods.example",operation="CREATE",rejected="true",type="admit"}} 3
{FAMILY}_sum{{name="pods.example",operation="CREATE",rejected="false",type="validating"}} 1e-3
{FAMILY}_count{{name="pods.example",operation="CREATE",rejected="false",type="validating"}} 2
"""
READ = {"pods.example admit": Calls(10, 0.75), "pods.example validating": Calls(2, 0.001)}


def test_calls_are_summed_by_name_and_type() -> None:
    assert read(TEXT) == READ


def test_between_two_looks_only_what_was_called_counts() -> None:
    later = {**READ, "pods.example admit": Calls(14, 0.95), "new.example admit": Calls(1, 0.5)}
    found = between(READ, later)
    assert found.keys() == {"pods.example admit", "new.example admit"}
    assert found["pods.example admit"].count == 4


def test_all_calls_together() -> None:
    assert total(READ.values()) == 12
