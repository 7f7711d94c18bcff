"""Whoever submits a Job may create pods: the controller makes no more than its author could."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.rendering import of_kind, render
from tests.e2e.chart.tenant import by_policy
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import emptied, namespace

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "authors"
GROUP: Final = "rbac.authorization.k8s.io"
ROOT: Final = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}"
MERGE: Final = "application/merge-patch+json"
SAID: Final = f"the controller would create pods from it, and user jane may not create pods in namespace {SPACE}"
TEMPLATE: Final = {"spec": {"containers": [{"name": "main", "image": "example.invalid/main"}]}}


def grant(plane: ControlPlane, name: str, *rules: Object) -> None:
    """Give jane these rights in the namespace."""
    version, metadata = f"{GROUP}/v1", {"name": name, "namespace": SPACE}
    plane.admin.create({"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": list(rules)})
    ref = {"apiGroup": GROUP, "kind": "Role", "name": name}
    subject = {"apiGroup": GROUP, "kind": "User", "name": plane.identities["user"].user}
    binding = {"apiVersion": version, "kind": "RoleBinding", "metadata": metadata}
    plane.admin.create({**binding, "roleRef": ref, "subjects": [subject]})


@pytest.fixture(scope="module")
def jane(plane: ControlPlane, installed: object) -> Iterator[Api]:  # noqa: ARG001 -- after it
    """Somebody who may do anything with Jobs and their elements, and nothing with pods."""
    namespace(plane.admin, SPACE)
    own = {"apiGroups": ["streams.ibm.com"], "resources": ["streamsjobs", "streamspes"], "verbs": ["*"]}
    grant(plane, "jobs", own)
    user = plane.api("user")
    until(lambda: user.send("GET", f"{ROOT}/streamsjobs").code == 200, "the user may", 20)
    made(plane.admin, "streamsjobs", "Job", "there", {})
    made(plane.admin, "streamspes", "ProcessingElement", "there", {"job": "there", "template": TEMPLATE})
    yield user
    for plural in ("streamsjobs", "streamspes"):
        plane.admin.delete(f"{ROOT}/{plural}")
    emptied(plane.admin, SPACE)


def made(api: Api, plural: str, kind: str, name: str, spec: Object) -> Any:
    thing = {"apiVersion": "streams.ibm.com/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    return api.send("POST", f"{ROOT}/{plural}", thing)


ELEMENT: Final = {"job": "there", "template": TEMPLATE}
JOB: Final = {"processingElements": [{"template": TEMPLATE}]}


@pytest.mark.parametrize(
    ("plural", "kind", "spec"), [("streamsjobs", "Job", JOB), ("streamspes", "ProcessingElement", ELEMENT)]
)
def test_whoever_may_not_create_pods_submits_nothing(jane: Api, plural: str, kind: str, spec: Object) -> None:
    answer = made(jane, plural, kind, "new", spec)
    assert (answer.code, answer.message) == (403, by_policy(f'{plural}.streams.ibm.com "new"', "authors", SAID))


@pytest.mark.parametrize(
    ("plural", "change"), [("streamsjobs", JOB), ("streamspes", {"launchCount": 7})], ids=["a Job", "an element"]
)
def test_nor_changes_what_is_there(jane: Api, plural: str, change: Object) -> None:
    answer = jane.send("PATCH", f"{ROOT}/{plural}/there", {"spec": change}, content=MERGE)
    assert (answer.code, answer.message) == (403, by_policy(f'{plural}.streams.ibm.com "there"', "authors", SAID))


@pytest.mark.parametrize("plural", ["streamsjobs", "streamspes"])
def test_labels_can_be_changed_without_the_right(jane: Api, plural: str) -> None:
    change = {"metadata": {"labels": {"team": "a"}}}
    assert jane.send("PATCH", f"{ROOT}/{plural}/there", change, content=MERGE).code == 200


def test_with_the_right_jobs_are_submitted(plane: ControlPlane, jane: Api) -> None:
    grant(plane, "pods", {"apiGroups": [""], "resources": ["pods"], "verbs": ["create"]})
    until(lambda: made(jane, "streamsjobs", "Job", "new", {}).code == 201, "jane may", 20)


def test_a_setting_leaves_out_the_policy() -> None:
    def policies(*, asked: bool) -> set[str]:
        objects = of_kind(render({"rbac": {"authorizeJobs": asked}}), "ValidatingAdmissionPolicy")
        return {one["metadata"]["name"] for one in objects}

    assert policies(asked=True) - policies(asked=False) == {"streams-placement-authors"}
