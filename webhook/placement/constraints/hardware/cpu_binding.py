"""Family of CPU binding: exclusive cores for the worker container; all pods of a job have it, or none has.

Name and meaning are those of Twister2's worker binding (``docs/hardware.md``). ``provision/exclusive_cpus.py`` says
when kubelets give a container cores of its own.
"""

from collections.abc import Collection, Iterable
from typing import ClassVar

from webhook.placement.annotations.placement_text import annotation
from webhook.placement.constraints.constraint import Constraint, EveryNode, Spread
from webhook.placement.kube.owner import owner_of
from webhook.placement.provision.effects import Effect, SetResources
from webhook.placement.provision.grants import BINDING
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.keys import BIND
from webhook.placement.text.problem import Fault, Problem
from webhook.placement.text.rule import Rule


class CpuBinding(EveryNode, frozen=True, gc=False):
    """The requests and limits by which a kubelet gives a bound worker cores of its own.

    Every node meets the constraint: a node does not tell whether its kubelet has the static CPU manager policy.
    """

    rule: ClassVar[str] = Rule.MAPPING
    spread: ClassVar[Spread] = Spread.FREE
    clause: ClassVar[Clause] = BINDING
    limits: tuple[SetResources, ...]

    def inject(self, _world: World) -> Iterable[Effect]:
        """The requests and limits to set."""
        return self.limits


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem]:
    """The constraint of a bound worker; a problem if the pod and other pods of its job differ in CPU binding."""
    bound = ask.provision.cpu_bound
    if ask.job and (why := _differs(ask, world, bound=bound)):
        return (Problem(annotation(BIND), why, fault=Fault.FORBIDDEN),)
    return (CpuBinding(ask.provision.binding),) if ask.provision.binding else ()


def _differs(ask: Ask, world: World, *, bound: bool) -> str:
    """How other pods of the job differ in CPU binding, in words; empty if none does."""
    job_pods = world.job_pods(ask.namespace, ask.job)
    model = world.inventory.jobs.get((ask.namespace, ask.job))
    others: Collection[bool] = model.binding(ask.pe) if model else ()
    if bound or job_pods.cpu_bound:
        # Pods of the pod's own workload do not count: a rollout replaces these one by one.
        others = {*others, *job_pods.binding(owner_of(ask.references, ask.labels))}
    if bound and False in others:
        return "this pod asks for CPU binding and other workers of its job do not: bind all workers of a job, or none"
    if not bound and True in others:
        return (
            "other workers of its job have CPU binding and this pod does not ask for it: bind all workers of a "
            "job, or none"
        )
    return ""
