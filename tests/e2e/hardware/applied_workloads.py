"""Workloads that kubectl applies, its output when they are refused, and the pods that are created for them."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any, Final

from tests.e2e.client.api import Answer, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, is_ready, namespace, pod_spec

SECONDS: Final = 120
"""Controllers try a pod that was refused again later and later; on a busy machine it may take so long."""

_KINDS: Final = "deployments,statefulsets,pods"


@contextlib.contextmanager
def space(plane: ControlPlane, name: str, **labels: str) -> Iterator[str]:
    """A namespace whose pods are gone afterwards, so that nodes have their devices again."""
    namespace(plane.admin, name, **labels)
    yield name
    done = plane.kubectl("delete", _KINDS, "--all", "--namespace", name, "--cascade=foreground", "--timeout=240s")
    assert done.returncode == 0, done.stderr
    until(lambda: not plane.admin.get(pods(name))["items"], f"no pods are left in {name}", SECONDS)


def pods(name: str) -> str:
    """The path of a namespace's pods."""
    return f"/api/v1/namespaces/{name}/pods"


def stateful(name: str, where: str, replicas: int = 1, *, spec: Object | None = None, **metadata: Any) -> Object:
    """A StatefulSet with pods as those of such a Deployment."""
    made = deployment(name, where, replicas, spec=spec, **metadata)
    return {**made, "kind": "StatefulSet", "spec": {**made["spec"], "serviceName": name}}


def container(name: str = "main", **resources: Any) -> Object:
    """A container with these requests and limits."""
    return {"name": name, "image": f"example.invalid/{name}", "resources": resources}


def made_of(*containers: Object, **tweaks: Any) -> Object:
    """A pod with these containers."""
    return pod_spec(containers=list(containers), **tweaks)


def applied(plane: ControlPlane, thing: Object) -> None:
    """``kubectl apply``, which succeeds."""
    done = plane.kubectl("apply", "--filename", "-", stdin=json.dumps(thing))
    assert done.returncode == 0, done.stderr


def printed(plane: ControlPlane, thing: Object) -> str:
    """What ``kubectl apply`` prints when it is refused."""
    done = plane.kubectl("apply", "--filename", "-", stdin=json.dumps(thing))
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


def denied(entry: str, said: str) -> str:
    """How kubectl prints what the webhook says by one of its entries."""
    entry = f'admission webhook "{entry}.placement.streams.ibm.com" denied the request'
    return f'Error from server (Forbidden): error when creating "STDIN": {entry}: {said}'


def asked(admin: Api, thing: Object) -> Answer:
    """What the API server would say to a new pod."""
    return admin.send("POST", f"{pods(thing['metadata']['namespace'])}?dryRun=All", thing)


def running(admin: Api, where: str, app: str, count: int = 1) -> list[Object]:
    """The pods with the label ``app``, by the names of their nodes, when so many are ready."""

    def ready() -> list[Object]:
        found = admin.get(pods(where), labelSelector=f"app={app}")["items"]
        return found if len(found) == count and all(map(is_ready, found)) else []

    found = until(ready, f"{count} pods of {app} are ready", SECONDS)
    return sorted(found, key=lambda one: str(one["spec"]["nodeName"]))


def nodes_of(found: list[Object]) -> list[str]:
    """Where they run."""
    return [one["spec"]["nodeName"] for one in found]


def resources(one: Object, name: str = "main") -> Object:
    """What a container of a stored pod is given."""
    found: Object = next(each["resources"] for each in one["spec"]["containers"] if each["name"] == name)
    return found
