"""Messages that name node groups and the reason why each makes no node: a few groups, and the number of the others."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.text.problem import CLAUSE_LIMIT, enumerated, shorten

_GROUPS: Final = 3
"""Maximum number of groups named in a warning."""

_REASONS: Final = 8
"""Maximum number of groups named in a refusal."""


class GroupReason(Struct, frozen=True):
    """Why a group makes no node, or not enough; ``why`` is the predicate of a sentence, or begins with a colon."""

    group: NodeGroup
    why: str

    def __str__(self) -> str:
        """The text for refusals: ``NodePool spot-a makes no nodes with disktype=ssd (it makes hdd)``."""
        return f"{named(self.group)}{'' if self.why.startswith(':') else ' '}{self.why}"


def named(group: NodeGroup) -> str:
    """The group as messages name it, cut if it is long."""
    return shorten(str(group), CLAUSE_LIMIT)


def enumerated_groups(groups: Iterable[NodeGroup]) -> str:
    """The first groups by name, and how many more there are."""
    return enumerated(list(groups), _GROUPS, named)


def listed_reasons(reasons: Sequence[GroupReason], ending: str) -> Iterator[str]:
    """The first reasons, and of how many more groups ``ending`` is to be said."""
    yield from map(str, reasons[:_REASONS])
    if len(reasons) > _REASONS:
        yield f"{len(reasons) - _REASONS} more node groups {ending}"
