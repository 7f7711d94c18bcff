"""Nodes, pods, HostPools and Streams Jobs as plain values, with only the fields that placement needs.

Readers of watches and snapshots make these values from the objects of the API.
"""

import enum
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from webhook.placement.inventory.repelling import RepellingTerm
from webhook.placement.kube.containers import HostPort
from webhook.placement.kube.pod import LabelSelector, NodeTerm, Requirement, Resources, Toleration

Tally = Mapping[str, int]
"""Amounts by resource name: milli-units of ``cpu``, whole units (bytes, counts) of everything else."""


class Taint(Struct, frozen=True, gc=False, order=True):
    """A taint of a node; ``effect`` is NoSchedule, PreferNoSchedule or NoExecute."""

    key: str
    value: str = ""
    effect: str = ""

    def __str__(self) -> str:
        """The taint as kubectl writes it: ``key=value:effect``, or ``key:effect`` without a value."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


class Node(Struct, frozen=True, gc=False):
    """A node.

    ``addresses`` are as the node reports them. ``taints`` include the taints that Kubernetes derives from the node's
    state (cordoned, not ready), also before its controllers have written them. ``allocatable`` is that of the status.
    """

    name: str
    uid: str = ""
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    addresses: tuple[str, ...] = ()
    allocatable: Tally = {}


class NodeDemand(Struct, frozen=True, gc=False):
    """What a pod without a node demands of its node: ``nodeSelector``, and the terms of its required node affinity.

    ``name`` is the pod's name. With ``terms`` of ``None`` any node that meets the selector will do. ``tolerates`` are
    the pod's tolerations of everything and of the taint of exclusive hosts.
    """

    name: str
    selector: tuple[Requirement, ...] = ()
    terms: tuple[NodeTerm, ...] | None = None
    tolerates: tuple[Toleration, ...] = ()


class Waiting(Struct, frozen=True, gc=False):
    """A pod that was admitted although no node could run it: its ``name``, and the text of what it waits for."""

    name: str
    text: str


OF_NODE: Final = frozenset({"DaemonSet", "Node"})
"""Kinds of owners whose pods belong to one node: DaemonSets, and nodes for static pods."""


class Guest(Struct, frozen=True, gc=False):
    """A pod that belongs to no job and names no pool, but may run on exclusive hosts.

    ``name`` is kind and name of the workload that the pod is a replica of, such as ``DaemonSet/agent``, or of the pod
    itself. ``passes`` are the effects of the exclusive taint that the pod tolerates. ``forged`` means that the pod's
    owner is a DaemonSet of an API group other than ``apps/v1``.
    """

    name: str
    passes: tuple[str, ...] = ()
    forged: bool = False


class PodInfo(Struct, frozen=True, gc=False):
    """A pod that has not finished; much of it is kept only for pods of a job (label ``streams.ibm.com/job``).

    Of every pod: ``node`` is its node, empty while it has none; ``requests`` are its effective requests; ``pools`` the
    SPL names of the pools in its placement; ``guards`` the topology keys of its required podAntiAffinity, ``shuns``
    those of its terms that users write; ``ports`` the ports of its node that it takes; ``priority`` its priority, by
    which the scheduler preempts; ``waits`` is set while it has no node if no node could run it when it was admitted.

    Of pods of a job: ``job`` and ``pe``; ``labels`` under the product's prefix; ``isolated``, the operators with
    ``hostIsolation``; ``cpu_bound``, whether the pod is bound to cpus; ``repels``, the labels under the product's
    prefix that its podAntiAffinity keeps away within the job. Of other pods these are empty.

    ``demand`` is set while a pod of a job, or a sleeper, has no node. ``owner`` is the workload, such as
    ``Deployment/pipeline``, of pods of a job, of a DaemonSet, and of static pods. ``guest`` is set for a pod that
    belongs to no job, names no pool, and may run on exclusive hosts.
    """

    uid: str
    namespace: str
    node: str
    requests: Tally
    job: str = ""
    pe: str = ""
    pools: tuple[str, ...] = ()
    labels: Mapping[str, str] = {}
    isolated: tuple[str, ...] = ()
    terminating: bool = False
    owner: str = ""
    demand: NodeDemand | None = None
    cpu_bound: bool = False
    guards: tuple[str, ...] = ()
    repels: tuple[tuple[str, str], ...] = ()
    guest: Guest | None = None
    waits: Waiting | None = None
    shuns: tuple[RepellingTerm, ...] = ()
    ports: tuple[HostPort, ...] = ()
    priority: int = 0

    @property
    def of_node(self) -> bool:
        """Whether the pod is one of a DaemonSet, or a static pod (Kubernetes, mirror pods)."""
        return self.owner.partition("/")[0] in OF_NODE

    @property
    def sleeps(self) -> bool:
        """Whether the pod is a sleeper: it has no node, and tolerates the taint of exclusive hosts."""
        return self.demand is not None and bool(self.demand.tolerates)


class Phase(enum.StrEnum):
    """The phase of a HostPool (``status.phase``)."""

    PENDING = "Pending"
    READY = "Ready"
    FAILED = "Failed"
    RELEASING = "Releasing"


class PoolHost(Struct, frozen=True, gc=False):
    """An entry of a HostPool's ``status.hosts``; a replaced node keeps the index of the entry."""

    index: int
    name: str
    uid: str = ""


class Pool(Struct, frozen=True, gc=False):
    """A HostPool object (``docs/hostpool.md``).

    ``name`` is the object's name, ``spl_name`` the name in ``host(P)``. ``hosts`` are the names or addresses of a
    literal pool, and ``None`` for every other pool; ``size`` is the number of hosts of a sized pool. ``assigned`` is
    ``status.hosts``, ``reason`` says why the pool failed, and ``created`` is the creation time of the object in RFC
    3339, empty if the API server has not created it.
    """

    namespace: str
    name: str
    spl_name: str
    job: str | None = None
    hosts: tuple[str, ...] | None = None
    size: int | None = None
    tags: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    mode: Literal["Shared", "Exclusive"] = "Shared"
    elastic: bool = False
    phase: Phase = Phase.PENDING
    assigned: tuple[PoolHost, ...] = ()
    reason: str = ""
    created: str = ""

    @property
    def sized(self) -> bool:
        """Whether the controller assigns hosts to the pool: it has a size, or a list of hosts."""
        return self.size is not None or self.hosts is not None

    @property
    def served(self) -> bool:
        """Whether the pool has got its hosts: it is Ready or Releasing, or has hosts in its status."""
        return self.phase in {Phase.READY, Phase.RELEASING} or bool(self.assigned)

    @property
    def exclusive(self) -> bool:
        """Whether the mode is Exclusive: other processing elements cannot run on the pool's hosts."""
        return self.mode == "Exclusive"


class Element(Struct, frozen=True, gc=False):
    """A processing element in a Job object: its name, and the placement texts of its operators."""

    name: str
    placements: tuple[tuple[str, str], ...] = ()
    """Pairs of operator name and placement text."""
    cpu_bound: bool = False
    """Whether the element's pod is to be bound to cpus."""
    resources: Resources | None = None
    """What the element's container gets where the Job itself states no resources."""


class StreamsJob(Struct, frozen=True, gc=False):
    """A Job object (``streams.ibm.com/v1``): its processing elements with their placement."""

    namespace: str
    name: str
    elements: tuple[Element, ...] = ()
    resources: Resources | None = None
    """What is divided among the elements."""
    deleting: bool = False
