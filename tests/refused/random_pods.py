"""Random pods and workloads in random clusters, as properties of refusals draw them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, Json
from tests.placement.properties.generated_pods import pod
from tests.placement.properties.oracle.replicas import Many, decided
from tests.placement.properties.random_choices import RandomChoices
from tests.placement.properties.refusals.dropped_clauses import without
from tests.placement.properties.refusals.proposed_changes import crowd_with, with_change
from tests.placement.properties.refusals.test_proposed_changes import OWN, OWN_OF_MANY, check_change, proposed, runs
from tests.placement.properties.refusals.test_refusals import check_conflict, fit, own_fix
from tests.placement.properties.replicas.test_replica_fit import (
    DROPPED,
    FITTING,
    LOWERED,
    check_conflict_of_many,
    own_fix_of_many,
    room,
)
from tests.placement.properties.strategies import cluster
from tests.refused.census import Tried
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.text.problem import Fault


@dataclass(frozen=True)
class TriedPod:
    """A pod in a cluster."""

    pod: Json
    cluster: Cluster

    @cached_property
    def decision(self) -> Decision:
        """The decision about it."""
        return decision_core.decided(self.pod, self.cluster)

    def refused(self) -> bool:
        """Whether no node can run it, whether or not nodes are to come."""
        return self.decision.refusal is not None

    @property
    def refusal(self) -> Refusal:
        """Why it is refused."""
        assert self.decision.refusal
        return self.decision.refusal

    def check_fixes(self) -> bool:
        """The change of the cluster admits it; what its author is to do opens as many nodes as the text says."""
        change = proposed(self.refusal.text, OWN)
        if change:
            check_change(change, self.pod, self.cluster)
        own = own_fix(self.pod, self.decision)
        assert own is None or fit(own[0], self.cluster, own[1]) == own[2], self.refusal.text
        assert change or own or "no single change helps" in self.refusal.text, self.refusal.text
        return bool(change or own)

    def check_smallest(self) -> bool:
        """The clauses of the first line are a smallest conflict."""
        if self.refusal.fault is not Fault.FORBIDDEN:
            return False
        check_conflict(self.pod, self.cluster, self.decision)
        return True

    def followed(self) -> list[Tried]:
        """The case after the first fix."""
        if ways := [*self._changed()]:
            return [*ways]
        own = own_fix(self.pod, self.decision)
        return [TriedPod(without(own[0], own[1]), self.cluster)] if own else []

    def _changed(self) -> Sequence["TriedPod"]:
        change = proposed(self.refusal.text, OWN)
        return [TriedPod(*case) for case in with_change(change, self.pod, self.cluster)] if change else []


@dataclass(frozen=True)
class TriedWorkload:
    """So many equal pods in a cluster, of which one could run."""

    pod: Json
    cluster: Cluster
    count: int

    @cached_property
    def decision(self) -> Decision:
        """The decision about them."""
        return decided(self.pod, self.cluster, self.count)

    def refused(self) -> bool:
        """Whether there is no room for all of them, though for one."""
        if self.decision.refusal is None:
            return False
        one = decided(self.pod, self.cluster, 1)
        return runs(one) and not one.ask.elastic

    @property
    def refusal(self) -> Refusal:
        """Why they are refused."""
        assert self.decision.refusal
        return self.decision.refusal

    def check_fixes(self) -> bool:
        """Each change makes as much room as the text says, and fewer of them are admitted."""
        text = self.refusal.text
        fewer = LOWERED.search(text)
        assert fewer, text
        assert runs(decided(self.pod, self.cluster, int(fewer[1]))), text
        have = Many(self.pod, self.cluster).room(self.count)
        counted = FITTING.search(self.refusal.headline)
        assert counted, text
        assert (int(counted[1]), int(counted[2])) == (have, self.count), text
        if ways := [*self._changed()]:
            more = have + 1 if "more nodes are needed" in text else self.count
            assert any(
                runs(decided(one.pod, one.cluster, more)) and Many(one.pod, one.cluster).room(more) == more
                for one in ways
            ), text
        if own := own_fix_of_many(self.pod, self.decision):
            assert room(own[0], self.cluster, own[1], self.count) == own[2], text
        return True

    def check_smallest(self) -> bool:
        """The clauses of the first line are a smallest conflict."""
        if self.refusal.fault is not Fault.FORBIDDEN:
            return False
        check_conflict_of_many(self.pod, self.cluster, self.count, self.decision)
        return True

    def followed(self) -> list[Tried]:
        """The case after the first fix that is said to be enough."""
        if "more nodes are needed" not in self.refusal.text and (ways := [*self._changed()]):
            return [*ways]
        own = own_fix_of_many(self.pod, self.decision)
        if own and own[2] >= self.count:
            return [TriedWorkload(without(own[0], own[1]), self.cluster, self.count)]
        fewer = LOWERED.search(self.refusal.text)
        return [TriedWorkload(self.pod, self.cluster, int(fewer[1]))] if fewer else []

    def _changed(self) -> Sequence["TriedWorkload"]:
        """What the change of the cluster comes to; nothing if there is none before what its author could do."""
        change = DROPPED.sub("", proposed(self.refusal.text, OWN_OF_MANY) + ".").removesuffix(".")
        missing = self.count - Many(self.pod, self.cluster).room(self.count)
        if not change:
            return []
        return [TriedWorkload(*case, self.count) for case in crowd_with(change, self.pod, self.cluster, missing)]


def random_pod(seed: int) -> TriedPod:
    """The pod of that number."""
    chance = random.Random(seed)  # noqa: S311 -- the same cases each time
    return TriedPod(pod(RandomChoices(chance.randbytes(420))), cluster(RandomChoices(chance.randbytes(360))))


def random_workload(seed: int) -> TriedWorkload:
    """The workload of that number: up to twelve pods."""
    chance = random.Random(seed)  # noqa: S311 -- the same cases each time
    one = random_pod(chance.getrandbits(32))
    return TriedWorkload(one.pod, one.cluster, chance.randint(1, 12))
