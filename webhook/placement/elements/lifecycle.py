"""The state machine of a processing element: its state in, one next step out (``docs/jobs.md``, the restart table).

The step's status is written first, then its act is done. Each act can be done twice without harm, and the next look
continues from wherever the controller was killed. An end is counted once: ``status.ended`` names the last launch that
ended.
"""

import enum
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.elements.element_pod import ElementPod
from webhook.placement.elements.element_status import FINAL, FINAL_PHASE, ElementPhase, ElementStatus, Ended
from webhook.placement.elements.restart_policy import LONG, LaunchOutcome, RestartPolicy, delay, outcome_of
from webhook.placement.kube.timestamps import seconds_of, timestamp
from webhook.placement.objects.condition import UNKNOWN, ConditionState

MESSAGE_LIMIT: Final = 1024
"""Characters of a message of a pod that the status keeps."""


class Act(enum.Enum):
    """What a step does besides writing the status."""

    NONE = enum.auto()
    LOOK = enum.auto()
    """Ask the API server for the pod of the launch, and look again: with its uid in ``present``, or with ``gone``."""
    RAISE = enum.auto()
    """Set ``spec.launchCount`` to the step's launch."""
    CREATE = enum.auto()
    """Create the pod of the step's launch, and look again."""
    DELETE = enum.auto()
    """Delete the step's pods."""


class ElementState(Struct, frozen=True, kw_only=True):
    """A processing element at one moment.

    ``pods`` are all pods of its name, also those of an earlier object of that name, as far as the watch has brought
    them. ``present`` is the uid of the pod of the present launch, if the API server has just said so; ``looked`` tells
    that it has none. ``gone`` is that pod, as it was last seen, if it is known to be deleted. ``hold`` is why no pod
    may be created now, if none may.
    """

    uid: str
    launch: int
    content_id: str
    policy: RestartPolicy
    status: ElementStatus
    pods: Sequence[ElementPod] = ()
    present: str = ""
    looked: bool = False
    gone: ElementPod | None = None
    hold: ConditionState | None = None


class Step(Struct, frozen=True):
    """The status, which is to be written first, and the act; ``wait`` are seconds until the next look, if needed."""

    status: ElementStatus
    act: Act = Act.NONE
    launch: int = 0
    pods: tuple[ElementPod, ...] = ()
    wait: float | None = None


def next_step(state: ElementState, now: float) -> Step:
    """The next step of a processing element that is not being deleted; ``now`` are seconds since 1970."""
    before, launch = state.status, state.launch
    if launch < max(before.launch_count, 1):
        # A name of a pod is never used twice.
        return Step(before, Act.RAISE, before.launch_count + 1)
    own = [pod for pod in state.pods if pod.owner == state.uid and pod.launch == launch]
    created = before.launch_count == launch
    known = state.present or (before.pod_uid if created else "")
    pod = next((pod for pod in own if pod.uid == known), None)
    last = pod or state.gone
    status = before
    if before.counted != launch and last is not None:
        status = _seen(before if created else _asked(before, launch), last)
        status = _counted(status, last, state.policy, now) if last.terminal or pod is None else status
    elif before.counted != launch and (created or own) and not state.looked:
        return Step(before, Act.LOOK)
    return _next_act(state, status, pod, now)


def _next_act(state: ElementState, status: ElementStatus, pod: ElementPod | None, now: float) -> Step:
    """The act for an element with that status, whose pod of the present launch is ``pod``."""
    ended = status.counted == state.launch
    if pod is not None and _outdated(state, pod) and (not ended or status.phase in FINAL):
        return Step(status, Act.RAISE, state.launch + 1)
    if stale := tuple(_stale(state, status, pod)):
        return Step(status, Act.DELETE, pods=stale)
    if ended and status.phase not in FINAL:
        return Step(status, Act.RAISE, state.launch + 1)
    return Step(status) if ended or pod is not None else _create(state, _asked(status, state.launch), now)


def _outdated(state: ElementState, pod: ElementPod) -> bool:
    """Whether the pod has outdated content and is not being deleted."""
    return not pod.deleting and pod.content_id != state.content_id


def _seen(status: ElementStatus, pod: ElementPod) -> ElementStatus:
    """The status of an element whose pod exists and has not been counted as ended."""
    running = pod.phase == "Running"
    trouble = pod.unready or pod.trouble
    return replace(
        status,
        phase=ElementPhase.RUNNING if running else ElementPhase.PENDING,
        launch_count=pod.launch,
        pod=pod.name,
        pod_uid=pod.uid,
        node=pod.node,
        created=ConditionState(holds=True, reason="Created"),
        scheduled=ConditionState(holds=True, reason="Bound") if pod.node else _unscheduled(pod),
        ready=ConditionState(holds=True, reason="PodReady")
        if pod.ready
        else ConditionState(
            holds=False, reason="PodNotReady" if running else "PodPending", message=trouble or pod.unscheduled
        ),
    )


