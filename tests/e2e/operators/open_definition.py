"""CustomResourceDefinitions of other projects' kinds without their schemas, for planes on which no operator runs."""

from typing import Any

from tests.e2e.client.api import Object


def open_definition(
    group: str,
    kind: str,
    version: str,
    *,
    plural: str = "",
    scope: str = "Namespaced",
    approved: str = "",
    subresources: dict[str, Any] | None = None,
) -> Object:
    """The definition of a kind whose objects may have any field.

    ``approved`` is what the API server demands of groups below ``k8s.io``: the address of an approval, or a reason.
    """
    resource = plural or f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    stored: dict[str, Any] = {"name": version, "served": True, "storage": True, "schema": schema}
    metadata: dict[str, Any] = {"name": f"{resource}.{group}"}
    if approved:
        metadata["annotations"] = {"api-approved.kubernetes.io": approved}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": resource, "singular": kind.lower()},
            "versions": [{**stored, "subresources": subresources} if subresources else stored],
        },
    }
