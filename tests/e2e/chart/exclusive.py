"""A HostPool with an exclusive host, in the state in which the controller of HostPools leaves it."""

import contextlib
from collections.abc import Iterator
from typing import Final

from tests.e2e.chart.clients import Connection, bundle, review, trusting
from tests.e2e.chart.counters import addresses, counted
from tests.e2e.chart.rendering import NAMESPACE
from tests.e2e.client.api import Api, Object, RefusedError
from tests.e2e.polling import until
from tests.e2e.workloads import pod, pod_spec
from webhook.placement.text import keys

POOL: Final = "reserved"
"""What the object and ``host(...)`` call it."""

NODE: Final = "node-3"

_NODE: Final = f"/api/v1/nodes/{NODE}"


def toleration(space: str) -> Object:
    """What the pods of the pool get to tolerate."""
    value = keys.exclusive(space, POOL)
    return {"key": keys.EXCLUSIVE, "operator": "Equal", "value": value, "effect": "NoSchedule"}


@contextlib.contextmanager
def exclusive_pool(admin: Api, space: str) -> Iterator[None]:
    """The pool is there, and known to every process; afterwards the host is everybody's again."""
    pools = f"/apis/streams.ibm.com/v1/namespaces/{space}/streamshostpools"
    member = keys.membership(space, POOL)
    taint = {"key": keys.EXCLUSIVE, "value": keys.exclusive(space, POOL), "effect": "NoSchedule"}
    host = {"index": 0, "name": NODE, "uid": admin.get(_NODE)["metadata"]["uid"]}
    meta = {"name": POOL, "namespace": space}
    spec = {"size": 1, "mode": "Exclusive", "selector": {"matchLabels": {"kubernetes.io/hostname": NODE}}}
    made = {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": meta, "spec": spec}
    admin.patch(_NODE, {"metadata": {"labels": {member: "0"}}, "spec": {"taints": [taint]}})
    try:
        until(lambda: _created(admin, pools, made), "pods that other tests left there are gone")
        admin.patch(f"{pools}/{POOL}/status", {"status": {"phase": "Ready", "hosts": [host]}})
        until(lambda: _all_known(admin), "every process knows the pool")
        until(lambda: _letting_in(admin, space) == {False}, "the host is the pool's")
        yield
    finally:
        admin.delete(f"{pools}/{POOL}")
        admin.patch(_NODE, {"metadata": {"labels": {member: None}}, "spec": {"taints": None}})
        until(lambda: _all_known(admin), "every process has forgotten the pool")
        until(lambda: _letting_in(admin, space) == {True}, "the host is everybody's")


def _created(admin: Api, pools: str, made: Object) -> bool:
    """Whether the pool could be made; strangers on its host, of which tests before may have left some, are ended."""
    try:
        admin.call("POST", pools, made)
    except RefusedError:
        for one in admin.get("/api/v1/pods", fieldSelector=f"spec.nodeName={NODE}")["items"]:
            name, space = one["metadata"]["name"], one["metadata"]["namespace"]
            if space not in {"kube-system", NAMESPACE}:
                admin.delete(f"/api/v1/namespaces/{space}/pods/{name}", gracePeriodSeconds="0")
        return False
    return True


def _all_known(admin: Api) -> bool:
    """Whether each process knows as many HostPools as there are; those of tests before may be going still."""
    there = len(admin.get("/apis/streams.ibm.com/v1/streamshostpools")["items"])
    return counted(admin, "host_pools")[()] == there * len(addresses(admin))


def _letting_in(admin: Api, space: str) -> set[bool]:
    """What the processes say of a pod that names no pool and is put onto the host."""
    stranger = review(pod("stranger", space, pod_spec(nodeName=NODE)))
    trust = trusting(bundle(admin))
    answers = set()
    for address in addresses(admin):
        with contextlib.closing(Connection(address, trust)) as connection:
            answers.add(bool(connection.ask("/validate", stranger)["allowed"]))
    return answers