def _unscheduled(pod: ElementPod) -> ConditionState:
    return ConditionState(
        holds=False, reason="Unschedulable" if pod.unscheduled else "Waiting", message=pod.unscheduled
    )


def _counted(status: ElementStatus, pod: ElementPod, policy: RestartPolicy, now: float) -> ElementStatus:
    """The status after the end of the launch: of a pod that is terminal, or gone."""
    outcome, restarts = outcome_of(pod), policy.restarts(pod)
    before = 0 if pod.ran(now) >= LONG else status.failures
    reason = pod.disruption or pod.reason
    ended = Ended(
        launch_count=pod.launch,
        outcome=outcome.value,
        exit_code=pod.exit_code,
        reason=reason,
        message=pod.message[:MESSAGE_LIMIT],
        finished_at=timestamp(now),
    )
    return replace(
        status,
        phase=ElementPhase.PENDING if restarts else FINAL_PHASE[outcome],
        restarts=status.restarts + restarts,
        failures=before if outcome is LaunchOutcome.DELETED else before + 1,
        ended=ended,
        ready=ConditionState(holds=False, reason=f"Pod{outcome.value}", message=_words(ended)),
    )


def _words(ended: Ended) -> str:
    code = "" if ended.exit_code is None else f"exit code {ended.exit_code}"
    return ": ".join(filter(None, (ended.reason, code, ended.message)))


def _stale(state: ElementState, status: ElementStatus, current: ElementPod | None) -> Iterable[ElementPod]:
    """The pods that are to be deleted: all but the present one, and but the newest failed one if those are kept.

    A pod of the present launch that lives although the launch's end was counted is one that was created late, by a
    controller that no longer leads.
    """
    own = [pod for pod in state.pods if pod.owner == state.uid]
    failed = [pod for pod in own if pod.failed and not state.policy.delete_failed]
    kept = max(failed, key=lambda pod: pod.launch, default=None)
    ended = status.counted == state.launch
    for pod in own:
        late = ended and not pod.terminal
        spent = ended and pod.failed and status.phase in FINAL and state.policy.delete_failed
        if not pod.deleting and pod is not kept and (pod is not current or late or spent):
            yield pod


def _asked(status: ElementStatus, launch: int) -> ElementStatus:
    """The status of an element whose pod of that launch is still to be created.

    A launch that was requested, and does not follow from the end of the last one, begins without failures.
    """
    follows = status.ended is not None and status.counted == launch - 1 and status.phase not in FINAL
    cleared = replace(status, phase=ElementPhase.PENDING, pod="", pod_uid="", node="", scheduled=UNKNOWN)
    return cleared if follows else replace(cleared, failures=0)


def _create(state: ElementState, status: ElementStatus, now: float) -> Step:
    """Create the pod, unless another pod of the element lives, something holds it back, or the back-off is not over."""
    alive = next((pod for pod in state.pods if not pod.terminal), None)
    if alive is not None:
        return _on_hold(
            status, ConditionState(holds=False, reason="OtherPodLeft", message=f"pod {alive.name} has not ended yet")
        )
    if state.hold is not None:
        return _on_hold(status, state.hold)
    if (wait := _seconds_to_launch(status, state.launch, now)) > 0:
        pause = f"it has ended {status.failures} times in a row; restarting after {delay(status.failures):g} s"
        return _on_hold(status, ConditionState(holds=False, reason="BackOff", message=pause), wait)
    return Step(status, Act.CREATE, state.launch)


def _on_hold(status: ElementStatus, why: ConditionState, wait: float | None = None) -> Step:
    return Step(replace(status, created=why, ready=why), wait=wait)


def _seconds_to_launch(status: ElementStatus, launch: int, now: float) -> float:
    """Seconds until the next launch is due; 0 if it does not follow from the end of the last one.

    An end in the future means that a clock was set back since; no pause then takes more than twice its time.
    """
    ended = status.ended
    if ended is None or ended.launch_count != launch - 1 or ended.outcome == LaunchOutcome.DELETED:
        return 0.0
    pause = delay(status.failures)
    since = seconds_of(ended.finished_at)
    if since is None or since + pause - now > 2 * pause:
        return 0.0
    return min(pause, since + pause - now)
