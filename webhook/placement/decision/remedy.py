"""The nearest fix of a refusal: the single change that would open most nodes."""

import itertools
from collections.abc import Iterator, Sequence

from webhook.placement.decision.clause_nodes import NamedNodes, without_each
from webhook.placement.decision.cluster_change import opening_change
from webhook.placement.decision.relaxation import Relaxation
from webhook.placement.decision.verdict import Judged, Verdict
from webhook.placement.kube.bits import Bits
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.problem import counted, shorten

CLAUSE_LIMIT = 60
"""Characters of a clause in a message; the user knows the rest."""

REASON_LIMIT = 200
"""Characters of one line of reasons."""


def nearest_fix(verdict: Verdict, ask: Ask, world: World, said: NamedNodes, lacking: Relaxation) -> str:
    """The single change of the cluster, and the single clause to drop, that open most nodes."""
    opened = without_each(verdict.everything, [judged.nodes for judged in verdict.hard])
    count, text = lacking.best()
    drop = [f"{dropping(lacking, (text,))} ({_would(count)})"] if count else []
    if options := [*mends(verdict.hard, opened, ask, world), *drop]:
        return ", or ".join(options)
    count, pair = lacking.best_of(said.pairs())
    if count:
        return f"{dropping(lacking, pair)} ({_would(count)})"
    return "none by a single change; the pod needs a node that meets all of it"


def mends(hard: Sequence[Judged], opened: Sequence[Bits], ask: Ask, world: World) -> Iterator[str]:
    """The change of the cluster for the constraint that alone keeps most nodes closed, if there is one."""
    ranked = sorted((at for at in range(len(hard)) if opened[at]), key=lambda at: -opened[at].bit_count())
    constraints = [judged.constraint for judged in hard]
    found = (opening_change(constraints, at, opened[at], ask, world) for at in ranked)
    yield from (shorten(mend, REASON_LIMIT) for mend in itertools.islice(filter(None, found), 1))


def dropping(lacking: Relaxation, texts: Sequence[str]) -> str:
    """What to do with these words: ``drop a and b``, ``drop a and lower b``."""
    parts: list[str] = []
    verb = ""
    for text in texts:
        short = shorten(text, CLAUSE_LIMIT)
        parts.append(short if lacking.words[text] == verb else f"{lacking.words[text]} {short}")
        verb = lacking.words[text]
    return " and ".join(parts)


def _would(count: int) -> str:
    return f"{counted(count, 'node')} would fit"
