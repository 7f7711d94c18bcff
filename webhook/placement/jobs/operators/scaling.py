"""``Scaling``: what runs of a Job while its parallel regions get other widths. It stays where it is.

With ``channelIsolation`` the processing elements that exist keep their operators, so that no other one is touched
(``docs/fusion.md``).
"""

from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.fusion.rules.channels import ISOLATION
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.amounts import Tally
from webhook.placement.objects.jobs.job_fusion import FusedElement
from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, element_name


class Scaling(Struct, frozen=True):
    """The processing ``elements`` of a Job by name, and the ``nodes`` of those that run.

    ``kept`` has the element of each operator that must keep its operators; it is empty if any may be fused anew.
    ``requests`` are those of the pods that run, by the names of their elements.
    """

    elements: Mapping[str, ElementSpec]
    nodes: Mapping[str, str]
    kept: Mapping[str, str]
    requests: Mapping[str, Tally] = {}

    def staying(self, spec: JobSpec) -> dict[str, str]:
        """The nodes of those elements of the fused Job that run already, with the same operators and streams."""
        return {
            name: self.nodes[name]
            for element in spec.processing_elements or ()
            if (name := element.name or "") in self.nodes and self.elements.get(name) == element
        }

    def known(self, operators: Collection[str]) -> bool:
        """Whether one of these operators is in an element that exists."""
        return not self.operators.isdisjoint(operators)

    @property
    def operators(self) -> frozenset[str]:
        """All operators that exist."""
        return frozenset(one.name for element in self.elements.values() for one in element.operators or ())


NOTHING: Final = Scaling({}, {}, {})
"""Nothing runs yet, or all of it may be restarted."""


class EarlierFusion(Struct, frozen=True):
    """The processing ``elements`` that a Job's operators are fused into, whose names the next fusion keeps.

    ``scaling`` is what runs and stays while parallel regions get other widths.
    """

    elements: tuple[FusedElement, ...] = ()
    scaling: Scaling = NOTHING


UNFUSED: Final = EarlierFusion()
"""A Job whose operators are not fused yet."""


def scaling_of(job: tuple[str, str], before: JobSpec, inventory: Inventory) -> Scaling:
    """What runs of the Job; ``before`` is the Job with the processing elements that it has."""
    listed = before.processing_elements or ()
    elements = {element_name(job[1], place, element): element for place, element in enumerate(listed)}
    pods = [pod for _, pod in inventory.job_pods(*job).pods.values()]
    running = {pod.pe: pod for pod in pods if pod.node and pod.pe in elements and not pod.terminating}
    nodes = {name: pod.node for name, pod in running.items()}
    requests = {name: pod.requests for name, pod in running.items()}
    isolated = before.fusion is not None and before.fusion.type == ISOLATION
    of_operator = {one.name: name for name, element in elements.items() for one in element.operators or ()}
    return Scaling(elements, nodes, of_operator if isolated else {}, requests)
