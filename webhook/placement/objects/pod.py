"""A pod of the cluster as a plain value, with only the fields that placement needs."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.containers import HostPort
from webhook.placement.kube.pod import NodeTerm, Requirement, Toleration
from webhook.placement.objects.repelling import RepellingTerm


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


class ClaimedTemplates(Struct, frozen=True, gc=False):
    """The ResourceClaimTemplates of described devices that the pod ``name`` gets claims from.

    ``described`` has the devices that the pod's own annotation describes, each with the name of its template, as far as
    the pod gets claims from it; HPAIntents describe those of other templates.
    """

    name: str
    templates: tuple[str, ...]
    described: tuple[tuple[str, DescribedDevices], ...] = ()


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
    which the scheduler preempts; ``waits`` is set while it has no node if no node could run it when it was admitted;
    ``claimed`` is set if it gets claims from templates of described devices.

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
    claimed: ClaimedTemplates | None = None

    @property
    def of_node(self) -> bool:
        """Whether the pod is one of a DaemonSet, or a static pod (Kubernetes, mirror pods)."""
        return self.owner.partition("/")[0] in OF_NODE

    @property
    def sleeps(self) -> bool:
        """Whether the pod is a sleeper: it has no node, and tolerates the taint of exclusive hosts."""
        return self.demand is not None and bool(self.demand.tolerates)
