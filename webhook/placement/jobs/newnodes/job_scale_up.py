"""``JobScaleUp``: what node groups can do for a Job, an application or a workload."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.newnodes.made_nodes import GroupNodes
from webhook.placement.jobs.whole_job import NOUN
from webhook.placement.kube.bits import Bits
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.group import Placed
from webhook.placement.text.problem import counted, enumerated

_NAMED: Final = 3
"""Maximum number of groups, and of elements, named in a warning."""

UNDECIDED: Final = (
    "whether node groups can make nodes on which all processing elements can run was not decided: "
    "some of them may have to wait"
)
"""The warning for a Job that the nodes there are cannot run, and that is admitted without a decision."""


class JobScaleUp(Struct, frozen=True):
    """What node groups can do for a Job: ``made`` are the nodes for the elements ``waiting``, of ``total``.

    It may be about an application, a workload or a pod instead: the ``noun`` of what is ``waiting`` is then ``pod``.
    Elements of a Job and components of an application are ``named`` in the warning.
    Without ``made`` no group can help for the ``reasons``, or it was not ``decided``.
    """

    made: tuple[GroupNodes, ...] = ()
    waiting: tuple[str, ...] = ()
    total: int = 0
    noun: str = NOUN
    named: bool = True
    reasons: tuple[str, ...] = ()
    decided: bool = True
    warnings: tuple[str, ...] = ()
    """What the pods of the elements are warned of."""
    pools: tuple[Pool, ...] = ()
    """HostPools whose hosts are chosen together with the nodes of the elements."""
    excluded: Mapping[Name, Bits] = {}
    """Nodes that these must not have."""
    there: Placed | None = None
    """Where the members go that wait for no new node."""

    @property
    def notice(self) -> str:
        """That what is waiting waits for new nodes, as a warning."""
        if not self.made:
            return UNDECIDED.replace(NOUN, self.noun)
        who = f"{len(self.waiting)} of {counted(self.total, self.noun)}"
        # In a plan the name of a component comes after that of its application.
        names = [*dict.fromkeys(name.rpartition(", ")[2] for name in self.waiting)]
        who += f" ({enumerated(names, _NAMED)})" if self.named else ""
        return f"no room yet for {who}: node groups can make {enumerated(self.made, _NAMED)}"
