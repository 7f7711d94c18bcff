"""Conditions in the status of our objects: read, and merged with those that are stored (``metav1.Condition``)."""

from collections.abc import Mapping
from typing import Any, Final

from webhook.placement.objects.condition import ConditionState

MESSAGE_LIMIT: Final = 2048
"""Characters of a condition's message; the API allows 32,768."""

Document = dict[str, Any]


def merged_conditions(
    stored: object, states: Mapping[str, ConditionState], generation: int, now: str
) -> list[Document]:
    """The list of conditions to write: ``states`` by type, and the stored conditions of other writers unchanged.

    ``stored`` is the list in the status, and ``now`` the time in RFC 3339. A condition whose status stays the same
    keeps its ``lastTransitionTime``.
    """
    entries = stored if isinstance(stored, list) else []
    merged = {entry.get("type"): entry for entry in entries if isinstance(entry, dict)}
    for kind, state in states.items():
        before = merged.get(kind, {})
        turned = before.get("status") != str(state.holds) or not before.get("lastTransitionTime")
        merged[kind] = {
            "type": kind,
            "status": str(state.holds),
            "reason": state.reason,
            "message": shortened(state.message),
            "lastTransitionTime": now if turned else before["lastTransitionTime"],
            "observedGeneration": generation,
        }
    return list(merged.values())


def condition_in(stored: object, kind: str, default: ConditionState) -> ConditionState:
    """The condition of that type in the stored list; ``default`` if it is missing or unreadable."""
    for entry in stored if isinstance(stored, list) else ():
        if isinstance(entry, dict) and entry.get("type") == kind:
            reason, message = entry.get("reason"), entry.get("message")
            return ConditionState(entry.get("status") == "True", _text(reason), _text(message))
    return default


def shortened(message: str) -> str:
    """The message, cut to :data:`MESSAGE_LIMIT` characters."""
    return message if len(message) <= MESSAGE_LIMIT else f"{message[: MESSAGE_LIMIT - 3]}..."


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
