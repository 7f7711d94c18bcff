"""Invariants of nodes and HostPools: those that hold at any time, and those that hold when nothing is left to do."""

from collections.abc import Iterable, Iterator, Mapping

from tests.e2e.client.api import Object
from tests.e2e.controller.pools import condition, hosts, marks, phase
from webhook.placement.text.keys import EXCLUSIVE, exclusive, membership


def shared(pools: Iterable[Object]) -> Iterator[str]:
    """Hosts that the statuses of several exclusive pools name."""
    owner: dict[str, str] = {}
    for pool in pools:
        if pool["spec"].get("mode") != "Exclusive":
            continue
        name = _name(pool)
        for host in hosts(pool):
            if owner.setdefault(host, name) != name:
                yield f"{host} is published as a host of {owner[host]} and of {name}"


def unfinished(pools: Iterable[Object], nodes: Iterable[Object]) -> list[str]:
    """What is still to be done, or was done wrongly: sentences; none when all is well."""
    by_name = {node["metadata"]["name"]: node for node in nodes}
    pools = list(pools)
    wrong = [*shared(pools), *(sentence for pool in pools for sentence in _of_pool(pool, by_name))]
    known = {membership(*_place(pool)) for pool in pools if hosts(pool)}
    known |= {exclusive(*_place(pool)) for pool in pools if hosts(pool)}
    for name, node in by_name.items():
        wrong += [
            f"{name} carries {key}={value}, which is nobody's"
            for key, value in marks(node).items()
            if (value if key == EXCLUSIVE else key) not in known
        ]
    return wrong


def _of_pool(pool: Object, nodes: Mapping[str, Object]) -> Iterator[str]:
    name, said = _name(pool), condition(pool)
    if "deletionTimestamp" in pool["metadata"]:
        yield f"{name} is being deleted"
        return
    if phase(pool) == "Failed":
        if hosts(pool) or not said.get("message"):
            yield f"{name} has failed with {hosts(pool)} and {said}"
        return
    if phase(pool) != "Ready":
        yield f"{name} is {phase(pool) or 'new'}: {said.get('reason')}"
        return
    if len(hosts(pool)) != pool["spec"]["size"]:
        yield f"{name} has {len(hosts(pool))} of {pool['spec']['size']} hosts"
    for index, host in enumerate(hosts(pool)):
        carried = marks(nodes[host]) if host in nodes else {}
        if carried.get(membership(*_place(pool))) != str(index):
            yield f"{host} is no host number {index} of {name}: {carried}"
        if pool["spec"].get("mode") == "Exclusive" and carried.get(EXCLUSIVE) != exclusive(*_place(pool)):
            yield f"{host} is not kept for {name}: {carried}"
    serving = [host for host, node in nodes.items() if membership(*_place(pool)) in marks(node)]
    if sorted(serving) != sorted(hosts(pool)):
        yield f"{sorted(serving)} are labelled as hosts of {name}, and {sorted(hosts(pool))} are"


def _place(pool: Object) -> tuple[str, str]:
    return pool["metadata"]["namespace"], pool["metadata"]["name"]


def _name(pool: Object) -> str:
    return str(pool["metadata"]["name"])
