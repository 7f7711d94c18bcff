"""Family ``hostColocation("t")``: pods of the job with the same token share a host (``docs/colocation.md``).

The scheduler counts another pod only if that pod matches *all* affinity terms of the new pod, and lets a pod that
matches its own terms go anywhere. So two terms would be violated in silence. Tokens that meet in one processing element
therefore form one group, with one label and one term.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from webhook.placement.annotations.placement_text import annotation, joined
from webhook.placement.constraints.company import Company
from webhook.placement.constraints.constraint import Constraint, Reason
from webhook.placement.constraints.pods import pod_terms
from webhook.placement.constraints.shared_room import beside, room_beside
from webhook.placement.inventory.job_pods import PodLabel
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits
from webhook.placement.objects.jobs.job_model import tokens_of
from webhook.placement.provision.effects import PREFERENCE, AddLabel, Effect, NearPods
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule


class Colocated(pod_terms.SharedHost, frozen=True, gc=False):
    """The condition that the node runs the pod's colocation group, if live pods of the group run anywhere.

    ``tokens`` are the pod's own, ``group`` all tokens of its group.
    """

    rule: ClassVar[str] = Rule.COLOCATION
    tokens: tuple[str, ...]
    group: tuple[str, ...]

    def company(self, job: str) -> Company:
        """Pods with a common token share a node."""
        return Company(together=tuple(f"colocation {job} {token}" for token in self.tokens))

    def companies(self, job: str) -> Iterable[tuple[Clause, Company]]:
        """Each token by itself: without one of them the pod still shares a node with those of the others."""
        for token in self.tokens:
            key = f"colocation {job} {token}"
            yield PlacementClause(ClauseName.COLOCATION, token).written, Company(together=(key,))

    def beside(self, ask: Ask, world: World) -> Mapping[int, Sequence[Tally]]:
        """The live pods of the group."""
        return beside(self.occupied, labels_of(self.group), world.job_pods(ask.namespace, ask.job))

    def inject(self, world: World) -> Iterable[Effect]:
        """A label for each token, a label for a group of several tokens, and one term."""
        for token in self.tokens:
            key, value = token_label(token)
            yield AddLabel(self.clause.text, key, value)
        key, value = group_label(self.group)
        if len(self.group) > 1:
            yield AddLabel(self.clause.text, key, value, firm=False)
        weight = PREFERENCE if self.soft else None
        yield NearPods(self.clause.text, pod_terms.with_label(key, value, self.job), weight, firm=False)
        if not self.soft:
            yield from pod_terms.hostnamed(self.clause.text, world)

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Nodes without a host name of their own, nodes without the group, nodes with it and without room."""
        return pod_terms.elsewhere(out, self.occupied, f"the pods of {self.clause}", world)


def token_label(token: str) -> PodLabel:
    """The pod label of a token: its hash in the key, the token itself as the value."""
    return keys.COLOCATION + keys.digest(token), token


def group_label(group: tuple[str, ...]) -> PodLabel:
    """The pod label of a group of sorted tokens; for a single token that token's label."""
    if len(group) == 1:
        return token_label(group[0])
    return keys.COLOCATION + keys.digest("\n".join(group)), keys.GROUP


def labels_of(group: tuple[str, ...]) -> list[PodLabel]:
    """The labels by which pods of a group are known: those of its tokens, and that of the group."""
    return [*map(token_label, group), group_label(group)]


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint for all tokens of the pod, or what is wrong with the clauses."""
    clauses = ask.by_name.get(ClauseName.COLOCATION)
    if not clauses:
        return ()
    return list(_problems(clauses, ask, world)) or _together(clauses, ask, world)


def _problems(clauses: tuple[PlacementClause, ...], ask: Ask, world: World) -> Iterator[Problem]:
    """What is wrong with the clauses: bad tokens, no job, or a group that the job's other pods do not know."""
    yield from pod_terms.bad_tokens(clauses, annotation(keys.PLACEMENT))
    if not ask.job:
        yield pod_terms.needs_job(clauses[0])
        return
    tokens = tokens_of(clauses)
    if len(tokens) < 2 or ClauseName.COLOCATION in ask.soft:  # noqa: PLR2004 - one token needs no group
        return
    model = world.inventory.jobs.get((ask.namespace, ask.job))
    listed = joined(clauses)
    if model is None:
        message = f"{listed} form one group, which the job's other pods know only from a Job object of that name"
        yield Problem(f"metadata.labels[{keys.JOB}]", f"{message}, which does not exist")
    elif not model.joins(tokens):
        message = (
            f"{listed} are together in no processing element of the Job object, "
            "so the job's other pods do not know their group"
        )
        yield Problem(annotation(keys.PLACEMENT), message)


def _together(clauses: tuple[PlacementClause, ...], ask: Ask, world: World) -> Iterator[Colocated | str]:
    """The constraint, and warnings for one that is required."""
    tokens = tokens_of(clauses)
    model = world.inventory.jobs.get((ask.namespace, ask.job))
    group = tuple(sorted(model.group(tokens) if model else tokens))
    labels = labels_of(group)
    job_pods = world.job_pods(ask.namespace, ask.job)
    occupied = job_pods.holding(labels) & world.everything
    roomy = room_beside(occupied, labels, job_pods, ask.requests, world)
    clause = joined(clauses)
    soft = ClauseName.COLOCATION in ask.soft
    yield Colocated(clause, soft, ask.job, occupied, roomy, tuple(sorted(tokens)), group)
    if not soft:
        yield from pod_terms.shared_hostnames(world)
        if not occupied:
            yield from pod_terms.ending(labels, (ask.namespace, ask.job), clause, world)
