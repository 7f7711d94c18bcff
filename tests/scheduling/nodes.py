"""Nodes made by dice: few, small, with every kind of host name label, and the pools that some of them are in."""

from collections.abc import Sequence
from typing import Any

from tests.placement.properties.random_choices import RandomChoices
from webhook.placement.text import keys

Object = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
DEDICATED = "dedicated"
DISK = "disktype"
GENERATION = "generation"
DEVICE = "example.com/gpu"

NODE_BYTES = 14
POOL_BYTES = 8

_EXCLUSIVE = "exclusive"


def node(choices: RandomChoices, mark: str, at: int) -> Object:
    """A ready node; its names start with ``mark``, so that several clusters can be one."""
    name = f"{mark}-n{at}"
    taints: list[Object] = []
    if choices.face(6) == 5:
        taints.append({"key": DEDICATED, "value": "infra", "effect": choices.pick(["NoSchedule", "PreferNoSchedule"])})
    spec: Object = {"taints": taints} | ({"unschedulable": True} if choices.face(16) == 15 else {})
    room = {
        "cpu": choices.pick(["4", "1", "2", "8"]),
        "memory": choices.pick(["8Gi", "2Gi"]),
        "pods": choices.pick(["10", "10", "10", "2", "1"]),
    }
    devices = choices.face(5)
    if devices > 2:
        room[DEVICE] = str(devices - 2)
    address = [{"type": "InternalIP", "address": f"10.1.0.{at + 1}"}, {"type": "Hostname", "address": name}]
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "dice say so"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"uid-of-{name}", "labels": _labels(choices, mark, at)},
        "spec": spec,
        "status": {
            "addresses": address, "allocatable": room, "capacity": dict(room), "conditions": [ready], "phase": "Running"
        },
    }  # fmt: skip


def _labels(choices: RandomChoices, mark: str, at: int) -> dict[str, str]:
    found = {"case": mark}
    host = choices.face(16)
    if host < 12 or (host == 14 and not at):
        found[keys.HOSTNAME] = f"{mark}-n{at}"
    elif host >= 14:
        found[keys.HOSTNAME] = f"{mark}-n0" if host == 14 else f"{mark}-host{at}"
    zone = choices.face(4)
    if zone < 3:
        found[ZONE] = f"{mark}-z{zone % 2}"
    if choices.chance(3):
        found[DISK] = "ssd"
    generation = choices.face(5)
    if generation > 1:
        found[GENERATION] = ["2", "10", "x"][generation - 2]
    if choices.chance(4):
        found[keys.TAG] = "blue"
    return found


def pools(choices: RandomChoices, mark: str, space: str, nodes: Sequence[Object]) -> list[Object]:
    """Pools that are ready, their hosts marked: by a tag, literal, and exclusive."""
    found = []
    if choices.chance(4):
        found.append(_pool("Tagged", mark, space, {"tags": ["blue"]}))
    if choices.chance(3):
        hosts = [one["metadata"]["name"] for one in choices.some(nodes, min(2, len(nodes)), 1)]
        found.append(_ready(_pool("Listed", mark, space, {"hosts": hosts}), hosts, nodes))
    if choices.chance(1):
        [host] = choices.some(nodes, 1, 1)
        # No other pool may have it.
        if not any(key.startswith(keys.MEMBERSHIP) for key in host["metadata"]["labels"]):
            pool = _pool("Own", mark, space, {"size": 1, "mode": "Exclusive"})
            found.append(_ready(pool, [host["metadata"]["name"]], nodes))
            value = keys.exclusive(space, pool["metadata"]["name"])
            host["spec"]["taints"].append({"key": keys.EXCLUSIVE, "value": value, "effect": "NoSchedule"})
    return found


def _pool(name: str, mark: str, space: str, spec: Object) -> Object:
    metadata = {"name": f"{mark}-{name.lower()}", "namespace": space}
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "HostPool",
        "metadata": metadata,
        "spec": {"name": name, **spec},
        "status": {"phase": "Ready", "hosts": []},
    }


def _ready(pool: Object, hosts: Sequence[str], nodes: Sequence[Object]) -> Object:
    """The pool with these hosts, which get its label."""
    key = keys.membership(pool["metadata"]["namespace"], pool["metadata"]["name"])
    for index, name in enumerate(hosts):
        pool["status"]["hosts"].append({"index": index, "name": name, "uid": f"uid-of-{name}"})
        [host] = [one for one in nodes if one["metadata"]["name"] == name]
        host["metadata"]["labels"][key] = str(index)
    return pool
