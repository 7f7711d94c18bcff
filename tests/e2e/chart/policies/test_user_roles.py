"""Kubernetes' own roles admin, edit and view cover the chart's kinds, without what is not a tenant's business."""

import http
from typing import Final

import pytest

from tests.e2e.chart.policies.test_rights import READ, WRITE
from tests.e2e.chart.rendering import RELEASE, of_kind, render
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "roles"
GROUP: Final = "rbac.authorization.k8s.io"
KINDS: Final = ("streamshostpools", "streamsjobs", "streamspes", "streamsparallelregions", "streamshpaintents")
ROLES: Final = ("admin", "edit", "view")
TEMPLATE: Final = {"spec": {"containers": [{"name": "main", "image": "example.invalid/main"}]}}


@pytest.fixture(scope="module", autouse=True)
def _bound(installed: object, plane: ControlPlane) -> None:  # noqa: ARG001 -- after it
    """Jane may edit; of each role there is another user besides."""
    admin = plane.admin
    namespace(admin, SPACE)
    for role, user in (("edit", plane.identities["user"].user), *((role, f"{role}-user") for role in ROLES)):
        subject = {"apiGroup": GROUP, "kind": "User", "name": user}
        ref = {"apiGroup": GROUP, "kind": "ClusterRole", "name": role}
        metadata = {"name": f"{role}-{user}", "namespace": SPACE}
        binding = {"apiVersion": f"{GROUP}/v1", "kind": "RoleBinding", "metadata": metadata}
        admin.create({**binding, "roleRef": ref, "subjects": [subject]})
    until(lambda: allowed(admin, "view", "list", "streamsjobs"), "roles are aggregated", 30)
    until(lambda: allowed(admin, "edit", "create", "streamsjobs"), "roles are aggregated", 30)
    until(lambda: allowed(admin, "admin", "create", "streamsjobs"), "roles are aggregated", 30)


def allowed(admin: Api, role: str, verb: str, resource: str, space: str = SPACE) -> bool:
    """Whether the role allows that to its user."""
    name, _, part = resource.partition("/")
    asked = {"group": "streams.ibm.com", "resource": name, "subresource": part, "verb": verb, "namespace": space}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": {"user": f"{role}-user", "resourceAttributes": asked},
    }
    answer = admin.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer.body["status"]["allowed"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("role", "verbs"), [("admin", (*READ, *WRITE)), ("edit", (*READ, *WRITE)), ("view", READ)])
def test_roles_of_a_namespace_cover(admin: Api, kind: str, role: str, verbs: tuple[str, ...]) -> None:
    assert tuple(verb for verb in (*READ, *WRITE) if allowed(admin, role, verb, kind)) == verbs
    assert not [verb for verb in (*READ, *WRITE) if allowed(admin, role, verb, kind, "default")]


@pytest.mark.parametrize(("role", "verbs"), [("admin", ["get", "update", "patch"]), ("view", ["get"])])
def test_whoever_may_edit_may_scale(admin: Api, role: str, verbs: list[str]) -> None:
    scale = "streamsparallelregions/scale"
    assert [verb for verb in ("get", "update", "patch") if allowed(admin, role, verb, scale)] == verbs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("role", ROLES)
def test_they_do_not_cover_what_is_not_a_tenants(admin: Api, kind: str, role: str) -> None:
    parts = [f"{kind}/{part}" for part in ("status", "finalizers")]
    own = [(verb, part) for part in parts for verb in WRITE if allowed(admin, role, verb, part)]
    assert (own, [verb for verb in ("use", "tolerate") if allowed(admin, role, verb, kind)]) == ([], [])


def made(kind: str, spec: Object) -> Object:
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": kind,
        "metadata": {"name": "mine", "namespace": SPACE},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("HostPool", {"size": 1}),
        ("Job", {"processingElements": [{"template": TEMPLATE}]}),
        ("HPAIntent", {"app": "a", "consumers": []}),
    ],
)
def test_whoever_may_edit_a_namespace_needs_no_role_of_the_charts(plane: ControlPlane, kind: str, spec: Object) -> None:
    user, path = plane.api("user"), f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streams{kind.lower()}s"
    answer = user.send("POST", f"{path}?dryRun=All", made(kind, spec))
    assert answer.code == http.HTTPStatus.CREATED, answer.message


def test_the_roles_can_be_left_as_they_are() -> None:
    def names(*, aggregated: bool) -> set[str]:
        objects = render({"rbac": {"aggregateClusterRoles": aggregated}})
        return {one["metadata"]["name"] for one in of_kind(objects, "ClusterRole")}

    assert names(aggregated=True) - names(aggregated=False) == {f"{RELEASE}-view", f"{RELEASE}-edit"}
