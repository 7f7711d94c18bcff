"""``PlannedLaunch``: what the plan of a Job says of the next pod of a processing element."""

from msgspec import Struct

from webhook.placement.jobs.element_status import Said
from webhook.placement.jobs.planned_nodes import PlannedHardware, PlannedNodes


class PlannedLaunch(Struct, frozen=True, gc=False):
    """The pod goes to ``node``, to no other one if that is ``required``, and gets the optional ``hardware``.

    Without a node the scheduler chooses one. ``held`` is why the pod must not be created yet.
    """

    node: str = ""
    required: bool = False
    hardware: tuple[PlannedHardware, ...] = ()
    held: Said | None = None


UNPLANNED = PlannedLaunch()
"""The launch of an element about which no plan says anything."""


def planned_launch(element: str, plan: PlannedNodes) -> PlannedLaunch:
    """What the plan says of the element."""
    hardware = tuple(plan.hardware_by_element().get(element, ()))
    return PlannedLaunch(plan.by_element().get(element, ""), element in plan.required, hardware)
