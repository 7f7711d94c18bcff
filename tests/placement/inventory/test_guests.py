"""Pods of others that the taint of exclusive hosts does not keep away."""

import pytest

from tests.builders import bound_pod
from webhook.placement.inventory.guests import Guests
from webhook.placement.objects.pod import Guest, PodInfo

AGENT = Guest("DaemonSet/agent", ("NoSchedule", "NoExecute"))
EVICTED = Guest("DaemonSet/agent", ("NoExecute",))
LIAR = Guest("Pod/x", forged=True)
SPARED = frozenset({"kube-system"})


def pod(guest: Guest | None = AGENT, *, uid: str = "u", namespace: str = "logging") -> PodInfo:
    return bound_pod(job="", pe="", uid=uid, namespace=namespace, guest=guest)


def on(guests: Guests, nodes: int = -1, *, forged: bool = False) -> list[tuple[str, int]]:
    return list(guests.on(nodes, forged=forged))


@pytest.mark.parametrize(
    ("one", "counts"),
    [
        pytest.param(pod(), True, id="one that tolerates the taint"),
        pytest.param(pod(EVICTED), False, id="one that tolerates another effect"),
        pytest.param(pod(LIAR), True, id="one with a forged owner"),
        pytest.param(pod(None), False, id="any other"),
        pytest.param(pod(namespace="kube-system"), False, id="one of a namespace that is left alone"),
    ],
)
def test_some_pods_count(one: PodInfo, *, counts: bool) -> None:
    guests = Guests(SPARED)
    guests.add(0, one)
    assert guests.include(one) is counts
    assert bool(on(guests) + on(guests, forged=True)) is counts


def test_the_effect_that_counts_is_that_of_the_installation() -> None:
    assert Guests(SPARED, "NoExecute").include(pod(EVICTED))


def test_no_guest_is_kept_by_default() -> None:
    guests = Guests()
    guests.add(0, pod())
    assert (guests.include(pod()), on(guests)) == (False, [])


def test_replicas_are_one_guest_on_several_nodes() -> None:
    guests = Guests(SPARED)
    for slot, uid in ((0, "a"), (2, "b"), (2, "c")):
        guests.add(slot, pod(uid=uid))
    guests.add(1, pod(uid="d", namespace="audit"))
    assert on(guests) == [("DaemonSet audit/agent", 0b10), ("DaemonSet logging/agent", 0b101)]
    assert on(guests, 0b100) == [("DaemonSet logging/agent", 0b100)]


def test_those_that_lie_are_told_from_those_that_do_not() -> None:
    guests = Guests(SPARED)
    guests.add(0, pod(uid="a"))
    guests.add(0, pod(LIAR, uid="b"))
    assert (on(guests), on(guests, forged=True)) == ([("DaemonSet logging/agent", 1)], [("Pod logging/x", 1)])


def test_those_that_are_gone_are_forgotten() -> None:
    guests = Guests(SPARED)
    for slot, uid in ((0, "a"), (2, "b"), (2, "c")):
        guests.add(slot, pod(uid=uid))
    left = []
    for uid in ("b", "nobody", "c", "a"):
        guests.remove(uid)
        left.append([here for _, here in on(guests)])
    assert left == [[0b101], [0b101], [0b1], []]
