"""Family of the pod's own ``topologySpreadConstraints`` with ``DoNotSchedule``, judged as the scheduler does.

Source: ``podtopologyspread/common.go`` and ``filtering.go`` of Kubernetes. The live pods that a constraint counts are
known only if its selector is over labels of this product and within the pod's own job, or if it can match no other pod.
Otherwise a pod is refused only for what cannot hold whatever pods run (``docs/spread.md``).
"""

import functools
import operator
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from msgspec import Struct

from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Finished, Reason, Spread
from webhook.placement.constraints.topology_limit import MaxSkew, Places
from webhook.placement.inventory.job_pods import JobPods
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.pod import HARD, Requirement, SpreadConstraint
from webhook.placement.kube.selection.selector import holds, requirements_of
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.template_pods import template_pods_of
from webhook.placement.request.ask import Ask
from webhook.placement.request.pod_text import spread
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import AddNode, Fix, LabelNode
from webhook.placement.text.rule import Rule

HONOR, IGNORE = "Honor", "Ignore"

_OF_NODE = "DaemonSet"
"""Kind whose pods are each tied to a node of their own, so that these pods are always evenly spread."""


class TopologySpread(ConstraintDefaults, frozen=True, gc=False):
    """One topology spread constraint: ``reach`` are nodes with its label, ``nodes`` those that can take the pod now.

    ``limit`` says how many pods of the template its domains take; ``None`` if that is not known, or such pods do not
    count. ``over`` says what other domains would exceed. ``new`` tells that a node in a new domain would help,
    ``crowded`` are nodes that could not take the pod if they were the only ones with the label.
    """

    rule: ClassVar[str] = Rule.OWN_SPREAD
    verb: ClassVar[str] = "drop"
    soft: ClassVar[bool] = False
    node: ClassVar[str] = ""
    clause: Clause
    key: str
    reach: Bits
    nodes: Bits
    over: str = ""
    limit: MaxSkew | None = None
    new: bool = False
    crowded: Bits = 0
    separable: bool = False
    """Whether no other constraint counts within the nodes with this one's label."""

    @property
    def topology(self) -> str:
        """The topology key."""
        return self.key

    @property
    def spread(self) -> Spread | MaxSkew:
        """The limit by domain, if it is known."""
        return self.limit or Spread.FREE

    def filter(self, _world: World) -> Bits:
        """Nodes of domains that would not exceed the skew."""
        return self.nodes

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """Nodes without the label, then nodes of domains that would exceed the skew."""
        unlabelled = out & ~self.reach
        if unlabelled:
            yield Reason(f"does not have the label {self.key}", f"do not have the label {self.key}", unlabelled)
        if out & self.reach:
            what = f"in a {self.key} that would exceed {self.over}"
            yield Reason(f"is {what}", f"are {what}", out & self.reach)

    def fix(self, _world: World, out: Bits) -> Fix | None:
        """Label a node, or add one in a new domain, which has none of the pods and so can take one."""
        if not self.new:
            return None
        if not self.reach and out & ~self.crowded:
            return LabelNode(more=1, labels={self.key: None})
        return AddNode(having=f"another {self.key}", otherwise=True)


class _Counted(Struct, frozen=True, gc=False):
    """The live pods that a constraint counts: those of ``others`` that meet ``needs``, and the workload's ``own``."""

    others: JobPods
    own: JobPods
    needs: tuple[Requirement, ...] = ()

    def places(self, within: Bits) -> Places:
        """The slot of each of the ``others`` that counts and runs within these nodes."""
        counted_slots = (slot for slot, pod in self.others.pods.values() if within >> slot & 1 and self._counts(pod))
        return np.fromiter(counted_slots, np.intp)

    def _counts(self, pod: PodInfo) -> bool:
        """Whether the labels of the pod meet all requirements."""
        labels = {keys.JOB: pod.job, **({keys.PE: pod.pe} if pod.pe else {}), **pod.labels}
        return all(holds(need, labels.get(need.key)) for need in self.needs)


_NO_PODS = _Counted(JobPods(), JobPods())


