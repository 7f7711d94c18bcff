"""Rules about applications of other operators: for the kinds that are chosen, and for no others."""

from typing import Any, Final

import pytest

from tests.e2e.chart.rendering import CHART, NAMESPACE, RELEASE, helm, of_kind, only, render

NAME: Final = "applications.placement.streams.ibm.com"
CHOSEN: Final[dict[str, Any]] = {"workloads": {"kinds": ["FlinkDeployment", "VolcanoJob"]}}


def entries(values: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one for one in only(render(values), "ValidatingWebhookConfiguration")["webhooks"]}


def test_without_a_choice_there_is_no_rule() -> None:
    assert NAME not in entries({})


def test_the_chosen_kinds_have_a_rule_each() -> None:
    entry = entries(CHOSEN)[NAME]
    assert entry["rules"] == [
        {
            "apiGroups": [group], "apiVersions": [version], "operations": ["CREATE", "UPDATE"], "resources": [resource],
            "scope": "Namespaced",
        }
        for group, version, resource in (
            ("flink.apache.org", "v1beta1", "flinkdeployments"), ("batch.volcano.sh", "v1alpha1", "jobs"),
        )
    ]  # fmt: skip


def test_they_are_reviewed_as_workloads_are() -> None:
    found = entries(CHOSEN)
    for field in ("failurePolicy", "timeoutSeconds", "namespaceSelector", "clientConfig", "matchPolicy"):
        assert found[NAME][field] == found["workloads.placement.streams.ibm.com"][field]
    assert [one["name"] for one in found[NAME]["matchConditions"]] == ["alive", "changed"]


def test_they_take_no_rights_and_change_no_other_rule() -> None:
    chosen, others = entries(CHOSEN), entries({})
    assert {name: one for name, one in chosen.items() if name != NAME} == others
    kinds = ("ClusterRole", "Role")
    assert of_kind(render(CHOSEN), *kinds) == of_kind(render({}), *kinds)


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (["Deployment"], 'workloads.kinds[0]: "Deployment" is none of FlinkDeployment, JobSet,'),
        (["JobSet", "JobSet"], "workloads"),
        ("JobSet", "workloads"),
    ],
)
def test_what_is_no_kind_is_refused(kinds: object, said: str) -> None:
    done = helm("template", RELEASE, str(CHART), "--namespace", NAMESPACE, values={"workloads": {"kinds": kinds}})
    assert done.returncode != 0
    assert said in done.stderr
