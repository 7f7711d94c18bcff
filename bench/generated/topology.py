"""The shape of the generated cluster: which nodes are open, and which are hosts of pools.

Everything follows from the number of nodes and of pods, without random numbers, so two runs measure the same.
"""

from msgspec import Struct

NAMESPACE = "streams"
"""Where the host pools and the streams jobs are."""

DOMAIN = "bench.example"
"""Domain of the labels, taints and images that the cluster's owner made up."""

CONTROL_PLANES = 3
ELEMENTS = 20
"""Processing elements of one job, one pod each."""

SHARE = 8
"""Per cent of the pods that belong to streams jobs."""

TAGGED, SEVERAL, SIZED, CLOSED = 8, 4, 5, 3
"""Host pools with one tag, with two, with a size, and exclusive ones: 20 altogether."""

SEVERAL_TAGS = (("blue", "ib"), ("ib", "ssd"), ("blue", "ssd"), ("ib", "west"))


class Scale(Struct, frozen=True):
    """How large a cluster is."""

    nodes: int
    pods: int

    def __str__(self) -> str:
        return f"{self.nodes:,} nodes, {self.pods:,} pods"

    @property
    def jobs(self) -> int:
        """Streams jobs; the reviews ask about the first two."""
        return max(2, self.pods * SHARE // 100 // ELEMENTS)


class Topology(Struct, frozen=True):
    """Nodes by index: ``open`` ones take any pod, ``hosts[pool]`` are those of a sized or exclusive pool, in order."""

    open: tuple[int, ...]
    hosts: dict[str, tuple[int, ...]]

    def place(self, job: int, element: int) -> int:
        """The node of a job's pod: neighbours sit apart, as their exlocation and isolation demand."""
        return self.open[(job * 37 + element) % len(self.open)]


def pick(index: int, salt: int, among: int) -> int:
    """A number below ``among`` that looks random and is always the same (a 32-bit integer hash)."""
    mixed = (index * 0x9E3779B1 + salt * 0x85EBCA6B + 0x165667B1) & 0xFFFFFFFF
    mixed = ((mixed ^ mixed >> 15) * 0x2C1B3C6D) & 0xFFFFFFFF
    mixed = ((mixed ^ mixed >> 12) * 0x297A2D39) & 0xFFFFFFFF
    return (mixed ^ mixed >> 15) % among


def node_name(index: int) -> str:
    """A node's name."""
    return f"worker-{index:05d}" if index >= CONTROL_PLANES else f"control-{index}"


def uid(kind: int, index: int) -> str:
    """A UUID; ``kind`` keeps the kinds of objects apart."""
    return f"{pick(index, kind, 1 << 32):08x}-{kind:04x}-4000-8000-{index:012x}"


def state(index: int) -> str:
    """What is special about a node: control-plane (3), gpu (2 %), cordoned (1 %), unready (1 %), or nothing."""
    if index < CONTROL_PLANES:
        return "control-plane"
    return {7: "gpu", 57: "gpu", 13: "cordoned", 31: "unready"}.get(index % 100, "")


def topology(nodes: int) -> Topology:
    """The shape of a cluster of so many nodes, at least 60."""
    healthy = [index for index in range(nodes) if not state(index)]
    size = max(2, min(20, nodes // 100))
    names = [f"closed-{at}" for at in range(CLOSED)] + [f"sized-{at}" for at in range(SIZED)]
    # From the end, where no pod of the first two jobs is: reviews that ask for these hosts are to be admitted.
    hosts = {
        name: tuple(healthy[-1 - index] for index in range(at * size, (at + 1) * size)) for at, name in enumerate(names)
    }
    closed = {index for name in names[:CLOSED] for index in hosts[name]}
    return Topology(tuple(index for index in healthy if index not in closed), hosts)
