"""Family of host ports: two pods of one template with host ports cannot share a node (``docs/workloads.md``).

Host ports of other pods are compared where all pods of a job are judged at a time; for a single pod the scheduler does
that (its plugin ``NodePorts``).
"""

from collections.abc import Iterable
from typing import ClassVar

from webhook.placement.constraints.constraint import Constraint, EveryNode, Spread
from webhook.placement.kube.containers import HostPort, host_ports
from webhook.placement.request.ask import Ask
from webhook.placement.request.pod_text import ports
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem


class TakenPorts(EveryNode, frozen=True, gc=False):
    """The host ports of the pod, which put pods of one template on a node each.

    Every node meets the constraint: a pod may wait until another one gives its port back.
    """

    spread: ClassVar[Spread] = Spread.APART
    clause: str
    ports: tuple[HostPort, ...] = ()


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint for all host ports: each of them is enough to keep pods apart."""
    clause = ports(ask.spec)
    return (TakenPorts(clause, tuple(dict.fromkeys(host_ports(ask.spec)))),) if clause else ()
