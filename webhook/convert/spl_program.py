"""The parts of an SPL program that say where operators run: composites, operator invocations and their configs.

A program has composites; a piece of one, as in documentation, may have invocations and configs alone. Everything else
of the language (types, parameters, logic, functions) is passed over. The grammar is that of the SPL reference.
"""

import itertools
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from webhook.convert.findings import RefusedInputError
from webhook.convert.spl_scanner import Span, SplScanner
from webhook.placement.spl.tokens import TokenKind
from webhook.placement.text.problem import quote

_SECTIONS: Final = frozenset({"param", "type", "graph", "config", "logic", "window", "output"})
_CONFIG: Final = "config"
_GRAPH: Final = "graph"


class SplConfig(Struct, frozen=True, gc=False):
    """One ``name : value ;`` of a config clause: the place of the name, and the tokens of the value."""

    name: str
    place: int
    value: Span


class SplAnnotation(Struct, frozen=True, gc=False):
    """An annotation of an invocation, such as ``@parallel(width=3)``; ``arguments`` are the tokens in parentheses."""

    name: str
    place: int
    arguments: Span


class Invocation(Struct, frozen=True, gc=False):
    """An operator invocation: the instance's name, what is invoked, its configs and annotations."""

    name: str
    place: int
    invoked: str
    configs: tuple[SplConfig, ...] = ()
    annotations: tuple[SplAnnotation, ...] = ()


class SplComposite(Struct, frozen=True, gc=False):
    """The definition of a composite operator; ``ported`` tells that it has input or output ports."""

    name: str
    place: int
    ported: bool
    invocations: tuple[Invocation, ...]
    configs: tuple[SplConfig, ...]


class SplProgram(Struct, frozen=True, gc=False):
    """A text of SPL; ``loose`` has the invocations and configs that are in no composite."""

    namespace: str
    composites: tuple[SplComposite, ...]
    loose: SplComposite


def read_program(scanner: SplScanner) -> SplProgram:
    """The program in the text."""
    namespace, composites = "", []
    invocations: list[Invocation] = []
    configs: list[SplConfig] = []
    place, end = scanner.whole()
    while place < end:
        span = scanner.statement(place, end)
        words = _before_brackets(scanner, span)
        if scanner.word(place) == "namespace":
            namespace = scanner.text(Span(place + 1, span.end - (scanner.word(span.end - 1) == ";")))
        elif "composite" in words:
            composites.append(_composite(scanner, span, words["composite"]))
        elif scanner.word(place) == _CONFIG:
            span = _loose_config(scanner, Span(place, end))
            configs += _configs(scanner, Span(place + 1, span.end))
        else:
            invocations += _invocation(scanner, span)
        place = span.end
    loose = SplComposite("", 0, ported=False, invocations=tuple(invocations), configs=tuple(configs))
    return SplProgram(namespace, tuple(composites), loose)


def _before_brackets(scanner: SplScanner, span: Span) -> dict[str, int]:
    """The names of a statement before its first bracket, with their places."""
    found: dict[str, int] = {}
    for place in range(span.start, span.end):
        if scanner.tokens[place].kind is TokenKind.SYMBOL and scanner.word(place) in "({[":
            break
        if scanner.named(place):
            found.setdefault(scanner.word(place), place)
    return found


def _loose_config(scanner: SplScanner, span: Span) -> Span:
    """A config clause that is in no composite: its first entry, and those that follow it."""
    place = scanner.statement(span.start, span.end).end
    while place < span.end and scanner.named(place) and scanner.word(place + 1) == ":":
        place = scanner.statement(place, span.end).end
    return Span(span.start, place)


def _sections(scanner: SplScanner, span: Span) -> Iterator[tuple[str, Span]]:
    """The sections of the body of a composite, each with its word, and without it."""
    place = span.start
    while place < span.end:
        word = scanner.word(place)
        if word not in _SECTIONS:
            message = f"{quote(word)} is in no section: write graph, config or the like in front of it"
            raise RefusedInputError(scanner.problem(place, message))
        end = place + 1
        while end < span.end and not (scanner.named(end) and scanner.word(end) in _SECTIONS and _begins(scanner, end)):
            end = scanner.statement(end, span.end).end
        yield word, Span(place + 1, end)
        place = end


