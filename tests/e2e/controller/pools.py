"""HostPools and their hosts, as the API server stores them."""

from typing import Any, Final

from tests.e2e.client.api import Api, Object
from tests.e2e.polling import until
from webhook.placement.text.keys import EXCLUSIVE, MEMBERSHIP, membership

ALL: Final = "/apis/streams.ibm.com/v1/streamshostpools"


def pools(space: str) -> str:
    """The path of the pools of a namespace."""
    return f"/apis/streams.ibm.com/v1/namespaces/{space}/streamshostpools"


def hostpool(name: str, space: str, /, **spec: Any) -> Object:
    """A pool with that ``spec``."""
    meta = {"name": name, "namespace": space}
    return {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": meta, "spec": spec}


def exclusive(name: str, space: str, size: int, /, **spec: Any) -> Object:
    """An exclusive one."""
    return hostpool(name, space, size=size, mode="Exclusive", **spec)


def create_pool(api: Api, pool: Object) -> str:
    """Create it; returns its path."""
    path = pools(pool["metadata"]["namespace"])
    api.call("POST", path, pool)
    return f"{path}/{pool['metadata']['name']}"


def phase(pool: Object | None) -> str:
    """Its phase; empty while nobody has said one."""
    return str(((pool or {}).get("status") or {}).get("phase") or "")


def hosts(pool: Object) -> list[str]:
    """The names of its hosts, by index."""
    listed = (pool.get("status") or {}).get("hosts") or []
    assert [host["index"] for host in listed] == sorted(host["index"] for host in listed)
    return [host["name"] for host in listed]


def condition(pool: Object, kind: str = "Ready") -> Object:
    """One of its conditions; empty if there is none."""
    found = (pool.get("status") or {}).get("conditions") or ()
    return next((one for one in found if one["type"] == kind), {})


def wait_for(api: Api, path: str, wanted: str = "Ready", seconds: float = 30.0) -> Object:
    """The pool, once it is in that phase."""

    def there() -> Object | None:
        pool = api.find(path)
        return pool if phase(pool) == wanted else None

    return until(there, f"{path.rpartition('/')[2]} is {wanted}", seconds)


def wait_until_gone(api: Api, path: str, seconds: float = 30.0) -> None:
    """Until there is no such object."""
    until(lambda: api.find(path) is None, f"{path} is gone", seconds)


def marks(node: Object) -> dict[str, str]:
    """What a node carries of pools: membership labels, and the taint under its key."""
    labels = node["metadata"].get("labels", {})
    found = {key: value for key, value in labels.items() if key.startswith(MEMBERSHIP)}
    taints = node["spec"].get("taints", ())
    return found | {taint["key"]: taint["value"] for taint in taints if taint["key"] == EXCLUSIVE}


def marked(api: Api) -> dict[str, dict[str, str]]:
    """The nodes that carry anything, and what."""
    found = {node["metadata"]["name"]: marks(node) for node in api.get("/api/v1/nodes")["items"]}
    return {name: carried for name, carried in found.items() if carried}


def members(api: Api, space: str, name: str) -> list[str]:
    """Nodes that are labelled into a pool, by index."""
    key = membership(space, name)
    found = api.get("/api/v1/nodes", labelSelector=key)["items"]
    return [one["metadata"]["name"] for one in sorted(found, key=lambda one: int(one["metadata"]["labels"][key]))]
