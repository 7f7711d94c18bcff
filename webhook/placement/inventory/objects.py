"""What placement knows of a cluster's objects: plain values, made by whoever reads the cluster."""

import enum
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from webhook.placement.kube.pod import LabelSelector, NodeTerm, Requirement, Toleration

Tally = Mapping[str, int]
"""Amounts by resource name: milli-units of ``cpu``, whole units (bytes, counts) of everything else."""


class Taint(Struct, frozen=True, gc=False, order=True):
    """A taint of a node; ``effect`` is NoSchedule, PreferNoSchedule or NoExecute."""

    key: str
    value: str = ""
    effect: str = ""

    def __str__(self) -> str:
        """As kubectl writes it: ``key=value:effect``, without the ``=`` where there is no value."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


class Node(Struct, frozen=True, gc=False):
    """A node: where pods can run.

    ``addresses`` are as the node reports them. ``taints`` include those that Kubernetes derives from conditions
    (cordoned, not ready), whether or not its controllers have come to write them yet.
    """

    name: str
    uid: str = ""
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    addresses: tuple[str, ...] = ()
    allocatable: Tally = {}


class NodeDemand(Struct, frozen=True, gc=False):
    """What a pod that waits demands of its node: its ``nodeSelector``, and the terms of its required node affinity.

    ``name`` is the pod's. Without ``terms`` (``None``) any node that meets the selector will do. ``tolerates`` are its
    tolerations of everything, and of the taint of exclusive hosts.
    """

    name: str
    selector: tuple[Requirement, ...] = ()
    terms: tuple[NodeTerm, ...] | None = None
    tolerates: tuple[Toleration, ...] = ()


class Waiting(Struct, frozen=True, gc=False):
    """A pod without a node that was let in although no node could run it: its ``name``, and what it waits for."""

    name: str
    text: str


OF_NODE: Final = frozenset({"DaemonSet", "Node"})
"""Kinds of controllers whose pods go with their node."""


class Guest(Struct, frozen=True, gc=False):
    """What a pod of others is that may run on exclusive hosts.

    ``name`` is kind and name of the workload that it is a replica of, such as ``DaemonSet/agent``, or its own;
    ``passes`` are the effects of the exclusive taint that it tolerates. ``forged`` says that it claims to be made by a
    DaemonSet that is none of Kubernetes' own.
    """

    name: str
    passes: tuple[str, ...] = ()
    forged: bool = False


class PodInfo(Struct, frozen=True, gc=False):
    """A pod that is not finished, as far as it holds something that others may want.

    ``node`` is empty while the pod waits. ``labels`` are its labels under the product's prefix only, and ``isolated``
    the operators whose ``hostIsolation`` it carries; both are empty, like ``job`` and ``pe``, for pods of others.
    ``demand`` is what it demands of a node while it waits for one, of pods of others only if they are sleepers.
    ``owner`` is the workload that it is a replica of, such as ``Deployment/pipeline``, of pods of others only if they
    go with their node. ``cpu_bound`` says that it is one that is bound to cpus. ``guards`` are the topology keys of its
    required podAntiAffinity, of pods of others too; ``repels`` are the labels under the product's prefix that this
    keeps away within its job. ``guest`` is what a pod of others is, if it may run on exclusive hosts. ``waits`` is
    there while a pod, of others too, has no node, and had none when it was let in.
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

    @property
    def of_node(self) -> bool:
        """Whether it goes with its node: it is one of a DaemonSet, or static (Kubernetes, mirror pods)."""
        return self.owner.partition("/")[0] in OF_NODE

    @property
    def sleeps(self) -> bool:
        """Whether it waits for a node, and tolerates what keeps others off exclusive hosts."""
        return self.demand is not None and bool(self.demand.tolerates)


class Phase(enum.StrEnum):
    """Where a host pool stands."""

    PENDING = "Pending"
    READY = "Ready"
    FAILED = "Failed"
    RELEASING = "Releasing"


class PoolHost(Struct, frozen=True, gc=False):
    """A host that a pool has been given; the index stays with the entry for ever."""

    index: int
    name: str
    uid: str = ""


class Pool(Struct, frozen=True, gc=False):
    """A HostPool object (``docs/hostpool.md``).

    ``name`` is the object's, ``spl_name`` the one that ``host(P)`` says. ``hosts`` of a literal pool are names or
    addresses; ``None`` for every other pool. ``assigned`` is ``status.hosts``, ``reason`` why the pool failed, and
    ``created`` when the API server made the object, as RFC 3339 has it; empty if it has not.
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
        """Whether the pool has hosts of its own: a number of them, or a list."""
        return self.size is not None or self.hosts is not None

    @property
    def served(self) -> bool:
        """Whether the controller has said what its hosts are, be it on its way out by now."""
        return self.phase in {Phase.READY, Phase.RELEASING} or bool(self.assigned)

    @property
    def exclusive(self) -> bool:
        """Whether the pool's hosts are closed to everybody else's processing elements."""
        return self.mode == "Exclusive"


class Element(Struct, frozen=True, gc=False):
    """A processing element of a job's model: its name and what each of its operators' placement says."""

    name: str
    placements: tuple[tuple[str, str], ...] = ()
    """Pairs of operator name and placement text."""
    cpu_bound: bool = False
    """Whether its pod is to be bound to cpus."""


class Job(Struct, frozen=True, gc=False):
    """A Job object (``streams.ibm.com/v1``), as far as its pods' constraints need it."""

    namespace: str
    name: str
    elements: tuple[Element, ...] = ()