def _begins(scanner: SplScanner, place: int) -> bool:
    """Whether a word of sections begins one here, and is not the name of a value."""
    return scanner.word(place + 1) not in {":", "=", "(", "."}


def _composite(scanner: SplScanner, span: Span, place: int) -> SplComposite:
    """``"composite" , name , [ "(" , ports , ")" ] , "{" , { section } , "}" ;``."""
    name, following = scanner.word(place + 1), place + 2
    ported = False
    if scanner.word(following) == "(":
        ports = scanner.inside(following)
        ported, following = ports.start < ports.end, scanner.after(following)
    invocations: list[Invocation] = []
    configs: list[SplConfig] = []
    body = scanner.inside(following) if following < span.end and scanner.word(following) == "{" else Span(0, 0)
    for word, section in _sections(scanner, body):
        if word == _GRAPH:
            start = section.start
            while start < section.end:
                statement = scanner.statement(start, section.end)
                invocations += _invocation(scanner, statement)
                start = statement.end
        elif word == _CONFIG:
            configs += _configs(scanner, section)
    return SplComposite(name, place, ported, tuple(invocations), tuple(configs))


def _configs(scanner: SplScanner, span: Span) -> Iterator[SplConfig]:
    """``{ name , ":" , value , ";" }``."""
    for part in scanner.split(span, ";"):
        if not scanner.named(part.start) or scanner.word(part.start + 1) != ":":
            message = f"{quote(scanner.text(part))} is no config: write its name, a colon and its value"
            raise RefusedInputError(scanner.problem(part.start, message))
        yield SplConfig(scanner.word(part.start), part.start, Span(part.start + 2, part.end))


def _invocation(scanner: SplScanner, span: Span) -> Iterator[Invocation]:
    """``{ annotation } , outputs , [ "as" , name ] , "=" , operator , "(" , inputs , ")" , "{" , body , "}" ;``."""
    annotations, start = _annotations(scanner, span)
    top = list(scanner.top(Span(start, span.end)))
    equals = next((at for at, place in enumerate(top) if scanner.word(place) == "="), len(top))
    inputs = next((at for at in range(equals, len(top)) if scanner.word(top[at]) == "("), None)
    name = _instance(scanner, top[:equals])
    if inputs is None or name is None:
        return  # the definition of a type, or of a function
    parts = itertools.takewhile(lambda place: scanner.word(place) != "<", top[equals + 1 : inputs])
    body = scanner.inside(top[-1]) if scanner.word(top[-1]) == "{" else Span(0, 0)
    configs = tuple(_own_configs(scanner, body))
    yield Invocation(scanner.word(name), name, "".join(map(scanner.word, parts)), configs, annotations)


def _instance(scanner: SplScanner, outputs: list[int]) -> int | None:
    """The place of the instance's name: after ``as``, else the first stream's."""
    if outputs and scanner.named(outputs[-1]):
        return outputs[-1]
    for place in outputs:
        if scanner.word(place) == "(":
            streams = scanner.split(scanner.inside(place), ";")
            return streams[0].end - 1 if streams and scanner.named(streams[0].end - 1) else None
    return None


def _annotations(scanner: SplScanner, span: Span) -> tuple[tuple[SplAnnotation, ...], int]:
    """The annotations at the beginning of a statement, and the place after them."""
    found: list[SplAnnotation] = []
    place = span.start
    while place + 1 < span.end and scanner.word(place) == "@" and scanner.named(place + 1):
        name, following = scanner.word(place + 1), place + 2
        arguments = Span(following, following)
        if following < span.end and scanner.word(following) == "(":
            arguments, following = scanner.inside(following), scanner.after(following)
        found.append(SplAnnotation(name, place + 1, arguments))
        place = following
    return tuple(found), place


def _own_configs(scanner: SplScanner, body: Span) -> Iterator[SplConfig]:
    """The configs of an invocation: those of the config clause of its body."""
    for word, section in _sections(scanner, body):
        if word == _CONFIG:
            yield from _configs(scanner, section)
