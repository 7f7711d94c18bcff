"""``Mark``: what a rule says of an operator; two marks of one key and different values keep their operators apart."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from webhook.placement.fusion.application import PhysicalOperator


class Mark(NamedTuple):
    """The mark of the operator at the position ``operator``; ``clause`` is what it stands for, in the user's words.

    ``beside`` is a clause of another operator without which the mark would be another one.
    """

    operator: int
    key: str
    value: str
    clause: str
    beside: str = ""


class Setting(Struct, frozen=True):
    """What rules look at beside the operators.

    ``units`` has for each operator the set of positions it is contracted with, itself included; ``exclusive`` are names
    of exclusive HostPools, ``nodes`` the names of nodes by what ``host`` says of them: a name or an address. ``kept``
    has for operators the processing element that they stay in.
    """

    type: str = ""
    units: Sequence[frozenset[int]] = ()
    exclusive: frozenset[str] = frozenset()
    nodes: Mapping[str, str] = {}
    kept: Mapping[str, str] = {}


Rule = Callable[[Sequence[PhysicalOperator], Setting], "list[Mark]"]
