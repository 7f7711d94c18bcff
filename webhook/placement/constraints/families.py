"""The list of all constraint families, in the order in which they are judged.

A node is counted under the first family that rules it out, so this is the order of reasons in messages, too
(``docs/verdicts.md``).
"""

from webhook.placement.constraints import (
    colocation,
    cpu_binding,
    exclusive,
    exlocation,
    host,
    host_ports,
    hostpool,
    isolation,
    node_label,
    node_selector,
    own_anti_affinity,
    resources,
    run_with,
    taints,
    topology_spread,
    uniform,
)
from webhook.placement.constraints.constraint import Parse, ParseFinished

FAMILIES: tuple[Parse, ...] = (
    host.parse,
    hostpool.parse,
    node_label.parse_mapping,
    node_selector.parse,
    node_label.parse_hardware,
    taints.parse,
    exclusive.parse,
    resources.parse,
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
