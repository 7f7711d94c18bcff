"""Family of host ports: two pods of one template with host ports cannot share a node (``docs/workloads.md``).

Host ports of other pods are compared where all pods of a job are judged together; for a single pod the scheduler
compares them (its plugin ``NodePorts``).
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from webhook.placement.constraints.company import Company
from webhook.placement.constraints.constraint import Constraint, EveryNode, Spread, VacantNodes
from webhook.placement.kube.containers import HostPort, host_ports
from webhook.placement.request.ask import Ask
from webhook.placement.request.pod_text import ports
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule


class TakenPorts(EveryNode, frozen=True, gc=False):
    """The host ports of the pod, which put pods of one template on a node each.

    Every node meets the constraint: a pod may wait until another one gives its port back.
    """

    separable: ClassVar[bool] = True
    rule: ClassVar[str] = Rule.OWN_SPREAD
    spread: ClassVar[Spread] = Spread.APART
    clause: Clause
    ports: tuple[HostPort, ...] = ()

    def company(self, _job: str) -> Company:
        """Pods that take one of these ports share no node, whichever address of the node they take it on."""
        marks: list[str] = []
        avoids: list[str] = []
        for port in self.ports:
            key = f"host port {port.protocol} {port.number}"
            marks += [key, f"{key} {port.ip}"]
            avoids += [f"{key} {port.ip}", f"{key} "] if port.ip else [key]
        return Company(marks=tuple(dict.fromkeys(marks)), avoids=tuple(dict.fromkeys(avoids)))

    def at_once(self, ask: Ask, world: World) -> Iterator[Constraint]:
        """No pod that runs on the node has taken one of the ports."""
        nodes = world.inventory.without_ports(self.ports, world.gone(ask.namespace, ask.job, ask.preempts))
        if nodes:
            what = f"{self.clause} taken"
            yield VacantNodes(self.clause, world.everything & ~nodes, f"has {what}", f"have {what}")


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint for all host ports: each of them is enough to keep pods apart."""
    clause = ports(ask.spec)
    return (TakenPorts(clause, tuple(dict.fromkeys(host_ports(ask.spec)))),) if clause else ()
