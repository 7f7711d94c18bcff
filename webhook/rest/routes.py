"""Paths of the REST interface: ``RouteTarget``, what a path names, and ``parse_path``, which reads one.

The paths are those of EMCO's HPA intents, below ``/v2``. Project, composite application, version and deployment intent
group exist as soon as a request names them; intents, consumers and requirements must have been created.
"""

import enum
import re
from typing import Final
from urllib.parse import quote as percent_encoded
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.text.problem import quote
from webhook.rest.request_error import FieldError, RequestError

NAME: Final = r"[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,126}[A-Za-z0-9])?"
"""A name of EMCO: up to 128 letters, digits, ``-``, ``_`` and ``.``, with a letter or digit at both ends."""

NAME_RULE: Final = (
    "is not a valid name: up to 128 letters, digits, '-', '_' and '.', the first and the last a letter or digit"
)

_NAME: Final = re.compile(NAME, re.ASCII)
_SEGMENT_LIMIT: Final = 3 * 4 * 128
"""Characters of a segment that is decoded: a name of 128 characters, each as four escaped bytes."""


class IntentGroup(Struct, frozen=True, order=True):
    """A deployment intent group of EMCO: names of project, composite application, its version, and the group."""

    project: str
    composite_app: str
    version: str
    name: str

    def __str__(self) -> str:
        """The four names, as messages and logs show them."""
        return f"{self.project}/{self.composite_app}/{self.version}/{self.name}"


class Collection(enum.Enum):
    """What a path lists or names an element of; the value is the segment of the path."""

    INTENTS = "hpa-intents"
    CONSUMERS = "hpa-resource-consumers"
    REQUIREMENTS = "resource-requirements"

    @property
    def noun(self) -> str:
        """The name of an element in messages."""
        return _NOUNS[self]


_NOUNS: Final = {
    Collection.INTENTS: "HPA intent",
    Collection.CONSUMERS: "resource consumer",
    Collection.REQUIREMENTS: "resource requirement",
}

GROUP: Final = (
    ("projects", "project-name"),
    ("composite-apps", "composite-app-name"),
    ("", "composite-app-version"),
    ("deployment-intent-groups", "deployment-intent-group-name"),
)
"""The first segments of every path: a word and the parameter after it; the version has no word before it."""

LEVELS: Final = (
    (Collection.INTENTS, "hpa-intent-name"),
    (Collection.CONSUMERS, "consumer-name"),
    (Collection.REQUIREMENTS, "requirement-name"),
)
"""The segments below a group: each collection, and the parameter that names one of its elements."""

_WORDS: Final = ("v2", *(part for pair in GROUP for part in pair if part))
_PARAMETERS: Final = frozenset(name for _, name in (*GROUP, *LEVELS))


class RouteTarget(Struct, frozen=True):
    """What a path names: an element if ``names`` has one name for each level, else the list of the last level.

    ``collection`` is ``None`` for a query about the whole group, which ``query`` names (``hpa-placement``).
    """

    group: IntentGroup
    collection: Collection | None
    names: tuple[str, ...] = ()
    listed: bool = True
    query: str = ""

    @property
    def intent(self) -> str:
        """The name of the intent; empty if the path names none."""
        return self.names[0] if self.names else ""

    def element(self, name: str) -> "RouteTarget":
        """The element of that name in the collection that this path lists."""
        return replace(self, names=(*self.names, name), listed=False)

    @property
    def path(self) -> str:
        """The path in its usual spelling."""
        group = self.group
        parts = ["v2", "projects", group.project, "composite-apps", group.composite_app, group.version]
        parts += ["deployment-intent-groups", group.name]
        for (collection, _), name in zip(LEVELS, self.names, strict=False):
            parts += [collection.value, name]
        if self.listed:
            parts.append(LEVELS[len(self.names)][0].value)
        return "/" + "/".join(percent_encoded(part, safe="") for part in parts)


def group_template(query: str) -> str:
    """The path of a query about a group, with parameters in braces."""
    return "/" + "/".join([*(f"{{{part}}}" if part in _PARAMETERS else part for part in _WORDS), query])


def template(collection: Collection, *, listed: bool) -> str:
    """The path of a collection, or of its elements, with parameters in braces."""
    parts = [f"{{{part}}}" if part in _PARAMETERS else part for part in _WORDS]
    depth = [level for level, _ in LEVELS].index(collection)
    for level, parameter in LEVELS[: depth + 1]:
        parts += [level.value, f"{{{parameter}}}"]
    return "/" + "/".join(parts[:-1] if listed else parts)


def is_name(text: str) -> bool:
    """Whether the text can be a name of EMCO."""
    return _NAME.fullmatch(text) is not None


def parse_path(path: str, queries: frozenset[str] = frozenset()) -> RouteTarget | None:
    """What the path names; ``None`` if the interface has no such path.

    ``queries`` are the queries about a group that exist. Raises :class:`RequestError` for what cannot be a name.
    """
    segments = path.split("/")[1:]
    if len(segments) > 1 and not segments[-1]:
        segments.pop()  # a slash at the end, as EMCO's router takes it, too
    head, tail = segments[: len(_WORDS)], segments[len(_WORDS) :]
    if len(head) < len(_WORDS) or not tail:
        return None
    if any(said != word for said, word in zip(head, _WORDS, strict=True) if word not in _PARAMETERS):
        return None
    given = [(word, said) for said, word in zip(head, _WORDS, strict=True) if word in _PARAMETERS]
    if len(tail) == 1 and tail[0] in queries:
        return RouteTarget(_group(given), None, query=tail[0])
    return _below(given, tail)


def _below(given: list[tuple[str, str]], tail: list[str]) -> RouteTarget | None:
    """The target for the segments below the group: collections and names in turn."""
    words, names = tail[::2], tail[1::2]
    if len(words) > len(LEVELS) or any(
        word != level.value for word, (level, _) in zip(words, LEVELS, strict=False)
    ):  # fmt: skip
        return None
    decoded = _names([*given, *((LEVELS[at][1], name) for at, name in enumerate(names))])
    return RouteTarget(
        IntentGroup(*decoded[: len(GROUP)]),
        LEVELS[len(words) - 1][0],
        tuple(decoded[len(GROUP) :]),
        listed=len(words) > len(names),
    )


def _group(given: list[tuple[str, str]]) -> IntentGroup:
    return IntentGroup(*_names(given))


def _names(given: list[tuple[str, str]]) -> list[str]:
    """The decoded names; raises :class:`RequestError` with every one that cannot be a name."""
    decoded = [(parameter, unquote(said[:_SEGMENT_LIMIT], errors="replace")) for parameter, said in given]
    wrong = [
        FieldError(parameter, f"{quote(name)} {NAME_RULE}", name) for parameter, name in decoded if not is_name(name)
    ]
    if wrong:
        raise RequestError(400, wrong)
    return [name for _, name in decoded]
