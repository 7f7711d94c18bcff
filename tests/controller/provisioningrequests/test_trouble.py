"""Requests that cannot be made, names that others have taken, controllers that die, and caches that are late."""

import asyncio
from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause, FailedRequest
from tests.apiserver.paths import job_path
from tests.controller.provisioningrequests.asking_cluster import APART, GROUP, NODE_POOL, REQUESTS, AskingCluster, said
from webhook.controller.jobs.job_judge import JobJudge, Judgement
from webhook.controller.jobstore.records import StoredJob
from webhook.controller.provisioningrequests import reconciler
from webhook.controller.provisioningrequests.request_object import MOST
from webhook.placement.objects.jobs.job_spec import JobSpec

TAKEN = "the cluster autoscaler is not asked: "
HOME = f"{GROUP}/namespaces/default/provisioningrequests"
MAIN = {"name": "main", "image": "registry.example.com/app:1"}
TEMPLATE_HOME = "/api/v1/namespaces/default/podtemplates"


def refusing(asking: AskingCluster, *failures: tuple[str, ApiError], once: bool = False) -> None:
    """Creations below these paths fail."""
    left = dict(failures)

    def before(path: str) -> None:
        if found := left.get(path):
            if once:
                del left[path]
            raise found

    asking.candidate.line.before = before


def failure(cause: Cause, detail: str = "") -> ApiError:
    request = FailedRequest(method="POST", path=HOME, detail=detail) if detail else None
    return ApiError(cause, "the API server refuses", request=request)


async def test_the_older_version_is_used_where_no_other_is_served(asking: AskingCluster) -> None:
    await asking.lead()
    refusing(asking, (HOME, failure(Cause.MISSING)))
    asking.ask()
    await asking.wait(1)
    older = asking.kube.all("/apis/autoscaling.x-k8s.io/v1beta1/provisioningrequests")
    assert [one["apiVersion"] for one in older] == ["autoscaling.x-k8s.io/v1beta1"]
    assert asking.templates[0]["metadata"]["ownerReferences"][0]["apiVersion"] == "autoscaling.x-k8s.io/v1beta1"


@pytest.mark.parametrize(
    ("failures", "why"),
    [
        (
            [(HOME, failure(Cause.MISSING)), (HOME.replace("v1", "v1beta1"), failure(Cause.MISSING))],
            "the API server serves no ProvisioningRequests",
        ),
        ([(HOME, failure(Cause.FORBIDDEN, "exceeded quota"))], "exceeded quota"),
        ([(HOME, failure(Cause.INVALID))], "the API server refuses"),
        ([(TEMPLATE_HOME, failure(Cause.FORBIDDEN))], "the API server refuses"),
    ],
    ids=["not served", "quota", "invalid", "templates"],
)
async def test_a_request_that_is_refused(asking: AskingCluster, failures: list[tuple[str, ApiError]], why: str) -> None:
    await asking.lead()
    refusing(asking, *failures)
    asking.ask()
    await asking.wait(2)
    assert asking.capacity() == ("False", "NotAsked", f"{TAKEN}{why}")
    assert asking.told("NotAsked") == [("NotAsked", f"{TAKEN}{why}")]
    assert (asking.requests, asking.templates, len(asking.pods)) == ([], [], 4)


async def test_what_may_work_later_is_tried_again(asking: AskingCluster) -> None:
    await asking.lead()
    refusing(asking, (HOME, failure(Cause.BROKEN)), (TEMPLATE_HOME, failure(Cause.UNREACHABLE)), once=True)
    asking.ask()
    await asking.wait(5)
    assert (len(asking.requests), len(asking.templates)) == (1, 1)
    assert asking.capacity()[1] == "Asked"


async def name_of_request(asking: AskingCluster) -> str:
    """The name that a request for the Job will have, found by a first controller."""
    asking.ask()
    await asking.lead()
    name: str = asking.request["metadata"]["name"]
    return name


def reset(asking: AskingCluster) -> None:
    """The question is open, and there is no request."""
    for found in asking.requests:
        asking.kube.remove(asking.path(found))


