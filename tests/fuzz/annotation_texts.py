"""What must hold of the values of annotations: placement, host pools, hardware, worker mapping, YAML."""

from typing import Any

import yaml

from tests.fuzz import placement_grammar
from tests.fuzz.oracles import is_unicode, sayable, text_of
from tests.fuzz.second_opinion import opinion
from webhook.placement.annotations.expressions import sound
from webhook.placement.annotations.hardware_text import read_annotation
from webhook.placement.annotations.placement_text import read_placement
from webhook.placement.annotations.pod_selection import NEED_LIMIT, SELECTOR_LIMIT, read_pod_selection
from webhook.placement.annotations.worker_mapping import read_mapping
from webhook.placement.annotations.yaml_text import parse_yaml
from webhook.placement.kube.quantity import NANO, format_quantity
from webhook.placement.kube.resource_name import page_size
from webhook.placement.spl.clauses import PlacementClause, PoolName
from webhook.placement.spl.host_pools import parse_pools
from webhook.placement.spl.placement import format_placement, parse_placement
from webhook.placement.spl.reader import PROBLEM_LIMIT
from webhook.placement.text import keys

FIELD = "metadata.annotations[x]"

SEPARATOR = "\x1e"
"""Between the texts of several annotations in one input."""

ABSENT = "-"
"""In place of the text of an annotation that a pod does not have."""

_GO_OPERATORS = {
    "in": "In",
    "=": "In",
    "==": "In",
    "notin": "NotIn",
    "!=": "NotIn",
    "exists": "Exists",
    "!": "DoesNotExist",
}


def placement(data: bytes) -> None:
    """What is accepted is what the grammar says, and what is written reads as the same."""
    text = text_of(data)
    clauses, problems = parse_placement(text, FIELD)
    sayable(problems, PROBLEM_LIMIT)
    foreign = placement_grammar.read(text)
    if not is_unicode(text) or problems or foreign is None:
        assert (foreign is None) == bool(problems), f"grammar {foreign}, parser {problems}"
        return
    assert [_meaning(clause) for clause in clauses] == [tuple(clause) for clause in foreign]
    written = format_placement(clauses)
    assert written.isascii()
    if len(written) <= placement_grammar.SIZE:
        again, wrong = parse_placement(written, FIELD)
        assert not wrong, wrong
        assert list(map(_meaning, again)) == list(map(_meaning, clauses))
    sayable(read_placement(text, text).problems)


def _meaning(clause: PlacementClause) -> tuple[str, object, str]:
    argument: object = clause.argument
    if isinstance(argument, PoolName):
        argument = argument.name, argument.index
    return clause.name.value, argument, clause.operator


def pools(data: bytes) -> None:
    """Declarations of host pools are read, or refused in sentences; what is written reads as the same."""
    declared, problems = parse_pools(text_of(data), FIELD)
    sayable(problems, PROBLEM_LIMIT)
    written = ", ".join(map(str, declared))
    if declared:
        assert parse_pools(written, FIELD) == (declared, ()), written


def yaml_text(data: bytes) -> None:
    """What is read is what PyYAML reads without types."""
    text = text_of(data)
    value, problem = parse_yaml(text, FIELD)
    sayable([problem] if problem else [])
    if problem is None:
        (other,) = list(yaml.load_all(text, Loader=yaml.CBaseLoader)) or [None]
        assert _texts(value) == _texts(other)


def _texts(value: Any) -> Any:
    """The value with all that may be null as an empty text: the base loader keeps the words."""
    if isinstance(value, dict):
        return {key: _texts(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_texts(inner) for inner in value]
    return "" if value in {None, "~", "null"} else value


def hardware(data: bytes) -> None:
    """What is accepted can be asked of the API server: devices by a name, a resource and its amounts, or a label."""
    accepted, problems = read_annotation(text_of(data))
    sayable(problems)
    for one in accepted:
        if one.device is not None:
            _agreed(opinion("subdomain", one.device.claim or one.device.template), one)
        elif one.value is None:
            pieces = page_size(one.name)
            amount = one.limits if one.limits is not None else one.requests
            assert one.requests > 0
            if pieces == 0 or amount % (pieces * NANO) == 0:
                _agreed(opinion("resource", one.name, format_quantity(amount)), one)
        else:
            _agreed(opinion("expression", one.name, "In", one.value), one)


def _agreed(answer: list[Any] | None, what: object) -> None:
    assert answer is None or answer[0], f"the API server refuses {what}"


def worker_mapping(data: bytes) -> None:
    """What is accepted can be in a node selector."""
    texts = text_of(data).split(SEPARATOR)
    annotations = {key: text for key, text in zip(keys.WORKER_MAPPING, texts, strict=False) if text != ABSENT}
    mapping = read_mapping(annotations)
    sayable(mapping.problems)
    for expression in mapping.expressions:
        need = expression.need
        assert sound(need), need
        _agreed(opinion("expression", need.key, need.operator, *(need.values or ())), need)


def pod_selector(data: bytes) -> None:
    """A selector over pods is read as kubectl reads it."""
    text = text_of(data)
    selections, problems = read_pod_selection(text, None)
    sayable(problems)
    answer = opinion("selector", text)
    if answer is None or len(text) > SELECTOR_LIMIT or "\0" in text:  # Kubernetes stops reading at a NUL
        return
    needs = [] if not answer[0] else answer[1:]
    wanted = bool(needs) and len(needs) <= NEED_LIMIT and all(operator in _GO_OPERATORS for _, operator, _ in needs)
    assert bool(selections) == wanted, f"the API server: {answer}; problems: {problems}"
    if selections:
        read = sorted((need.key, need.operator, sorted(set(need.values or ()))) for need in selections[0].needs)
        assert read == sorted((key, _GO_OPERATORS[operator], values) for key, operator, values in needs)
