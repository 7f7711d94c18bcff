"""HPAIntents give hardware to pods that do not ask for it themselves: the example of the EMCO design, scheduled."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
import yaml

from tests.e2e.chart.objects.intents import EXAMPLES, intent, of, path, samples
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.all_processes import everyone
from tests.e2e.hardware.applied_workloads import (
    applied,
    asked,
    container,
    denied,
    made_of,
    nodes_of,
    pods,
    printed,
    resources,
    running,
    space,
    stateful,
)
from tests.e2e.hardware.node_hardware import OTHER_GPU, QAT
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, pod
from webhook.placement.text import keys

ENABLED: Final = "edge"
PLAIN: Final = "plain-edge"
FIREWALL: Final = "fwall-hpa-intent"


@pytest.fixture(scope="module", autouse=True)
def _spaces(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    """The same intents in a namespace where they hold for all, and in one where pods have to name them."""
    admin = plane.admin
    with space(plane, ENABLED, **{keys.INJECT: keys.ENABLED}), space(plane, PLAIN):
        for where in (ENABLED, PLAIN):
            for name, spec in samples().items():
                admin.call("POST", path(where), intent(spec, name, where))
        there = ('"cpu":"4"', OTHER_GPU)
        until(lambda: known(admin, ENABLED, *there) and known(admin, PLAIN, *there), "intents are known", 60)
        yield


def consuming(where: str, name: str, **annotations: str) -> Object:
    """A pod as the controller of a StatefulSet makes it."""
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": name, "uid": "0", "controller": True}
    spec = made_of(container("palo-alto-e3000"))
    return pod("p", where, spec, ownerReferences=[owner], annotations=annotations)


def known(admin: Api, where: str, *words: str) -> bool:
    """Whether every process would give the firewall something of which these are words."""
    named = {keys.INTENT: FIREWALL} if where == PLAIN else {}
    found = everyone(admin, consuming(where, "core-fwall", **named))
    return all(word in said.patch for said in found for word in words)


def example(name: str) -> Object:
    """A workload of the examples, which says nothing of hardware."""
    made: Object = yaml.safe_load((EXAMPLES.parents[1] / f"hpaintent-{name}.yaml").read_text())
    assert not [key for key in made["spec"]["template"]["metadata"].get("annotations", {}) if keys.PREFIX in key]
    return made


GIVEN: Final[dict[str, tuple[str, Object, list[str]]]] = {
    "core-fwall": (
        "palo-alto-e3000",
        {
            "requests": {"cpu": "4", "memory": "1G", OTHER_GPU: "1"},
            "limits": {"cpu": "4", "memory": "1G", OTHER_GPU: "1"},
        },
        ["gpu-1"],
    ),
    "ai-model": ("openvino", {"requests": {"cpu": "2"}}, []),
    "logger": ("logger", {"requests": {QAT: "1"}, "limits": {QAT: "1"}}, ["qat-1"]),
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_workload_of_the_example_is_given_what_its_intent_says(admin: Api, plane: ControlPlane, name: str) -> None:
    """And runs where that is."""
    its_container, given, nodes = GIVEN[name]
    applied(plane, example(name))
    found = running(admin, ENABLED, name)
    assert [resources(one, its_container) for one in found] == [given]
    assert not nodes or nodes_of(found) == nodes


def test_so_are_all_pods_of_a_deployment(admin: Api, plane: ControlPlane) -> None:
    """Their owner is a ReplicaSet, and the intent says Deployment."""
    applied(plane, example("api-server"))
    found = [resources(one, "nginx") for one in running(admin, ENABLED, "api-server", 2)]
    assert [(one["requests"]["cpu"], one["limits"]["cpu"]) for one in found] == [("1", "2")] * 2


def test_a_workload_that_no_intent_names_stays_as_it_is(admin: Api, plane: ControlPlane) -> None:
    applied(plane, deployment("stranger", ENABLED))
    (found,) = running(admin, ENABLED, "stranger")
    assert (resources(found), "annotations" in found["metadata"]) == ({}, False)


def firewall(where: str, **annotations: Any) -> Object:
    return stateful("core-fwall", where, spec=made_of(container("palo-alto-e3000")), annotations=annotations)


def test_where_intents_do_not_hold_for_all_a_pod_that_names_none_gets_nothing(admin: Api) -> None:
    answer = asked(admin, consuming(PLAIN, "core-fwall"))
    assert (answer.code, resources(answer.body, "palo-alto-e3000")) == (201, {})


def test_there_a_pod_gets_what_the_intent_says_that_it_names(admin: Api, plane: ControlPlane) -> None:
    applied(plane, firewall(PLAIN, **{keys.INTENT: FIREWALL}))
    (found,) = running(admin, PLAIN, "core-fwall")
    assert resources(found, "palo-alto-e3000")["limits"]["cpu"] == "4"


def test_an_intent_that_is_changed_counts_for_the_next_pod(admin: Api, plane: ControlPlane) -> None:
    """The pod that runs keeps what it has."""
    applied(plane, firewall(PLAIN, **{keys.INTENT: FIREWALL}))
    (before,) = running(admin, PLAIN, "core-fwall")
    spec = samples()[FIREWALL]
    spec["consumers"][0]["requirements"][0]["spec"] |= {"requests": 2, "limits": 2}
    admin.patch(f"{path(PLAIN)}/{FIREWALL}", {"spec": spec})
    until(lambda: known(admin, PLAIN, '"cpu":"2"'), "the change is known", 60)
    assert admin.get(f"{pods(PLAIN)}/core-fwall-0")["spec"] == before["spec"]

    admin.delete(f"{pods(PLAIN)}/core-fwall-0")
    until(lambda: uid(admin) not in {"", before["metadata"]["uid"]}, "there is another pod", 60)
    (after,) = running(admin, PLAIN, "core-fwall")
    assert resources(after, "palo-alto-e3000")["limits"]["cpu"] == "2"


def uid(admin: Api) -> str:
    """Which pod the firewall's is now."""
    found = admin.find(f"{pods(PLAIN)}/core-fwall-0")
    return str(found["metadata"]["uid"]) if found else ""


def test_kubectl_prints_that_a_named_intent_is_not_there(plane: ControlPlane) -> None:
    found = deployment("nobody", PLAIN, annotations={keys.INTENT: "fwall-hpa-intend"})
    field = f"metadata.annotations[{keys.INTENT}]"
    said = f'this namespace has no HPAIntent "fwall-hpa-intend", did you mean {FIREWALL}?'
    there = f"known HPAIntents: {', '.join(sorted(samples()))}"
    assert printed(plane, found) == denied("workloads", f"{field}: {said} {there}\n")


GREEDY: Final = f"""\
hardware {QAT} 3 cannot hold: 0 of 5 nodes can run this pod.
  5 nodes have less than {QAT} 3
Nearest fix: add a node with {QAT} 3 to offer, or drop hardware {QAT} 3 (5 nodes would fit).
"""


def test_kubectl_prints_that_no_node_has_what_an_intent_says(admin: Api, plane: ControlPlane) -> None:
    """Of a workload that says nothing itself."""
    workload = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "greedy"}
    spec = of({"name": QAT, "limits": 3}, workload=workload)
    admin.call("POST", path(ENABLED), intent(spec, "greedy-hpa-intent", ENABLED))
    wanted = consuming(ENABLED, "greedy")
    until(lambda: {said.allowed for said in everyone(admin, wanted)} == {False}, "the intent is known", 60)
    assert printed(plane, stateful("greedy", ENABLED)) == denied("namespaces", GREEDY)
