"""Pods that ask for hardware, against an independent judge, and in a second pass."""

from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, Json
from tests.placement.properties.generated_pods import equipped
from tests.placement.properties.inventory.test_memo import body
from tests.placement.properties.inventory.test_updates import apply, history
from tests.placement.properties.oracle.expected_pod import Intended
from tests.placement.properties.oracle.hardware import BOUND, exclusively
from tests.placement.properties.oracle.replicas import Many, decided
from tests.placement.properties.oracle.request import amounts
from tests.placement.properties.pods.test_patches import patch_of, patched
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placement.properties.strategies import clusters
from webhook.admission.mutate import Known, Ruling, mutate
from webhook.placement.request.memo import Memo


@given(clusters(), equipped())
@examples(300)
def test_one_node_has_all_that_is_required_and_granted(cluster: Cluster, pod: Json) -> None:
    found = decision_core.candidates(pod, decision_core.inventory(cluster))
    assume(found is not None)
    given, offering = decision_core.oracle(pod, cluster).granted()
    event(f"{len(given)} wishes granted")
    assert found == offering


@given(clusters(), equipped())
@examples(200)
def test_containers_ask_for_exactly_what_they_are_given(cluster: Cluster, pod: Json) -> None:
    assume(BOUND not in pod["metadata"]["annotations"])
    spec, intended = patched(pod, cluster)["spec"], Intended(decision_core.oracle(pod, cluster), cluster)
    assert {part: amounts(spec, part) for part in ("requests", "limits")} == intended.resources()


@given(clusters(), equipped())
@examples(200)
def test_a_second_pass_changes_nothing_and_leaves_the_same_nodes(cluster: Cluster, pod: Json) -> None:
    result = patched(pod, cluster)
    assert patch_of(result, cluster) == []
    assert decision_core.candidates(result, decision_core.inventory(cluster)) == decision_core.candidates(
        pod, decision_core.inventory(cluster)
    )


@given(clusters(), equipped(), st.integers(1, 6))
@examples(150)
def test_replicas_need_room_for_what_they_require_and_for_no_wish(cluster: Cluster, pod: Json, count: int) -> None:
    one = decided(pod, cluster, 1)
    assume(not one.refused and not one.refusal and not one.ask.elastic)
    assert decided(pod, cluster, count).refused == (Many(pod, cluster).room(count) < count)


@given(clusters(), equipped(), drawn(60, lambda choices: choices))
@examples(150)
def test_a_memo_never_changes_what_is_granted(cluster: Cluster, pod: Json, choices: RandomChoices) -> None:
    """Whatever takes a device, and gives it back."""
    inventory, memo = decision_core.inventory(cluster), Memo[Ruling]()
    updates: list[Any] = [update for update in history(choices, cluster) if update[0] in {"pod", "job"}]
    for update in [None, *updates]:
        if update is not None:
            apply(inventory, update)
        assert mutate(body(pod), inventory, decision_core.POLICY, Known(memo)) == mutate(
            body(pod), inventory, decision_core.POLICY
        )


@given(clusters(), equipped())
@examples(50)
def test_a_bound_pod_has_limits_that_are_its_requests(cluster: Cluster, pod: Json) -> None:
    """A pod of no job: whether others of its job are bound is another matter."""
    del pod["spec"]["containers"][1:]
    pod["spec"]["containers"][0].pop("resources", None)
    pod["metadata"]["annotations"] = (pod["metadata"].get("annotations") or {}) | exclusively("main")
    pod["metadata"].pop("labels", None)
    spec = patched(pod, cluster)["spec"]
    assert amounts(spec, "limits") == amounts(spec, "requests") == {("main", "cpu"): 2000, ("main", "memory"): 2**29}
