"""The state of a condition in the status of one of our objects (``metav1.Condition``)."""

from typing import Final

from msgspec import Struct


class ConditionState(Struct, frozen=True, gc=False):
    """Whether a condition holds, and why: a reason in one CamelCase word, and a message for people.

    The time at which it changed and the generation are added where it is written.
    """

    holds: bool
    reason: str
    message: str = ""


UNKNOWN: Final = ConditionState(holds=False, reason="Unknown")
"""The state of a condition that was not stated yet."""
