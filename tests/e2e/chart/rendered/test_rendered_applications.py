"""Rules about applications of other operators: for the kinds that are chosen, and for no others."""

from typing import Any, Final

import pytest

from tests.e2e.chart.rendering import CHART, NAMESPACE, RELEASE, helm, of_kind, only, render
from tools import kinds
from webhook.app.application_kinds import application_kinds

NAME: Final = "applications.placement.streams.ibm.com"
SCALES: Final = "application-scales.placement.streams.ibm.com"
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


_LONGEST = 100_000
"""Characters of an expression that the parser of CEL takes."""


def test_they_are_reviewed_as_workloads_are() -> None:
    found = entries(CHOSEN)
    for field in ("failurePolicy", "timeoutSeconds", "namespaceSelector", "clientConfig", "matchPolicy"):
        assert found[NAME][field] == found["workloads.placement.streams.ibm.com"][field]


def test_only_objects_that_ask_are_sent() -> None:
    found = application_kinds()
    flink, volcano = found["flink.apache.org", "FlinkDeployment"], found["batch.volcano.sh", "Job"]
    [condition] = entries(CHOSEN)[NAME]["matchConditions"]  # one: all of a list would be evaluated
    asks, safely = (f"(object.kind < 'Job' ? {of(flink)} : {of(volcano)})" for of in (kinds.asks, kinds.asks_safely))
    assert condition["expression"].startswith(
        f"{asks} && {safely} && !has(object.metadata.deletionTimestamp) && (request.operation"
    )


def test_an_expression_for_all_kinds_is_not_longer_than_the_api_server_reads() -> None:
    chosen = {"workloads": {"kinds": [kinds.chart_name(kind) for kind in application_kinds().values()]}}
    [condition] = entries(chosen)[NAME]["matchConditions"]
    assert len(condition["expression"]) < _LONGEST


def test_they_change_no_other_rule() -> None:
    chosen, others = entries(CHOSEN), entries({})
    assert {name: one for name, one in chosen.items() if name not in {NAME, SCALES}} == others


def test_scales_have_a_rule_for_the_kinds_that_can_be_scaled_and_hold_nothing_up() -> None:
    entry = entries(CHOSEN)[SCALES]
    assert [(one["operations"], one["resources"]) for one in entry["rules"]] == [
        (["UPDATE"], ["flinkdeployments/scale"])
    ]
    assert entry["failurePolicy"] == "Ignore"
    assert SCALES not in entries({"workloads": {"kinds": ["VolcanoJob"]}})


def test_the_webhook_may_read_their_objects_and_what_is_between_these_and_pods() -> None:
    def rules(values: dict[str, Any]) -> list[Any]:
        found = of_kind(render(values), "ClusterRole")
        return next(one["rules"] for one in found if one["metadata"]["name"] == RELEASE)

    kinds_of_pools = {"workloads": {"kinds": ["RayJob", "KafkaNodePool"]}}
    assert [one for one in rules(kinds_of_pools) if one not in rules({})] == [
        {"apiGroups": [group], "resources": [resource], "verbs": ["get"]}
        for group, resource in (
            ("apps", "deployments"), ("ray.io", "rayclusters"), ("ray.io", "rayjobs"),
            ("core.strimzi.io", "strimzipodsets"), ("kafka.strimzi.io", "kafkanodepools"),
        )
    ]  # fmt: skip


def test_the_controller_knows_the_kinds_and_may_read_the_owners_of_their_pods() -> None:
    def found(kind: str, values: dict[str, Any]) -> Any:
        listed = of_kind(render(values), kind)
        return next(one for one in listed if one["metadata"]["name"] == f"{RELEASE}-controller")

    chosen = {"workloads": {"kinds": ["RayJob"]}}
    rules = found("ClusterRole", {})["rules"]
    assert [one for one in found("ClusterRole", chosen)["rules"] if one not in rules] == [
        {"apiGroups": [group], "resources": resources, "verbs": ["get"]}
        for group, resources in (
            ("apps", ["deployments", "replicasets", "statefulsets"]), ("batch", ["jobs"]), ("ray.io", ["rayclusters"]),
            ("ray.io", ["rayjobs"]),
        )
    ]  # fmt: skip
    arguments = found("Deployment", chosen)["spec"]["template"]["spec"]["containers"][0]["args"]
    assert "--reviewed-kinds=RayJob.ray.io" in arguments


def test_the_webhook_knows_the_kinds_and_the_accounts() -> None:
    def flags(values: dict[str, Any]) -> list[str]:
        [deployment] = [one for one in of_kind(render(values), "Deployment") if one["metadata"]["name"] == RELEASE]
        arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        return [one for one in arguments if one.startswith(("--reviewed-kinds", "--operator-accounts"))]

    account = "system:serviceaccount:kuberay:kuberay-operator"
    assert flags({}) == []
    assert flags({"workloads": {"kinds": ["RayCluster", "VolcanoJob"], "accounts": [account]}}) == [
        "--reviewed-kinds=RayCluster.ray.io,Job.batch.volcano.sh", f"--operator-accounts={account}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (
            ["Deployment"],
            'workloads.kinds[0]: "Deployment" is none of CronWorkflow, DisaggregatedSet, FlinkBlueGreenDeployment,',
        ),
        (["JobSet", "JobSet"], "workloads"),
        ("JobSet", "workloads"),
    ],
)
def test_what_is_not_a_kind_is_refused(kinds: object, said: str) -> None:
    done = helm("template", RELEASE, str(CHART), "--namespace", NAMESPACE, values={"workloads": {"kinds": kinds}})
    assert done.returncode != 0
    assert said in done.stderr
