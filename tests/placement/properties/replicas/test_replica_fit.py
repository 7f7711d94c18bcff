"""Room for many equal pods, and what a refusal of them says, against a count node by node."""

import dataclasses
import re
from collections.abc import Collection

from hypothesis import assume, event, example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import TEAM, Cluster, Json, standing
from tests.placement.properties.generated_pods import requested
from tests.placement.properties.oracle.replicas import Many, decided
from tests.placement.properties.random_choices import examples
from tests.placement.properties.refusals.dropped_clauses import without
from tests.placement.properties.refusals.test_refusals import TO, lowered, named, words
from tests.placement.properties.strategies import clusters
from tests.placement.properties.test_found_examples import node, ready
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.decision.replica_fit import ReplicaFit
from webhook.placement.objects.pool import Phase
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault

COUNTS = st.integers(1, 12)
"""Few enough to count by hand, more than most of the clusters hold."""

FITTING = re.compile(r": (\d+) of (\d+) pods? fits?(?:,.*| on .*)?\.$")
DROPPED = re.compile(r"^((?:drop|lower) .*?) \((\d+) of \d+ would fit\)\.$")
RUNNING = re.compile(r"^replicas \d+: (\d+) of (\d+) pods? runs? at a time \(.+\)$")
LOWERED = re.compile(r"lower replicas to (\d+)")

ELASTIC = Cluster((node("a"), node("b")), pools=(ready("R", "a", "b", elastic=True),))
"""Two nodes with room for two pods each, in a pool to which nodes are added."""

ON_ONE_HOST: Json = {
    "metadata": {"labels": {"streams.ibm.com/job": "j"}, "annotations": {"streams.ibm.com/placement": "A: host(R)"}},
    "spec": {"containers": [{"name": "main"}], "nodeName": "a"},
}


def crowded(pod: Json, cluster: Cluster, count: int) -> tuple[Decision, Refusal]:
    """The decision about so many pods of which one could run, but not all."""
    one = decided(pod, cluster, 1)
    assume(not one.refused and not one.refusal and not one.ask.elastic)
    decision = decided(pod, cluster, count)
    assume(decision.refusal)
    assert decision.refusal is not None
    return decision, decision.refusal


@given(clusters(), requested(), COUNTS)
@examples(250)
def test_there_is_room_for_as_many_as_a_count_node_by_node_finds(cluster: Cluster, pod: Json, most: int) -> None:
    decision = decision_core.decided(pod, cluster)
    assume(decision.verdict is not None)
    assert decision.verdict is not None
    world = World(decision_core.inventory(cluster), decision_core.POLICY)
    many = Many(pod, cluster)
    found = many.room(most)
    event(f"room for {found}")
    assert ReplicaFit(decision.ask, decision.verdict.hard, world).room(most) == found


@given(clusters(), requested(), COUNTS)
@examples(100)
def test_so_many_are_refused_exactly_if_there_is_no_room_for_all(cluster: Cluster, pod: Json, count: int) -> None:
    one = decided(pod, cluster, 1)
    assume(not one.refused and not one.refusal and not one.ask.elastic)
    assert decided(pod, cluster, count).refused == (Many(pod, cluster).room(count) < count)


@given(clusters(), requested(), COUNTS, st.booleans())
@examples(150)
def test_they_are_refused_exactly_if_fewer_than_needed_fit(
    cluster: Cluster,
    pod: Json,
    count: int,
    in_turn: bool,  # noqa: FBT001 -- drawn
) -> None:
    one = decided(pod, cluster, 1)
    assume(not one.refused and not one.refusal and not one.ask.elastic)
    room = Many(pod, cluster).room(count)
    decision = decided(pod, cluster, count, in_turn=in_turn)
    event(f"{'in turn' if in_turn else 'at a time'}, {'all' if room == count else 'some'} fit")
    assert decision.refused == (room < (1 if in_turn else count))


@given(clusters(), requested(), COUNTS)
@examples(100)
def test_a_warning_says_exactly_how_many_run_at_a_time(cluster: Cluster, pod: Json, count: int) -> None:
    decision = decided(pod, cluster, count, in_turn=True)
    assume(not decision.refused and not decision.refusal)
    room = Many(pod, cluster).room(count)
    said = [(int(found[1]), int(found[2])) for found in map(RUNNING.match, decision.warnings) if found]
    assert said == ([(room, count)] if room < count else [])


@given(clusters(), requested(), COUNTS, st.booleans())
@examples(75)
def test_what_is_suspended_is_refused_exactly_if_no_change_of_the_cluster_could_help(
    cluster: Cluster,
    pod: Json,
    count: int,
    in_turn: bool,  # noqa: FBT001 -- drawn
) -> None:
    found = decided(pod, cluster, count, in_turn=in_turn)
    later = decided(pod, cluster, count, in_turn=in_turn, suspended=True)
    assert later.refused == (found.refused and found.fault is Fault.INVALID)


@given(clusters(), requested(), COUNTS)
@examples(50)
def test_more_of_what_is_refused_are_refused_too(cluster: Cluster, pod: Json, count: int) -> None:
    assume(decided(pod, cluster, count).refused)
    assert all(decided(pod, cluster, more).refused for more in (count + 1, 2 * count, 10**6))


