"""LimitRanges, RuntimeClasses and PriorityClasses as values: what the API server completes pods by.

An object that cannot be read raises :class:`MalformedError`.
"""

from collections.abc import Iterable, Iterator, Mapping

from webhook.cluster.objects import wire
from webhook.cluster.objects.metadata import full_name, metadata_of, refuse
from webhook.placement.kube.pod import Amount
from webhook.placement.kube.quantity import parse_quantity
from webhook.placement.pod_defaults.limit_range import LimitRange, limit_range_of
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.pod_defaults.runtime_class import RuntimeClass
from webhook.placement.text.problem import quote


def limit_range(source: wire.LimitRangeObject) -> LimitRange:
    """A LimitRange, with the defaults that follow from its bounds."""
    namespace, name = full_name(source.metadata).split("/", 1)
    items = (source.spec.limits if source.spec else None) or ()
    for place, item in enumerate(items):
        refuse(_invalid(item.amounts, f"spec.limits[{place}]."))
    return limit_range_of(namespace, name, items)


def runtime_class(source: wire.RuntimeClassObject) -> RuntimeClass:
    """A RuntimeClass; its handler is nothing that decisions depend on."""
    _, name = metadata_of(source.metadata)
    overhead = (source.overhead.pod_fixed if source.overhead else None) or {}
    scheduling = source.scheduling or wire.RuntimeClassScheduling()
    refuse(_invalid(_named(overhead), "overhead."))
    return RuntimeClass(name, overhead, scheduling.node_selector or {}, scheduling.tolerations or ())


def priority_class(source: wire.PriorityClassObject) -> PriorityClass:
    """A PriorityClass."""
    _, name = metadata_of(source.metadata)
    return PriorityClass(name, source.value or 0, source.global_default or False, source.preemption_policy or "")


def _named(amounts: Mapping[str, Amount]) -> Iterator[tuple[str, Amount]]:
    return ((f"podFixed[{resource}]", amount) for resource, amount in amounts.items())


def _invalid(amounts: Iterable[tuple[str, Amount]], path: str) -> Iterator[str]:
    """What is wrong with amounts, which come with their paths below ``path``."""
    for field, amount in amounts:
        nano = parse_quantity(amount)
        if nano is None or nano < 0:
            yield f"{path}{field}: {quote(str(amount))} is not a quantity"
