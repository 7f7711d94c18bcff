"""CEL selectors of devices in the words of messages."""

import re
from typing import Final

# A tenant's expression has up to 10,000 characters: no part of a pattern reads far ahead at each of them.
_QUANTITY: Final = r"""\b(\w++)\.%s\(quantity\((?:"([^"]{0,64})"|'([^']{0,64})')\)\)"""
_SHORTER: Final = (
    (re.compile(r"""\bdevice\.(?:attributes|capacity)\[(?:"[^"]{0,253}"|'[^']{0,253}')\]\."""), ""),
    (re.compile(_QUANTITY % "compareTo" + r"\s*(==|!=|<=|>=|<|>)\s*0(?![0-9.])"), r"\1 \4 \2\3"),
    (re.compile(_QUANTITY % "isGreaterThan"), r"\1 > \2\3"),
    (re.compile(_QUANTITY % "isLessThan"), r"\1 < \2\3"),
)
"""Parts of selectors, and how messages say them."""


def condition(expression: str) -> str:
    """The selector as a message says it: ``memory >= 40Gi`` for a comparison of a capacity with a quantity."""
    expression = one_line(expression)
    for pattern, words in _SHORTER:
        expression = pattern.sub(words, expression)
    return expression


def one_line(expression: str) -> str:
    """The selector in one line: manifests write long ones as block scalars, which also end in a line break."""
    return " ".join(filter(None, map(str.strip, expression.split("\n"))))
