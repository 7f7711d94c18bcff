"""RuntimeClasses and PriorityClasses: what pods get of them, and which pods are refused."""

from typing import Any

import msgspec
import pytest

from tests.placement.pod_defaults.completing import completed, known, messages
from webhook.placement.kube.pod import Pod, Toleration
from webhook.placement.pod_defaults.pod_defaults import ClassRef
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.pod_defaults.runtime_class import RuntimeClass, merged

HEAVY = RuntimeClass("heavy", {"cpu": "250m"})
THERE = RuntimeClass("there", {}, {"vm": "yes"}, (Toleration("vm", "Exists"),))
HIGH = PriorityClass("high", 1000)
NO_CLASS = "that of pods without a class: leave it to the API server"
LOST = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def named(**spec: Any) -> Pod:
    return msgspec.convert({"spec": spec}, Pod)


def test_pods_of_a_class_get_its_overhead() -> None:
    found = completed({}, HEAVY, runtimeClassName="heavy").spec
    assert found
    assert found.overhead == {"cpu": "250m"}


def test_pods_of_a_class_get_its_labels_and_tolerations() -> None:
    found = completed({}, THERE, runtimeClassName="there", nodeSelector={"a": "b"}).spec
    assert found
    assert found.node_selector == {"a": "b", "vm": "yes"}
    assert [one.key for one in found.tolerations or ()] == [*LOST, "vm"]


def test_a_class_that_says_nothing_adds_nothing() -> None:
    found = completed({}, RuntimeClass("plain"), runtimeClassName="plain").spec
    assert found
    assert (found.overhead, found.node_selector) == (None, None)


@pytest.mark.parametrize(
    ("runtime", "spec", "told"),
    [
        (HEAVY, {"overhead": {"cpu": "0.25"}}, []),
        (HEAVY, {"overhead": {"cpu": "1"}}, [
            'spec.overhead: is not that of RuntimeClass "heavy": leave it to the API server, which adds it',
        ]),
        (THERE, {"overhead": {"cpu": "1"}}, [
            'spec.overhead: is not that of RuntimeClass "there": leave it to the API server, which adds it',
        ]),
        (THERE, {"nodeSelector": {"vm": "yes"}}, []),
        (THERE, {"nodeSelector": {"vm": "no"}}, [
            'spec.nodeSelector[vm]: is "no", and RuntimeClass "there" selects "yes"',
        ]),
    ],
)  # fmt: skip
def test_what_the_pod_says_otherwise_is_refused(runtime: RuntimeClass, spec: Any, told: list[str]) -> None:
    assert messages(completed({}, runtime, runtimeClassName=runtime.name, **spec)) == told


def test_an_overhead_without_a_class_is_refused() -> None:
    told = "spec.overhead: is not that of a RuntimeClass that the pod names: leave it to the API server, which adds it"
    assert messages(completed({}, HEAVY, overhead={"cpu": "1"})) == [told]


def test_without_its_class_a_pod_has_nothing_of_it() -> None:
    both = RuntimeClass("both", {"cpu": "1"}, {"vm": "yes"}, (Toleration("vm", "Exists"),))
    pod = completed({}, both, runtimeClassName="both", nodeSelector={"a": "b"})
    found = pod.without_runtime_class()
    assert found.spec
    assert (found.spec.overhead, found.spec.node_selector, found.spec.runtime_class_name) == (None, {"a": "b"}, None)
    assert [one.key for one in found.spec.tolerations or ()] == [*LOST]
    assert found.without_runtime_class() is found


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        pytest.param(Toleration("a", "Exists"), Toleration("a", "Exists"), 1, id="equal ones"),
        pytest.param(Toleration("a", "Equal", "x"), Toleration("a", "Exists"), 1, id="every value of a key"),
        pytest.param(Toleration("a", "Exists"), Toleration("a", "Equal", "x"), 1, id="the wider one first"),
        pytest.param(Toleration("a", "Equal", "x"), Toleration(operator="Exists"), 1, id="every taint"),
        pytest.param(Toleration("a", "Exists"), Toleration("b", "Exists"), 2, id="other keys"),
        pytest.param(Toleration("a", "Equal", "x"), Toleration("a", "Equal", "y"), 2, id="other values"),
        pytest.param(Toleration("a", "Equal", "x", "NoSchedule"), Toleration("a", "Equal", "x"), 1, id="every effect"),
        pytest.param(
            Toleration("a", "Exists", effect="NoSchedule"), Toleration("a", "Exists", effect="NoExecute"), 2,
            id="other effects",
        ),
        pytest.param(Toleration("a", value="x", effect="NoExecute"), Toleration("a", value="x"), 2, id="no operators"),
        pytest.param(
            Toleration("a", "Exists", effect="NoExecute", toleration_seconds=5),
            Toleration("a", "Exists", effect="NoExecute", toleration_seconds=9), 1,
            id="for longer",
        ),
        pytest.param(
            Toleration("a", "Equal", "x", effect="NoExecute"),
            Toleration("a", "Exists", effect="NoExecute", toleration_seconds=9), 2,
            id="for ever and for a time",
        ),
        pytest.param(Toleration("a", "Near", "x"), Toleration("a", "Near", "y"), 2, id="unknown operators"),
    ],
)  # fmt: skip
def test_tolerations_that_another_one_includes_are_left_out(first: Toleration, second: Toleration, kept: int) -> None:
    assert len(merged([first], [second])) == kept


