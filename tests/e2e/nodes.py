"""Nodes of kwok, with the labels, taints and allocatable amounts that a test needs."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from tests.e2e.client.api import Api, Object
from tests.e2e.polling import until

_AT_ONCE: Final = 8
"""Requests in flight. More do not help: the API server shares two cores with us."""

_WAIT_SECONDS: Final = 60.0
_WAIT_SECONDS_PER_NODE: Final = 0.02

_TIDYING: Final = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}
"""Taints that the API server gives a new node, and that the controller-manager takes away when it sees it ready."""


def node(
    name: str,
    labels: Mapping[str, str] | None = None,
    *,
    taints: Sequence[Mapping[str, str]] = (),
    capacity: Mapping[str, str] | None = None,
    addresses: Sequence[Mapping[str, str]] = (),
    **metadata: Any,
) -> Object:
    """A node that is ready from the start; it has its host name label, but for ``kubernetes.io/hostname: ""``.

    ``capacity`` replaces figures of 8 CPUs, 32 GiB and 110 pods; ``addresses`` replaces an InternalIP that kwok knows
    and a Hostname.
    """
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    room = {"cpu": "8", "memory": "32Gi", "pods": "110", **(capacity or {})}
    marks = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    marks = {key: value for key, value in {**marks, **(labels or {})}.items() if value or not key.endswith("/hostname")}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kwok says so"}
    own = [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": name}]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": marks, **metadata},
        "spec": {"taints": list(taints)},
        "status": {
            "addresses": list(addresses) or own,
            "allocatable": room,
            "capacity": room,
            "conditions": [{**ready, "lastHeartbeatTime": now, "lastTransitionTime": now}],
            "phase": "Running",  # deprecated, but what kwok's heartbeats go by
        },
    }


def create_nodes(api: Api, nodes: Iterable[Object]) -> list[str]:
    """Create nodes side by side and wait until the scheduler may use all of them; returns their names."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        names = [made["metadata"]["name"] for made in pool.map(api.create, nodes)]
    wait_for_nodes(api, names)
    return names


def wait_for_nodes(api: Api, names: Sequence[str]) -> None:
    """Wait until these nodes are ready and without the taints that new nodes get."""
    wanted = set(names)

    def all_ready() -> bool:
        return wanted <= {one["metadata"]["name"] for one in api.get("/api/v1/nodes")["items"] if _usable(one)}

    seconds = _WAIT_SECONDS + _WAIT_SECONDS_PER_NODE * len(wanted)
    until(all_ready, f"{len(wanted)} nodes are ready: {', '.join(sorted(wanted)[:5])} ...", seconds)


def delete_nodes(api: Api, names: Iterable[str]) -> None:
    """Delete nodes side by side."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda name: api.delete(f"/api/v1/nodes/{name}"), names))


def _usable(one: Object) -> bool:
    conditions = {each["type"]: each["status"] for each in one["status"].get("conditions", ())}
    taints = {taint["key"] for taint in one["spec"].get("taints", ())}
    return conditions.get("Ready") == "True" and not taints & _TIDYING
