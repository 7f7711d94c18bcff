"""Reader of the annotations ``run-with`` and ``run-apart-from``: the pods to share a node with, or not, by labels."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.annotations.expressions import problems_of_key, problems_of_values
from webhook.placement.annotations.placement_text import SHOWN, annotation
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selection.selector import holds
from webhook.placement.kube.selection.selector_text import parse_selector
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause, Source
from webhook.placement.text.problem import Problem, quote, shorten

SELECTOR_LIMIT: Final = 1024
"""Characters of a selector: more than people write by hand, and a text that is read in a millisecond."""

NEED_LIMIT: Final = 64
"""Requirements of a selector: as many as a placement text may have clauses. The scheduler checks all on every pod."""

CLAUSE_LIMIT: Final = 100
"""Characters of a clause in a warning; the user knows the rest of the clause."""

_POD_OPERATORS: Final = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})
"""Operators of selectors over pods (Kubernetes, ``LabelSelectorOperator``); only those over nodes have Gt and Lt."""


class PodSelection(Struct, frozen=True, gc=False):
    """The pods whose labels meet all of ``needs``, to share a node with (``near``) or to keep away from.

    ``clause`` is the name of the annotation and the user's text, for messages.
    """

    clause: Clause
    needs: tuple[Requirement, ...]
    near: bool

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod with these labels is selected."""
        return all(holds(need, labels.get(need.key)) for need in self.needs)


def read_pod_selection(near: str | None, away: str | None) -> tuple[tuple[PodSelection, ...], tuple[Problem, ...]]:
    """The selections of ``run-with`` (``near``) and ``run-apart-from`` (``away``), and all problems.

    ``None`` is an absent annotation.
    """
    selections: list[PodSelection] = []
    problems: list[Problem] = []
    for key, text in ((keys.RUN_WITH, near), (keys.RUN_APART_FROM, away)):
        if text is not None:
            needs, wrong = _needs(text, annotation(key))
            name = key.removeprefix(keys.PREFIX)
            clause = Clause(Source.POD_SELECTION, ((key, text),), f"{name} {' '.join(text.split())}")
            selections += [] if wrong else [PodSelection(clause, needs, key == keys.RUN_WITH)]
            problems += wrong
    if len({_meaning(selection) for selection in selections}) < len(selections):
        message = f"{selections[0].clause} and {selections[1].clause} contradict each other"
        problems.append(Problem(annotation(keys.RUN_APART_FROM), message))
    return tuple(selections), tuple(problems)


def unchecked(selection: PodSelection) -> str:
    """The warning that the webhook does not know where the selected pods run, so the pod may have to wait."""
    clause = shorten(selection.clause.text, CLAUSE_LIMIT)
    if selection.near:
        return f"{clause}: the selected pods are not checked; this pod waits until one of them runs where it fits"
    return f"{clause}: the selected pods are not checked; this pod waits while one of them runs on every node that fits"


def _meaning(selection: PodSelection) -> frozenset[tuple[str, str, frozenset[str]]]:
    """The requirements without their order: equal for selectors that differ in the order only."""
    return frozenset((need.key, need.operator, frozenset(need.values or ())) for need in selection.needs)


def _needs(text: str, field: str) -> tuple[tuple[Requirement, ...], list[Problem]]:
    if len(text) > SELECTOR_LIMIT:
        return (), [Problem(field, f"has {len(text)} characters, at most {SELECTOR_LIMIT} are allowed")]
    try:
        needs = parse_selector(text).match_expressions
    except ValueError as error:
        return (), [Problem(field, str(error))]
    if not needs:
        return (), [Problem(field, "selects every pod: name the labels of those that are meant, such as app=database")]
    if len(needs) > NEED_LIMIT:
        return (), [Problem(field, f"has {len(needs)} requirements, at most {NEED_LIMIT} are allowed")]
    return needs, [problem for need in needs for problem in _problems(need, field)][:SHOWN]


def _problems(need: Requirement, field: str) -> Iterator[Problem]:
    yield from problems_of_key(need.key, field)
    if need.operator not in _POD_OPERATORS:
        rule = (
            'pods are selected by "key", "!key", "key=value", "key!=value", "key in (a, b)" and "key notin (a, b)" only'
        )
        yield Problem(field, f"{quote(need.key)} is compared by size, but {rule}")
    else:
        yield from problems_of_values(need.values or (), field)