# Default tolerations


def test_every_pod_tolerates_lost_nodes_for_a_time_unless_it_says_otherwise() -> None:
    own = {"key": LOST[0], "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    found = completed({}, tolerations=[own]).spec
    assert found
    assert [(one.key, one.toleration_seconds) for one in found.tolerations or ()] == [(LOST[0], 5), (LOST[1], 300)]


def test_a_pod_that_tolerates_everything_gets_nothing_more() -> None:
    found = completed({}, tolerations=[{"operator": "Exists"}]).spec
    assert found
    assert len(found.tolerations or ()) == 1


# Priorities


@pytest.mark.parametrize(
    ("classes", "spec", "priority"),
    [
        ([], {}, ("", 0, "PreemptLowerPriority")),
        ([HIGH], {}, ("", 0, "PreemptLowerPriority")),
        ([HIGH], {"priorityClassName": "high"}, ("high", 1000, None)),
        ([PriorityClass("idle", -5, policy="Never")], {"priorityClassName": "idle"}, ("idle", -5, "Never")),
        ([PriorityClass("a", 5, default=True), PriorityClass("b", 3, default=True)], {}, ("b", 3, None)),
        ([HIGH], {"priorityClassName": "system-node-critical"}, (
            "system-node-critical", 2_000_001_000, "PreemptLowerPriority",
        )),
    ],
)  # fmt: skip
def test_a_pod_gets_the_priority_of_its_class(classes: list[PriorityClass], spec: Any, priority: Any) -> None:
    found = completed({}, *classes, **spec).spec
    assert found
    assert (found.priority_class_name, found.priority, found.preemption_policy) == priority


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"priority": 1000, "priorityClassName": "high"}, []),
        ({"priority": 5, "priorityClassName": "high"}, [
            'spec.priority: 5 is not 1000, that of PriorityClass "high": leave it to the API server',
        ]),
        ({"priority": 5}, [f"spec.priority: 5 is not 0, {NO_CLASS}"]),
        ({"preemptionPolicy": "Never"}, [
            f'spec.preemptionPolicy: "Never" is not PreemptLowerPriority, {NO_CLASS}',
        ]),
        ({"preemptionPolicy": "Never", "priorityClassName": "high"}, []),
    ],
)  # fmt: skip
def test_a_priority_that_the_class_does_not_give_is_refused(spec: Any, told: list[str]) -> None:
    assert messages(completed({}, HIGH, **spec)) == told


# Classes that are not known

MISSING = 'spec.runtimeClassName: there is no RuntimeClass "gone", so the API server refuses the pods'
UNKNOWN = 'spec.runtimeClassName: RuntimeClass "gone" is not known, so what it adds to the pods is not judged'


@pytest.mark.parametrize(
    ("objects", "closed", "told", "warned"),
    [
        pytest.param([HEAVY], True, [MISSING], (), id="others are known, and all are"),
        pytest.param([], True, [], (UNKNOWN,), id="none is known"),
        pytest.param([HEAVY], False, [], (UNKNOWN,), id="a watch may lag behind"),
    ],
)
def test_a_class_that_does_not_exist_is_refused_where_that_is_known(
    objects: list[RuntimeClass], *, closed: bool, told: list[str], warned: tuple[str, ...]
) -> None:
    found = known(*objects, closed=closed).completed(named(runtimeClassName="gone"), "default")
    assert (messages(found), found.warnings) == (told, warned)


def test_a_class_that_was_looked_for_in_vain_is_refused() -> None:
    pod = named(runtimeClassName="gone", priorityClassName="gone")
    objects = known(HEAVY)
    missing = list(objects.unknown(pod))
    assert missing == [
        ClassRef("RuntimeClass", "gone", "spec.runtimeClassName"),
        ClassRef("PriorityClass", "gone", "spec.priorityClassName"),
    ]
    assert messages(objects.looked_up([], missing).completed(pod, "default")) == [
        MISSING,
        'spec.priorityClassName: there is no PriorityClass "gone", so the API server refuses the pods',
    ]


def test_a_class_that_was_looked_up_counts_and_is_not_kept() -> None:
    objects = known()
    found = objects.looked_up([RuntimeClass("gone", {"cpu": "1"}), HIGH], [])
    pod = named(runtimeClassName="gone", priorityClassName="high")
    assert not list(found.unknown(pod))
    assert len(list(objects.unknown(pod))) == 2


def test_objects_that_are_gone_add_nothing() -> None:
    objects = known()
    objects.put_runtime_class(HEAVY)
    objects.put_priority_class(HIGH)
    assert not list(objects.unknown(named(runtimeClassName="heavy", priorityClassName="high")))
    objects.drop_runtime_class("heavy")
    objects.drop_priority_class("high")
    objects.drop_runtime_class("never there")
    pod = named(runtimeClassName="heavy", priorityClassName="high")
    assert len(list(objects.unknown(pod))) == 2


def test_a_complete_pod_stays_as_it_is() -> None:
    pod = known().completed(named(), "default")
    assert known(HIGH).completed(pod, "default") is pod
