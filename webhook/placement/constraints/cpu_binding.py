"""CPU binding: a worker gets cores of its own, and all workers of a job do, or none (``docs/hardware.md``).

The name and meaning are those of Twister2's worker binding; what makes kubelets do it is in ``guarantee.py``.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement.annotations.placement_text import annotation
from webhook.placement.constraints.constraint import Constraint, Reason, Spread
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.owner import owner_of
from webhook.placement.provision.effects import Effect, SetResources
from webhook.placement.provision.grants import BINDING
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.keys import BIND
from webhook.placement.text.problem import Fault, Problem


class CpuBinding(Struct, frozen=True, gc=False):
    """Limits that are missing beside the requests of a bound worker; any node will do."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    limits: tuple[SetResources, ...]
    clause: str = BINDING
    soft: bool = False
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Every node: how a kubelet hands out cores is not written on it."""
        return world.everything

    def inject(self, _world: World) -> Iterable[Effect]:
        """The limits."""
        return self.limits

    def explain(self, _world: World, _out: Bits) -> Iterator[Reason]:
        """No node is out."""
        return iter(())

    def mend(self, _world: World, _out: Bits) -> str:
        """Nothing: no node is closed."""
        return ""


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem]:
    """The limits to add, unless others of the job are bound and this pod is not, or the other way round."""
    bound = ask.provision.cpu_bound
    if ask.job and (why := _differs(ask, world, bound=bound)):
        return (Problem(annotation(BIND), why, fault=Fault.FORBIDDEN),)
    return (CpuBinding(ask.provision.binding),) if ask.provision.binding else ()


def _differs(ask: Ask, world: World, *, bound: bool) -> str:
    """Who of the job says otherwise, in words; nothing if nobody does."""
    siblings = world.siblings(ask.namespace, ask.job)
    model = world.inventory.jobs.get((ask.namespace, ask.job))
    others: Collection[bool] = model.binding(ask.pe) if model else ()
    if bound or siblings.cpu_bound:
        # A rollout puts all pods of a workload in the place of others, one by one.
        others = {*others, *siblings.binding(owner_of(ask.references, ask.labels))}
    if bound and False in others:
        return "this pod is to be bound to cpus and others of its job are not: all workers of a job are, or none"
    if not bound and True in others:
        return "others of its job are bound to cpus and this pod is not to be: all workers of a job are, or none"
    return ""
