"""Pods of the same job that share a host, or must not: terms, and what live ones mean for a newcomer."""

import functools
from collections.abc import Collection, Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement.constraints.constraint import Reason, Spread
from webhook.placement.inventory.job_pods import JobPods, PodLabel
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import LabelSelector, NodeTerm, PodTerm, Requirement
from webhook.placement.provision.effects import Effect, RequireNodes
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import Clause
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem, counted

_HOSTNAMED = (NodeTerm(match_expressions=(Requirement(keys.HOSTNAME, "Exists"),)),)


@functools.lru_cache(1024)
def with_label(key: str, value: str, job: str) -> PodTerm:
    """Pods of the job that carry the label.

    The job belongs to every selector: SPL tokens are names within one application, and without it two jobs of a
    namespace would bind each other.
    """
    return of_job(job, Requirement(key, "In", (value,)))


def of_job(job: str, *expressions: Requirement) -> PodTerm:
    """Pods of the job that meet all the expressions."""
    selector = LabelSelector(match_expressions=(*expressions, Requirement(keys.JOB, "In", (job,))))
    return PodTerm(label_selector=selector, topology_key=keys.HOSTNAME)


def hostnamed(clause: str) -> RequireNodes:
    """Only nodes with a host name: on the others the scheduler does not see who else is there.

    Whoever looks at the finished pod does not insist on it, so that replicas of an older version may have made it.
    """
    return RequireNodes(clause, _HOSTNAMED, firm=False)


def shared_hostnames(world: World) -> Iterator[str]:
    """A warning for pods that are to share a host, if some nodes cannot be told apart by their host names."""
    nodes = world.inventory.nodes
    shared = nodes.with_key(keys.HOSTNAME) & world.everything & ~nodes.own_hostname
    if shared:
        count = counted(shared.bit_count(), "node")
        rule = "Kubernetes takes nodes of one such label for one host, and may split there what is to share one"
        yield f"{count} share their {keys.HOSTNAME} label with another: {rule}"


def ending(marks: Collection[PodLabel], siblings_of: tuple[str, str], clause: str, world: World) -> Iterator[str]:
    """A warning for a pod that belongs beside others, all of which are being deleted; ``siblings_of`` is their job."""
    leaving = (pod for pod in world.inventory.leaving.values() if (pod.namespace, pod.job) == siblings_of)
    if any(pod.labels.get(key) == value for pod in leaving for key, value in marks):
        advice = "if it does not fit beside them, it may wait for up to five minutes after the last of them is gone"
        yield f"{clause}: the pods that this one belongs to are being deleted; {advice}"


class PodsAntiAffinity(Struct, frozen=True, gc=False):
    """The wall that live pods of the job are to a newcomer which only prefers to keep away from them.

    Their own required podAntiAffinity matches the label that the newcomer carries, and the scheduler keeps it both ways
    (``satisfyExistingPodsAntiAffinity`` of its inter-pod affinity plugin). ``nodes`` are where they are, ``whom`` says
    who they are.
    """

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: str
    nodes: Bits
    whom: str
    node: str = ""
    soft: bool = False

    def filter(self, world: World) -> Bits:
        """Nodes on whose host none of them is."""
        return world.everything & ~self.nodes

    def inject(self, _world: World) -> Iterable[Effect]:
        """Nothing: the others say it."""
        return ()

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """One of them is there."""
        yield Reason(f"runs {self.whom}, which keeps this one away", f"run {self.whom}, which keeps this one away", out)

    def mend(self, _world: World, _out: Bits) -> str:
        """Nothing short of stopping one of the others."""
        return ""


def repelled(clause: str, mark: PodLabel, whom: str, siblings: JobPods, world: World) -> Iterator[PodsAntiAffinity]:
    """The wall, if there is one: pods of the job that require others with this label to keep away."""
    nodes = world.inventory.nodes
    there = nodes.domains(siblings.repelling(mark) & nodes.with_key(keys.HOSTNAME))
    if there & world.everything:
        yield PodsAntiAffinity(clause, there, whom)


def needs_job(clause: str) -> Problem:
    """The refusal of a pod whose clause means nothing without a job."""
    return Problem(
        f"metadata.labels[{keys.JOB}]", f"{clause} counts within one job: label the pod {keys.JOB} with the job's name"
    )


def bad_tokens(clauses: Iterable[Clause], field: str) -> Iterator[Problem]:
    """A problem for each clause whose token cannot be a label value; those of SPL may be any string."""
    rule = "a token is 1 to 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"
    for clause in clauses:
        token = str(clause.argument)
        if not token or not keys.LABEL_VALUE.fullmatch(token):
            yield Problem(field, f"{clause}: {rule}")


def nameless(nodes: Bits) -> Reason:
    """Why nodes cannot take part: the scheduler does not see who else is on them."""
    label = f"{keys.HOSTNAME} label"
    return Reason(f"has no {label} of its own", f"have no {label} of their own", nodes)


def taken(out: Bits, what: str, world: World) -> Iterator[Reason]:
    """Why nodes are out for a pod that keeps away from ``what``: without a host name of their own, or one is there."""
    unseen = out & ~world.inventory.nodes.own_hostname
    if unseen:
        yield nameless(unseen)
    if out & ~unseen:
        yield Reason(f"already runs {what}", f"already run {what}", out & ~unseen)


def elsewhere(out: Bits, held: Bits, whom: str, world: World) -> Iterator[Reason]:
    """Why nodes are out for a pod that belongs beside ``whom``: no host name, not among those ``held``, or no room."""
    unseen = out & ~world.inventory.nodes.own_hostname
    absent = out & ~unseen & ~held
    if unseen:
        yield nameless(unseen)
    if absent:
        yield Reason(f"does not run {whom}", f"do not run {whom}", absent)
    if full := out & ~unseen & ~absent:
        what = f"{whom} and cannot hold this one beside them"
        yield Reason(f"runs {what}", f"run {what}", full)
