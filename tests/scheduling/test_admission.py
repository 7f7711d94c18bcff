"""What is admitted runs where it may and nowhere else; what is refused could run nowhere: as kube-scheduler has it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hypothesis import event, given

from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.scheduling import product_answers
from tests.scheduling.clause_meaning import broken, hidden
from tests.scheduling.clusters import CLUSTER_BYTES, RandomCluster
from tests.scheduling.passing_conditions import (
    allowed,
    arbitrated,
    goes_past,
    in_the_end,
    needs_company,
    told_to_wait,
    with_its_job,
)
from tests.scheduling.pods import POD_BYTES, asking
from tests.scheduling.scheduler import possible
from tests.scheduling.state import Cluster, manifests
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

Json = Mapping[str, Any]


class Case(NamedTuple):
    """A pod that is created in a cluster, and the pods that are left of the cluster's a while later.

    With an elastic policy nobody is refused for want of a node.
    """

    cluster: Cluster
    pod: dict[str, Any]
    left: tuple[Json, ...]
    policy: Policy

    def __repr__(self) -> str:
        """The cluster and the pod in YAML."""
        left = [pod["metadata"]["name"] for pod in self.left]
        return f"{self.cluster!r}# created:{manifests([self.pod])}# left {left}, elastic {self.policy.elastic}"


def case(choices: RandomChoices) -> Case:
    random_cluster = RandomCluster(choices.part(CLUSTER_BYTES))
    pod = asking(choices.part(POD_BYTES), random_cluster.names, 9)
    pod["spec"].pop("schedulingGates", None)
    kept, policy = choices.face(256), product_answers.ELASTIC if choices.face(6) == 5 else product_answers.POLICY
    left = tuple(one for at, one in enumerate(random_cluster.cluster.pods) if kept >> at % 8 & 1)
    return Case(random_cluster.cluster, pod, left, policy)


MAKE = case, CLUSTER_BYTES + POD_BYTES + 2


@given(drawn(MAKE[1], MAKE[0]))
@examples(800)
def test_a_pod_is_admitted_or_refused_as_the_scheduler_would_have_it(found: Case) -> None:
    ruling = product_answers.admitted(found.pod, found.cluster, found.policy)
    if ruling.pod is None:
        event("refused for want of a node" if ruling.wants_nodes else f"refused with {ruling.code}")
        assert not ruling.wants_nodes or has_no_node(found)
        return
    event("admitted, could run now" if _places(ruling.pod, found.cluster) else "admitted, others must finish")
    keeps_its_clauses(found, ruling.pod)
    if ruling.pod["spec"].get("nodeName") and not found.pod["spec"].get("nodeName"):
        event("bound by us")
        drops_nothing(found, ruling.pod)
    if not told_to_wait(ruling.warnings) and not needs_company(found.pod):
        assert in_the_end(found.pod, ruling.pod, found.cluster), "admitted without a word, but no node can ever run it"


def keeps_its_clauses(found: Case, final: Json) -> None:
    """Wherever the scheduler may bind it: now, when all but its job's pods have gone, and when any of them have."""
    for later in (found.cluster, with_its_job(found.pod, found.cluster), found.cluster.only(found.left.__contains__)):
        for name in _places(final, later):
            wrong = broken(found.pod, later.by_name[name], later)
            if goes_past(found.pod):  # where others keep apart from is for the scheduler to find, which the pod avoids
                wrong = [what for what in wrong if what != "run-apart-from"]
            if found.policy.elastic and hidden(found.pod, later):
                wrong = [what for what in wrong if not what.startswith(("hostColocation", "uniform all-same-node"))]
            assert not wrong, name


def _places(pod: Json, cluster: Cluster) -> list[str]:
    """Where the pod can be: there, if it is bound already."""
    bound = pod["spec"].get("nodeName")
    return [bound] if bound else possible(pod, cluster)


def drops_nothing(found: Case, final: Json) -> None:
    """A pod that we bind could have been bound there by the scheduler, and has nothing in it that only that keeps."""
    free = {**final, "spec": {key: value for key, value in final["spec"].items() if key != "nodeName"}}
    assert final["spec"]["nodeName"] in possible(free, found.cluster)
    asked_outright = keys.HOST_BINDING in found.pod["metadata"]["annotations"]
    assert not arbitrated(found.pod if asked_outright else free)


def has_no_node(found: Case) -> bool:
    """Neither now nor when everything but its job has gone is there a node that a person would let the pod have."""
    states = [found.cluster] if goes_past(found.pod) else [found.cluster, with_its_job(found.pod, found.cluster)]
    return not any(allowed(found.pod, later) for later in states)
