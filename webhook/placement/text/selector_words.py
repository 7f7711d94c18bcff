"""CEL selectors of devices in the words of messages."""

import re
from typing import Final

_QUANTITY: Final = r"""(\w+)\.%s\(quantity\((?:"([^"]*)"|'([^']*)')\)\)"""
_SHORTER: Final = (
    (re.compile(r"""\bdevice\.(?:attributes|capacity)\[(?:"[^"]*"|'[^']*')\]\."""), ""),
    (re.compile(_QUANTITY % "compareTo" + r"\s*(==|!=|<=|>=|<|>)\s*0(?![0-9.])"), r"\1 \4 \2\3"),
    (re.compile(_QUANTITY % "isGreaterThan"), r"\1 > \2\3"),
    (re.compile(_QUANTITY % "isLessThan"), r"\1 < \2\3"),
)
"""Parts of selectors, and how messages say them."""


def condition(expression: str) -> str:
    """The selector as a message says it: ``memory >= 40Gi`` for a comparison of a capacity with a quantity."""
    for pattern, words in _SHORTER:
        expression = pattern.sub(words, expression)
    return expression
