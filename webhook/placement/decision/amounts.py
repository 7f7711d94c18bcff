"""Amounts that containers are to ask for, against those that they ask for: what has to be written."""

from collections.abc import Iterable, Mapping

from webhook.placement.decision.additions import ContainerAmounts
from webhook.placement.kube.containers import Place, resources_at
from webhook.placement.kube.pod import Amount, PodSpec
from webhook.placement.kube.quantity import format_quantity, parse_quantity
from webhook.placement.provision.effects import SetResources

_Parts = tuple[dict[str, str], dict[str, str]]
"""Requests and limits."""


def amounts(spec: PodSpec, effects: Iterable[SetResources]) -> tuple[ContainerAmounts, ...]:
    """What is to be written, container by container; amounts that are there already, however written, stay."""
    wanted: dict[Place, _Parts] = {}
    for effect in effects:
        requests, limits = wanted.setdefault(effect.place, ({}, {}))
        own = resources_at(spec, effect.place)
        _write(requests, effect, effect.requests, own.requests)
        if effect.limits is not None:
            _write(limits, effect, effect.limits, own.limits)
    return tuple(ContainerAmounts(place, *parts) for place, parts in wanted.items() if any(parts))


def _write(part: dict[str, str], effect: SetResources, amount: int, own: Mapping[str, Amount] | None) -> None:
    there = (own or {}).get(effect.resource)
    if there is None or parse_quantity(there) != amount:
        part[effect.resource] = format_quantity(amount)
