"""The pods that get claims from templates of described devices, and the queue of the templates to be looked at."""

from collections.abc import Iterator
from typing import Final

from kubeapi.clock import Clock, seconds
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.workers import fair_queue
from webhook.placement.annotations.described_devices import MADE_NAME, DescribedDevices
from webhook.placement.devices.published.claims import ClaimName
from webhook.placement.objects.pod import ClaimedTemplates, PodInfo

_TOGETHER: Final = 0.02
"""Seconds in which pods of one template are merged: a Deployment makes many at a time."""


class TemplateUsers:
    """The users of each template, by namespace and name; nothing is queued before :meth:`begin`."""

    def __init__(self, watched: ObservedInventory, *, clock: Clock = seconds) -> None:
        self.queue: Queue[ClaimName] = fair_queue(clock)
        self._devices = watched.inventory.devices
        self._leading = False
        self._pods: dict[str, tuple[ClaimName, ...]] = {}
        """By the uids of pods, the templates that they use."""
        self._users: dict[ClaimName, dict[str, ClaimedTemplates]] = {}
        watched.on_pod.append(self._pod)
        watched.devices.on_template.append(self._template)

    def begin(self) -> None:
        """Queue all templates that are used or were made, and from now on what changes."""
        self._leading = True
        for name in sorted({*self._users, *self._devices.made()}):
            self.queue.add_after(name, 0)

    def of(self, name: ClaimName) -> Iterator[tuple[str, str]]:
        """The pods that get claims from the template: uid and name of each."""
        return ((uid, pod.name) for uid, pod in self._users.get(name, {}).items())

    def described(self, name: ClaimName) -> DescribedDevices | None:
        """The content of the template by the annotation of a pod that uses it; ``None`` if no annotation has it."""
        users = self._users.get(name, {}).values()
        return next((one for pod in users for template, one in pod.described if template == name[1]), None)

    def _pod(self, uid: str, _: PodInfo | None, after: PodInfo | None) -> None:
        old = self._pods.pop(uid, ())
        if not old and (after is None or after.claimed is None):
            return  # as most pods
        for name in old:
            users = self._users[name]
            del users[uid]
            if not users:
                del self._users[name]
        new: tuple[ClaimName, ...] = ()
        if after is not None and after.claimed is not None and not after.terminating:
            new = tuple((after.namespace, name) for name in after.claimed.templates)
            self._pods[uid] = new
            for name in new:
                self._users.setdefault(name, {})[uid] = after.claimed
        for name in sorted({*old} ^ {*new}) if self._leading else ():
            self.queue.add_after(name, _TOGETHER)

    def _template(self, name: ClaimName) -> None:
        if self._leading and (name in self._users or MADE_NAME.fullmatch(name[1])):
            self.queue.add_after(name, 0)
