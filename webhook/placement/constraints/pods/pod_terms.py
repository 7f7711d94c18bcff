"""Pod terms, reasons, problems and warnings for constraints about pods of the same job that share a host, or must not.

Shared by the families colocation, exlocation, isolation, uniform and run-with. Every term has the topology key
``kubernetes.io/hostname``.
"""

import functools
from collections.abc import Collection, Iterable, Iterator
from typing import ClassVar, Final

from webhook.placement.constraints.constraint import ConstraintDefaults, NodeSet, Reason, Spread, Tie
from webhook.placement.inventory.job_pods import JobPods, PodLabel
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.names import LABEL_VALUE
from webhook.placement.kube.pod import LabelSelector, NodeTerm, PodTerm, Requirement
from webhook.placement.provision.effects import RequireNodes
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import PlacementClause
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import Problem, counted

NAMED_LIMIT: Final = 100
"""Shared host names that a node term lists: 6 KiB at most, as the value of a label has at most 63 characters."""


@functools.lru_cache(1024)
def with_label(key: str, value: str, job: str) -> PodTerm:
    """The term for pods of the job that have the label.

    Every selector names the job: SPL tokens are names within one application, and without the job two jobs of a
    namespace would constrain each other.
    """
    return of_job(job, Requirement(key, "In", (value,)))


def of_job(job: str, *expressions: Requirement) -> PodTerm:
    """The term for pods of the job whose labels meet all the expressions."""
    selector = LabelSelector(match_expressions=(*expressions, Requirement(keys.JOB, "In", (job,))))
    return PodTerm(label_selector=selector, topology_key=keys.HOSTNAME)


def hostnamed(cause: str, world: World) -> Iterator[RequireNodes]:
    """The effect that only nodes with a host name of their own can run the pod.

    The scheduler sees no other pods on nodes without a host name, and takes nodes of one host name for one host. Up to
    ``NAMED_LIMIT`` shared host names are excluded. The effect is not firm, so that ``/validate`` takes pods that older
    versions of the webhook have patched, and pods that were patched before a second node had the host name.

    With ``scaleUp`` there is none as long as all nodes have a host name of their own: Karpenter makes no node for a pod
    with a node term on this label (``IsRestrictedLabel`` in its ``pkg/apis/v1/labels.go``).
    """
    nodes = world.inventory.nodes
    if world.policy.scale_up == "off" or nodes.everything & ~nodes.own_hostname:
        yield RequireNodes(cause, _host_term(nodes.shared_hostnames()), firm=False)


@functools.lru_cache(16)
def _host_term(shared: tuple[str, ...]) -> tuple[NodeTerm, ...]:
    """The term for nodes with a host name that is none of the shared ones."""
    named = Requirement(keys.HOSTNAME, "Exists")
    others = (Requirement(keys.HOSTNAME, "NotIn", shared),) if 0 < len(shared) <= NAMED_LIMIT else ()
    return (NodeTerm(match_expressions=(named, *others)),)


def shared_hostnames(world: World) -> Iterator[str]:
    """A warning for pods that are to share a host, if too many host names are shared to exclude them all."""
    nodes = world.inventory.nodes
    if len(nodes.shared_hostnames()) > NAMED_LIMIT:
        shared = nodes.with_key(keys.HOSTNAME) & world.everything & ~nodes.own_hostname
        count = counted(shared.bit_count(), "node")
        rule = "Kubernetes treats these as one host, and may split pods between them that are to share a host"
        yield f"{count} share their {keys.HOSTNAME} label with another: {rule}"


def ending(labels: Collection[PodLabel], siblings_of: tuple[str, str], clause: Clause, world: World) -> Iterator[str]:
    """A warning for a pod that must share a host with pods that are being deleted.

    ``siblings_of`` is their namespace and job, ``labels`` are pod labels of which they have one.
    """
    leaving = (pod for pod in world.inventory.leaving.values() if (pod.namespace, pod.job) == siblings_of)
    if any(pod.labels.get(key) == value for pod in leaving for key, value in labels):
        advice = "if it does not fit beside them, it may wait for up to five minutes after the last of them is gone"
        yield f"{clause}: the pods that this one belongs to are being deleted; {advice}"


