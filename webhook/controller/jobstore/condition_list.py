"""Conditions of a status: what is said now, merged with what was said before, with the times at which it changed."""

from collections.abc import Mapping
from typing import Any, Final

from webhook.placement.elements.element_status import Said

MESSAGE_LIMIT: Final = 2048
"""Characters of a condition's message; the API allows 32,768."""

Document = dict[str, Any]


def merged_conditions(there: object, said: Mapping[str, Said], generation: int, now: str) -> list[Document]:
    """The list of conditions with those of ``said``, by type; conditions of other writers stay.

    A condition whose status stays keeps its ``lastTransitionTime``.
    """
    stated = there if isinstance(there, list) else []
    before = {found.get("type"): found for found in stated if isinstance(found, dict)}
    for kind, condition in said.items():
        old = before.get(kind, {})
        turned = old.get("status") != str(condition.holds) or not old.get("lastTransitionTime")
        before[kind] = {
            "type": kind,
            "status": str(condition.holds),
            "reason": condition.reason,
            "message": shortened(condition.message),
            "lastTransitionTime": now if turned else old["lastTransitionTime"],
            "observedGeneration": generation,
        }
    return list(before.values())


def said_in(there: object, kind: str, default: Said) -> Said:
    """The condition of that type in a status; ``default`` if there is none that can be read."""
    for found in there if isinstance(there, list) else ():
        if isinstance(found, dict) and found.get("type") == kind:
            reason, message = found.get("reason"), found.get("message")
            return Said(found.get("status") == "True", _text(reason), _text(message))
    return default


def shortened(message: str) -> str:
    """The message, cut to :data:`MESSAGE_LIMIT` characters."""
    return message if len(message) <= MESSAGE_LIMIT else f"{message[: MESSAGE_LIMIT - 3]}..."


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
