"""How reconcilers record Events: the recorder as they use it."""

from typing import Protocol

from webhook.controller.events.event import EventText, Regarding


class EventRecorder(Protocol):
    """A recorder of Events."""

    def normal(self, regarding: Regarding, reason: str, note: str) -> None:
        """Record an Event of type Normal."""
        ...

    def warning(self, regarding: Regarding, reason: str, note: str) -> None:
        """Record an Event of type Warning."""
        ...


def record(events: EventRecorder, regarding: Regarding, text: EventText) -> None:
    """Record an Event about the object."""
    (events.normal if text.type == "Normal" else events.warning)(regarding, text.reason, text.note)