@pytest.mark.parametrize("owned", [False, True], ids=["without an owner", "of another class"])
async def test_a_request_of_others_is_left_alone(asking: AskingCluster, owned: bool) -> None:  # noqa: FBT001 -- of a table
    name = await name_of_request(asking)
    await asking.candidate.end()
    owners = asking.request["metadata"]["ownerReferences"] if owned else []
    reset(asking)
    asking.kube.create(
        f"{HOME}/{name}",
        apiVersion="autoscaling.x-k8s.io/v1",
        metadata={"ownerReferences": owners},
        spec={"provisioningClassName": "best-effort-atomic-scale-up.autoscaling.x-k8s.io", "podSets": [{"count": 9}]},
        status={"conditions": [said("Provisioned")]},
    )
    before = asking.request
    await asking.lead()
    assert asking.capacity()[1:] == (
        "NotAsked",
        f"{TAKEN}ProvisioningRequest {name} exists and does not belong to this Job",
    )
    assert asking.request == before


@pytest.mark.parametrize("owners", [[], [{"uid": "other", "kind": "Job", "controller": True}]], ids=["none", "other"])
async def test_a_template_of_others_is_left_alone(asking: AskingCluster, owners: list[Any]) -> None:
    name = await name_of_request(asking)
    await asking.candidate.end()
    reset(asking)
    asking.garbage.sweep()
    asking.kube.create(f"{TEMPLATE_HOME}/{name}-0", metadata={"ownerReferences": owners and [{**owners[0]}]})
    asking.garbage.sweep = lambda: None  # type: ignore[method-assign]  # whose owner there is not stays
    await asking.lead()
    assert asking.capacity()[1:] == (
        "NotAsked",
        f"{TAKEN}PodTemplate {name}-0 exists and does not belong to ProvisioningRequest {name}",
    )
    assert [one["metadata"]["name"] for one in asking.templates] == [f"{name}-0"]
    assert asking.requests == []


async def test_too_many_requests_of_a_namespace(asking: AskingCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciler, "OPEN_IN_NAMESPACE", 1)
    await name_of_request(asking)
    asking.ask("other")
    await asking.wait(3)
    assert asking.capacity("other")[1:] == ("NotAsked", f"{TAKEN}1 requests of this namespace are open")
    assert len(asking.requests) == 1


async def test_too_many_requests_of_all(asking: AskingCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciler, "OPEN", 1)
    await name_of_request(asking)
    asking.ask("other")
    await asking.wait(3)
    assert asking.capacity("other")[1:] == ("NotAsked", f"{TAKEN}1 requests are open")


async def test_too_many_kinds_of_pods(asking: AskingCluster) -> None:
    different = [
        {"operators": [{"name": f"O{at}"}], "resources": {"requests": {"cpu": f"{at + 1}m"}}} for at in range(MOST)
    ]
    asking.ask(processingElements=[*APART, *different])
    await asking.lead()
    why = f"{MOST + 1} kinds of pods wait, and a request has {MOST} at most"
    assert asking.capacity()[1:] == ("NotAsked", f"{TAKEN}{why}")


