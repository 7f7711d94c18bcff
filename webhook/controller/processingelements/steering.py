"""Steers the first pods of processing elements to the nodes that their Job's plan has for them.

The scheduler places one pod after another, and could give an element the node that another one needs. A preference
leaves it free to choose another node where the planned one has been lost (``docs/jobs.md``, "What was promised").
"""

from typing import Any

from webhook.controller.jobstore.records import StoredElement
from webhook.controller.jobstore.store import JobStore
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.jobs.pe_pod import steered
from webhook.placement.jobs.pod_template import is_readable
from webhook.placement.text import keys

Json = dict[str, Any]


class Steering:
    """Knows the plans of Jobs, and the nodes."""

    def __init__(self, store: JobStore, inventory: Inventory) -> None:
        self._store = store
        self._inventory = inventory

    def __call__(self, pod: Json, element: StoredElement) -> Json:
        """The pod of the element's present launch, steered if it is the first: later ones run where there is room."""
        job = self._store.jobs.all.get((element.namespace, element.job))
        if job is None or job.uid != element.owner_uid or not job.judged or element.launch != 1:
            return pod
        node = self._inventory.nodes.get(job.planned().by_element().get(element.name, ""))
        if node is None or not is_readable(pod):
            return pod
        soft = [taint for taint in node.taints if taint.effect == "PreferNoSchedule" and taint.key != keys.EXCLUSIVE]
        return steered(pod, node.name, soft)
