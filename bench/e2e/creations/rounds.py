"""The rounds: every round runs all variants, so that other load on the machine affects all of them alike."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from bench.e2e import counters, usage
from bench.e2e.clients.orders import Order, Outcome
from bench.e2e.clients.variants import VARIANTS, Variant
from bench.e2e.cluster import Cluster
from bench.e2e.counters import Calls
from bench.e2e.creations.options import Options
from bench.e2e.usage import Usage
from bench.trouble import Trouble
from tests.e2e.client.api import Api
from tests.e2e.polling import until

_SETTLE: Final = 0.5
"""Seconds after a deletion until everybody has heard of it."""

_EMPTY_SECONDS: Final = 120


class Slot(Struct, frozen=True):
    """One variant's turn in one round: with so many clients, what they saw, and what servers counted meanwhile."""

    round: int
    variant: str
    clients: int
    outcome: Outcome
    calls: Mapping[str, Calls]
    usage: Usage


def measure(cluster: Cluster, chosen: Options, tell: Callable[[str], None]) -> list[Slot]:
    """Every turn of every round; the pods of a turn are gone before the next begins."""
    _warm_up(cluster, chosen)
    slots: list[Slot] = []
    began = time.monotonic()
    for number in range(1, chosen.rounds + 1):
        passed = time.monotonic() - began
        if number > 1 and passed * number / (number - 1) > chosen.seconds:
            tell(f"no time for another round within {chosen.seconds} s")
            break
        slots += _round(cluster, chosen, number)
        tell(f"round {number} of {chosen.rounds}: {_in_words(slots, number, chosen.clients)}")
    cluster.chart.present()
    return slots


def _round(cluster: Cluster, chosen: Options, number: int) -> Iterator[Slot]:
    """Every variant's turns: of one client, and of all."""
    # After those of the warm-ups, and none twice: what was kept of a text must not serve another round.
    first = warm_ups(chosen) + (number - 1) * (chosen.pods + chosen.singles)
    for variant in turns(number):
        cluster.chart.present() if variant.chart else cluster.chart.absent()
        yield _slot(cluster, variant, number, Order("create", chosen.singles, 1, variant.name, first))
        many = Order("create", chosen.pods, chosen.clients, variant.name, first + chosen.singles)
        yield _slot(cluster, variant, number, many)
        _delete(cluster.admin, variant.namespace)


def warm_ups(chosen: Options) -> int:
    """Pods that are only asked for, as dry runs: of the first numbers."""
    return max(chosen.pods, 2 * chosen.clients)


def turns(number: int) -> Sequence[Variant]:
    """The order in a round: another one of those without the chart begins each time, every other round goes backwards.

    Those with the chart are the last of one round and the first of the next, so that it comes and goes seldom.
    """
    without = [each for each in VARIANTS.values() if not each.chart]
    start = number // 2 % len(without)
    turned = [*without[start:], *without[:start], *(each for each in VARIANTS.values() if each.chart)]
    return turned[::-1] if number % 2 else turned


def _warm_up(cluster: Cluster, chosen: Options) -> None:
    """The first requests of all find small heaps and empty pools."""
    for variant in VARIANTS.values():
        cluster.load.carry_out(Order("try", chosen.pods, chosen.clients, variant.name))


def _slot(cluster: Cluster, variant: Variant, number: int, order: Order) -> Slot:
    connecting = Order("try", 2 * order.clients, order.clients, variant.name)
    cluster.load.carry_out(connecting)  # the clients to the API server, and that to the webhook
    called, used = counters.calls(cluster.admin), usage.now(cluster.pids)
    outcome = cluster.load.carry_out(order)
    spent = usage.between(used, usage.now(cluster.pids))
    if not outcome.ok:
        raise Trouble(f"{variant.title}: no pod could be created: {outcome.errors}, {outcome.examples}")
    calls = counters.between(called, counters.calls(cluster.admin))
    return Slot(number, variant.name, order.clients, outcome, calls, spent)


def _delete(admin: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    admin.delete(path, gracePeriodSeconds="0")
    until(lambda: not admin.get(path, limit="1")["items"], f"{path} is empty", _EMPTY_SECONDS)
    time.sleep(_SETTLE)


def _in_words(slots: Sequence[Slot], number: int, clients: int) -> str:
    return ", ".join(_rates(slots, number, clients)) + _remark(slots, number)


def _rates(slots: Sequence[Slot], number: int, clients: int) -> Iterator[str]:
    for slot in slots:
        if (slot.round, slot.clients) == (number, clients):
            yield f"{slot.variant} {slot.outcome.rate:,.0f}/s"


def _remark(slots: Sequence[Slot], number: int) -> str:
    most = max(slot.usage.others for slot in slots if slot.round == number)
    return f"; others took up to {most:.0%} of the machine"
