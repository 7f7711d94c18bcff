"""Deleted pods leave nothing in the inventory, whatever they state: a user who may create pods can state anything."""

from collections.abc import Callable, Iterable

import pytest
from msgspec.structs import replace

from tests.builders import bound_pod, cluster, nodes
from tests.work import kept
from webhook.placement.kube.pod import Requirement
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.repelling import RepellingTerm

ROUNDS = 200
LEFT = 50_000
"""Bytes that may be left of all rounds: 250 of each."""


def shy(at: int) -> Iterable[PodInfo]:
    """Two pods that keep others away, by ten labels of their own."""
    needs = [(Requirement(f"example.com/{at}-{each}", "Exists"),) for each in range(10)]
    terms = tuple(RepellingTerm("zone", need, None) for need in needs)
    return [replace(bound_pod("node-a", uid=f"shy-{at}-{number}"), shuns=terms) for number in range(2)]


def devouring(at: int) -> Iterable[PodInfo]:
    """Pods on many nodes that request a resource of their own, which no node offers."""
    return [bound_pod(f"node-{on}", uid=f"{at}-{on}", requests={f"example.com/{at}": 1}) for on in range(10)]


@pytest.mark.untraced
@pytest.mark.parametrize("pods", [shy, devouring], ids=["podAntiAffinity", "requests"])
def test_nothing_is_left_of_pods_that_are_gone(pods: Callable[[int], Iterable[PodInfo]]) -> None:
    inventory = cluster(nodes(3))

    def come_and_go(at: int) -> None:
        there = list(pods(at))
        for one in there:
            inventory.set_pod(one)
        for one in there:
            inventory.remove_pod(one.uid)

    def all_come_and_go() -> None:
        for at in range(1, ROUNDS + 1):
            come_and_go(at)

    come_and_go(0)
    assert kept(all_come_and_go) < LEFT
