"""Parser of label selectors in kubectl's text form: ``env in (a, b), tier != web, !old, gpu``.

Source: ``apimachinery/pkg/labels/selector.go``. Requirements are separated by commas and must all hold.
"""

import re

from webhook.placement.kube.pod import LabelSelector, Requirement
from webhook.placement.text.problem import quote

_KEY = r"(?P<key>[A-Za-z0-9](?:[-A-Za-z0-9_./]{0,315}[A-Za-z0-9])?)"
"""A label key: a prefix of up to 253 characters, a slash, and a name of up to 63 characters."""
_BLANKS = " \t\r\n"
"""White space between words; any other is a character of a word, and refused there."""
_FORMS = tuple(
    (re.compile(pattern.replace(" ", rf"[{_BLANKS}]"), re.ASCII), operator)
    for pattern, operator in (
        (rf"! *{_KEY}", "DoesNotExist"),
        (_KEY, "Exists"),
        (rf"{_KEY} *==? *(?P<values>[-A-Za-z0-9_.]*)", "In"),
        (rf"{_KEY} *!= *(?P<values>[-A-Za-z0-9_.]*)", "NotIn"),
        (rf"{_KEY} +in *\((?P<values>(?:[-A-Za-z0-9_.,]| )*)\)", "In"),
        (rf"{_KEY} +notin *\((?P<values>(?:[-A-Za-z0-9_.,]| )*)\)", "NotIn"),
        (rf"{_KEY} *> *(?P<values>-?[0-9]+)", "Gt"),
        (rf"{_KEY} *< *(?P<values>-?[0-9]+)", "Lt"),
    )
)
_PART = re.compile(r"(?:\A|,)((?:[^,(]|\([^)]*\)?)*)")
"""One requirement: the text between two commas outside parentheses. Matching takes linear time."""


def parse_selector(text: str) -> LabelSelector:
    """The selector that the text describes; an empty text selects everything. Raises ``ValueError`` with a sentence."""
    parts = [part[1].strip(_BLANKS) for part in _PART.finditer(text)] if text.strip(_BLANKS) else []
    return LabelSelector(match_expressions=tuple(_requirement(part) for part in parts))


def _requirement(part: str) -> Requirement:
    for pattern, operator in _FORMS:
        match = pattern.fullmatch(part)
        if match:
            values = match.groupdict().get("values")
            listed = None if values is None else tuple(value.strip(_BLANKS) for value in values.split(","))
            return Requirement(match["key"], operator, listed)
    raise ValueError(f'{quote(part)} is not a label selector such as "key", "!key", "key=value" or "key in (a, b)"')
