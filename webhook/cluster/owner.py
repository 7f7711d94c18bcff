"""Which workload a pod is a replica of, told from the pod alone."""

from webhook.cluster import wire

HASH = "pod-template-hash"
"""Label by which a Deployment tells its ReplicaSets apart; their names end in it (Kubernetes, Deployments)."""


def owner_of(metadata: wire.Metadata) -> str:
    """Kind and name of the workload, such as ``Deployment/pipeline``; empty for a pod that nobody controls."""
    owner = next((found for found in metadata.owner_references or () if found.controller), None)
    if owner is None:
        return ""
    ending = f"-{(metadata.labels or {}).get(HASH, '')}"
    if owner.kind == "ReplicaSet" and len(ending) > 1 and owner.name.endswith(ending):
        return f"Deployment/{owner.name.removesuffix(ending)}"
    return f"{owner.kind}/{owner.name}"