async def test_nothing_is_said_about_a_change_before_it_is_judged(
    asking: AskingCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The conditions say until then what the Job was."""
    await name_of_request(asking)
    judge = JobJudge.judge

    async def slowly(self: JobJudge, job: StoredJob, spec: JobSpec, *, scaled: bool = False) -> Judgement:
        await asyncio.sleep(5)
        return await judge(self, job, spec, scaled=scaled)

    monkeypatch.setattr(JobJudge, "judge", slowly)
    different = [
        {"operators": [{"name": f"O{at}"}], "resources": {"requests": {"cpu": f"{at + 1}m"}}} for at in range(MOST)
    ]
    asking.change("app", processingElements=[*APART, *different])
    await asking.wait(3)
    assert {one["observedGeneration"] for one in asking.status("app")["conditions"]} == {1}
    await asking.wait(8)
    assert {one["observedGeneration"] for one in asking.status("app")["conditions"]} == {2}
    assert (asking.capacity()[1], asking.requests) == ("NotAsked", [])


async def test_an_invalid_job_is_not_asked_about(asking: AskingCluster) -> None:
    await name_of_request(asking)
    asking.change("app", processingElements=[{"operators": [{"name": "A", "placement": "nonsense("}]}])
    await asking.wait(3)
    assert asking.condition(asking.found("app"), "Submitted")[1] == "Invalid"
    assert asking.requests == []


async def test_a_new_leader_goes_on(asking: AskingCluster) -> None:
    """It neither asks again what was asked, nor forgets to describe the pods."""
    name = await name_of_request(asking)
    (template,) = asking.templates
    asking.kube.remove(f"{TEMPLATE_HOME}/{template['metadata']['name']}")
    await asking.lead()
    assert [one["metadata"]["name"] for one in asking.requests] == [name]
    assert [one["template"] for one in asking.templates] == [template["template"]]
    asking.answer(said("Provisioned"))
    await asking.lead()
    assert asking.capacity()[1] == "CapacityFound"
    assert asking.requests == []
    await asking.lead()
    assert asking.asked == 0


@pytest.mark.untraced
@pytest.mark.parametrize("lost", range(1, 14))
async def test_a_controller_that_dies_at_any_request(asking: AskingCluster, lost: int) -> None:
    asking.ask()
    await asking.lead(0.001)
    asking.candidate.line.ends = lost
    await asking.wait(2)
    await asking.lead()
    assert (len(asking.requests), len(asking.templates)) == (1, 1)
    asking.answer(said("Provisioned"))
    await asking.wait(3)
    assert asking.capacity()[1] == "CapacityFound"
    assert (asking.requests, asking.templates) == ([], [])


async def test_late_caches(asking: AskingCluster) -> None:
    asking.delays = {REQUESTS: 8.0, "/apis/streams.ibm.com/v1/streamsjobs": 1.0}
    asking.ask()
    await asking.lead(12)
    assert (len(asking.requests), asking.capacity()[1]) == (1, "Asked")
    asking.answer(said("Provisioned"))
    await asking.wait(30)
    assert asking.capacity()[1] == "CapacityFound"
    assert asking.requests == []


async def test_a_job_that_changes_meanwhile(asking: AskingCluster) -> None:
    """What is written of it between two requests is not lost."""
    await asking.lead()

    def before(path: str) -> None:
        if path.endswith("streamsjobs/app/status") and asking.requests:
            asking.candidate.line.before = lambda _: None
            asking.kube.change(job_path("app"), {"metadata": {"labels": {"a": "b"}}})

    asking.candidate.line.before = before
    asking.ask()
    await asking.wait(3)
    assert asking.found("app")["metadata"]["labels"] == {"a": "b"}
    assert (asking.capacity()[1], len(asking.requests)) == ("Asked", 1)


async def test_a_request_that_a_person_deletes_is_made_again_for_as_long_as_it_is_open(asking: AskingCluster) -> None:
    await name_of_request(asking)
    reset(asking)
    await asking.wait(10)
    assert (len(asking.requests), len(asking.templates)) == (1, 1)


async def test_an_element_that_can_run_nowhere_any_more(asking: AskingCluster) -> None:
    """The node group goes between the verdict and the question."""
    labels = {"metadata": {"labels": {"disk": "ssd"}}}
    asking.kube.change(NODE_POOL, {"spec": {"template": labels}})
    await asking.lead()

    def after(path: str) -> None:
        if path.endswith("streamsjobs/app/status") and NODE_POOL in asking.kube.objects:
            asking.kube.remove(NODE_POOL)

    asking.candidate.line.after = after
    asking.ask(processingElements=[{"template": {"spec": {"nodeSelector": {"disk": "ssd"}, "containers": [MAIN]}}}])
    await asking.wait(2)
    why = "no node can run app-0 any more, and no node group can make one"
    assert asking.capacity()[1:] == ("NotAsked", f"{TAKEN}{why}")


async def test_elements_that_have_ended_are_not_asked_for(asking: AskingCluster) -> None:
    asking.binds = lambda pod: f"node-{number}" if (number := int(pod["metadata"]["name"].split("-")[1])) < 3 else ""
    asking.ask(processingElements=APART[:3])
    await asking.lead()
    asking.ends("app-0-1")
    await asking.wait(3)
    assert asking.element_status("app-0")["phase"] == "Completed"
    asking.change(
        "app", processingElements=[*APART, {"operators": [{"name": "E", "placement": 'hostExlocation("a")'}]}]
    )
    await asking.wait(3)
    assert [one["count"] for one in asking.request["spec"]["podSets"]] == [2]


@pytest.mark.parametrize("again", [False, True], ids=["it is gone", "it is another one"])
async def test_a_request_that_goes_before_it_is_deleted(asking: AskingCluster, again: bool) -> None:  # noqa: FBT001 -- of a table
    name = await name_of_request(asking)

    def before(path: str) -> None:
        if path == f"{HOME}/{name}":
            asking.candidate.line.before = lambda _: None
            asking.kube.remove(path)
            if again:
                asking.kube.create(path)

    asking.candidate.line.before = before
    asking.answer(said("Provisioned"))
    await asking.wait(3)
    assert asking.capacity()[1] == "CapacityFound"
    assert [one["metadata"].get("ownerReferences") for one in asking.requests] == [None] * again


async def test_a_request_that_cannot_be_deleted_now_is_deleted_later(asking: AskingCluster) -> None:
    name = await name_of_request(asking)
    refusing(asking, (f"{HOME}/{name}", failure(Cause.BROKEN)), once=True)
    asking.answer(said("Provisioned"))
    await asking.wait(5)
    assert asking.requests == []


async def test_a_job_that_goes_while_it_is_answered(asking: AskingCluster) -> None:
    await name_of_request(asking)

    def before(path: str) -> None:
        if path.endswith("streamsjobs/app/status"):
            asking.candidate.line.before = lambda _: None
            asking.kube.remove(job_path("app"))

    asking.candidate.line.before = before
    asking.answer(said("Provisioned"))
    await asking.wait(3)
    assert (asking.requests, asking.templates, asking.owned) == ([], [], [])


@pytest.mark.parametrize("home", [HOME, TEMPLATE_HOME], ids=["request", "template"])
async def test_what_had_the_name_goes_before_it_is_read(asking: AskingCluster, home: str) -> None:
    """The API server serves ProvisioningRequests all the same."""
    await asking.lead()
    refusing(asking, (home, failure(Cause.EXISTS)), once=True)
    asking.ask()
    await asking.wait(8)
    assert (len(asking.requests), len(asking.templates), asking.capacity()[1]) == (1, 1, "Asked")


async def test_what_has_the_name_cannot_be_read(asking: AskingCluster) -> None:
    await asking.lead()
    line = asking.candidate.line

    def before(path: str) -> None:
        if path == HOME:
            line.failures.append(failure(Cause.FORBIDDEN, "no right to read"))
            raise failure(Cause.EXISTS)

    line.before = before
    asking.ask()
    await asking.wait(3)
    assert asking.capacity()[1:] == ("NotAsked", f"{TAKEN}no right to read")


@pytest.mark.untraced
async def test_requests_that_the_watch_never_brings_are_not_made_for_ever(asking: AskingCluster) -> None:
    """The role has no right to list them."""
    asking.delays = {REQUESTS: 1e6}
    asking.ask(submissionTimeOutInSeconds=3600)
    await asking.lead()
    name = asking.request["metadata"]["name"]
    await asking.wait(reconciler.ANSWERED + 20)
    why = f"the cluster autoscaler has not answered ProvisioningRequest {name} for 600 s"
    assert asking.capacity()[1:] == ("NotAnswered", why)
    before = asking.asked
    await asking.wait(60)
    assert asking.asked == before
