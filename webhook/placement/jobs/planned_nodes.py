"""Where a Job that was judged is to go: the node of each processing element, and the hosts of its own HostPools.

The controller writes it into ``status.plan`` before it makes anything of the Job (``docs/jobs.md``, "What was
promised"), and keeps the room until the pods are bound.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from webhook.placement.constraints.company import ALL_OF
from webhook.placement.elements.plan import NodeElements, PlannedHardware, PlannedNodes, PoolNodes
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.containers import host_ports
from webhook.placement.kube.quantity import NANO, format_quantity, parse_quantity
from webhook.placement.kube.resource_name import CPU
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.group import Group, Placed
from webhook.placement.planning.members import Member, requests_of
from webhook.placement.planning.optional_hardware import GrantedAmount


def planned_nodes(group: Group, placed: Placed, given: Iterable[GrantedAmount] = ()) -> PlannedNodes:
    """The plan of a Job whose group is placed, and whose pods are ``given`` optional hardware.

    Each member of the group has a name for each of its pods.
    """
    names = group.world.inventory.nodes.names
    elements: dict[str, list[str]] = {}
    for member, slots in zip(group.members, placed.slots, strict=True):
        for element, slot in zip(member.names, slots, strict=True):
            elements.setdefault(names[slot], []).append(element)
    pools = [
        PoolNodes(pool, tuple(names[hosts[at]] for at in sorted(hosts))) for (_, pool), hosts in placed.hosts.items()
    ]
    nodes = tuple(NodeElements(name, tuple(elements[name])) for name in sorted(elements))
    return PlannedNodes(nodes, tuple(_required(group.members)), tuple(pools), tuple(_hardware(given)))


def _required(members: Iterable[Member]) -> Iterator[str]:
    """Elements that share a node with others, isolated ones, and those on hosts that a pool of their Job is given."""
    sharing: Counter[str] = Counter()
    for member in members:
        for demand in member.conditions:
            sharing.update(dict.fromkeys(demand.together, member.count))
    for member in members:
        shares = any(sharing[key] > 1 for demand in member.conditions for key in demand.together)
        isolated = any(key.startswith(ALL_OF) for demand in member.conditions for key in demand.avoids)
        if shares or isolated or any(_labelled(demand.constraint.pool, member.ask.job) for demand in member.conditions):
            yield from member.names


def _labelled(pool: Pool | None, job: str) -> bool:
    """Whether the pool is the Job's own, and its hosts are those that the controller gives a label."""
    return pool is not None and bool(job) and pool.job == job and (pool.size is not None or pool.hosts is not None)


def _hardware(given: Iterable[GrantedAmount]) -> Iterator[PlannedHardware]:
    """The amounts, with the elements that get the same one."""
    alike: dict[PlannedHardware, list[str]] = {}
    for each in given:
        amount = each.amount
        limits = None if amount.limits is None else format_quantity(amount.limits)
        hardware = PlannedHardware(amount.resource, each.container, format_quantity(amount.requests), limits)
        alike.setdefault(hardware, []).append(each.element)
    for hardware, names in alike.items():
        yield replace(hardware, processing_elements=tuple(names))


def stand_ins(job: Name, members: Iterator[Member] | tuple[Member, ...], plan: PlannedNodes) -> Iterator[PodInfo]:
    """Pods that stand for those which the Job does not have yet: each holds on its planned node what it requests."""
    nodes, hardware = plan.by_element(), plan.hardware_by_element()
    for member in members:
        own = requests_of(member.conditions)
        ports = tuple(host_ports(member.pod.spec)) if member.pod.spec else ()
        pools = tuple(dict.fromkeys(pool.spl_name for _, pool in member.ask.pools))
        for element in member.names:
            if element in nodes:
                requests = _most(own, hardware.get(element, ()))
                yield PodInfo(
                    uid=f"plan/{job[0]}/{job[1]}/{element}",
                    namespace=job[0],
                    node=nodes[element],
                    requests=requests,
                    job=job[1],
                    pe=element,
                    pools=pools,
                    ports=ports,
                    priority=member.priority,
                )


def _most(own: Tally, hardware: Iterable[PlannedHardware]) -> Tally:
    """What a pod requests with these amounts, which ``own`` may count already: milli-units of cpu, else whole units."""
    most = dict(own)
    for each in hardware:
        amount = (parse_quantity(each.requests) or 0) // (NANO // 1000 if each.name == CPU else NANO)
        most[each.name] = max(amount, most.get(each.name, 0))
    return most
