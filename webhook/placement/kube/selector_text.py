"""Parser of label selectors in kubectl's text form: ``env in (a, b), tier != web, !old, gpu``.

Source: ``apimachinery/pkg/labels/selector.go``. Requirements are separated by commas and must all hold.
"""

import re

from webhook.placement.kube.pod import LabelSelector, Requirement
from webhook.placement.text.problem import quote

_KEY = r"(?P<key>[A-Za-z0-9](?:[-A-Za-z0-9_./]{0,315}[A-Za-z0-9])?)"
"""A label key: a prefix of up to 253 characters, a slash, and a name of up to 63 characters."""
_FORMS = tuple(
    (re.compile(pattern, re.ASCII), operator)
    for pattern, operator in (
        (rf"!\s*{_KEY}", "DoesNotExist"),
        (_KEY, "Exists"),
        (rf"{_KEY}\s*==?\s*(?P<values>[-A-Za-z0-9_.]*)", "In"),
        (rf"{_KEY}\s*!=\s*(?P<values>[-A-Za-z0-9_.]*)", "NotIn"),
        (rf"{_KEY}\s+in\s*\((?P<values>[-A-Za-z0-9_., ]*)\)", "In"),
        (rf"{_KEY}\s+notin\s*\((?P<values>[-A-Za-z0-9_., ]*)\)", "NotIn"),
        (rf"{_KEY}\s*>\s*(?P<values>-?[0-9]+)", "Gt"),
        (rf"{_KEY}\s*<\s*(?P<values>-?[0-9]+)", "Lt"),
    )
)
_PART = re.compile(r"(?:\A|,)((?:[^,(]|\([^)]*\)?)*)")
"""One requirement: the text between two commas outside parentheses. Matching takes linear time."""


def parse_selector(text: str) -> LabelSelector:
    """The selector that the text describes; an empty text selects everything. Raises ``ValueError`` with a sentence."""
    parts = [part[1].strip() for part in _PART.finditer(text)] if text.strip() else []
    return LabelSelector(match_expressions=tuple(_requirement(part) for part in parts))


def _requirement(part: str) -> Requirement:
    for pattern, operator in _FORMS:
        match = pattern.fullmatch(part)
        if match:
            values = match.groupdict().get("values")
            listed = None if values is None else tuple(value.strip() for value in values.split(","))
            return Requirement(match["key"], operator, listed)
    raise ValueError(f'{quote(part)} is not a label selector such as "key", "!key", "key=value" or "key in (a, b)"')
