"""The changes proposed by constraints (``Constraint.fix``) that would open a node to the pod."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from webhook.placement.constraints.constraint import Constraint, Tie
from webhook.placement.decision.verdict import Judged
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.numbers import integer
from webhook.placement.kube.pod import Requirement, required_terms
from webhook.placement.kube.selection.selector import Nodes, holds, matching_all
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_labels import labels_of, labels_set
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.fix import AddNode, Fix, LabelNode, NodeFix
from webhook.placement.text.keys import HOSTNAME, MEMBERSHIP

_NEW = "*"
"""The host name of a node that is yet to be added: no node there is can have it."""


def proposed_fixes(hard: Sequence[Judged], opened: Sequence[Bits], ask: Ask, world: World) -> Iterator[Fix]:
    """The changes for constraints that alone keep nodes closed, first for the one that keeps most.

    ``opened`` are, for each of ``hard``, the nodes that fail it alone.
    """
    ranked = sorted([at for at in range(len(hard)) if opened[at]], key=lambda at: -opened[at].bit_count())
    constraints = [judged.constraint for judged in hard]
    for at in ranked:
        if change := opening_change(constraints, at, opened[at], ask, world):
            yield change


def opening_change(constraints: Sequence[Constraint], at: int, out: Bits, ask: Ask, world: World) -> Fix | None:
    """The change that the constraint at position ``at`` proposes, if it surely opens one of ``out``; else ``None``.

    ``out`` are the nodes that fail that constraint alone.
    """
    constraint = constraints[at]
    others = [*constraints[:at], *constraints[at + 1 :]]
    fix = constraint.fix(world, out)
    if fix is None:
        return None
    needs, pools = constraint.needs, [pool for _, pool in ask.pools]
    if isinstance(fix, AddNode):
        exists = any(need.key == HOSTNAME and world.with_label(HOSTNAME, need.values or ()) for need in needs)
        return None if exists or not joinable(others, ask, needs) else _labelled(fix, constraint, others, ask)
    if constraint.pool and world.shortage(constraint.pool):
        needs, pools = labels_of(constraint.pool), [pool for pool in pools if pool is not constraint.pool]
        if any(pool.exclusive for pool in pools):
            return None  # no node can be a host of both pools
    labels = labels_set(needs)
    if labels and {other.topology for other in others} - labels.keys() - {""}:
        return None  # another label may change which domains count, and how many pods are in them
    possible = _compatible(labels, [*needs, *all_needs(others, ask)]) and not _chosen_by(labels, pools, world)
    if not possible:
        return None
    if not any(other.topology for other in others):  # which count domains, and these may change
        # A label that another field asks for as well may open nodes that fail both.
        at_least = any(need.key in labels for need in all_needs(others, ask))
        fix = _counted(fix, constraint, out, world, at_least=at_least)
    return _of_named(fix, others)


def _counted(fix: Fix, constraint: Constraint, out: Bits, world: World, *, at_least: bool) -> Fix:
    """The fix with the number of nodes that it would help, if that is known: of ``out`` those that meet all else."""
    if not isinstance(fix, LabelNode) or fix.labels != labels_set(constraint.needs):
        return fix
    helped, without = helped_by_labels(constraint.needs, out, world)
    return replace(fix, help=helped.bit_count(), without=without.bit_count(), at_least=at_least)


def helped_by_labels(needs: Sequence[Requirement], out: Bits, nodes: Nodes) -> tuple[Bits, Bits]:
    """Which of the nodes ``out`` meet the needs with the labels that these set, and all nodes without the labels."""
    labels = labels_set(needs)
    helped = out & matching_all(nodes, [need for need in needs if need.key not in labels])
    return helped, nodes.everything & ~matching_all(nodes, [need for need in needs if need.key in labels])


def _of_named(fix: Fix, others: Iterable[Constraint]) -> Fix:
    """The fix with the name of the node to be changed, if the pod names the only node that it can have."""
    name = next((other.node for other in others if other.node), "")
    return replace(fix, name=name) if name and isinstance(fix, NodeFix) else fix


def joinable(constraints: Sequence[Constraint], ask: Ask, needs: Sequence[Requirement] = ()) -> bool:
    """Whether a node that is added can meet all of ``constraints`` and also ``needs``.

    The new node may have the labels of any node that meets the constraints, but a host name of its own.
    """
    for constraint in constraints:
        if constraint.tie is not Tie.NONE:
            return False
    if any(term.match_fields for term in required_terms(ask.spec) or ()):
        return False
    mine = {need.key for need in needs}
    for need in all_needs(constraints, ask):
        if need.key in mine or (need.key == HOSTNAME and not holds(need, _NEW)):
            return False
        if need.key.startswith(MEMBERSHIP) and not holds(need, None):
            return False
    return not any(need.key.startswith(MEMBERSHIP) and not holds(need, None) for need in needs)


def _labelled(fix: AddNode, constraint: Constraint, others: Sequence[Constraint], ask: Ask) -> AddNode | None:
    """The fix of the constraint with all else that the others want; ``None`` if no node has all of these labels."""
    if fix.otherwise:
        return replace(fix, labels={})
    if constraint.equipment == "":
        equipment = dict.fromkeys(other.equipment for other in others)
        if None in equipment:
            return None
        fix = replace(fix, having=" and ".join(filter(None, (fix.having, *equipment))))
    needs = [*needs_of_new(others, ask)]
    labels = labels_of_new(needs)
    if labels is None or labels_of_new([*constraint.needs, *needs]) is None:
        return None
    stated = {need.key for need in constraint.needs}  # the text of the fix says these already
    return replace(fix, labels={key: value for key, value in labels.items() if value or key not in stated})


def needs_of_new(constraints: Iterable[Constraint], ask: Ask) -> Iterator[Requirement]:
    """All requirements on labels of a node that is added: pods are counted by domain, so it has to be in one."""
    constraints = tuple(constraints)
    yield from all_needs(constraints, ask)
    yield from (Requirement(constraint.topology, "Exists") for constraint in constraints if constraint.topology)


def labels_of_new(needs: Iterable[Requirement]) -> dict[str, str | None] | None:
    """Labels with which a node that is added meets all of ``needs``, sorted; ``None`` if there are no such labels.

    Labels without a value may have any one. Host names are left out: a new node has one of its own.
    """
    by_key: dict[str, list[Requirement]] = {}
    for need in needs:
        by_key.setdefault(need.key, []).append(need)
    labels: dict[str, str | None] = {}
    for key, asked in sorted(by_key.items()):
        if key == HOSTNAME or all(holds(need, None) for need in asked):
            continue
        value = next((value for value in _values(asked) if all(holds(need, value) for need in asked)), None)
        if value is None:
            return None
        labels[key] = None if all(need.operator == "Exists" for need in asked) else value
    return labels


def _values(asked: Sequence[Requirement]) -> Iterator[str]:
    """Values of a label that these requirements may have in common: those they name, and those beyond a bound."""
    for need in asked:
        values = need.values or ()
        bound = integer(values[0]) if need.operator in ("Gt", "Lt") and values else None
        if bound is not None:
            yield str(bound + (1 if need.operator == "Gt" else -1))
        elif need.operator == "In":
            yield from values
    yield "true"


def _compatible(labels: Mapping[str, str], needs: Iterable[Requirement]) -> bool:
    """Whether ``needs`` still hold once these labels are set, and none of these is a membership label.

    Only the controller writes membership labels.
    """
    if any(key.startswith(MEMBERSHIP) for key in labels):
        return False
    return all(holds(need, labels[need.key]) for need in needs if need.key in labels)


def _chosen_by(labels: Mapping[str, str], pools: Iterable[Pool], world: World) -> bool:
    """Whether these labels decide which hosts some of the pools are yet to get."""
    waiting = (pool for pool in pools if pool.sized and not world.complete(pool))
    return any(need.key in labels for pool in waiting for need in labels_of(pool))


def all_needs(constraints: Iterable[Constraint], ask: Ask) -> Iterator[Requirement]:
    """All requirements on labels of the node: those of the constraints, and those of the pod's own node affinity."""
    for constraint in constraints:
        yield from constraint.needs
    for term in required_terms(ask.spec) or ():
        yield from term.match_expressions or ()
