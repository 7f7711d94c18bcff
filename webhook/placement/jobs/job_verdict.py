"""The verdict on a Job as a whole, or on the workloads of one job together."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.planning.group import Group, GroupAnswer, Placed
from webhook.placement.planning.optional_hardware import GrantedAmount
from webhook.placement.text.problem import Fault, counted
from webhook.placement.text.rule import Rule

UNDECIDED: Final = (
    "no decision in time on whether all processing elements can run at the same time: some of them may have to wait"
)
"""The warning for a Job that is admitted without a decision."""


class JobVerdict(Struct, frozen=True, eq=False):
    """The verdict on a Job: refused for ``text``, else admitted with ``warnings``; ``group`` is what was judged.

    ``answer`` is where everything can go. It is ``None`` for a Job with elements that are refused by themselves.
    ``given`` is the optional hardware that its pods get. The workloads of one job get such a verdict as well.
    """

    group: Group | None = None
    answer: GroupAnswer | None = None
    refusal: Refusal | None = None
    text: str = ""
    fault: Fault = Fault.FORBIDDEN
    warnings: tuple[str, ...] = ()
    given: tuple[GrantedAmount, ...] = ()
    of_element: tuple[str, ...] = ()
    """The rules by which elements are refused by themselves."""
    placeable: Placed | None = None
    """Where pods of what waits for new nodes can go that fit on the nodes there are."""
    brief: bool = False
    """Whether the verdict does not say yet what cannot hold together, and what would help."""

    @property
    def refused(self) -> bool:
        """Whether the Job must not be created."""
        return bool(self.text)

    def beside(self, promised: int) -> tuple[str, ...]:
        """The warning that the room promised to so many pods, which do not run yet, may have caused the verdict.

        It may where there is a lack of room, so that the Job is refused or waits for new nodes.
        """
        short = self.grows or (self.refused and self.fault is Fault.FORBIDDEN)
        if not promised or not short:
            return ()
        pods = counted(promised, "pod")
        return (f"room for {pods}, promised to applications within the last minute, counts as used",)

    @property
    def room(self) -> Placed | None:
        """Where pods go that can run now, whose room is kept; ``None`` if nothing is to be kept."""
        return (self.answer and self.answer.placed) or self.placeable

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules by which the Job is refused."""
        return self.of_element or (self.refusal.rules if self.refusal else (Rule.POOL,))

    @property
    def headline(self) -> str:
        """The first line of ``text``, which can be shown alone."""
        return self.text.partition("\n")[0]

    @property
    def line(self) -> str:
        """``text`` in one line, for conditions and Events."""
        lines = [line.strip() for line in self.text.splitlines()]
        return "".join(f"{line}{' ' if line.endswith(('.', ':')) else '; '}" for line in lines).rstrip("; ")

    def postponed(self) -> "JobVerdict":
        """The verdict on what does not run yet: what the cluster lacks is a warning, as it may change until then."""
        if self.fault is Fault.INVALID:
            return self
        return replace(self, text="", warnings=(*self.warnings, f"not yet: {self.headline}"))

    def with_reasons(self, reasons: Sequence[str]) -> "JobVerdict":
        """The verdict with these reasons before the fix of its refusal, if it has one."""
        refusal = self.refusal and self.refusal.with_reasons(reasons)
        return replace(self, refusal=refusal, text=refusal.text) if refusal else self

    @property
    def undecided(self) -> bool:
        """Whether the time ran out."""
        return self.answer is not None and self.answer.placed is None and not self.answer.decided

    @property
    def grows(self) -> bool:
        """Whether everything fits with nodes that node groups can make, which the first of the ``warnings`` says."""
        unplaced = self.answer is not None and self.answer.placed is None and self.answer.decided
        return unplaced and self.refusal is None and not self.refused
