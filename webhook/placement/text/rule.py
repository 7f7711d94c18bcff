"""``Rule``: why something was refused, as one word of a fixed list, by which refusals are counted."""

import enum
from typing import Final

from webhook.placement.text.problem import Fault


class Rule(enum.StrEnum):
    """What a refused object could not have; a refusal of several clauses is one of several rules."""

    HOST = "host"
    """``host("name")``."""
    POOL = "pool"
    """``host(P)``, and HostPools that cannot have their hosts."""
    COLOCATION = "colocation"
    """``hostColocation``."""
    EXLOCATION = "exlocation"
    """``hostExlocation``."""
    ISOLATION = "isolation"
    """``hostIsolation``."""
    HARDWARE = "hardware"
    """Hardware of an annotation or an HPAIntent."""
    MAPPING = "mapping"
    """Worker mapping of Twister2: by labels, uniform, with or apart from other pods, bound to cores."""
    REQUESTS = "requests"
    """What containers request, and what a Job states for its elements."""
    OWN_NODES = "own-nodes"
    """The pod's own node name, node selector or node affinity."""
    VOLUMES = "volumes"
    """Volumes that only some nodes can use."""
    DEVICES = "devices"
    """Devices of ResourceClaims, or of resources that DeviceClasses map."""
    OWN_SPREAD = "own-spread"
    """The pod's own anti-affinity, topology spread or host ports."""
    REPLICAS = "replicas"
    """The number of pods of a workload."""
    NODES = "nodes"
    """No clause at all: every node is tainted, full or another pool's."""
    GUARD = "guard"
    """A change of a node, or a binding, that would break a HostPool or an exclusive host."""
    RIGHTS = "rights"
    """The user may not use a HostPool."""
    MISTAKE = "mistake"
    """The object itself is wrong, whatever the cluster is like: a syntax error, a contradiction, a broken rule."""
    STATE = "state"
    """Something that the object names is not there, or not for it: a pool, an index, a quota, an exclusive host."""
    OTHER = "other"
    """None of these."""


OF_FAULT: Final = {Fault.INVALID: Rule.MISTAKE, Fault.FORBIDDEN: Rule.STATE}
"""The rule of a refusal that names no clauses, by whose fault it is."""
