"""One Event of events.k8s.io/v1 as JSON, which ``kubectl describe`` shows under the object that the Event is about."""

import secrets
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.names import NAME_LIMIT
from webhook.placement.text.api_kinds import ApiKind

API: Final = "events.k8s.io/v1"

NOTE_LIMIT: Final = 1024
WORD_LIMIT: Final = 128
"""Bytes of a note; of a reason, an action, and of who reports it (Kubernetes, ``core/validation/events.go``)."""

NAMESPACE: Final = "default"
"""The namespace of Events about cluster-scoped objects."""

Document = Mapping[str, Any]
"""An object as JSON has it."""


class Regarding(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The object that an Event is about (``regarding`` in the API)."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""

    @classmethod
    def of(cls, kind: ApiKind, name: Name, uid: str) -> "Regarding":
        """The object of that kind with that namespace and name."""
        return cls(api_version=kind.api_version, kind=kind.name, namespace=name[0], name=name[1], uid=uid)


class EventText(Struct, frozen=True):
    """What an Event says: its type, its reason in one CamelCase word, and its note."""

    type: Literal["Normal", "Warning"]
    reason: str
    note: str


class EventKey(Struct, frozen=True, kw_only=True):
    """The text and the reporter of an Event; two with equal keys are occurrences of one Event, which counts them."""

    controller: str
    instance: str
    regarding: Regarding
    type: Literal["Normal", "Warning"]
    reason: str
    action: str
    note: str

    @property
    def collection(self) -> str:
        """The API path of the Events of the namespace."""
        return f"/apis/{API}/namespaces/{self.regarding.namespace or NAMESPACE}/events"

    def document(self, now: str) -> dict[str, Any]:
        """The Event object for a POST, with a unique name."""
        end = f".{secrets.token_hex(8)}"
        name = f"{self.regarding.name[: NAME_LIMIT - len(end)].rstrip('-.')}{end}"
        return {
            "apiVersion": API,
            "kind": "Event",
            "metadata": {"namespace": self.regarding.namespace or NAMESPACE, "name": name},
            "eventTime": now,
            "reportingController": self.controller,
            "reportingInstance": self.instance[:WORD_LIMIT],
            "regarding": self.regarding,
            "type": self.type,
            "reason": self.reason[:WORD_LIMIT],
            "action": self.action[:WORD_LIMIT],
            "note": self.note,
        }


def series(count: int, now: str) -> Document:
    """The ``series`` field for so many occurrences; empty for a single one."""
    return {"series": {"count": count, "lastObservedTime": now}} if count > 1 else {}


def bounded(note: str) -> str:
    """The note, at most :data:`NOTE_LIMIT` bytes of UTF-8, cut between two characters."""
    text = note.encode(errors="replace")
    if len(text) <= NOTE_LIMIT:
        return text.decode()
    return f"{text[: NOTE_LIMIT - 3].decode(errors='ignore')}..."
