"""The composites of several SPL texts by their full names, and the origin of operators that no text defines."""

import enum
from collections.abc import Iterator, Sequence

from msgspec import Struct

from webhook.convert.spl.clauses import SplFindings
from webhook.convert.spl.program import SplComposite, SplProgram
from webhook.convert.spl.scanner import SplScanner
from webhook.convert.spl.toolkits import KNOWN_TOOLKITS, PLACING_COMPOSITES, STANDARD_TOOLKIT, TOOLKIT_OPERATORS
from webhook.placement.text.problem import Problem


class SplText(Struct, frozen=True, eq=False):
    """One text of several: its place among them, what is in it, and what is found about it."""

    number: int
    scanner: SplScanner
    program: SplProgram
    findings: SplFindings


class Definition(Struct, frozen=True, eq=False):
    """A composite, and the text that defines it."""

    text: SplText
    composite: SplComposite

    @property
    def title(self) -> str:
        """The name of the composite with its namespace."""
        namespace = self.text.program.namespace
        return f"{namespace}::{self.composite.name}" if namespace else self.composite.name


class Origin(enum.Enum):
    """Where an operator comes from that no text defines."""

    PRIMITIVE = "primitive"
    """It is an operator of a public toolkit, or of the user, inside which nothing is placed on hosts."""
    TOOLKIT = "toolkit"
    """It is of a public toolkit, whose source is not among the texts."""
    UNKNOWN = "unknown"
    """It may be a composite with a placement of its own."""


class SplLibrary:
    """The composites of texts; ``primitives`` are the names of operators that are known to be no composites."""

    def __init__(self, texts: Sequence[SplText], primitives: frozenset[str]) -> None:
        self.texts = texts
        self._primitives = primitives
        self._definitions: dict[tuple[str, str], list[Definition]] = {}
        for text in texts:
            for composite in text.program.composites:
                key = (text.program.namespace, composite.name)
                self._definitions.setdefault(key, []).append(Definition(text, composite))

    def find(self, text: SplText, name: str) -> Definition | None:
        """The composite that a name of that text means; one of the text itself before all others."""
        candidates = self._candidates(text, name)
        return next(iter([*(one for one in candidates if one.text is text), *candidates]), None)

    def twice(self, text: SplText) -> Iterator[Problem]:
        """A problem for the first composite of a text that has the name of another one in the same text."""
        names: dict[str, int] = {}
        places = [one.place for one in text.program.composites if names.setdefault(one.name, one.place) != one.place]
        if places:
            yield text.scanner.problem(places[0], f"{len(places)} composites have the name of another one")

    def ambiguous(self, text: SplText, name: str) -> str:
        """Where a name of that text is defined, if that is in several other texts; else empty."""
        candidates = self._candidates(text, name)
        if len(candidates) <= 1 or any(one.text is text for one in candidates):
            return ""
        return " and ".join(str(one.text.findings.line(one.composite.place)) for one in candidates)

    def _candidates(self, text: SplText, name: str) -> Sequence[Definition]:
        """The definitions of the first full name that a name of that text may stand for, and that is defined."""
        definitions = (self._definitions.get(key, ()) for key in _meanings(text.program, name))
        return next(filter(None, definitions), ())

    def origin(self, text: SplText, name: str) -> Origin:
        """Where an operator of that name comes from, that no text defines."""
        namespace, _, simple = name.rpartition("::")
        if simple in self._primitives:
            return Origin.PRIMITIVE
        meanings = list(_meanings(text.program, name))
        used = [space for space, _ in meanings if namespace or f"{space}::{simple}" in text.program.uses]
        # A directive that names the operator counts before the standard toolkit, which needs none.
        spaces = used or [*(space for space, _ in meanings), *STANDARD_TOOLKIT]
        if any(f"{space}::{simple}" in PLACING_COMPOSITES for space in spaces):
            return Origin.UNKNOWN
        if any(simple in TOOLKIT_OPERATORS.get(space, ()) for space in spaces):
            return Origin.PRIMITIVE
        # A name without a namespace may be defined beside a text that is alone, unless a directive names it.
        if not used and len(self.texts) > 1:
            given = {one.program.namespace for one in self.texts}
            used = [space for space, _ in meanings if space not in given]
        if used and all(f"{space}.".startswith(KNOWN_TOOLKITS) for space in used):
            return Origin.TOOLKIT
        return Origin.UNKNOWN


def _meanings(program: SplProgram, name: str) -> Iterator[tuple[str, str]]:
    """The full names that a name may stand for, as namespace and simple name, the first first."""
    namespace, _, simple = name.rpartition("::")
    if namespace:
        yield namespace, simple
        return
    yield program.namespace, simple
    for used in program.uses:
        space, _, last = used.rpartition("::")
        if last in {simple, "*"}:
            yield space, simple
