"""The plan of a Job as its status states it, and what it says of the next pod of a processing element.

The plan names the node of each processing element and the hosts of the Job's own HostPools (``docs/jobs.md``, "What was
promised").
"""

from collections.abc import Mapping

from msgspec import Struct

from webhook.placement.objects.condition import ConditionState


class NodeElements(Struct, frozen=True, gc=False, rename="camel"):
    """The processing elements that are to run on a node."""

    name: str
    processing_elements: tuple[str, ...] = ()


class PoolNodes(Struct, frozen=True, gc=False):
    """The nodes that are to be the hosts of a HostPool, by index; ``name`` is that of the object."""

    name: str
    hosts: tuple[str, ...] = ()


class PlannedHardware(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """An optional amount of the resource ``name``, which the ``container`` of these processing elements gets."""

    name: str
    container: str
    requests: str
    limits: str | None = None
    processing_elements: tuple[str, ...] = ()


class PlannedNodes(Struct, frozen=True, gc=False):
    """The plan of a Job, as its status states it; empty for a Job without one.

    ``required`` are processing elements that must not run on any other node, since the rest of the plan is built on
    theirs: elements that share a node with others, isolated ones, which close their node to all others, and those that
    name a HostPool of the Job that has a size or a list of hosts.
    """

    nodes: tuple[NodeElements, ...] = ()
    required: tuple[str, ...] = ()
    pools: tuple[PoolNodes, ...] = ()
    hardware: tuple[PlannedHardware, ...] = ()

    def by_element(self) -> dict[str, str]:
        """The node of each processing element, by name."""
        return {element: node.name for node in self.nodes for element in node.processing_elements}

    def hosts_of(self, pool: str) -> Mapping[int, str]:
        """The nodes that are to be hosts of the HostPool object of that name, by index."""
        hosts = next((each.hosts for each in self.pools if each.name == pool), ())
        return dict(enumerate(hosts))

    def hardware_by_element(self) -> dict[str, list[PlannedHardware]]:
        """The optional amounts that each processing element gets, by name."""
        by_element: dict[str, list[PlannedHardware]] = {}
        for each in self.hardware:
            for element in each.processing_elements:
                by_element.setdefault(element, []).append(each)
        return by_element


class PlannedLaunch(Struct, frozen=True, gc=False):
    """The pod goes to ``node``, to no other one if that is ``required``, and gets the optional ``hardware``.

    Without a node the scheduler chooses one. ``blocked`` is why the pod must not be created yet.
    """

    node: str = ""
    required: bool = False
    hardware: tuple[PlannedHardware, ...] = ()
    blocked: ConditionState | None = None


UNPLANNED = PlannedLaunch()
"""The launch of an element about which no plan says anything."""


def planned_launch(element: str, plan: PlannedNodes) -> PlannedLaunch:
    """What the plan says of the element."""
    hardware = tuple(plan.hardware_by_element().get(element, ()))
    return PlannedLaunch(plan.by_element().get(element, ""), element in plan.required, hardware)
