"""The state machine of a processing element: one step for each state, by the restart table."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from webhook.placement.elements.element_pod import ElementPod
from webhook.placement.elements.element_status import ElementPhase, ElementStatus, Ended
from webhook.placement.elements.lifecycle import Act, ElementState, Step, next_step
from webhook.placement.elements.restart_policy import LaunchOutcome, RestartPolicy, delay, outcome_of, restart_policy
from webhook.placement.objects.condition import ConditionState
from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, OperatorSpec, effective

NOW = 1_767_225_600.0
"""The beginning of 2026."""


def pod(launch: int = 1, phase: str = "Running", **more: Any) -> ElementPod:
    named = {"namespace": "default", "name": f"pe-{launch}", "uid": f"pod-{launch}", "element": "pe", "owner": "pe-uid"}
    return ElementPod(**{**named, "launch": launch, "phase": phase, "content_id": "c", **more})


def state(*pods: ElementPod, launch: int = 1, policy: RestartPolicy | None = None, **more: Any) -> ElementState:
    status = more.pop("status", None) or created(launch - 1)
    return ElementState(
        uid="pe-uid", launch=launch, content_id="c", policy=policy or RestartPolicy(), status=status, pods=pods, **more
    )


def created(launch: int, **more: Any) -> ElementStatus:
    """The pod of that launch was created."""
    return ElementStatus(launch_count=launch, pod_uid=f"pod-{launch}" if launch else "", **more)


def ended(launch: int, outcome: str = "Failed", at: str = "2026-01-01T00:00:00Z") -> Ended:
    return Ended(launch_count=launch, outcome=outcome, finished_at=at)


def step(*pods: ElementPod, now: float = NOW, **more: Any) -> Step:
    return next_step(state(*pods, **more), now)


# Creation


def test_the_pod_of_a_new_element_is_created() -> None:
    found = step()
    assert (found.act, found.launch, found.status.phase) == (Act.CREATE, 1, ElementPhase.PENDING)


def test_nothing_is_created_while_the_job_is_not_complete() -> None:
    hold = ConditionState(holds=False, reason="WaitingForPools", message="it waits for 1 HostPool")
    found = step(hold=hold)
    assert (found.act, found.status.created, found.status.ready) == (Act.NONE, hold, hold)


@pytest.mark.parametrize("deleting", [False, True])
def test_no_pod_is_created_beside_one_that_lives(*, deleting: bool) -> None:
    found = step(pod(3, owner="of an element before", deleting=deleting))
    assert (found.act, found.status.created.message) == (Act.NONE, "pod pe-3 has not ended yet")


def test_a_pod_that_has_ended_blocks_no_launch() -> None:
    assert step(pod(3, "Failed", owner="of an element before")).act is Act.CREATE


def test_a_pod_that_was_just_created_is_the_one_of_its_launch() -> None:
    found = step(pod(1, "Pending", node=""), present="pod-1")
    status = found.status
    assert (found.act, status.launch_count, status.pod, status.pod_uid) == (Act.NONE, 1, "pe-1", "pod-1")
    assert (status.created.holds, status.scheduled.holds, status.phase) == (True, False, ElementPhase.PENDING)


def test_a_pod_that_only_the_watch_knows_is_asked_for_first() -> None:
    assert step(pod(1)).act is Act.LOOK
    assert step(pod(1), looked=True).act is Act.DELETE


def test_what_a_running_pod_says_is_in_the_status() -> None:
    status = step(pod(1, node="node-a", ready=True), status=created(1)).status
    ready = ConditionState(holds=True, reason="PodReady")
    assert (status.phase, status.node, status.ready) == (ElementPhase.RUNNING, "node-a", ready)


def test_the_words_of_the_scheduler_are_in_the_status() -> None:
    words = "0/3 nodes are available"
    found = step(pod(1, "Pending", unscheduled=words), status=created(1))
    assert found.status.scheduled == ConditionState(holds=False, reason="Unschedulable", message=words)
    assert found.status.ready == ConditionState(holds=False, reason="PodPending", message=words)


def test_what_a_container_waits_for_is_in_the_status() -> None:
    found = step(pod(1, "Pending", node="a", trouble="ErrImagePull: no such image"), status=created(1))
    assert found.status.ready == ConditionState(holds=False, reason="PodPending", message="ErrImagePull: no such image")


# The restart table, row by row

COMPLETED: dict[str, Any] = {"phase": "Succeeded", "exit_code": 0}
FAILED: dict[str, Any] = {"phase": "Failed", "exit_code": 1}
EVICTED: dict[str, Any] = {"phase": "Failed", "disruption": "EvictionByEvictionAPI"}
DELETED: dict[str, Any] = {"phase": "Running"}


@pytest.mark.parametrize(
    ("end", "policy", "phase"),
    [
        (COMPLETED, RestartPolicy(completed=False), ElementPhase.COMPLETED),
        (COMPLETED, RestartPolicy(completed=True), ElementPhase.PENDING),
        (FAILED, RestartPolicy(failed=False), ElementPhase.FAILED),
        (FAILED, RestartPolicy(failed=True), ElementPhase.PENDING),
        (EVICTED, RestartPolicy(failed=False), ElementPhase.FAILED),
        (EVICTED, RestartPolicy(failed=True), ElementPhase.PENDING),
        ({**EVICTED, "phase": "Succeeded"}, RestartPolicy(failed=True), ElementPhase.PENDING),
        ({**COMPLETED, "deleting": True}, RestartPolicy(deleted=True), ElementPhase.PENDING),
        ({**COMPLETED, "deleting": True}, RestartPolicy(deleted=False), ElementPhase.COMPLETED),
        ({**FAILED, "deleting": True}, RestartPolicy(failed=False, deleted=True), ElementPhase.PENDING),
        ({**FAILED, "deleting": True}, RestartPolicy(failed=False), ElementPhase.FAILED),
    ],
    ids=["completed", "completed, restart", "failed", "failed, restart", "evicted", "evicted, restart",
         "evicted, ended well", "completed as it was deleted, restart", "completed as it was deleted",
         "failed as it was deleted, restart", "failed as it was deleted"],
)  # fmt: skip
def test_an_end(end: dict[str, Any], policy: RestartPolicy, phase: ElementPhase) -> None:
    restarts = phase is ElementPhase.PENDING
    found = step(pod(1, **end), policy=replace(policy, delete_failed=False), status=created(1))
    assert (found.status.phase, found.status.restarts, found.status.counted) == (phase, int(restarts), 1)
    assert (found.act, found.launch) == ((Act.RAISE, 2) if restarts else (Act.NONE, 0))


@pytest.mark.parametrize("restarts", [False, True])
def test_a_deleted_pod(*, restarts: bool) -> None:
    policy = RestartPolicy(deleted=restarts, completed=True, failed=True)
    found = step(status=created(1), policy=policy, gone=pod(1, **DELETED))
    assert found.status.phase is (ElementPhase.PENDING if restarts else ElementPhase.STOPPED)
    assert (found.act is Act.RAISE, found.status.restarts, found.status.failures) == (restarts, int(restarts), 0)


def test_a_pod_that_is_being_deleted_is_waited_for() -> None:
    found = step(pod(1, deleting=True, content_id="another"), status=created(1))
    assert (found.act, found.status.phase, found.status.counted) == (Act.NONE, ElementPhase.RUNNING, 0)


def test_a_pod_that_is_not_there_is_asked_for() -> None:
    assert step(status=created(1)) == Step(created(1), Act.LOOK)


def test_how_a_pod_ended_that_is_gone_counts() -> None:
    found = step(status=created(1), gone=pod(1, "Failed", exit_code=3, reason="Error", message="out of luck"))
    assert found.status.ended == Ended(
        launch_count=1, outcome="Failed", exit_code=3, reason="Error", message="out of luck",
        finished_at="2026-01-01T00:00:00Z",
    )  # fmt: skip
    assert found.status.ready.message == "Error: exit code 3: out of luck"


@pytest.mark.parametrize(
    ("stated", "operators", "restarts"),
    [
        (None, [None], True), (None, [True, True], True), (None, [True, False], False), (None, [], True),
        (True, [False], True), (False, [True], False),
    ],
)  # fmt: skip
def test_null_means_what_the_operators_say(
    *, stated: bool | None, operators: list[bool | None], restarts: bool
) -> None:
    made = tuple(OperatorSpec("Op", restartable=each) for each in operators)
    element = ElementSpec(operators=made, restart_failed_pod=stated)
    assert restart_policy(element, effective(element, JobSpec())).failed is restarts


# After an end


def test_an_end_counts_once() -> None:
    first = step(pod(1, "Failed"), status=created(1)).status
    again = step(pod(1, "Failed"), status=first)
    assert (again.status, again.act, again.launch) == (first, Act.RAISE, 2)


def test_a_failed_pod_is_deleted_before_the_next_one_is_created() -> None:
    failed = pod(1, "Failed")
    found = step(failed, launch=2, status=created(1, ended=ended(1)))
    assert (found.act, found.pods) == (Act.DELETE, (failed,))


def test_a_failed_pod_that_is_not_restarted_is_deleted_after_its_status_was_written() -> None:
    failed = pod(1, "Failed", exit_code=1)
    found = step(failed, policy=RestartPolicy(failed=False), status=created(1))
    assert (found.act, found.pods, found.status.phase) == (Act.DELETE, (failed,), ElementPhase.FAILED)


def test_one_failed_pod_is_kept_if_failed_pods_are_not_to_be_deleted() -> None:
    old, last, completed = pod(1, "Failed"), pod(2, "Failed"), pod(3, "Succeeded")
    policy = RestartPolicy(delete_failed=False)
    found = step(old, last, completed, launch=4, policy=policy, status=created(3, ended=ended(3, "Completed")))
    assert (found.act, found.pods) == (Act.DELETE, (old, completed))


def test_the_completed_pod_of_an_element_that_is_done_stays() -> None:
    status = created(1, phase=ElementPhase.COMPLETED, ended=ended(1, "Completed"))
    assert step(pod(1, "Succeeded"), status=status) == Step(status)


def test_a_pod_that_came_late_is_deleted() -> None:
    """A controller that no longer leads has created it again after its launch ended."""
    late = pod(1, uid="late")
    found = step(late, status=created(1, phase=ElementPhase.STOPPED, ended=ended(1, "Deleted")))
    assert (found.act, found.pods) == (Act.DELETE, (late,))


def test_a_pod_of_a_launch_before_is_deleted() -> None:
    found = step(pod(1), launch=2, status=created(1))
    assert (found.act, found.pods) == (Act.DELETE, (pod(1),))
    waiting = step(pod(1, deleting=True), launch=2, status=created(1))
    assert (waiting.act, waiting.status.created.reason) == (Act.NONE, "OtherPodLeft")


def test_other_content_is_another_launch() -> None:
    found = step(pod(1, content_id="old"), status=created(1))
    assert (found.act, found.launch) == (Act.RAISE, 2)


@pytest.mark.parametrize(("launch", "had", "raised"), [(2, 5, 6), (0, 0, 1), (-3, 0, 1)])
def test_a_launch_count_that_was_lowered_is_raised_above_the_last_launch(launch: int, had: int, raised: int) -> None:
    found = step(launch=launch, status=created(had))
    assert (found.act, found.launch) == (Act.RAISE, raised)


# Back-off


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(0, 0), (1, 0), (2, 10), (3, 20), (4, 40), (5, 80), (6, 160), (7, 300), (8, 300), (10**9, 300)],
)
def test_the_delay_is_that_of_kubelets(failures: int, seconds: float) -> None:
    assert delay(failures) == seconds


def test_the_first_restart_is_at_once() -> None:
    assert step(launch=2, status=created(1, ended=ended(1), failures=1)).act is Act.CREATE


def test_later_restarts_wait() -> None:
    status = created(1, ended=ended(1), failures=3)
    found = step(launch=2, status=status, now=NOW + 4)
    assert (found.act, found.wait, found.status.created.reason) == (Act.NONE, 16, "BackOff")
    assert found.status.ready.message == "it has ended 3 times in a row; restarting after 20 s"
    assert step(launch=2, status=status, now=NOW + 20).act is Act.CREATE


@pytest.mark.parametrize(("back", "wait"), [(0, 10), (1, 10), (10, 10), (11, None), (10**6, None)])
def test_a_clock_that_went_back_makes_an_element_wait_twice_as_long_at_most(back: float, wait: float | None) -> None:
    found = step(launch=2, status=created(1, ended=ended(1), failures=2), now=NOW - back)
    assert (found.wait, found.act) == (wait, Act.NONE if wait else Act.CREATE)


@pytest.mark.parametrize(
    "status",
    [
        created(1, ended=ended(1), failures=9, phase=ElementPhase.FAILED),
        created(1, ended=ended(0), failures=9),
        created(1, failures=9),
    ],
    ids=["after the last restart", "while it ran", "that never ended"],
)
def test_a_requested_launch_does_not_wait(status: ElementStatus) -> None:
    found = step(launch=2, status=status)
    assert (found.act, found.status.failures) == (Act.CREATE, 0)


def test_a_restart_after_a_deletion_does_not_wait() -> None:
    assert step(launch=2, status=created(1, ended=ended(1, "Deleted"), failures=9)).act is Act.CREATE


def test_an_end_whose_time_is_not_known_delays_no_launch() -> None:
    assert step(launch=2, status=created(1, ended=ended(1, at="?"), failures=9)).act is Act.CREATE


@pytest.mark.parametrize(("seconds", "failures"), [(599, 6), (600, 1)])
def test_an_element_that_ran_for_long_starts_over(seconds: float, failures: int) -> None:
    long = pod(1, "Failed", started=NOW - seconds, finished=NOW)
    assert step(long, status=created(1, failures=5)).status.failures == failures


# Laws

phases = st.sampled_from(["Pending", "Running", "Succeeded", "Failed"])
pods = st.builds(
    pod,
    st.integers(1, 4),
    phases,
    deleting=st.booleans(),
    disruption=st.sampled_from(["", "PreemptionByScheduler"]),
    content_id=st.sampled_from(["c", "d"]),
    owner=st.sampled_from(["pe-uid", "pe-uid", "another"]),
)
statuses = st.builds(
    ElementStatus,
    phase=st.sampled_from(ElementPhase),
    launch_count=st.integers(0, 4),
    pod_uid=st.sampled_from(["", "pod-1", "pod-2", "pod-3"]),
    failures=st.integers(0, 9),
    ended=st.none() | st.builds(ended, st.integers(1, 4), st.sampled_from(["Failed", "Completed", "Deleted"])),
)
states = st.builds(
    ElementState,
    uid=st.just("pe-uid"),
    launch=st.integers(0, 5),
    content_id=st.just("c"),
    policy=st.builds(RestartPolicy, st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    status=statuses,
    pods=st.lists(pods, max_size=4, unique_by=lambda each: each.uid).map(tuple),
    present=st.sampled_from(["", "pod-1", "pod-2"]),
    looked=st.booleans(),
    hold=st.none() | st.just(ConditionState(holds=False, reason="JobDeleting")),
)


@given(states)
def test_a_pod_is_created_only_where_none_lives(state: ElementState) -> None:
    if next_step(state, NOW).act is Act.CREATE:
        assert all(each.terminal for each in state.pods)
        assert (state.hold, state.status.counted != state.launch) == (None, True)


@given(states)
def test_restarts_grow_by_one_and_with_an_end(state: ElementState) -> None:
    before, found = state.status, next_step(state, NOW)
    gained = found.status.restarts - before.restarts
    assert gained in {0, 1}
    assert not gained or found.status.counted == state.launch != before.counted


@given(states)
def test_a_second_look_counts_no_end_again(state: ElementState) -> None:
    found = next_step(state, NOW)
    again = next_step(replace(state, status=found.status), NOW)
    assert next_step(state, NOW) == found
    if found.act is not Act.LOOK:
        assert (again.status.ended, again.status.restarts) == (found.status.ended, found.status.restarts)


@given(states)
def test_the_launch_count_never_falls(state: ElementState) -> None:
    found = next_step(state, NOW)
    assert found.act is not Act.RAISE or found.launch > max(state.launch, 0)


@given(states)
def test_only_the_elements_own_pods_are_deleted(state: ElementState) -> None:
    assert all(each.owner == "pe-uid" and not each.deleting for each in next_step(state, NOW).pods)


def test_outcomes() -> None:
    found = [
        outcome_of(pod(1, phase, disruption=disruption))
        for phase, disruption in itertools.product(["Succeeded", "Failed", "Running"], ["", "Evicted"])
    ]
    names = LaunchOutcome
    assert found == [names.COMPLETED, names.FAILED, names.FAILED, names.FAILED, names.DELETED, names.FAILED]
