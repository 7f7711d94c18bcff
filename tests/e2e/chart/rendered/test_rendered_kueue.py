"""What the chart gives to the controller for admission checks of Kueue: the setting, and rights only with it."""

from typing import Final

from tests.e2e.chart.rendered.test_rendered_node_groups import rules, variables
from tests.e2e.chart.rendering import RELEASE, Values

ON: Final[Values] = {"settings": {"kueue": True}}
CONTROLLER: Final = f"{RELEASE}-controller"
HOOK: Final = f"{RELEASE}-release"


def test_the_rights_come_with_the_setting() -> None:
    added = [rule for rule in rules(ON, CONTROLLER) if rule not in rules({}, CONTROLLER)]
    assert {(*rule["apiGroups"], *sorted(rule["resources"])): rule["verbs"] for rule in added} == {
        ("kueue.x-k8s.io", "admissionchecks", "workloads"): ["get", "list", "watch"],
        ("kueue.x-k8s.io", "admissionchecks/status", "workloads/status"): ["patch"],
        ("kueue.x-k8s.io", "resourceflavors"): ["get"],
    }
    assert "kueue" not in str(rules({}, CONTROLLER))


def test_the_hook_of_an_uninstallation_may_make_checks_inactive_with_the_setting() -> None:
    added = [rule for rule in rules(ON, HOOK) if rule not in rules({}, HOOK)]
    assert {(*rule["apiGroups"], *rule["resources"]): rule["verbs"] for rule in added} == {
        ("kueue.x-k8s.io", "admissionchecks"): ["get", "list"],
        ("kueue.x-k8s.io", "admissionchecks/status"): ["patch"],
    }
    assert "kueue" not in str(rules({}, HOOK))


def test_the_webhook_gets_none() -> None:
    assert rules(ON) == rules({})


def test_the_controller_is_told() -> None:
    assert variables({}, CONTROLLER)["STREAMS_PLACEMENT_KUEUE"] == "false"
    assert variables(ON, CONTROLLER)["STREAMS_PLACEMENT_KUEUE"] == "true"
