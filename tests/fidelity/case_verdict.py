"""``CaseVerdict``: what was said of a scenario's subject before anything of it existed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from webhook.placement.elements.plan import PlannedNodes


@dataclass(frozen=True)
class CaseVerdict:
    """Admitted or refused for ``text``; ``hedged`` if a warning says that pods may have to wait, or nobody knows.

    ``places`` and ``hosts`` are where all pods of a Job, and its pools, can be at the same time according to the judge:
    nodes of elements by name, and nodes of HostPools by index. ``invalid`` is a refusal for a rule about no cluster.
    ``plan`` is what the controller makes pods by. Of a Job that is launched again ``running`` are elements that run,
    with their nodes, made by the plan ``first``; then the nodes ``cordoned`` are.
    """

    admitted: bool
    text: str = ""
    hedged: bool = False
    invalid: bool = False
    places: Mapping[str, str] = field(default_factory=dict)
    hosts: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    running: Mapping[str, str] = field(default_factory=dict)
    plan: PlannedNodes = field(default_factory=PlannedNodes)
    first: PlannedNodes = field(default_factory=PlannedNodes)
    cordoned: tuple[str, ...] = ()
