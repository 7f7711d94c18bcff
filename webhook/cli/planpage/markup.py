"""HTML built from untrusted texts: every value except a :class:`Markup` is escaped when it enters an element."""

import html
import re
from typing import TypeAlias

Attribute: TypeAlias = "str | int | bool | None"

_VOID = frozenset({"meta"})
"""Elements without an end tag, as far as the page has them."""

_UNREADABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that HTML cannot have, and halves of surrogate pairs, which cannot be written as UTF-8."""


class Markup(str):
    """HTML that is complete: it is not escaped."""

    __slots__ = ()


def tag(name: str, *content: str, **attributes: Attribute) -> Markup:
    """An element.

    Attributes that are ``False`` or ``None`` are left out; ``class_`` becomes ``class``, and ``aria_label``
    ``aria-label``.
    """
    said = "".join(_attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    return Markup(f"<{name}{said}>" if name in _VOID else f"<{name}{said}>{joined(*content)}</{name}>")


def joined(*content: str) -> Markup:
    """Elements and texts, one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else escaped(part) for part in content))


def escaped(value: str) -> Markup:
    """The text as HTML, in elements and in attributes."""
    return Markup(html.escape(readable(value)))


def readable(value: str) -> str:
    """The text with U+FFFD for each character that HTML cannot have."""
    return _UNREADABLE.sub("\ufffd", value)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    return f" {key}" if value is True else f' {key}="{escaped(str(value))}"'