@given(clusters(), requested(), COUNTS)
@examples(50)
def test_the_first_line_names_a_smallest_conflict(cluster: Cluster, pod: Json, count: int) -> None:
    """The clauses alone leave too little room; without any one of them the others do not, or all else that it says."""
    decision, refusal = crowded(pod, cluster, count)
    assume(refusal.fault is Fault.FORBIDDEN)
    event(f"{len(refusal.clauses) - 1} clauses")
    check_conflict_of_many(pod, cluster, count, decision)


def check_conflict_of_many(pod: Json, cluster: Cluster, count: int, decision: Decision) -> None:
    """The same of so many pods that are refused by that decision for what the cluster is."""
    assert decision.refusal
    *clauses, said = decision.refusal.clauses
    assert said == f"replicas {count}"
    written = words(decision)
    firm = {clause for clause in written if room(pod, cluster, {clause}, count) is None}
    rest = written.keys() - firm.union(clauses)
    left = room(pod, cluster, rest, count)
    assert left is not None
    assert left < count
    for clause in set(clauses) - firm:
        # Without all of it such a pod may be refused for something else: what is left may contradict itself.
        enough = room(pod, cluster, {*rest, clause}, count) in (count, None)
        assert enough or room(pod, cluster, {clause}, count) == count, clause


def room(pod: Json, cluster: Cluster, dropped: Collection[str], count: int) -> int | None:
    """The room that there would be if the author of the pod dropped these words; nothing if they must stay."""
    rewritten = without(pod, dropped)
    decision = decided(rewritten, cluster, count)
    if decision.refused and decision.refusal is None:
        return None
    found = Many(rewritten, cluster).room(count)
    # Without its nodeName, a pod of an elastic pool waits for a node that is added: it is admitted with a warning.
    assert (decision.refusal is None) == (found >= count or decision.ask.elastic)
    return found


@given(clusters(), requested(), COUNTS)
@examples(50)
def test_what_it_counts_is_true(cluster: Cluster, pod: Json, count: int) -> None:
    _, refusal = crowded(pod, cluster, count)
    found = FITTING.search(refusal.headline)
    assert found, refusal.headline
    assert (int(found[1]), int(found[2])) == (Many(pod, cluster).room(count), count)


@given(clusters(), requested(), COUNTS)
@examples(50)
def test_fewer_fit_if_it_says_so(cluster: Cluster, pod: Json, count: int) -> None:
    _, refusal = crowded(pod, cluster, count)
    fewer = LOWERED.search(refusal.text)
    assert fewer
    assert not decided(pod, cluster, int(fewer[1])).refused


@given(clusters(), requested(), COUNTS)
@example(ELASTIC, ON_ONE_HOST, 5)
@examples(50)
def test_without_the_clause_that_it_names_as_many_fit_as_it_says(cluster: Cluster, pod: Json, count: int) -> None:
    decision, refusal = crowded(pod, cluster, count)
    found = own_fix_of_many(pod, decision)
    assume(found)
    assert found is not None
    rewritten, left, fitting = found
    event("lowered" if not left else "".join(left).partition("(")[0].partition(" ")[0])
    assert room(rewritten, cluster, left, count) == fitting, refusal.text


def own_fix_of_many(pod: Json, decision: Decision) -> tuple[Json, set[str], int] | None:
    """The pod with requests lowered as the refusal says, what else is to be dropped, and how many fit then.

    Nothing if the refusal names no such fix.
    """
    assert decision.refusal
    found = DROPPED.search(decision.refusal.text.rpartition(", or ")[2])
    if found is None:
        return None
    [dropped], to = named(TO.sub("", found[1]), words(decision)), TO.search(found[1])
    if to:
        return lowered(pod, to[1]), set(), int(found[2])
    return pod, {dropped}, int(found[2])


@given(clusters(), requested(), COUNTS, st.sampled_from(["Deployment/w", "CronJob/w"]))
@examples(50)
def test_pods_of_its_own_count_as_if_they_were_gone(cluster: Cluster, pod: Json, count: int, owner: str) -> None:
    """As neighbours: what they use is free only for who waits, and pools that get hosts see who runs where."""
    assume(not Many(pod, cluster).asked.bound)
    assume(all(pool.phase is Phase.READY for pool in cluster.pools if pool.sized))
    assume(all(len(standing(pool, cluster.nodes)) == len(pool.assigned) for pool in cluster.pools))
    own = {at for at, found in enumerate(cluster.pods) if found.job and found.namespace == TEAM and at % 2}
    run = owner.replace("CronJob/w", "Job/w-29391840")
    live = tuple(replace(found, owner=run) if at in own else found for at, found in enumerate(cluster.pods))
    gone = tuple(found for at, found in enumerate(cluster.pods) if at not in own)
    before = decided(pod, dataclasses.replace(cluster, pods=live), count, owner=owner)
    after = decided(pod, dataclasses.replace(cluster, pods=gone), count)
    event(f"{len(own)} leave")
    assert (before.refused, before.message) == (after.refused, after.message)


@given(clusters(), requested(), COUNTS)
@examples(50)
def test_the_same_is_always_said_the_same_way(cluster: Cluster, pod: Json, count: int) -> None:
    first, second = (decided(pod, cluster, count) for _ in range(2))
    assert (first.message, first.warnings) == (second.message, second.warnings)


@given(clusters(), requested(), st.integers(0, 2**31))
@examples(50)
def test_however_many_they_are_the_answer_is_short(cluster: Cluster, pod: Json, count: int) -> None:
    assert re.fullmatch(r"[\x20-\x7e\n]{0,1024}", decided(pod, cluster, count).message)
