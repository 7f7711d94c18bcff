"""Small objects that many end-to-end tests create."""

from typing import Any

from tests.e2e.client.api import Api, Object
from tests.e2e.polling import until


def namespace(api: Api, name: str, **labels: str) -> str:
    """A namespace of a test's own, made now."""
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    return name


def emptied(api: Api, name: str) -> None:
    """Delete the namespace, and wait until its pods have left their nodes to the tests that follow.

    Kubernetes looks at a namespace five seconds after its deletion began; from then on none of its pods is created, so
    those that are there can be deleted at once.
    """
    api.delete(f"/api/v1/namespaces/{name}")
    api.delete(f"/api/v1/namespaces/{name}/pods", gracePeriodSeconds="0")
    until(lambda: not api.get(f"/api/v1/namespaces/{name}/pods")["items"], f"the pods of {name} are gone", 60)


def pod_spec(**tweaks: Any) -> Object:
    """A container that kwok pretends to run."""
    return {"containers": [{"name": "main", "image": "example.invalid/main"}], **tweaks}


def pod(name: str, space: str, spec: Object | None = None, **metadata: Any) -> Object:
    """A pod."""
    meta = {"name": name, "namespace": space, **metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec or pod_spec()}


def deployment(name: str, space: str, replicas: int = 1, *, spec: Object | None = None, **metadata: Any) -> Object:
    """A Deployment; its pods are labelled ``app: name`` and have this further metadata."""
    meta = {**metadata, "labels": {"app": name, **metadata.get("labels", {})}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": space},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": meta, "spec": spec or pod_spec()},
        },
    }


def is_ready(one: Object) -> bool:
    """Whether a pod is Ready."""
    conditions = {each["type"]: each["status"] for each in one["status"].get("conditions", ())}
    return conditions.get("Ready") == "True"
