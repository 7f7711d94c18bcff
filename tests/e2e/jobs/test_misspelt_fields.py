"""A misspelt field of a template is refused when the Job is submitted, and when its pods are made."""

from typing import Any, Final

import pytest

from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Api, Object, RefusedError
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.jobs.streams_jobs import ELEMENTS, JOBS, Jobs, conditions
from tests.e2e.polling import until
from webhook.placement.elements.template_fields import template_of

CONTAINER: Final = {"name": "main", "image": "example.invalid/main"}


def templated(spec: Object, **template: Any) -> list[Object]:
    return [{"name": "a", "template": {"spec": {"containers": [CONTAINER], **spec}, **template}}]


PREFIX: Final = (
    'admission webhook "jobs.placement.streams.ibm.com" denied the request: spec.processingElements[0].template.'
)

MISSPELT: Final[dict[str, tuple[list[Object], str]]] = {
    "of the pod": (
        templated({"nodeSelektor": {"kubernetes.io/hostname": "node-1"}}),
        "spec.nodeSelektor: unknown field, did you mean nodeSelector?",
    ),
    "of the pod, not an object": (
        templated({"hostNetwrk": True}), "spec.hostNetwrk: unknown field, did you mean hostNetwork?"),
    "of a container": (
        templated({"containers": [CONTAINER, {**CONTAINER, "name": "b", "comand": ["sleep"]}]}),
        "spec.containers[1].comand: unknown field, did you mean command?",
    ),
    "far down": (
        templated({"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountTokn": {}}]}}]}),
        "spec.volumes[0].projected.sources[0].serviceAccountTokn: unknown field, did you mean serviceAccountToken?",
    ),
    "of the metadata": (
        templated({}, metadata={"lables": {"a": "b"}}), "metadata.lables: unknown field, did you mean labels?"),
    "nothing like any": (templated({"teleport": {}}), "spec.teleport: unknown field"),
}  # fmt: skip


@pytest.mark.parametrize(("elements", "said"), MISSPELT.values(), ids=MISSPELT)
def test_a_job_is_refused(jobs: Jobs, elements: list[Object], said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        jobs.submit("misspelt", elements)
    assert (refused.value.answer.code, refused.value.answer.message) == (422, PREFIX + said)


def test_so_is_a_change_and_an_element(jobs: Jobs, admin: Api) -> None:
    jobs.submit("there", templated({}))
    bad = templated({"hostNetwrk": True})
    change = {"spec": {"processingElements": bad}}
    answer = admin.send("PATCH", jobs.path(JOBS, "there"), change, content="application/merge-patch+json")
    assert (answer.code, answer.message.endswith("did you mean hostNetwork?")) == (422, True)
    element = {"apiVersion": "streams.ibm.com/v1", "kind": "ProcessingElement", "metadata": {"name": "by-hand"}}
    spec = {"job": "there", "template": bad[0]["template"]}
    answer = admin.send("POST", jobs.path(ELEMENTS), {**element, "spec": spec})
    assert (answer.code, "spec.template.spec.hostNetwrk: unknown field" in answer.message) == (422, True)


def test_what_was_stored_before_says_so_when_its_pods_are_made(jobs: Jobs, plane: ControlPlane, admin: Api) -> None:
    """As of a Job that was there before the webhook: its spec does not change, so nobody reviews it."""
    path = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/zz-{RELEASE}"
    configuration = admin.get(path)
    webhooks = [one for one in configuration["webhooks"] if not one["name"].startswith("jobs.")]
    admin.patch(path, {"webhooks": webhooks}, content="application/merge-patch+json")
    try:
        until(lambda: jobs.submitted("old", templated({"nodeSelektor": {"a": "b"}})), "nobody looks", 20)
    finally:
        admin.patch(path, {"webhooks": configuration["webhooks"]}, content="application/merge-patch+json")

    def said() -> Object | None:
        found = conditions(admin.find(jobs.path(ELEMENTS, "a")) or {"status": {}}).get("PodCreated")
        return found if found and found["status"] == "False" else None

    assert (
        'strict decoding error: unknown field "spec.nodeSelektor"' in until(said, "the pod is refused", 40)["message"]
    )
    assert jobs.pods() == []
    assert plane.identities  # the plane outlives the configuration


def test_the_api_server_tells_apart_what_it_knows(admin: Api) -> None:
    names = [
        ("spec", "nodeSelektor"),
        ("spec", "nodeSelector"),
        ("spec", "containers", "comand"),
        ("spec", "containers", "command"),
    ]
    body = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "p"}, "template": template_of(names)}
    answer = admin.send("POST", "/api/v1/namespaces/default/podtemplates?dryRun=All&fieldValidation=Strict", body)
    assert (answer.code, answer.message.count("unknown field")) == (400, 2)
    assert 'unknown field "template.spec.nodeSelektor"' in answer.message
    assert 'unknown field "template.spec.containers[0].comand"' in answer.message


def test_the_webhook_stores_no_template(plane: ControlPlane, admin: Api) -> None:
    """Whoever has its token can ask, and nothing else."""
    body = {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": "p"},
        "template": {"spec": {"containers": [CONTAINER]}},
    }
    path = f"/api/v1/namespaces/{NAMESPACE}/podtemplates"
    thief = plane.api(f"{NAMESPACE}/{RELEASE}")
    answer = thief.send("POST", path, body)
    assert answer.code == 403
    assert "may create pod templates only as dry runs" in answer.message
    assert thief.send("POST", f"{path}?dryRun=All", body).code == 201
    assert thief.send("POST", "/api/v1/namespaces/default/podtemplates?dryRun=All", body).code == 403
    assert admin.get(path)["items"] == []
