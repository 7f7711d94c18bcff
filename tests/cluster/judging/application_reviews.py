"""Reviews of RayClusters and RayJobs: a head and workers, each of which takes half a node."""

from typing import Any

from tests.builders import NAMESPACE, Json, review
from webhook.app.application_kinds import application_kinds
from webhook.placement.inventory.policy import Policy

POLICY = Policy(kinds=application_kinds())


def template(job: str, cpu: str = "4") -> Json:
    """A pod of that job."""
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"labels": {"streams.ibm.com/job": job}}, "spec": {"containers": [container]}}


def ray_spec(job: str, workers: int = 3, cpu: str = "4") -> Json:
    """A head and so many workers, which fill two nodes."""
    group = {"groupName": "small", "replicas": workers, "template": template(job, cpu)}
    return {"headGroupSpec": {"template": template(job, cpu)}, "workerGroupSpecs": [group]}


def application_review(
    name: str,
    *,
    kind: str = "RayCluster",
    group: str = "ray.io",
    namespace: str = NAMESPACE,
    owner: str = "",
    spec: Json | None = None,
    metadata: Json | None = None,
    **fields: Any,
) -> bytes:
    """The review of an object that is created, with a name and a uid as the API server has given them."""
    owners = {"ownerReferences": [{"uid": owner}]} if owner else {}
    own = {"name": name, "namespace": namespace, "uid": f"uid-{name}", **owners, **(metadata or {})}
    found = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": own, "spec": spec or ray_spec(name)}
    return review(found, kind=kind, group=group, namespace=namespace, **fields)
