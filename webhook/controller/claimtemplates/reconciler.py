"""Makes the ResourceClaimTemplates of described devices that pods name, and deletes those that no pod uses any more.

The name of a template is a hash of its content, so a template is created and deleted and never changed. Only what has
the content of its name is ever deleted.
"""

import itertools
from typing import Final

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock, seconds
from webhook.controller.claimtemplates.template_object import template_object, template_path
from webhook.controller.claimtemplates.template_users import TemplateUsers
from webhook.controller.events.event import Regarding
from webhook.controller.events.recorder import EventRecorder
from webhook.controller.object_editor import REFUSALS, ObjectEditor
from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.devices.published.claims import ClaimName, ClaimTemplate
from webhook.placement.devices.published.described import MADE_LIMIT, describes
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.text.api_kinds import CLAIM_TEMPLATE, POD

UNUSED: Final = 600.0
"""Seconds for which no pod uses a template before it is deleted: a workload that is restarted finds its own again."""

LATER: Final = 30.0
"""Seconds until a template is tried again that cannot be made."""

_BEHIND: Final = 5.0
"""Seconds for which the cache of HPAIntents may be behind that of pods before a pod is told that none describes it."""

_GLANCE: Final = 0.5
"""Seconds between two looks meanwhile."""

REASON: Final = "DevicesNotDescribed"
"""The reason of Events about pods that wait for a template which cannot be made."""

_TOLD: Final = 10
"""Maximum number of pods of a template that get an Event if it cannot be created."""


class DescribedTemplates:
    """The reconciler, called by one worker; ``events`` records Events about pods."""

    def __init__(
        self,
        server: ObjectEditor,
        users: TemplateUsers,
        inventory: Inventory,
        events: EventRecorder,
        *,
        clock: Clock = seconds,
    ) -> None:
        self._server = server
        self._users = users
        self._inventory = inventory
        self._events = events
        self._clock = clock
        self._unused: dict[ClaimName, float] = {}
        """The time since when no pod has used the template."""
        self._sought: dict[ClaimName, float] = {}
        """The time since when the content of each template has been searched."""
        self._sent: set[ClaimName] = set()
        """Templates that were made, and that the watch may not have brought yet."""

    async def reconcile(self, name: ClaimName) -> float | None:
        """Make or delete that template; returns the seconds until the next look, ``None`` if none is due.

        Raises :class:`ApiError` for what may work later, and LostError when this process does not hold the Lease.
        """
        there = self._inventory.devices.template(name)
        if there is not None:
            self._sent.discard(name)
        if next(self._users.of(name), None) is None:
            self._sought.pop(name, None)
            self._sent.discard(name)
            return await self._unneeded(name, there)
        self._unused.pop(name, None)
        described = self._content(name)
        if described is None:
            return self._unknown(name, there)
        self._sought.pop(name, None)
        if there is None:
            return await self._make(name, described)
        if not describes(there, described):
            self._tell(name, f"has different content than {described}: delete it to have it recreated")
        return None

    async def _unneeded(self, name: ClaimName, there: ClaimTemplate | None) -> float | None:
        """Delete the template once no pod has used it for a while."""
        if there is None or not there.made:
            self._unused.pop(name, None)
            return None
        since = self._unused.setdefault(name, self._clock())
        wait = since + UNUSED - self._clock()
        if wait > 0:
            return wait
        try:
            await self._server.delete(template_path(name), uid=there.uid, version=there.version)
        except ApiError as failure:
            if failure.cause not in {Cause.MISSING, Cause.CONFLICT}:
                raise
        del self._unused[name]
        return None  # the watch brings what became of it

    def _content(self, name: ClaimName) -> DescribedDevices | None:
        """The description with that name, in the annotation of a pod or in an HPAIntent of the namespace."""
        return self._users.described(name) or self._inventory.intents.described(*name)

    def _unknown(self, name: ClaimName, there: ClaimTemplate | None) -> float | None:
        """What is not described any more is not made."""
        if there is not None:
            return None  # made by another client
        since = self._sought.setdefault(name, self._clock())
        if self._clock() - since < _BEHIND:
            return _GLANCE
        self._tell(name, "is no longer described by an annotation or HPAIntent: delete the pod to have it recreated")
        return LATER

    async def _make(self, name: ClaimName, described: DescribedDevices) -> float | None:
        """Create the template, or tell its users why that is not possible."""
        namespace = name[0]
        devices = self._inventory.devices
        sent = sum(known[0] == namespace and devices.template(known) is None for known in self._sent)
        if name not in self._sent and devices.made_in(namespace) + sent >= MADE_LIMIT:
            self._tell(name, f"of {described} is not created: at most {MADE_LIMIT} may exist in a namespace")
            return LATER
        try:
            await self._server.create(CLAIM_TEMPLATE.path_in(namespace), template_object(namespace, described))
        except ApiError as failure:
            if failure.cause is Cause.EXISTS:
                return None  # it is looked at when the watch has brought it
            if failure.cause not in REFUSALS and failure.cause is not Cause.MISSING:
                raise
            self._tell(name, f"of {described} cannot be made: {failure}")
            return LATER
        self._sent.add(name)
        return None

    def _tell(self, name: ClaimName, what: str) -> None:
        """An Event about the first pods that use the template."""
        for uid, pod in itertools.islice(self._users.of(name), _TOLD):
            about = Regarding.of(POD, (name[0], pod), uid)
            self._events.warning(about, REASON, f"ResourceClaimTemplate {name[1]} {what}")
