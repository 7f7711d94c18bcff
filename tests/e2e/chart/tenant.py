"""A user with every right on the pods of a namespace, and the results of this user's changes of a pod."""

import http

from tests.e2e.chart.rendering import RELEASE
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

_GROUP = "rbac.authorization.k8s.io"
_PARTS = ("pods", "pods/status", "pods/resize", "pods/ephemeralcontainers", "pods/binding", "bindings")


def tenant(plane: ControlPlane, space: str) -> Api:
    """A new namespace, and somebody who may do anything to its pods, and nothing else."""
    admin, version = plane.admin, f"{_GROUP}/v1"
    namespace(admin, space)
    rule = {"apiGroups": [""], "resources": list(_PARTS), "verbs": ["*"]}
    meta, role = {"name": "pods", "namespace": space}, {"apiGroup": _GROUP, "kind": "Role", "name": "pods"}
    subjects = [{"apiGroup": _GROUP, "kind": "User", "name": plane.identities["user"].user}]
    admin.create({"apiVersion": version, "kind": "Role", "metadata": meta, "rules": [rule]})
    binding = {"apiVersion": version, "kind": "RoleBinding", "metadata": meta}
    admin.create({**binding, "roleRef": role, "subjects": subjects})
    user = plane.api("user")
    # The API server's authorizer follows roles by a watch of its own.
    until(lambda: user.send("GET", f"/api/v1/namespaces/{space}/pods").code == http.HTTPStatus.OK, "the user may", 20)
    return user


def place(one: Object) -> Object:
    """All that decides where a pod runs."""
    meta, spec = one["metadata"], one["spec"]
    chosen = {key: spec.get(key) for key in ("nodeName", "affinity", "nodeSelector", "tolerations")}
    return {**chosen, "annotations": meta.get("annotations"), "labels": meta.get("labels")}


def refusal(user: Api, pod: str, method: str, path: str, body: object, content: str = "application/json") -> str:
    """Why this is refused (403); the pod, given by its path, is where it was and as it was."""
    before = place(user.get(pod))
    answer = user.send(method, path, body, content=content)
    assert (answer.code, place(user.get(pod))) == (403, before), answer.message
    return answer.message


def by_policy(subject: str, policy: str, said: str) -> str:
    """What the API server says when a policy of the chart refuses."""
    own = f"{RELEASE}-{policy}"
    return f"{subject} is forbidden: ValidatingAdmissionPolicy '{own}' with binding '{own}' denied request: {said}"
