"""Family ``uniform``: all workers of a job on one node, or each on a node of its own (``docs/mapping.md``).

The workers of a job are its pods that ask for uniform worker mapping; the webhook gives all of them one label.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from webhook.placement.annotations.worker_mapping import uniformly
from webhook.placement.constraints.company import Company
from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread
from webhook.placement.constraints.pods import pod_terms
from webhook.placement.constraints.shared_room import beside, room_beside
from webhook.placement.inventory.job_pods import JobPods, PodLabel
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits
from webhook.placement.provision.effects import PREFERENCE, AddLabel, AwayFromPods, Effect, NearPods
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule

SOFT = "uniform"
"""Name of the family in the annotation ``preferred``."""

LABEL: PodLabel = keys.WORKER, "true"
"""The label of a worker."""

_SEPARATE = "a worker of all-separate-nodes"
"""Text for a live worker that keeps others away."""

_WORKERS = "workers "
"""Prefix of the key of a job's workers; the job follows."""


class SameNode(pod_terms.SharedHost, frozen=True, gc=False):
    """The condition that all workers are on one node."""

    rule: ClassVar[str] = Rule.MAPPING

    def company(self, job: str) -> Company:
        """All workers of the job share a node."""
        return Company(together=(f"{_WORKERS}{job}",), marks=(f"{_WORKERS}{job}",))

    def beside(self, ask: Ask, world: World) -> Mapping[int, Sequence[Tally]]:
        """The live workers."""
        return beside(self.occupied, (LABEL,), world.job_pods(ask.namespace, ask.job))

    def inject(self, world: World) -> Iterable[Effect]:
        """The label of a worker, and a term that puts the pod beside pods with that label."""
        yield AddLabel(self.clause.text, *LABEL)
        yield NearPods(self.clause.text, pod_terms.with_label(*LABEL, self.job), PREFERENCE if self.soft else None)
        if not self.soft:
            yield from pod_terms.hostnamed(self.clause.text, world)

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Nodes without a host name of their own, nodes without workers, nodes with workers and without room."""
        return pod_terms.elsewhere(out, self.occupied, "the job's other workers", world)


class SeparateNodes(ConstraintDefaults, frozen=True, gc=False):
    """The condition that each worker is on a node of its own: ``held`` are the nodes with live workers."""

    separable: ClassVar[bool] = True
    rule: ClassVar[str] = Rule.MAPPING
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.APART
    clause: Clause
    soft: bool
    job: str
    occupied: Bits
    node: str = ""

    def company(self, job: str) -> Company:
        """Workers of the job share no node."""
        return Company.apart(f"{_WORKERS}{job}")

    def filter(self, world: World) -> Bits:
        """Nodes with a host name of their own and no worker."""
        return world.inventory.nodes.own_hostname & ~self.occupied

    def inject(self, world: World) -> Iterable[Effect]:
        """The label of a worker, and a term that keeps the pod away from pods with that label."""
        yield AddLabel(self.clause.text, *LABEL)
        yield AwayFromPods(self.clause.text, pod_terms.with_label(*LABEL, self.job), PREFERENCE if self.soft else None)
        if not self.soft:
            yield from pod_terms.hostnamed(self.clause.text, world)

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Nodes without a host name of their own, then nodes with a worker."""
        return pod_terms.taken(out, "another worker of the job", world)


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem | str]:
    """The constraint of a pod that asks for uniform mapping, and warnings about the job's live workers."""
    uniform = ask.mapping.uniform
    if uniform == "none":
        return ()
    clause = uniformly(uniform)
    if not ask.job:
        return (pod_terms.needs_job(clause),)
    job_pods = world.job_pods(ask.namespace, ask.job)
    constraints = _separate if uniform == "all-separate-nodes" else _same
    return constraints(ask, clause, job_pods, world)


def _separate(ask: Ask, clause: Clause, job_pods: JobPods, world: World) -> Iterator[Constraint]:
    """The constraints of ``all-separate-nodes``."""
    soft = SOFT in ask.soft
    yield SeparateNodes(clause, soft, ask.job, job_pods.holding((LABEL,)))
    if soft:
        yield from pod_terms.repelled(clause, LABEL, _SEPARATE, job_pods, world)


def _same(ask: Ask, clause: Clause, job_pods: JobPods, world: World) -> Iterator[Constraint | str]:
    """The constraints of ``all-same-node``, and warnings."""
    soft, occupied = SOFT in ask.soft, job_pods.holding((LABEL,)) & world.everything
    yield SameNode(clause, soft, ask.job, occupied, room_beside(occupied, (LABEL,), job_pods, ask.requests, world))
    yield from pod_terms.repelled(clause, LABEL, _SEPARATE, job_pods, world)
    if not soft:
        yield from pod_terms.shared_hostnames(world)
        if not occupied:
            yield from pod_terms.ending((LABEL,), (ask.namespace, ask.job), clause, world)
