"""``Fix``: one change that would help what was refused, of the cluster, a HostPool or the request, as a value.

Constraints propose fixes, searches try and count them. The writer of a refusal shows them (``str``), and nothing else
depends on their words.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from msgspec import Struct

from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import CLAUSE_LIMIT, MESSAGE_LIMIT, REASON_LIMIT, counted, shorten

NODE_LIMIT: Final = 2 * REASON_LIMIT
"""Characters of a node to add: a node with a part of what is said is not enough."""

LOWER: Final = "lower"
"""The verb of clauses of which less may be left; all others are dropped."""


class Fix(Struct, frozen=True, gc=False):
    """Base of all fixes; the text of one says what to do, in the imperative and without a full stop.

    At most ``limit`` characters of the text are shown.
    """

    limit: ClassVar[int] = REASON_LIMIT


class Advice(Fix, frozen=True, gc=False):
    """A change of which nothing but its ``words`` is needed."""

    words: str

    def __str__(self) -> str:
        return self.words


class AddNode(Fix, frozen=True, gc=False):
    """Nodes are added: ``count`` of them, each as ``what`` says. They help only if nothing ties pods to other nodes.

    A ``count`` of 0 stands for several. Each has what ``having`` names, a noun, and ``labels``, those without a value
    with any one. With ``otherwise`` they can run the pod by all else, whatever that takes.
    """

    limit: ClassVar[int] = NODE_LIMIT
    what: str = ""
    count: int = 1
    labels: Mapping[str, str | None] = {}
    otherwise: bool = False
    having: str = ""

    def __str__(self) -> str:
        nodes = "a node" if self.count == 1 else counted(self.count, "node") if self.count else "nodes"
        label = f"the label{'s' * (len(self.labels) > 1)} {labels_in_words(self.labels)}" if self.labels else ""
        having = " and ".join(filter(None, (self.having, label)))
        otherwise = " that can otherwise run this pod" if self.otherwise else ""
        return f"add {nodes}{self.what and f' {self.what}'}{having and f' with {having}'}{otherwise}"


class AddDomain(Fix, frozen=True, gc=False):
    """As many nodes are added, each in a domain of the topology ``key`` of its own, and with room for ``room`` pods."""

    key: str
    count: int
    room: int

    def __str__(self) -> str:
        nodes = "a node" if self.count == 1 else f"{self.count} nodes, each"
        room = "one" if self.room == 1 else self.room
        return f"add {nodes} with another {shorten(self.key, CLAUSE_LIMIT)} and room for {room} of them"


class NodeFix(Fix, frozen=True, gc=False):
    """Base of changes of nodes that exist: ``more`` of them, if that is known.

    ``name`` is that of the only node that the change would help, if the request names it.
    """

    more: int = 0
    name: str = ""

    @property
    def nodes(self) -> str:
        """The nodes in words."""
        if self.name:
            return f"node {shorten(self.name, CLAUSE_LIMIT)}"
        if not self.more:
            return "one node"
        return "one more node" if self.more == 1 else f"{counted(self.more, 'more node')}"


class LabelNode(NodeFix, frozen=True, gc=False):
    """``labels`` are set, those without a value to any one, on hosts of the pool ``host_of`` or on other nodes.

    Of the nodes ``without`` the labels so many ``help``, or ``at_least`` so many; 0 if that is not known.
    """

    labels: Mapping[str, str | None] = {}
    host_of: str = ""
    help: int = 0
    without: int = 0
    at_least: bool = False

    def __str__(self) -> str:
        nodes = f"a host of HostPool {self.host_of}" if self.host_of and not self.name else self.nodes
        return f"label {nodes} {labels_in_words(self.labels)}{self._which()}"

    def _which(self) -> str:
        """In brackets, how many of the nodes it helps to label; empty if it helps with each, or one is named."""
        if self.name or self.host_of or not self.help or self.help == self.without:
            return ""
        helps = "helps" if self.help == 1 else "help"
        return f" ({'at least' if self.at_least else 'only'} {self.help} of {self.without} nodes {helps})"


def labels_in_words(labels: Mapping[str, str | None]) -> str:
    """The labels in a message: ``disktype=ssd and gpu=true``."""
    return " and ".join(key if value is None else f"{key}={value}" for key, value in labels.items())


class Uncordon(NodeFix, frozen=True, gc=False):
    """Nodes are schedulable again."""

    def __str__(self) -> str:
        return f"uncordon {self.nodes}"


class Untaint(NodeFix, frozen=True, gc=False):
    """The ``taint`` is taken off nodes."""

    taint: str = ""

    def __str__(self) -> str:
        return f"remove the taint {self.taint} from {self.nodes if self.more or self.name else 'such a node'}"


class AllowNode(NodeFix, frozen=True, gc=False):
    """Nodes become poolable."""

    def __str__(self) -> str:
        return f"allow HostPools to use {self.nodes} (poolable nodes)"


class FreeNode(NodeFix, frozen=True, gc=False):
    """Nodes lose what keeps a pool off them: ``how`` is the verb, ``whose`` the preposition and what has to go."""

    how: str = "free"
    whose: str = ""

    def __str__(self) -> str:
        return f"{self.how} {self.nodes} {self.whose}"


class Partly(Fix, frozen=True, gc=False):
    """A change that is not enough by itself, as ``note`` says."""

    limit: ClassVar[int] = MESSAGE_LIMIT
    fix: Fix
    note: str

    def __str__(self) -> str:
        text = shorten(str(self.fix), self.fix.limit)
        # A clause such as host(P) ends in a bracket, too, which no blank is in front of.
        remarked = text.endswith(")") and text[: text.rfind("(")].endswith(" ")
        return f"{text[:-1]}; {self.note})" if remarked else f"{text} ({self.note})"


class AddToleration(Fix, frozen=True, gc=False):
    """The pod tolerates the ``taint``."""

    taint: str

    def __str__(self) -> str:
        return f"tolerate {self.taint}"


class CompletePool(Fix, frozen=True, gc=False):
    """More nodes become eligible for the HostPool; with ``shrinkable`` a smaller one would be complete as well."""

    pool: str
    shrinkable: bool = False

    def __str__(self) -> str:
        return f"make more nodes eligible for HostPool {self.pool}{', or use a smaller one' if self.shrinkable else ''}"


class EnlargePool(Fix, frozen=True, gc=False):
    """The HostPool gets ``size`` hosts, or more than it has if that number is not known (0)."""

    pool: str
    size: int = 0

    def __str__(self) -> str:
        more = f"give HostPool {self.pool} {counted(self.size, 'host')}"
        return more if self.size else f"use a larger HostPool than {self.pool}"


class ShrinkPool(Fix, frozen=True, gc=False):
    """The HostPool asks for ``size`` hosts only."""

    pool: str
    size: int

    def __str__(self) -> str:
        return f"lower the size of HostPool {self.pool} to {self.size}"


class Lower(Fix, frozen=True, gc=False):
    """A number of the request, ``replicas`` for example, is lowered."""

    what: str
    to: int

    def __str__(self) -> str:
        return f"lower {self.what} to {self.to}"


class RunFewer(Fix, frozen=True, gc=False):
    """Only ``count`` of ``total`` pods run."""

    count: int
    total: int

    def __str__(self) -> str:
        return f"run {self.count} of these {self.total}"


class Drop(Fix, frozen=True, gc=False):
    """Clauses are dropped or lowered: ``steps`` are verbs with their clauses.

    ``gain`` is what that opens, if it was counted. ``to`` are the amounts that are left of a clause that is lowered, if
    they are known.
    """

    limit: ClassVar[int] = MESSAGE_LIMIT
    steps: tuple[tuple[str, Clause], ...]
    gain: str = ""
    to: str = ""

    @classmethod
    def of(cls, clauses: Iterable[Clause], verbs: Mapping[Clause, str], gain: str = "", to: str = "") -> "Drop":
        """The fix that drops or lowers these clauses; ``verbs`` has the verb of each clause there is."""
        return cls(tuple((verbs[clause], clause) for clause in clauses), gain, to)

    def __str__(self) -> str:
        parts: list[str] = []
        before = ""
        for verb, clause in self.steps:
            short = shorten(clause.text, CLAUSE_LIMIT) + (f" to {self.to}" if self.to and verb == LOWER else "")
            parts.append(short if verb == before else f"{verb} {short}")
            before = verb
        return f"{' and '.join(parts)}{self.gain and f' ({self.gain})'}"


LARGER_QUOTA: Final = Advice("ask for a larger quota of exclusive hosts")
"""What helps a HostPool over the quota of exclusive hosts."""
