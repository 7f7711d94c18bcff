"""Makes the pods of processing elements as the plan of their Job has them.

The scheduler places one pod after another, and could give an element the node that another one needs. So a pod prefers
its planned node, and requires it where any other node would break the plan (``docs/jobs.md``, "What was promised").
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from webhook.controller.jobstore.records import StoredElement
from webhook.placement.elements.plan import PlannedLaunch
from webhook.placement.elements.pod_template import is_readable
from webhook.placement.elements.steered_pod import equipped, kept_on, steered
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.text import keys

Json = dict[str, Any]

Plans: TypeAlias = Callable[[StoredElement], PlannedLaunch | None]
"""What the plan says of the present launch of an element; ``None`` while the plan is still to be made."""


class Steering:
    """Knows the ``plans`` of Jobs, and the nodes."""

    def __init__(self, plans: Plans, inventory: Inventory) -> None:
        self.planned = plans
        self._inventory = inventory

    def __call__(self, pod: Json, planned: PlannedLaunch) -> Json:
        """The pod as it is planned."""
        if not is_readable(pod):
            return pod
        pod = equipped(pod, planned.hardware)
        node = self._inventory.nodes.get(planned.node)
        if node is None:
            return pod
        soft = [taint for taint in node.taints if taint.effect == "PreferNoSchedule" and taint.key != keys.EXCLUSIVE]
        pod = steered(pod, node.name, soft)
        return kept_on(pod, node.name) if planned.required else pod
