"""``AskedPods``: the pods of a Job as admission will make them.

An autoscaler does not know our annotations, so it is asked about pods with the patch.
"""

import asyncio
from collections.abc import Callable, Collection
from typing import Any, Final

import jsonpatch
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.patch import operations
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.decision.decision import decide
from webhook.placement.elements.steered_pod import kept_on
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.applied_job import applied_world
from webhook.placement.jobs.element_pods import element_pod, element_steps, positions
from webhook.placement.objects.jobs.job_spec import JobSpec

Json = dict[str, Any]

_SCHEDULED: Final = "nodeName"
"""The field of a pod's spec that names its node: an autoscaler does not look at pods that have one."""


class AskedPod(Struct, frozen=True):
    """Equal processing elements, by their ``names``, with the labels and the spec of their pods."""

    names: tuple[str, ...]
    labels: Json
    spec: Json

    def only(self, names: Collection[str]) -> "AskedPod | None":
        """The pods with these names only; ``None`` if there are no such pods."""
        some = tuple(name for name in self.names if name in names)
        return replace(self, names=some) if some else None


class AskedPods:
    """Makes the pods by what ``inventory`` returns now."""

    def __init__(self, inventory: Callable[[], Inventory], rules: ReconcilerSettings) -> None:
        self._inventory = inventory
        self._rules = rules

    async def of(self, job: Name, spec: JobSpec) -> list[AskedPod] | str:
        """The pods of all elements; or the name of one that would be refused now, because the cluster has changed."""
        inventory, solving = self._inventory(), self._rules.solving()
        world, _ = await applied_world(*job, spec, inventory, self._rules.policy, solving)
        places, elements = positions(job[1], spec), spec.processing_elements or ()
        asked = []
        for step in element_steps(job[1], spec):
            await asyncio.sleep(0)
            if step is None:
                continue
            names, pod = step
            completed = inventory.pod_defaults.completed(pod, job[0])
            additions = decide(completed, job[0], world).additions
            if additions is None:
                return names[0]
            manifest = element_pod(job[1], names[0], elements[places[names[0]]], spec)
            patch = msgspec.json.decode(msgspec.json.encode(operations(pod, additions)))
            asked.append(_asked(names, jsonpatch.apply_patch(manifest, patch)))
        return asked


def _asked(names: tuple[str, ...], pod: Json) -> AskedPod:
    node = pod["spec"].get(_SCHEDULED)
    bound = kept_on(pod, node) if node else pod
    spec = {field: value for field, value in bound["spec"].items() if field != _SCHEDULED}
    return AskedPod(names, pod["metadata"].get("labels") or {}, spec)
