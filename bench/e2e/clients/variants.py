"""The variants that are compared: the same pods in a namespace each, with different admission webhooks and policies.

The names of the variants have the same length, so that paths and objects have, too.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.text import keys

OTHER: Final = "example.invalid/"
"""Prefix of annotations and labels that mean nothing to the webhook; as long as its own."""


class Variant(Struct, frozen=True):
    """One of the compared: ``reviews`` and ``patched`` are what must become of every creation.

    In the turns of those without ``chart`` its admission objects are not there, and its processes do not run.
    """

    name: str
    title: str
    prefix: str
    reviews: int
    patched: bool
    chart: bool = False

    @property
    def namespace(self) -> str:
        """Where its pods are created."""
        return f"bench-{self.name}"


NONE: Final = Variant("none", "no webhook", OTHER, 0, patched=False)
OURS: Final = Variant("ours", "streams-placement", keys.PREFIX, 1, patched=True, chart=True)
ECHO: Final = Variant("echo", "bare echo", OTHER, 1, patched=False)
SAME: Final = Variant("same", "echo of one constant patch", OTHER, 1, patched=True)
POLICY: Final = Variant("rule", "MutatingAdmissionPolicy", OTHER, 0, patched=True)

VARIANTS: Final[Mapping[str, Variant]] = {each.name: each for each in (NONE, OURS, ECHO, SAME, POLICY)}
"""By name, in the order of the tables."""
