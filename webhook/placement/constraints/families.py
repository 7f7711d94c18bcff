"""The list of all constraint families, in the order in which they are judged.

A node is counted under the first family that rules it out, so this is the order of reasons in messages, too
(``docs/verdicts.md``). Other packages get constraints
from this module alone: by these parsers, or by the functions for conditions that are not read from a pod.
"""

from collections.abc import Iterable

from webhook.placement.constraints.constraint import Constraint, Parse, ParseFinished
from webhook.placement.constraints.hardware import cpu_binding, devices, numa, resources
from webhook.placement.constraints.hosts import (
    exclusive,
    host,
    hostpool,
    node_label,
    node_selector,
    taints,
    volumes,
)
from webhook.placement.constraints.pods import (
    colocation,
    exlocation,
    host_ports,
    isolation,
    own_anti_affinity,
    run_with,
    topology_spread,
    uniform,
)
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import Toleration
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import Problem

FAMILIES: tuple[Parse, ...] = (
    host.parse,
    hostpool.parse,
    node_label.parse_mapping,
    node_selector.parse,
    volumes.parse,
    devices.parse,
    node_label.parse_hardware,
    taints.parse,
    exclusive.parse,
    resources.parse,
    numa.parse,
    cpu_binding.parse,
    colocation.parse,
    exlocation.parse,
    isolation.parse,
    uniform.parse,
    run_with.parse,
    host_ports.parse,
)

LAST: tuple[ParseFinished, ...] = (
    own_anti_affinity.parse,
    topology_spread.parse,
)
"""Families of the pod's own terms about other pods, which the scheduler applies to the finished pod."""


def rooms(ask: Ask, world: World) -> Iterable[Constraint | Problem]:
    """The conditions on room for what the pod requests."""
    return resources.parse(ask, world)


def tolerated(tolerations: tuple[Toleration, ...] = ()) -> Constraint:
    """The standing condition that these tolerations cover the taints of the node; exclusive hosts are not meant."""
    return taints.Tolerated(tolerations)


def exclusive_to_none_but(own: tuple[Name, ...]) -> Constraint:
    """The standing condition that the node is exclusive to no HostPool but these."""
    return exclusive.NoForeignExclusiveHosts(own)


def room_for(requests: Tally, *, pinned: Bits = 0, said: Clause | None = None) -> Constraint:
    """The condition that the node has room for these amounts, free room on ``pinned`` nodes; ``said`` is its clause."""
    return resources.Room(requests, pinned, said, hardware=said is not None)
