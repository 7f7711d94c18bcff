"""The change of the cluster that a refusal proposes opens a node, where it is made to the right one."""

import re

from hypothesis import assume, event, example, given
from msgspec.structs import replace

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import TEAM, Cluster, Json
from tests.placement.properties.generated_pods import requested
from tests.placement.properties.oracle.replicas import Many, decided
from tests.placement.properties.random_choices import examples
from tests.placement.properties.refusals.proposed_changes import crowd_with, with_change
from tests.placement.properties.refusals.test_refusals import refused
from tests.placement.properties.replicas.test_replica_fit import COUNTS, crowded
from tests.placement.properties.strategies import clusters
from tests.placement.properties.test_found_examples import node, ready
from webhook.placement.decision.decision import Decision
from webhook.placement.objects.pool import Phase, Pool

MADE_AGAIN = Cluster(
    (node("a"), replace(node("b"), uid="new")),
    pools=(ready("X", "a", "b", mode="Exclusive"), Pool(TEAM, "r", "R", hosts=("a", "b"), phase=Phase.PENDING)),
)
"""Exclusive pool X has lost its host b, which was made again; so the list of pool R is wrong about a only."""

ON_LISTED_HOST: Json = {
    "metadata": {"labels": {"streams.ibm.com/job": "j"}, "annotations": {"streams.ibm.com/placement": "A: host(R)"}},
    "spec": {"containers": [{"name": "main"}]},
}

HELPED = re.compile(r" \((?:(at least)|only) (\d+) of \d+ nodes helps?\)$")
"""How many nodes the change helps."""

OWN = re.compile(r"(?:^|, or )(?:(?:drop|lower) .* \(\d+ nodes? would fit\)|no single change helps.*)\.$")
OWN_OF_MANY = re.compile(r"(?:^|, or )(?:lower replicas to .*)\.$")


def proposed(text: str, own: re.Pattern[str]) -> str:
    """The first option of the last line, unless it is the user's own to take."""
    return own.sub("", text.rpartition("Nearest fix: ")[2]).removesuffix(".")


def runs(decision: Decision) -> bool:
    """Whether it is admitted, and not only because nodes are to come."""
    return not decision.refused and decision.refusal is None


@given(clusters(), requested())
@example(MADE_AGAIN, ON_LISTED_HOST)
@examples(200)
def test_the_change_that_is_proposed_admits_the_pod(cluster: Cluster, pod: Json) -> None:
    _, refusal = refused(pod, cluster)
    change = proposed(refusal.text, OWN)
    assume(change)
    event(" ".join(change.split(" ")[:4]))
    check_change(change, pod, cluster)


def check_change(change: str, pod: Json, cluster: Cluster) -> None:
    """The same of that change: it helps as many nodes as it says."""
    cases = with_change(change, pod, cluster)
    helping = (runs(decision_core.decided(*case)) and bool(decision_core.oracle(*case).candidates()) for case in cases)
    if found := HELPED.search(change):
        count, least = sum(helping), int(found[2])
        assert count == least or (found[1] and count > least), change
    else:
        assert any(helping), change


@given(clusters(), requested(), COUNTS)
@examples(100)
def test_the_change_that_is_proposed_makes_room_for_more(cluster: Cluster, pod: Json, count: int) -> None:
    """For all, unless it says how many nodes more are needed."""
    _, refusal = crowded(pod, cluster, count)
    change = proposed(refusal.text, OWN_OF_MANY)
    assume(change)
    event(" ".join(change.split(" ")[:4]))
    room = Many(pod, cluster).room(count)
    more = room + 1 if "more nodes are needed" in change else count
    cases = crowd_with(change, pod, cluster, count - room)
    assert any(runs(decided(*case, more)) and Many(*case).room(more) == more for case in cases), refusal.text
