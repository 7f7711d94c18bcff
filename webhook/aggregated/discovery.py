"""Discovery: which groups, versions and resources there are, as ``/apis`` and the paths below it say.

The API server asks for all of it at once (``APIGroupDiscoveryList``), and older clients ask for each part.
"""

from typing import Any, Final

from webhook.placementreview.review import API_VERSION, GROUP, KIND, RESOURCE, VERSION

SINGULAR: Final = "placementreview"

_VERBS: Final = ["create"]
_DISCOVERY: Final = "apidiscovery.k8s.io"
AGGREGATED: Final = ("v2", "v2beta1")
"""Versions of the aggregated form: 1.30 and later ask for the first, 1.26 to 1.29 for the second."""

_VERSION: Final = {"groupVersion": API_VERSION, "version": VERSION}
_GROUP: Final[dict[str, Any]] = {"name": GROUP, "versions": [_VERSION], "preferredVersion": _VERSION}

GROUPS: Final[dict[str, Any]] = {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_GROUP]}
GROUP_DOCUMENT: Final[dict[str, Any]] = {"kind": "APIGroup", "apiVersion": "v1", **_GROUP}
RESOURCES: Final[dict[str, Any]] = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": API_VERSION,
    "resources": [
        {"name": RESOURCE, "singularName": SINGULAR, "namespaced": True, "kind": KIND, "verbs": _VERBS},
    ],
}


def aggregated_version(accept: str) -> str:
    """The version of the aggregated form that the header ``Accept`` asks for first; empty if it asks for none."""
    for one in accept.split(","):
        parameters = {part.strip() for part in one.split(";")}
        if {"as=APIGroupDiscoveryList", f"g={_DISCOVERY}"} <= parameters:
            version = next((version for version in AGGREGATED if f"v={version}" in parameters), "")
            if version:
                return version
    return ""


def aggregated_type(version: str) -> str:
    """The content type of the aggregated form of that version, by which clients know it."""
    return f"application/json;g={_DISCOVERY};v={version};as=APIGroupDiscoveryList"


def aggregated(version: str) -> dict[str, Any]:
    """All groups, versions and resources in one document."""
    resource = {
        "resource": RESOURCE,
        "responseKind": {"group": GROUP, "version": VERSION, "kind": KIND},
        "scope": "Namespaced",
        "singularResource": SINGULAR,
        "verbs": _VERBS,
    }
    versions = [{"version": VERSION, "resources": [resource], "freshness": "Current"}]
    items = [{"metadata": {"name": GROUP}, "versions": versions}]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": f"{_DISCOVERY}/{version}", "metadata": {}, "items": items}
