"""All constraint families, in the order in which they are judged: it is also the order of reasons in messages.

A node is counted under the first family that rules it out (``docs/verdicts.md``).
"""

from webhook.placement.constraint import Parse
from webhook.placement.constraints import (
    colocation,
    exclusive,
    exlocation,
    host,
    hostpool,
    isolation,
    nodeselector,
    resources,
    taints,
)

FAMILIES: tuple[Parse, ...] = (
    host.parse,
    hostpool.parse,
    nodeselector.parse,
    taints.parse,
    exclusive.parse,
    resources.parse,
    colocation.parse,
    exlocation.parse,
    isolation.parse,
)
