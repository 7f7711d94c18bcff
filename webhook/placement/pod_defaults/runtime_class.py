"""RuntimeClasses: the overhead, node labels and tolerations that the API server adds to pods which name one.

Source: ``plugin/pkg/admission/runtimeclass`` and ``pkg/util/tolerations`` of Kubernetes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.kube.pod import Amount, PodSpec, Toleration
from webhook.placement.kube.quantity import parse_quantity
from webhook.placement.text.problem import Fault, Problem, quote


class RuntimeClass(Struct, frozen=True, gc=False):
    """A RuntimeClass object: what pods of the class get."""

    name: str
    overhead: dict[str, Amount] = {}
    node_selector: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


def in_class(spec: PodSpec, runtime: RuntimeClass) -> PodSpec:
    """The spec with what the class adds; its own node labels win where :func:`unlike` finds a problem."""
    return replace(
        spec,
        overhead=runtime.overhead or spec.overhead,
        node_selector={**runtime.node_selector, **(spec.node_selector or {})} or spec.node_selector,
        tolerations=merged(spec.tolerations or (), runtime.tolerations) if runtime.tolerations else spec.tolerations,
    )


def out_of_class(spec: PodSpec, runtime: RuntimeClass) -> PodSpec:
    """The spec without what the class has added."""
    labels = {key: value for key, value in (spec.node_selector or {}).items() if key not in runtime.node_selector}
    kept = tuple(one for one in spec.tolerations or () if one not in runtime.tolerations)
    return replace(spec, runtime_class_name=None, overhead=None, node_selector=labels or None, tolerations=kept)


def unlike(spec: PodSpec, runtime: RuntimeClass) -> Iterator[Problem]:
    """A problem for the overhead and for each node label that the spec states otherwise than the class.

    A class without a name stands for none, whose pods have no overhead.
    """
    if spec.overhead and _nanos(spec.overhead) != _nanos(runtime.overhead):
        whose = f"RuntimeClass {quote(runtime.name)}" if runtime.name else "a RuntimeClass that the pod names"
        message = f"is not that of {whose}: leave it to the API server, which adds it"
        yield Problem("spec.overhead", message, fault=Fault.FORBIDDEN)
    for key, value in runtime.node_selector.items():
        own = (spec.node_selector or {}).get(key, value)
        if own != value:
            message = f"is {quote(own)}, and RuntimeClass {quote(runtime.name)} selects {quote(value)}"
            yield Problem(f"spec.nodeSelector[{key}]", message, fault=Fault.FORBIDDEN)


def _nanos(amounts: Mapping[str, Amount]) -> dict[str, int | None]:
    return {name: parse_quantity(amount) for name, amount in amounts.items()}


def merged(first: Sequence[Toleration], second: Sequence[Toleration]) -> tuple[Toleration, ...]:
    """Both lists as one, without tolerations that another one includes."""
    every = (*first, *second)
    kept: list[Toleration] = []
    for at, one in enumerate(every):
        later = (other for other in every[at + 1 :] if other != one)
        if not _included(one, kept) and not _included(one, later):
            kept.append(one)
    return tuple(kept)


def _included(one: Toleration, others: Iterable[Toleration]) -> bool:
    return any(_includes(other, one) for other in others)


def _includes(wide: Toleration, one: Toleration) -> bool:
    """Whether whatever ``one`` tolerates is tolerated by ``wide`` as well."""
    if wide == one:
        return True
    if (one.key or "") != (wide.key or "") and (wide.key or wide.operator != "Exists"):
        return False
    if wide.effect and (one.effect or "") != wide.effect:
        return False
    if wide.effect == "NoExecute" and wide.toleration_seconds is not None:
        seconds = one.toleration_seconds
        if seconds is None or seconds > wide.toleration_seconds:
            return False
    if wide.operator == "Exists":
        return True
    # The API server has no equality of an operator that is left out and one that is written.
    return wide.operator in {None, "", "Equal"} and one.operator == "Equal" and (one.value or "") == (wide.value or "")
