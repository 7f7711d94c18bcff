"""Random changes and deletions of nodes that break HostPools or end what runs there, and what is advised first."""

import random
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import msgspec

from tests.answers import response
from tests.builders import Json, review
from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster
from tests.placement.properties.random_choices import RandomChoices
from tests.placement.properties.strategies import cluster
from tests.refused.census import Tried
from webhook.admission.validate import validate
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Phase

BROKEN: Final = re.compile(r"HostPool (\S+)/(\S+): its ")
ADVICE: Final = re.compile(
    r"Nearest fix: (?:delete (?P<pools>the HostPool|these HostPools))?(?: and )?"
    r"(?P<ended>end the processing elements that run there)? first, or let the setting guard_nodes be warn\."
)
ENDING: Final = Policy(guard_nodes="refuse")


@dataclass(frozen=True)
class TriedNode:
    """A node of a cluster that is to lose its labels, to get a taint, or to be deleted."""

    cluster: Cluster
    node: Node
    change: str

    @cached_property
    def text(self) -> str:
        """The refusal; empty if the change is admitted."""
        return self._answered(ENDING)

    def _answered(self, policy: Policy) -> str:
        old = _object(self.node)
        new: Json | None = _object(self.node)
        if self.change == "delete":
            new = None
        elif self.change == "label":
            new = _object(Node(self.node.name, self.node.uid, {}, self.node.taints, (), {}))
        else:
            taints = [*old["spec"]["taints"], {"key": "dedicated", "value": "x", "effect": self.change}]
            new = {**old, "spec": {"taints": taints}}
        fields: Json = {"kind": "Node", "namespace": "", "name": self.node.name}
        request = review(new, "UPDATE" if new else "DELETE", old=old, **fields)
        answer = response(validate(request, decision_core.inventory(self.cluster), policy))
        return "" if answer["allowed"] else answer["status"]["message"]

    def refused(self) -> bool:
        """Whether the change is refused."""
        return bool(self.text)

    def check_fixes(self) -> bool:
        """The change is admitted after all that is advised, and not after less; the setting admits it, too."""
        assert not self._answered(Policy(guard_nodes="warn"))
        pools, ended = self._advised()
        assert not self._after(pools, ended=ended).refused(), self.text
        for pool in pools:
            assert self._after(pools - {pool}, ended=ended).refused(), self.text
        assert not ended or self._after(pools, ended=False).refused(), self.text
        return True

    def check_smallest(self) -> bool:
        """The advice is about the pools that are named, if there are any."""
        said = ADVICE.fullmatch(self.text.splitlines()[-1])
        assert said, self.text
        assert (said["pools"] is not None) is bool(BROKEN.search(self.text)), self.text
        return True

    def followed(self) -> list[Tried]:
        """The change after all that is advised."""
        pools, ended = self._advised()
        return [self._after(pools, ended=ended)]

    def _advised(self) -> tuple[set[tuple[str, str]], bool]:
        said = ADVICE.fullmatch(self.text.splitlines()[-1])
        assert said, self.text
        pools = {(found[1], found[2]) for found in BROKEN.finditer(self.text)}
        assert not said["pools"] or (len(pools) == 1) is (said["pools"] == "the HostPool"), self.text
        return pools if said["pools"] else set(), said["ended"] is not None

    def _after(self, gone: set[tuple[str, str]], *, ended: bool) -> "TriedNode":
        """The case once these pools are deleted, which are there until their pods have ended."""
        pools = tuple(
            msgspec.structs.replace(pool, phase=Phase.RELEASING) if (pool.namespace, pool.name) in gone else pool
            for pool in self.cluster.pools
        )
        pods = tuple(pod for pod in self.cluster.pods if not (ended and pod.node == self.node.name and pod.job))
        return replace(self, cluster=replace(self.cluster, pools=pools, pods=pods))


def _object(node: Node) -> Json:
    taints = [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in node.taints]
    metadata = {"name": node.name, "uid": node.uid, "labels": dict(node.labels)}
    return {"kind": "Node", "metadata": metadata, "spec": {"taints": taints}}


def random_node(seed: int) -> TriedNode:
    """The change of that number; of a node that nothing depends on if the cluster has none."""
    chance = random.Random(f"node {seed}")  # noqa: S311 -- the same cases each time
    found = cluster(RandomChoices(chance.randbytes(360)))
    change = chance.choice(("delete", "label", "NoSchedule", "NoExecute"))
    nodes = found.nodes or (Node("unknown", "", {}, (), (), {}),)
    return TriedNode(found, chance.choice(nodes), change)
