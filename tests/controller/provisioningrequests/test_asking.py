"""A Job that waits for new nodes, and what the cluster autoscaler says about it."""

from typing import Any

import pytest

from tests.apiserver.paths import job_path
from tests.controller.provisioningrequests.asking_cluster import APART, NODE_POOL, AskingCluster, said
from webhook.controller.provisioningrequests import reconciler
from webhook.controller.provisioningrequests.reconciler import ANSWERED
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy

FOUND = "the cluster autoscaler has room for 4 pods, on existing nodes or on nodes that are being added"
ROOM = said("Provisioned", message="Capacity is found in the cluster")


async def test_the_request_has_the_pods_as_admission_makes_them(asking: AskingCluster) -> None:
    job = asking.ask()
    await asking.lead()
    request = asking.request
    name = request["metadata"]["name"]
    (owner,) = request["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("Job", "app", job["metadata"]["uid"])
    assert request["spec"] == {
        "provisioningClassName": "check-capacity.autoscaling.x-k8s.io",
        "parameters": {"noRetry": "true"},
        "podSets": [{"podTemplateRef": {"name": f"{name}-0"}, "count": 4}],
    }
    (template,) = asking.templates
    assert template["metadata"]["name"] == f"{name}-0"
    assert template["metadata"]["ownerReferences"][0]["uid"] == request["metadata"]["uid"]
    pod = template["template"]
    assert pod["metadata"]["labels"]["streams.ibm.com/job"] == "app"
    (term,) = pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert asking.capacity() == (
        "False",
        "Asked",
        f"the cluster autoscaler is asked for room for 4 pods (ProvisioningRequest {name})",
    )
    assert len(asking.pods) == 4  # nothing waits for the answer


@pytest.mark.untraced
async def test_room_is_told_and_the_request_is_deleted(asking: AskingCluster) -> None:
    asking.ask()
    await asking.lead()
    name = asking.request["metadata"]["name"]
    asking.answer(said("Accepted"))
    await asking.wait(1)
    assert asking.capacity()[2] == f"the cluster autoscaler looks for room for 4 pods (ProvisioningRequest {name})"
    asking.answer(said("Accepted"), ROOM)
    await asking.wait(2)
    assert asking.capacity() == ("True", "CapacityFound", FOUND)
    assert asking.told("Asked", "CapacityFound") == [("CapacityFound", FOUND)]
    assert (asking.requests, asking.templates) == ([], [])
    await asking.wait(ANSWERED * 2)
    assert (asking.asked, asking.requests) == (1, [])


@pytest.mark.parametrize(
    ("conditions", "reason", "message"),
    [
        (
            [said("Failed", message="CA could not find\n requested capacity")],
            "CapacityNotFound",
            "the cluster autoscaler has no room now: CA could not find requested capacity",
        ),
        (
            [said("Provisioned", "False")],
            "CapacityNotFound",
            "the cluster autoscaler has no room now: Provisioned",
        ),
        (
            [said("Provisioned", "False", reason="")],
            "CapacityNotFound",
            "the cluster autoscaler has no room now",
        ),
        (
            [ROOM, said("CapacityRevoked", message="gone")],
            "CapacityRevoked",
            "the cluster autoscaler has no room for 4 pods any more: gone",
        ),
        (
            [ROOM, said("BookingExpired")],
            "CapacityFound",
            f"{FOUND}; it no longer reserves this room",
        ),
    ],
    ids=["failed", "not now", "without words", "revoked", "expired"],
)
async def test_other_answers(asking: AskingCluster, conditions: list[Any], reason: str, message: str) -> None:
    asking.ask()
    await asking.lead()
    asking.answer(*conditions)
    await asking.wait(2)
    assert asking.capacity()[1:] == (reason, message)
    assert asking.told(reason) == [(reason, message)]
    assert (asking.requests, asking.asked) == ([], 1)


UNREAD = said("Failed", message="missing pod templates", reason="FailedToCreatePods")


async def test_an_autoscaler_that_does_not_see_the_templates_yet_is_asked_again(
    asking: AskingCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks at the request between its creation and that of its templates."""
    monkeypatch.setattr(reconciler, "OPEN_IN_NAMESPACE", 1)
    monkeypatch.setattr(reconciler, "OPEN", 1)
    asking.ask()
    await asking.lead()
    first = asking.request
    name = first["metadata"]["name"]
    asking.answer(UNREAD)
    await asking.lead()  # another leader goes on as well
    assert [one["metadata"]["name"] for one in asking.requests] == [name, f"{name}-again-1"]
    assert asking.requests[1]["spec"]["podSets"] == [{"podTemplateRef": {"name": f"{name}-again-1-0"}, "count": 4}]
    assert [one["metadata"]["name"] for one in asking.templates] == [f"{name}-0", f"{name}-again-1-0"]
    assert asking.capacity()[1] == "Asked"
    asking.kube.change(asking.path(asking.requests[1]), {"status": {"conditions": [ROOM]}})
    await asking.wait(2)
    assert asking.capacity() == ("True", "CapacityFound", FOUND)
    assert (asking.requests, asking.templates) == ([], [])


async def test_an_autoscaler_that_cannot_read_the_pods_has_not_answered(asking: AskingCluster) -> None:
    asking.ask()
    await asking.lead()
    name = f"{asking.request['metadata']['name']}-again-1"
    for _ in range(2):
        asking.kube.change(asking.path(asking.requests[-1]), {"status": {"conditions": [UNREAD]}})
        await asking.wait(2)
    why = f"the cluster autoscaler could not read the pods of ProvisioningRequest {name}: missing pod templates"
    assert asking.capacity()[1:] == ("NotAnswered", why)
    assert (asking.requests, asking.templates, asking.asked) == ([], [], 2)


async def test_an_answer_does_not_change_the_verdict(asking: AskingCluster) -> None:
    asking.ask()
    await asking.lead()
    before = asking.condition(asking.found("app"), "Satisfiable")
    asking.answer(said("Failed", message="none"))
    await asking.wait(2)
    assert asking.condition(asking.found("app"), "Satisfiable") == before
    assert len(asking.pods) == 4


async def test_without_an_answer_nothing_is_asked_for_ever(asking: AskingCluster) -> None:
    asking.ask(submissionTimeOutInSeconds=3600)
    await asking.lead()
    name = asking.request["metadata"]["name"]
    await asking.wait(ANSWERED + 10)
    why = f"the cluster autoscaler has not answered ProvisioningRequest {name} for 600 s"
    assert asking.capacity()[1:] == ("NotAnswered", why)
    assert asking.told("NotAnswered") == [("NotAnswered", why)]
    assert (asking.requests, asking.asked) == ([], 1)


async def test_pods_that_get_nodes_need_no_answer(asking: AskingCluster) -> None:
    asking.ask()
    await asking.lead()
    assert asking.requests
    asking.bind()
    await asking.wait(2)
    message = "the cluster autoscaler is not asked: no pod waits for a new node"
    assert asking.capacity() == ("False", "NotNeeded", message)
    assert (asking.requests, asking.told("NotNeeded")) == ([], [])


@pytest.mark.parametrize(
    "rules",
    [
        ReconcilerSettings(Policy(scale_up="auto")),
        ReconcilerSettings(Policy(elastic=True), provisioning_requests=True),
    ],
    ids=["not set", "without node groups"],
)
async def test_nothing_is_asked_or_watched_without_the_setting(
    asking: AskingCluster, rules: ReconcilerSettings
) -> None:
    asking.rules = rules
    asking.ask()
    await asking.lead()
    assert (len(asking.pods), asking.requests) == (4, [])
    assert "CapacityFound" not in str(asking.found("app"))
    assert "provisioningrequests" not in {kind.resource for kind in asking.candidate.work.kinds}


async def test_an_answer_about_what_a_job_was_does_not_outlive_the_setting(asking: AskingCluster) -> None:
    asking.ask()
    await asking.lead()
    asking.answer(ROOM)
    await asking.wait(2)
    asking.rules = ReconcilerSettings(Policy(scale_up="auto"))
    await asking.lead()
    assert asking.capacity()[1] == "CapacityFound"  # the Job is still the same
    asking.change("app", processingElements=[*APART, {"operators": [{"name": "E"}]}])
    await asking.wait(3)
    why = "the cluster autoscaler is not asked: settings.provisioningRequests is off"
    assert asking.capacity() == ("False", "NotAsked", why)
    assert asking.requests == []


async def test_a_job_that_fits_asks_nothing(asking: AskingCluster) -> None:
    asking.ask(processingElements=APART[:3])
    await asking.lead()
    assert asking.requests == []
    assert "CapacityFound" not in str(asking.found("app"))


async def test_a_change_of_the_job_is_another_question(asking: AskingCluster) -> None:
    asking.ask()
    await asking.lead()
    first = asking.request["metadata"]["name"]
    asking.change("app", processingElements=[*APART, {"operators": [{"name": "E"}]}])
    await asking.wait(3)
    assert asking.request["metadata"]["name"] != first
    assert [one["count"] for one in asking.request["spec"]["podSets"]] == [4, 1]
    assert len(asking.templates) == 2
    asking.change("app", processingElements=APART[:2])
    await asking.wait(3)
    assert asking.capacity()[1] == "NotNeeded"
    assert (asking.requests, asking.templates) == ([], [])


async def test_only_pods_that_have_no_node_are_asked_for(asking: AskingCluster) -> None:
    asking.ask(processingElements=APART[:3])
    asking.binds = lambda pod: f"node-{pod['metadata']['name'].split('-')[1]}"
    await asking.lead()
    asking.binds = lambda _: ""
    asking.change("app", processingElements=APART)
    await asking.wait(3)
    assert [one["count"] for one in asking.request["spec"]["podSets"]] == [1]


async def test_a_job_that_is_deleted_takes_its_request_with_it(asking: AskingCluster) -> None:
    asking.ask()
    await asking.lead()
    asking.delete(job_path("app"))
    await asking.wait(3)
    assert (asking.requests, asking.templates, asking.owned) == ([], [], [])


async def test_a_submission_that_fails_is_not_asked_about(asking: AskingCluster) -> None:
    asking.ask(submissionTimeOutInSeconds=20)
    await asking.lead()
    assert asking.requests
    await asking.wait(30)
    assert asking.status("app")["phase"] == "Failed"
    assert (asking.capacity()[1], asking.requests) == ("NotNeeded", [])


async def test_a_group_that_makes_no_node_leaves_nothing_to_ask(asking: AskingCluster) -> None:
    asking.kube.remove(NODE_POOL)
    asking.ask()
    await asking.lead()
    assert asking.status("app")["phase"] == "Failed"
    assert asking.requests == []


async def test_an_element_for_a_host_is_asked_about_with_a_term(asking: AskingCluster) -> None:
    """An autoscaler does not look at pods with a nodeName: the node is required by a term."""
    asking.rules = ReconcilerSettings(Policy(scale_up="auto", host_binding="nodeName"), provisioning_requests=True)
    asking.ask(processingElements=[*APART, {"operators": [{"name": "E", "placement": 'host("node-0")'}]}])
    await asking.lead()
    specs = [one["template"]["spec"] for one in asking.templates]
    (bound,) = [spec for spec in specs if "nodeAffinity" in spec.get("affinity", {})]
    (term,) = bound["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert {"key": "metadata.name", "operator": "In", "values": ["node-0"]} in term["matchFields"]
    assert not any("nodeName" in spec for spec in specs)