class _Scheduler:
    """Judges the topology spread constraints of one finished pod as the scheduler does."""

    def __init__(self, constraints: Sequence[SpreadConstraint], ask: Ask, world: World, finished: Finished) -> None:
        self._ask, self._world, self._finished = ask, world, finished
        self._peers = template_pods_of(finished.labels, ask.references)
        self._sole = len(constraints) == 1
        with_keys = (world.with_key(one.topology_key) for one in constraints)
        self._labelled = functools.reduce(operator.and_, with_keys, world.everything)

    def judged(self, one: SpreadConstraint) -> Iterator[Constraint | str]:
        """The constraint ``one``, and a warning if the pods that it counts are not known."""
        key, clause, reach = one.topology_key, spread(one), self._world.with_key(one.topology_key)
        matched, counted = self._matched(one), self._counted(one)
        if counted is None or matched is None:
            yield f"{clause}: the counted pods are not checked; this pod waits while they are spread too unevenly"
        skew = self._skew(one, counted) if counted else self._short(one)
        nodes = reach & skew.open(int(matched or False)) if counted and skew else reach
        new = self._sole and self._finished.open_to_new(key)
        crowded = self._crowded(one, counted) if matched and counted and not reach else 0
        limit = skew if matched else None
        yield TopologySpread(clause, key, reach, nodes, _over(one, skew), limit, new, crowded, self._sole)

    def _matched(self, one: SpreadConstraint) -> bool | None:
        """Whether pods of this template count; ``None`` if that is not known.

        The scheduler counts no pod for a selector without requirements.
        """
        unselective = not self._needs(one) and not self._peers.revised(one.match_label_keys)
        matched = self._peers.match(one.label_selector, one.match_label_keys)
        return False if matched and unselective else matched

    def _counted(self, one: SpreadConstraint) -> _Counted | None:
        """The live pods that the constraint counts; ``None`` if these are not known."""
        if self._unknown(one):
            return None
        needs, own = self._needs(one), self._world.leavers(self._ask.namespace, self._ask.job)
        if self._peers.revised(one.match_label_keys):
            return None if own is None else _Counted(JobPods(), own)
        if one.label_selector is None or not needs:
            return _NO_PODS
        within = self._ask.job and Requirement(keys.JOB, "In", (self._ask.job,)) in needs
        if own is None or not within or not all(need.key.startswith(keys.PREFIX) for need in needs):
            return None
        return _Counted(self._world.job_pods(self._ask.namespace, self._ask.job), own, needs)

    def _crowded(self, one: SpreadConstraint, counted: _Counted) -> Bits:
        """Nodes with so many pods that count that one more exceeds the skew where another domain has none."""
        if (one.min_domains or 1) == 1:
            return 0  # a domain that is the only one is never ahead of others
        slots, pods = np.unique(counted.places(self._world.everything), return_counts=True)
        return union(1 << int(slot) for slot in slots[pods >= one.max_skew])

    def _short(self, one: SpreadConstraint) -> MaxSkew | None:
        """The limit that holds whatever pods run; ``None`` without one.

        With fewer domains than ``minDomains`` the scheduler takes 0 for the pods in the emptiest domain.
        """
        own = self._world.leavers(self._ask.namespace, self._ask.job)
        if own is None or self._unknown(one):
            return None
        skew = self._skew(one, _Counted(JobPods(), own))
        return skew if skew.short else None

    def _unknown(self, one: SpreadConstraint) -> bool:
        """Whether what the constraint counts is known only once the pod is created, or once a pool has its hosts."""
        alone = self._peers.single.intersection(one.match_label_keys or ())
        return bool(alone) or one.topology_key.startswith(keys.MEMBERSHIP) or self._peers.kind == _OF_NODE

    def _needs(self, one: SpreadConstraint) -> tuple[Requirement, ...]:
        """The requirements of the selector, and those that ``matchLabelKeys`` add."""
        selector = one.label_selector
        return (*requirements_of(selector), *self._peers.same(one.match_label_keys)) if selector else ()

    def _skew(self, one: SpreadConstraint, counted: _Counted) -> MaxSkew:
        """The limit by domain, given the pods that the constraint counts."""
        domains = self._world.inventory.nodes.domains_of(one.topology_key)
        within = self._labelled
        within &= within if one.node_affinity_policy == IGNORE else self._finished.required
        within &= self._finished.tolerated if one.node_taints_policy == HONOR else within
        others = counted.places(within)
        slots = [slot for slot, _ in counted.own.pods.values() if self._world.everything >> slot & 1]
        own = np.array([slot for slot in slots if within >> slot & 1], np.intp)
        present = domains.having(within)
        return MaxSkew(
            one.topology_key,
            domains,
            self._world.with_key(one.topology_key),
            one.max_skew,
            present,
            int(present.sum()) < (one.min_domains or 1),
            domains.counts(others),
            own,
            len(slots) - len(own),
            self._finished.open_to_new(one.topology_key),
        )


def parse(ask: Ask, world: World, finished: Finished) -> Iterator[Constraint | str]:
    """One constraint for each with ``DoNotSchedule``; none for a pod that goes past the scheduler."""
    own = ask.spec.topology_spread_constraints or ()
    hard = () if finished.past else tuple(one for one in own if one.when_unsatisfiable == HARD)
    if hard:
        scheduler = _Scheduler(hard, ask, world, finished)
        for one in hard:
            yield from scheduler.judged(one)


def _over(one: SpreadConstraint, skew: MaxSkew | None) -> str:
    """What other domains would exceed, in words."""
    few = one.min_domains if skew and skew.short else None
    there = f", as only {int(skew.counted.sum())} of minDomains {few} exist" if skew and few else ""
    return f"maxSkew {one.max_skew}{there}"
