"""All constraint families, in the order in which they are judged: it is also the order of reasons in messages.

A node is counted under the first family that rules it out (``docs/verdicts.md``).
"""

from webhook.placement.constraint import Parse
from webhook.placement.constraints import (
    colocation,
    company,
    cpu_binding,
    exclusive,
    exlocation,
    hardware,
    host,
    hostpool,
    isolation,
    mapping,
    nodeselector,
    resources,
    taints,
    uniform,
)

FAMILIES: tuple[Parse, ...] = (
    host.parse,
    hostpool.parse,
    mapping.parse,
    nodeselector.parse,
    hardware.parse,
    taints.parse,
    exclusive.parse,
    resources.parse,
    cpu_binding.parse,
    colocation.parse,
    exlocation.parse,
    isolation.parse,
    uniform.parse,
    company.parse,
)
