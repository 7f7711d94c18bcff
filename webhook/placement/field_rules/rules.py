"""Rules of the fields of our objects, each of which stands on its field and nowhere else.

A rule is an annotation of a field of a Struct: ``size: Annotated[int | None, NumberRule("...", 1, 5000)]``. The
CustomResourceDefinitions write it as a line of a schema (:meth:`schema`), and admission, ``explain`` and ``convert``
check it (:func:`broken`). Both are made of the same bounds, patterns and words.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, TypeAlias, get_type_hints

import msgspec
from msgspec import Struct

from webhook.placement.kube.names import NAME_LIMIT, OBJECT_NAME
from webhook.placement.text.problem import Problem, quote

Schema: TypeAlias = dict[str, Any]
"""A structural OpenAPI schema as JSON."""

_compiled = cache(re.compile)

_INT32: Final = 2**31 - 1
"""The largest number of the format ``int32``."""


class TextRule(Struct, frozen=True, kw_only=True):
    """A text of ``least`` to ``most`` characters: one of the ``words``, or of the form of the ``pattern``.

    ``form`` is what a message says of a text of another form; ``needed`` is what a field that must be there says.
    """

    about: str = ""
    least: int = 0
    most: int | None = None
    pattern: str = ""
    words: tuple[str, ...] = ()
    default: str | None = None
    form: str = "has the wrong form"
    needed: str = ""

    def schema(self) -> Schema:
        """The line of the schema."""
        schema: Schema = {"type": "string", "description": self.about} if self.about else {"type": "string"}
        stated = {"enum": [*self.words], "default": self.default, "minLength": self.least, "maxLength": self.most}
        schema |= {name: value for name, value in stated.items() if value}
        return schema | ({"pattern": self.pattern} if self.pattern else {})

    def problems(self, path: str, value: str) -> Iterator[Problem]:
        """A problem if the text breaks the rule."""
        if self.needed and not value:
            yield Problem(path, f"missing: {self.needed}")
        elif self.words:
            if value not in self.words:
                yield Problem(path, f"{quote(value)} is not one of {', '.join(self.words)}")
        elif self.most is not None and len(value) > self.most:
            yield Problem(path, f"{len(value)} characters, at most {self.most} are allowed")
        elif self.pattern and not _compiled(self.pattern).fullmatch(value):
            yield Problem(path, f"{quote(value)} {self.form}")
        elif len(value) < self.least:
            yield Problem(path, "must not be empty")


class NumberRule(Struct, frozen=True):
    """A whole number of at least ``least`` and at most ``most``; ``form`` is what a message says of another one."""

    about: str
    least: int
    most: int | None = None
    default: int | None = None
    form: str = ""

    def schema(self) -> Schema:
        """The line of the schema."""
        size = "int64" if self.most is not None and self.most > _INT32 else "int32"
        schema: Schema = {"type": "integer", "format": size, "description": self.about, "minimum": self.least}
        stated = {"maximum": self.most, "default": self.default}
        return schema | {name: value for name, value in stated.items() if value is not None}

    def problems(self, path: str, value: int) -> Iterator[Problem]:
        """A problem if the number is out of bounds."""
        if value < self.least:
            yield Problem(path, f"{value} {self.form or f'is less than {self.least}'}")
        elif self.most is not None and value > self.most:
            yield Problem(path, f"{value} {self.form or f'is more than {self.most}'}")


class SwitchRule(Struct, frozen=True):
    """True or false."""

    about: str
    default: bool | None = None

    def schema(self) -> Schema:
        """The line of the schema."""
        schema: Schema = {"type": "boolean", "description": self.about}
        return schema if self.default is None else schema | {"default": self.default}

    def problems(self, path: str, value: bool) -> Iterator[Problem]:  # noqa: ARG002, FBT001 -- as of the other rules
        """No problem: the decoder takes nothing but Booleans."""
        return iter(())


class TextListRule(Struct, frozen=True, kw_only=True):
    """Texts in a list, ``least`` to ``most`` of them; ``nouns`` is what messages call several of them.

    ``kind`` is that of the list for merging: ``set`` or ``atomic`` (Kubernetes, merge strategy).
    """

    about: str
    entry: TextRule
    kind: str
    most: int
    nouns: str
    least: int = 0

    def schema(self) -> Schema:
        """The line of the schema."""
        schema = {
            "type": "array",
            "description": self.about,
            "x-kubernetes-list-type": self.kind,
            "maxItems": self.most,
        }
        least = {"minItems": self.least} if self.least else {}
        return schema | least | {"items": self.entry.schema()}

    def problems(self, path: str, value: tuple[str, ...]) -> Iterator[Problem]:
        """A problem if there are too few or too many, and for each text that breaks its rule."""
        if len(value) < self.least:
            yield Problem(path, f"must name at least one {self.nouns.removesuffix('s')}")
        if len(value) > self.most:
            yield Problem(path, f"{len(value)} {self.nouns}, at most {self.most} are allowed")
        for place, text in enumerate(value):
            yield from self.entry.problems(f"{path}[{place}]", text)


class TextMapRule(Struct, frozen=True):
    """Texts by name: at most ``limit`` of them."""

    about: str
    value: TextRule
    limit: int

    def schema(self) -> Schema:
        """The line of the schema."""
        return {
            "type": "object",
            "description": self.about,
            "maxProperties": self.limit,
            "additionalProperties": self.value.schema(),
        }

    def problems(self, path: str, value: dict[str, str]) -> Iterator[Problem]:
        """A problem if there are too many, and for each text that breaks its rule."""
        if len(value) > self.limit:
            yield Problem(path, f"{len(value)} of them, at most {self.limit} are allowed")
            return
        for name, text in value.items():
            yield from self.value.problems(f"{path}[{name}]", text)


FieldRule: TypeAlias = TextRule | NumberRule | SwitchRule | TextListRule | TextMapRule

FieldRules: TypeAlias = tuple[tuple[str, str, FieldRule | None], ...]
"""The fields of a Struct: name in Python, name in JSON, and rule; ``None`` for a field without one."""


@cache
def rules_of(struct: type[Struct]) -> FieldRules:
    """The fields of a Struct with their rules, in their order."""
    hints = get_type_hints(struct, include_extras=True)
    return tuple((each.name, each.encode_name, _rule(hints[each.name])) for each in msgspec.structs.fields(struct))


def _rule(hint: object) -> FieldRule | None:
    return next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, FieldRule)), None)


def broken(value: Struct, path: str, *fields: str) -> Iterator[Problem]:
    """A problem for each rule that a field of the Struct, or of a Struct in it, breaks; ``path`` is its own path.

    Only the named ``fields`` are looked at, if there are some.
    """
    for name, encoded, rule in rules_of(type(value)):
        stated = getattr(value, name)
        if stated is None or (fields and name not in fields):
            continue
        if rule is not None:
            yield from rule.problems(f"{path}.{encoded}", stated)
        elif isinstance(stated, Struct):
            yield from broken(stated, f"{path}.{encoded}")


def object_name(about: str, most: int = NAME_LIMIT, *, needed: str = "") -> TextRule:
    """The rule of the name of an object."""
    return TextRule(about=about, least=1, most=most, pattern=OBJECT_NAME, form="is not an object name", needed=needed)
