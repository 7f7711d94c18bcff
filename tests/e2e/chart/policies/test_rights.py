"""The rights of the product's accounts, asked of the API server: all that they need, and none that would harm."""

from typing import Final

import pytest

from tests.e2e.chart.rendering import NAMESPACE, RELEASE, of_kind, render
from tests.e2e.client.api import Api

pytestmark = pytest.mark.usefixtures("installed")

READ: Final = ("get", "list", "watch")
WRITE: Final = ("create", "update", "patch", "delete", "deletecollection")
WEBHOOK: Final = f"system:serviceaccount:{NAMESPACE}:{RELEASE}"

READABLE: Final = (
    "/nodes",
    "/pods",
    "/namespaces",
    "/limitranges",
    "node.k8s.io/runtimeclasses",
    "scheduling.k8s.io/priorityclasses",
    "streams.ibm.com/streamshostpools",
    "streams.ibm.com/streamsjobs",
    "streams.ibm.com/streamshpaintents",
)
OUT_OF_REACH: Final = (
    "/secrets",
    "/configmaps",
    "/services",
    "/serviceaccounts",
    "/serviceaccounts/token",
    "/pods/exec",
    "/pods/log",
    "/pods/binding",
    "/nodes/proxy",
    "apps/daemonsets",
    "coordination.k8s.io/leases",
    "rbac.authorization.k8s.io/clusterroles",
    "admissionregistration.k8s.io/mutatingwebhookconfigurations",
    "admissionregistration.k8s.io/validatingadmissionpolicies",
    "apiextensions.k8s.io/customresourcedefinitions",
    "streams.ibm.com/streamshostpools/status",
    "streams.ibm.com/streamsjobs/status",
    "streams.ibm.com/streamspes",
    "streams.ibm.com/streamspes/status",
    "streams.ibm.com/streamsparallelregions/status",
    "streams.ibm.com/streamsparallelregions/scale",
)


def may(admin: Api, verb: str, resource: str, user: str = WEBHOOK, space: str = "default", own: str = "") -> bool:
    """Whether an account may do that to a resource of a namespace; ``own`` is one object of it by name."""
    group, _, rest = resource.partition("/")
    name, _, part = rest.partition("/")
    asked = {"group": group, "resource": name, "subresource": part, "verb": verb, "namespace": space, "name": own}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": {"user": user, "groups": ["system:serviceaccounts"], "resourceAttributes": asked},
    }
    answer = admin.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer.body["status"]["allowed"])


@pytest.mark.parametrize("resource", READABLE)
def test_the_webhook_reads_and_never_writes(admin: Api, resource: str) -> None:
    allowed = [verb for verb in (*READ, *WRITE) if may(admin, verb, resource)]
    assert allowed == list(READ)


@pytest.mark.parametrize(
    ("resource", "verbs"),
    [
        ("apps/deployments", ["list"]),
        ("apps/replicasets", ["get", "list"]),
        ("apps/statefulsets", ["get", "list"]),
        ("batch/jobs", ["get", "list"]),
        ("/persistentvolumeclaims", ["get"]),
        ("/persistentvolumes", ["get"]),
        ("storage.k8s.io/storageclasses", ["list"]),
    ],
)
def test_what_is_seldom_needed_is_read_then_and_not_watched(admin: Api, resource: str, verbs: list[str]) -> None:
    assert [verb for verb in (*READ, *WRITE) if may(admin, verb, resource)] == verbs


@pytest.mark.parametrize(
    "kind", ["deviceclasses", "resourceslices", "resourceclaims", "resourceclaimtemplates", "devicetaintrules"]
)
def test_devices_are_watched_and_never_written(admin: Api, kind: str) -> None:
    allowed = [verb for verb in (*READ, *WRITE) if may(admin, verb, f"resource.k8s.io/{kind}")]
    assert allowed == ["list", "watch"]


def test_numa_zones_are_watched_and_never_written(admin: Api) -> None:
    kind = "topology.node.k8s.io/noderesourcetopologies"
    assert [verb for verb in (*READ, *WRITE) if may(admin, verb, kind)] == ["list", "watch"]


@pytest.mark.parametrize("resource", OUT_OF_REACH)
def test_the_webhook_has_no_business_with(admin: Api, resource: str) -> None:
    assert not [verb for verb in (*READ, *WRITE) if may(admin, verb, resource)]


def test_no_role_has_a_wildcard() -> None:
    rules = [rule for one in of_kind(render(), "Role", "ClusterRole") for rule in one["rules"]]
    assert rules
    assert not [rule for rule in rules if "*" in str(rule)]


def test_the_account_for_certificates_may_touch_nothing_but_its_own_by_name() -> None:
    roles = {one["kind"]: one["rules"] for one in of_kind(render(), "Role", "ClusterRole") if "cert" in str(one)}
    named = {name for rule in roles["Role"] for name in rule.get("resourceNames", ())}
    assert named == {f"{RELEASE}-tls", f"{RELEASE}-certificates"}
    assert {tuple(rule["verbs"]) for rule in roles["Role"] if "resourceNames" not in rule} == {("create",)}
    (rule,) = roles["ClusterRole"]
    assert (rule["resourceNames"], rule["verbs"]) == ([f"zz-{RELEASE}"], ["get", "patch"])
