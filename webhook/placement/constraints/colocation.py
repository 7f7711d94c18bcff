"""``hostColocation("t")``: pods of the job with the same token share a host (``docs/colocation.md``).

The scheduler counts a neighbour only if it matches *all* affinity terms of a pod, and lets a pod that matches its own
terms go anywhere. Two terms would be violated silently, so tokens that meet in one processing element form one group
with one label and one term.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement.annotations.placement_text import annotation, joined
from webhook.placement.constraints import pod_terms as neighbours
from webhook.placement.constraints.constraint import Constraint, Reason, Spread
from webhook.placement.constraints.shared_room import room_beside
from webhook.placement.inventory.job_model import tokens_of
from webhook.placement.inventory.job_pods import PodLabel
from webhook.placement.kube.bits import Bits
from webhook.placement.provision.effects import PREFERENCE, AddLabel, Effect, NearPods
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import Clause, ClauseName
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem


class Colocated(Struct, frozen=True, gc=False):
    """A pod's colocation group: its own ``tokens``, the whole ``group``, and where its live pods are.

    ``held`` are the nodes with pods of the group, ``roomy`` those of them with room for one more beside the others.
    """

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.TOGETHER
    clause: str
    soft: bool
    job: str
    tokens: tuple[str, ...]
    group: tuple[str, ...]
    held: Bits
    roomy: Bits
    node: str = ""

    def filter(self, world: World) -> Bits:
        """The nodes that run the group, if any, else all that have a host name of their own."""
        return world.inventory.nodes.own_hostname & (self.roomy if self.held else world.everything)

    def inject(self, _world: World) -> Iterable[Effect]:
        """A label for each token, one for the group if there are several, and one term."""
        for token in self.tokens:
            key, value = token_mark(token)
            yield AddLabel(self.clause, key, value)
        key, value = group_mark(self.group)
        if len(self.group) > 1:
            yield AddLabel(self.clause, key, value, firm=False)
        weight = PREFERENCE if self.soft else None
        yield NearPods(self.clause, neighbours.with_label(key, value, self.job), weight, firm=False)
        if not self.soft:
            yield neighbours.hostnamed(self.clause)

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Without a host name of its own, not where the group is, or no room there."""
        return neighbours.elsewhere(out, self.held, f"the pods of {self.clause}", world)

    def mend(self, _world: World, _out: Bits) -> str:
        """Nothing short of moving the others."""
        return ""


def token_mark(token: str) -> PodLabel:
    """The pod label of a token: its hash in the key, the token itself as the value."""
    return keys.COLOCATION + keys.digest(token), token


def group_mark(group: tuple[str, ...]) -> PodLabel:
    """The pod label of a group; that of the token where it is the only one. ``group`` is sorted."""
    if len(group) == 1:
        return token_mark(group[0])
    return keys.COLOCATION + keys.digest("\n".join(group)), keys.GROUP


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint for all tokens of the pod, and what is wrong with them."""
    clauses = ask.by_name.get(ClauseName.COLOCATION)
    if not clauses:
        return ()
    return list(_problems(clauses, ask, world)) or _together(clauses, ask, world)


def _problems(clauses: tuple[Clause, ...], ask: Ask, world: World) -> Iterator[Problem]:
    yield from neighbours.bad_tokens(clauses, annotation(keys.PLACEMENT))
    if not ask.job:
        yield neighbours.needs_job(str(clauses[0]))
        return
    tokens = tokens_of(clauses)
    if len(tokens) < 2 or ClauseName.COLOCATION in ask.soft:  # noqa: PLR2004 - one token needs no group
        return
    model = world.inventory.jobs.get((ask.namespace, ask.job))
    listed = joined(clauses)
    if model is None:
        message = f"{listed} join into one group that all pods of the job must know: a Job object of that name says so"
        yield Problem(f"metadata.labels[{keys.JOB}]", f"{message}, and there is none")
    elif not model.joins(tokens):
        message = (
            f"{listed} meet in no processing element of the Job object, so the job's other pods know no such group"
        )
        yield Problem(annotation(keys.PLACEMENT), message)


def _together(clauses: tuple[Clause, ...], ask: Ask, world: World) -> Iterator[Colocated | str]:
    tokens = tokens_of(clauses)
    model = world.inventory.jobs.get((ask.namespace, ask.job))
    group = tuple(sorted(model.group(tokens) if model else tokens))
    marks = [*map(token_mark, group), group_mark(group)]
    siblings = world.siblings(ask.namespace, ask.job)
    held = siblings.holding(marks) & world.everything
    roomy = room_beside(held, marks, siblings, ask.requests, world)
    clause = joined(clauses)
    soft = ClauseName.COLOCATION in ask.soft
    yield Colocated(clause, soft, ask.job, tuple(sorted(tokens)), group, held, roomy)
    if not soft:
        yield from neighbours.shared_hostnames(world)
        if not held:
            yield from neighbours.ending(marks, (ask.namespace, ask.job), clause, world)