class SharedHost(ConstraintDefaults, frozen=True, gc=False):
    """Base of the conditions that pods of one job share a host, if any of them runs.

    ``held`` are the nodes with live pods of these, ``roomy`` the nodes in ``held`` with room for one more beside them.
    """

    separable: ClassVar[bool] = True
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.TOGETHER
    node: ClassVar[str] = ""
    clause: Clause
    soft: bool
    job: str
    occupied: Bits
    roomy: Bits

    @property
    def tie(self) -> Tie:
        """The nodes of live pods, if there are any."""
        return Tie.HOSTS if self.occupied else Tie.NONE

    def filter(self, world: World) -> Bits:
        """Nodes with a host name of their own, and with these pods and room beside them if any of them runs."""
        return world.inventory.nodes.own_hostname & (self.roomy if self.occupied else world.everything)


class PodsAntiAffinity(NodeSet, frozen=True, gc=False):
    """The condition that no live pod of the job on the host has required podAntiAffinity against the new pod's label.

    The scheduler keeps anti-affinity both ways, so the condition is hard even where the new pod only prefers to keep
    away from these pods (``satisfyExistingPodsAntiAffinity`` of its inter-pod affinity plugin).
    """

    separable: ClassVar[bool] = True


def repelled(clause: Clause, label: PodLabel, whom: str, job_pods: JobPods, world: World) -> Iterator[PodsAntiAffinity]:
    """The constraint of a pod with the ``label``, if live pods of the job keep that label away.

    ``whom`` names these live pods.
    """
    nodes = world.inventory.nodes
    there = nodes.domains(job_pods.repelling(label) & nodes.with_key(keys.HOSTNAME))
    if there & world.everything:
        what = f"{whom}, which excludes this pod"
        yield PodsAntiAffinity(clause, world.everything & ~there, f"runs {what}", f"run {what}")


def needs_job(clause: object) -> Problem:
    """The problem of a clause that has no meaning for a pod without a job."""
    return Problem(
        f"metadata.labels[{keys.JOB}]", f"{clause} counts within one job: label the pod {keys.JOB} with the job's name"
    )


def bad_tokens(clauses: Iterable[PlacementClause], field: str) -> Iterator[Problem]:
    """A problem for each clause whose token cannot be a label value; in SPL a token may be any string."""
    rule = "a token is 1 to 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"
    for clause in clauses:
        token = str(clause.argument)
        if not token or not LABEL_VALUE.fullmatch(token):
            yield Problem(field, f"{clause}: {rule}")


def nameless(nodes: Bits) -> Reason:
    """The reason for nodes without a host name of their own: the scheduler cannot tell which other pods are there."""
    label = f"{keys.HOSTNAME} label"
    return Reason(f"has no {label} of its own", f"have no {label} of their own", nodes)


def taken(out: Bits, what: str, world: World) -> Iterator[Reason]:
    """Why nodes are out for a pod that keeps away from ``what``: no host name of their own, or ``what`` runs there."""
    unseen = out & ~world.inventory.nodes.own_hostname
    if unseen:
        yield nameless(unseen)
    if out & ~unseen:
        yield Reason(f"already runs {what}", f"already run {what}", out & ~unseen)


def elsewhere(out: Bits, occupied: Bits, whom: str, world: World) -> Iterator[Reason]:
    """Why nodes are out for a pod that must run beside ``whom``: no host name, not among ``occupied``, or no room."""
    unseen = out & ~world.inventory.nodes.own_hostname
    absent = out & ~unseen & ~occupied
    if unseen:
        yield nameless(unseen)
    if absent:
        yield Reason(f"does not run {whom}", f"do not run {whom}", absent)
    if full := out & ~unseen & ~absent:
        what = f"{whom} and cannot hold this one beside them"
        yield Reason(f"runs {what}", f"run {what}", full)
