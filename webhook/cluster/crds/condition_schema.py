"""OpenAPI schema of the conditions and of the observed generation in the status of an object (``metav1.Condition``)."""

from typing import Final

from webhook.cluster.crds.openapi import Schema, listed, obj, text

_LIMIT: Final = 16
"""Conditions of one object at most; three types of each kind are in use."""

_REASON_LIMIT, _MESSAGE_LIMIT = 1024, 32_768
"""Characters of the reason and of the message of a condition, as in ``metav1.Condition``."""


def _generation(about: str) -> Schema:
    return {"type": "integer", "format": "int64", "description": about}


OBSERVED_GENERATION: Final = _generation("Generation that the status was computed from.")


def conditions_schema(about: str, entry: str, types: str) -> Schema:
    """The schema of a list of conditions.

    ``about`` is its description, ``entry`` that of one condition, and ``types`` says which types there are.
    """
    condition = obj(
        entry,
        {
            "type": text(types, maxLength=_REASON_LIMIT),
            "status": text("Status of the condition.", enum=["True", "False", "Unknown"]),
            "reason": text("Reason in one CamelCase word.", maxLength=_REASON_LIMIT),
            "message": text("Human-readable message.", maxLength=_MESSAGE_LIMIT),
            "lastTransitionTime": text("Time of the last transition.", format="date-time"),
            "observedGeneration": _generation("Generation that the condition was computed from."),
        },
        required=["type", "status"],
    )
    return listed(about, condition, kind="map", limit=_LIMIT) | {"x-kubernetes-list-map-keys": ["type"]}
