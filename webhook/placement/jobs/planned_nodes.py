"""Where a Job that was judged is to go: the node of each processing element, and the hosts of its own HostPools.

The controller writes it into ``status.plan`` before it makes anything of the Job (``docs/jobs.md``, "What was
promised"), and keeps the room until the pods are bound.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from webhook.placement.inventory.objects import PodInfo
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.containers import host_ports
from webhook.placement.planning.group import Group, Placed
from webhook.placement.planning.members import Member, requests_of


class NodeElements(Struct, frozen=True, gc=False, rename="camel"):
    """The processing elements that are to run on a node."""

    name: str
    processing_elements: tuple[str, ...] = ()


class PoolNodes(Struct, frozen=True, gc=False):
    """The nodes that are to be the hosts of a HostPool, by index; ``name`` is that of the object."""

    name: str
    hosts: tuple[str, ...] = ()


class PlannedNodes(Struct, frozen=True, gc=False):
    """The plan of a Job, as its status states it; empty for a Job without one."""

    nodes: tuple[NodeElements, ...] = ()
    pools: tuple[PoolNodes, ...] = ()

    def by_element(self) -> dict[str, str]:
        """The node of each processing element, by name."""
        return {element: node.name for node in self.nodes for element in node.processing_elements}

    def hosts_of(self, pool: str) -> Mapping[int, str]:
        """The nodes that are to be hosts of the HostPool object of that name, by index."""
        found = next((each.hosts for each in self.pools if each.name == pool), ())
        return dict(enumerate(found))


def planned_nodes(group: Group, placed: Placed) -> PlannedNodes:
    """The plan of a Job whose group is placed; each member of the group has a name for each of its pods."""
    names = group.world.inventory.nodes.names
    elements: dict[str, list[str]] = {}
    for member, slots in zip(group.members, placed.slots, strict=True):
        for element, slot in zip(member.names, slots, strict=True):
            elements.setdefault(names[slot], []).append(element)
    pools = [
        PoolNodes(pool, tuple(names[hosts[at]] for at in sorted(hosts))) for (_, pool), hosts in placed.hosts.items()
    ]
    return PlannedNodes(tuple(NodeElements(name, tuple(elements[name])) for name in sorted(elements)), tuple(pools))


def stand_ins(job: Name, members: Iterator[Member] | tuple[Member, ...], plan: PlannedNodes) -> Iterator[PodInfo]:
    """Pods that stand for those which the Job does not have yet: each holds on its planned node what it requests."""
    nodes = plan.by_element()
    for member in members:
        requests = requests_of(member.conditions)
        ports = tuple(host_ports(member.pod.spec)) if member.pod.spec else ()
        pools = tuple(dict.fromkeys(pool.spl_name for _, pool in member.ask.pools))
        for element in member.names:
            if element in nodes:
                yield PodInfo(
                    uid=f"plan/{job[0]}/{job[1]}/{element}",
                    namespace=job[0],
                    node=nodes[element],
                    requests=requests,
                    job=job[1],
                    pe=element,
                    pools=pools,
                    ports=ports,
                )
