"""What the chart gives to the controller for ProvisioningRequests: the setting, and rights only where it asks."""

from typing import Final

import pytest

from tests.e2e.chart.rendered.test_rendered_node_groups import rules, variables
from tests.e2e.chart.rendering import NAMESPACE, RELEASE, Values, of_kind, render

AUTO: Final[Values] = {"settings": {"scaleUp": "auto"}}
ON: Final[Values] = {"settings": {"scaleUp": "auto", "provisioningRequests": True}}
CONTROLLER: Final = f"{RELEASE}-controller"


def test_the_controller_may_ask_with_the_setting() -> None:
    added = [rule for rule in rules(ON, CONTROLLER) if rule not in rules(AUTO, CONTROLLER)]
    assert {(*rule["apiGroups"], *rule["resources"]): rule["verbs"] for rule in added} == {
        ("autoscaling.x-k8s.io", "provisioningrequests"): ["get", "list", "watch", "create", "delete"],
        ("", "podtemplates"): ["get", "create"],
    }


@pytest.mark.parametrize("values", [{}, AUTO, {"settings": {"provisioningRequests": True}}])
def test_it_may_not_where_it_asks_nothing(values: Values) -> None:
    assert "provisioningrequests" not in str(rules(values, CONTROLLER))


def test_the_webhook_may_never_ask() -> None:
    assert rules(ON) == rules(AUTO)


def test_the_controller_is_told_whether_to_ask() -> None:
    assert variables({}, CONTROLLER)["STREAMS_PLACEMENT_PROVISIONING_REQUESTS"] == "false"
    assert variables(ON, CONTROLLER)["STREAMS_PLACEMENT_PROVISIONING_REQUESTS"] == "true"


def conditions(values: Values) -> dict[str, str]:
    """The conditions of everything that looks at PodTemplates which are stored, by name."""
    webhooks = [hook for one in of_kind(render(values), "ValidatingWebhookConfiguration") for hook in one["webhooks"]]
    policies = [
        {"name": one["metadata"]["name"], "rules": one["spec"]["matchConstraints"]["resourceRules"], **one["spec"]}
        for one in of_kind(render(values), "ValidatingAdmissionPolicy")
    ]
    return {
        one["name"]: " && ".join(condition["expression"] for condition in one["matchConditions"])
        for one in (*webhooks, *policies)
        if any("podtemplates" in rule["resources"] for rule in one["rules"]) and "questions" not in one["name"]
    }


def test_pod_templates_of_the_controller_are_not_reviewed() -> None:
    """They have the labels that only the webhook writes; those of all others are reviewed as before."""
    exempt = (
        "(request.kind.kind != 'PodTemplate' || "
        f"!(request.userInfo.username in ['system:serviceaccount:{NAMESPACE}:{CONTROLLER}', "
    )
    found, without = conditions(ON), conditions(AUTO)
    assert len(found) >= 3
    assert found.keys() == without.keys()
    for name, expression in found.items():
        assert exempt in expression, name
        assert "PodTemplate" not in without[name], name
