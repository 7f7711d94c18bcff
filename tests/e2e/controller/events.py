"""The Events about an object."""

from tests.e2e.client.api import Api


def told(api: Api, space: str, name: str) -> list[tuple[str, str, str]]:
    """Type, reason and text of all Events about it."""
    found = api.get(f"/apis/events.k8s.io/v1/namespaces/{space}/events")["items"]
    return [(one["type"], one["reason"], one["note"]) for one in found if one["regarding"]["name"] == name]
