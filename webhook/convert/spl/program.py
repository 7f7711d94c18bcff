"""The parts of an SPL program that say where operators run: composites, operator invocations and their configs.

A program has composites; a piece of one, as in documentation, may have invocations and configs alone. Everything else
of the language (types, logic, functions) is passed over. The grammar is that of the SPL reference, "Grammar overview":
a composite's body has the sections ``param``, ``type``, ``graph`` and ``config``, an invocation's ``logic``,
``window``, ``param``, ``output`` and ``config``, each in any order.
"""

import itertools
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from webhook.convert.findings import RefusedInputError
from webhook.convert.spl.scanner import Span, SplScanner
from webhook.placement.spl.tokens import TokenKind
from webhook.placement.text.problem import quote

_CONFIG: Final = "config"
_GRAPH: Final = "graph"
_PARAM: Final = "param"
_TYPE: Final = "type"
_SECTIONS: Final = frozenset({_PARAM, _TYPE, _GRAPH, _CONFIG, "logic", "window", "output"})
_NO_SECTION: Final = frozenset({":", "=", ".", "::"})
"""What follows a word of sections where it is a name: the value of a field, or a part of a longer name."""

_DEFINING: Final = frozenset({"namespace", "use", _TYPE})
_EXAMPLE: Final = "stream<int32 i> A = Beacon() {}"


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


class SplParameter(Struct, frozen=True, gc=False):
    """A parameter: ``expression<int32> $width : 3 ;`` of a composite, or ``width : 5 ;`` of its invocation.

    ``value`` has the tokens of the value, of a composite's parameter those of its default; it is empty without one.
    """

    name: str
    value: Span


class Invocation(Struct, frozen=True, gc=False):
    """An operator invocation: the instance's name, what is invoked, its configs, annotations and parameters.

    ``inputs`` are the names of the streams of each input port, ``outputs`` the streams that the output ports make.
    """

    name: str
    place: int
    invoked: str
    configs: tuple[SplConfig, ...] = ()
    annotations: tuple[SplAnnotation, ...] = ()
    parameters: tuple[SplParameter, ...] = ()
    inputs: tuple[tuple[str, ...], ...] = ()
    outputs: tuple[str, ...] = ()


class SplComposite(Struct, frozen=True, gc=False):
    """The definition of a composite operator; ``ported`` tells that it has input or output ports.

    ``inputs`` and ``outputs`` are the names of the ports, which are streams inside.
    """

    name: str
    place: int
    ported: bool
    invocations: tuple[Invocation, ...]
    configs: tuple[SplConfig, ...]
    parameters: tuple[SplParameter, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


class SplProgram(Struct, frozen=True, gc=False):
    """A text of SPL; ``loose`` has the invocations and configs that are in no composite.

    ``uses`` are the names of its ``use`` directives: ``com.acme::Pair``, ``com.acme::*``. ``defines`` tells that the
    text has anything but placements: a namespace, a directive, or the definition of a type or a function.
    """

    namespace: str
    uses: tuple[str, ...]
    defines: bool
    composites: tuple[SplComposite, ...]
    loose: SplComposite

    def configs(self) -> Iterator[SplConfig]:
        """Every config of the text, those of composites and of invocations."""
        for composite in (*self.composites, self.loose):
            yield from composite.configs
            for invocation in composite.invocations:
                yield from invocation.configs


def read_program(scanner: SplScanner) -> SplProgram:
    """The program in the text. Raises :class:`RefusedInputError` at the first part that the grammar does not have."""
    namespace, uses, composites, defines = "", [], [], False
    invocations: list[Invocation] = []
    configs: list[SplConfig] = []
    place, end = scanner.whole()
    while place < end:
        span = scanner.statement(place, end)
        if scanner.word(place) == "namespace":
            namespace = _joined(scanner, span)
        elif scanner.word(place) == "use":
            uses.append(_joined(scanner, span))
        elif (word := _composite_word(scanner, span)) is not None:
            composites.append(_composite(scanner, span, word))
        elif scanner.word(place) == _CONFIG:
            span = _loose_config(scanner, Span(place, end))
            configs += _configs(scanner, Span(place + 1, span.end))
        else:
            invocations += _loose_invocation(scanner, span)
        defines = defines or scanner.word(place) in _DEFINING or scanner.word(span.end - 1) == "}"
        place = span.end
    loose = SplComposite("", 0, ported=False, invocations=tuple(invocations), configs=tuple(configs))
    return SplProgram(namespace, tuple(uses), defines, tuple(composites), loose)


def _joined(scanner: SplScanner, span: Span) -> str:
    """The name in a statement after its first word, without blanks and comments: ``com.acme::*``."""
    end = span.end - (scanner.word(span.end - 1) == ";")
    return "".join(map(scanner.word, range(span.start + 1, end)))


def _composite_word(scanner: SplScanner, span: Span) -> int | None:
    """The place of the word ``composite`` in a statement, after annotations and before the first bracket."""
    _, start = _annotations(scanner, span)
    for place in range(start, span.end):
        if scanner.tokens[place].kind is TokenKind.SYMBOL and scanner.word(place) in "({[":
            break
        if scanner.word(place) == "composite":
            return place
    return None


def _loose_config(scanner: SplScanner, span: Span) -> Span:
    """A config clause that is in no composite: its first entry, and those that follow it."""
    place = scanner.statement(span.start, span.end).end
    while place < span.end and scanner.named(place) and scanner.word(place + 1) == ":":
        place = scanner.statement(place, span.end).end
    return Span(span.start, place)


def _loose_invocation(scanner: SplScanner, span: Span) -> Iterator[Invocation]:
    """The invocation that a statement outside of composites is; nothing for the definition of a type or function."""
    _, start = _annotations(scanner, span)
    top = list(scanner.top(Span(start, span.end)))
    equals = next((at for at, place in enumerate(top) if scanner.word(place) == "="), len(top))
    if not any(scanner.word(place) == "(" for place in top[equals:]):
        return
    name = _instance(scanner, Span(start, top[equals]))
    if name is not None:
        yield _invocation(scanner, span, name, top[equals], top[-1] if scanner.word(top[-1]) == "{" else None)


def _begins(scanner: SplScanner, place: int, section: str) -> bool:
    """Whether a section begins here, inside another one, where a part of that one may begin as well.

    The words of sections are reserved, but for ``type`` in front of a parameter: ``param type $T;``.
    """
    if not scanner.named(place) or scanner.word(place) not in _SECTIONS:
        return False
    word, following = scanner.word(place), scanner.word(place + 1)
    if word == _TYPE and section == _PARAM and following.startswith("$"):
        return False
    return following not in _NO_SECTION and (following != "(" or word == _GRAPH)


def _sections(scanner: SplScanner, body: Span) -> Iterator[tuple[str, Span]]:
    """The sections of a body but for ``graph``, of which only the word is passed; each without its word."""
    place = body.start
    while place < body.end:
        word = scanner.word(place)
        if word not in _SECTIONS:
            message = f"{quote(word)} is in no section: write graph, config or the like in front of it"
            raise RefusedInputError(scanner.problem(place, message))
        end = place + 1
        while end < body.end and not _begins(scanner, end, word):
            end = _invoked_end(scanner, end, body.end) if word == _GRAPH else scanner.statement(end, body.end).end
        yield word, Span(place + 1, end)
        place = end


def _invoked_end(scanner: SplScanner, start: int, end: int) -> int:
    """The place after an invocation: after its body in braces, those of enumerations in its types left out."""
    place = start
    equals = False
    while place < end:
        word, following = scanner.word(place), scanner.after(place)
        if word == ";" or (equals and word == "{"):
            return following
        equals = equals or word == "="
        place = following
    return end


def _composite(scanner: SplScanner, span: Span, place: int) -> SplComposite:
    """``"composite" , name , [ "(" , ports , ")" ] , "{" , { section } , "}" ;``."""
    name, following = scanner.word(place + 1), place + 2
    ports = Span(0, 0)
    if following < span.end and scanner.word(following) == "(":
        ports, following = scanner.inside(following), scanner.after(following)
    if following >= span.end or scanner.word(following) != "{":
        message = f'composite {quote(name)} has no body: write "{{" after its name and ports'
        raise RefusedInputError(scanner.problem(place, message))
    invocations: list[Invocation] = []
    configs: list[SplConfig] = []
    parameters: list[SplParameter] = []
    for word, section in _sections(scanner, scanner.inside(following)):
        if word == _GRAPH:
            invocations += _graph(scanner, section)
        elif word == _CONFIG:
            configs += _configs(scanner, section)
        elif word == _PARAM:
            parameters += _formals(scanner, section)
    return SplComposite(
        name,
        place,
        ported=ports.start < ports.end,
        invocations=tuple(invocations),
        configs=tuple(configs),
        parameters=tuple(parameters),
        inputs=tuple(_ports(scanner, ports, "input")),
        outputs=tuple(_ports(scanner, ports, "output")),
    )


def _ports(scanner: SplScanner, ports: Span, kind: str) -> Iterator[str]:
    """The names after ``input`` or ``output``, each behind the type of its stream if that is stated."""
    for part in scanner.split(ports, ";"):
        name, depth = "", 0
        for place in (*(range(part.start + 1, part.end) if scanner.word(part.start) == kind else ()), part.end):
            if name and depth == 0 and (place == part.end or scanner.word(place) == ","):
                yield name
                name = ""
            elif place < part.end:
                depth += scanner.word(place).count("<") - scanner.word(place).count(">")
                name = scanner.word(place) if scanner.named(place) else name


def _graph(scanner: SplScanner, section: Span) -> Iterator[Invocation]:
    """``{ invocation } ;``."""
    start = section.start
    while start < section.end:
        end = _invoked_end(scanner, start, section.end)
        if scanner.word(start) != ";":
            yield _strict_invocation(scanner, Span(start, end))
        start = end


def _strict_invocation(scanner: SplScanner, span: Span) -> Invocation:
    """The invocation that these tokens are; raises :class:`RefusedInputError` if they are not one."""
    _, start = _annotations(scanner, span)
    top = list(scanner.top(Span(start, span.end)))
    equals = next((at for at, place in enumerate(top) if scanner.word(place) == "="), 0)
    name = _instance(scanner, Span(start, top[equals])) if equals else None
    brackets = [scanner.word(place) for place in top[equals:] if scanner.word(place) in {"(", "{"}]
    if name is None or brackets != ["(", "{"] or scanner.word(top[-1]) != "{":
        beginning = scanner.text(Span(start, min(start + 8, span.end)))
        message = f"{quote(beginning)} begins no operator invocation such as {_EXAMPLE}"
        raise RefusedInputError(scanner.problem(start, message))
    return _invocation(scanner, span, name, top[equals], top[-1])


def _configs(scanner: SplScanner, span: Span) -> Iterator[SplConfig]:
    """``{ name , ":" , value , ";" }``."""
    for part in scanner.split(span, ";"):
        if not scanner.named(part.start) or scanner.word(part.start + 1) != ":":
            message = f"{quote(scanner.text(part))} is not a config: write its name, a colon and its value"
            raise RefusedInputError(scanner.problem(part.start, message))
        yield SplConfig(scanner.word(part.start), part.start, Span(part.start + 2, part.end))


def _formals(scanner: SplScanner, span: Span) -> Iterator[SplParameter]:
    """``{ mode , "$" , name , [ ":" , default ] , ";" }``."""
    for part in scanner.split(span, ";"):
        name = next((at + 1 for at in range(part.start, part.end) if scanner.word(at).endswith("$")), part.end)
        if name < part.end and scanner.named(name):
            stated = name + 1 < part.end and scanner.word(name + 1) == ":"
            yield SplParameter(scanner.word(name), Span(name + 2 if stated else part.end, part.end))


def _actuals(scanner: SplScanner, span: Span) -> Iterator[SplParameter]:
    """``{ name , ":" , value , ";" }``."""
    for part in scanner.split(span, ";"):
        if part.start + 1 < part.end and scanner.word(part.start + 1) == ":":
            yield SplParameter(scanner.word(part.start), Span(part.start + 2, part.end))


def _invocation(scanner: SplScanner, span: Span, name: int, equals: int, opening: int | None) -> Invocation:
    """``{ annotation } , outputs , [ "as" , name ] , "=" , operator , "(" , inputs , ")" , "{" , body , "}" ;``.

    The places of the instance's name, of the equals sign and of the body's brace are given.
    """
    annotations, start = _annotations(scanner, span)
    invoked = itertools.takewhile(lambda word: word not in {"(", "<"}, map(scanner.word, range(equals + 1, span.end)))
    configs: list[SplConfig] = []
    parameters: list[SplParameter] = []
    body = Span(0, 0) if opening is None else scanner.inside(opening)
    for word, section in _sections(scanner, body):
        if word == _CONFIG:
            configs += _configs(scanner, section)
        elif word == _PARAM:
            parameters += _actuals(scanner, section)
    inputs = next((at for at in range(equals, span.end) if scanner.word(at) == "("), None)
    return Invocation(
        scanner.word(name),
        name,
        "".join(invoked),
        tuple(configs),
        annotations,
        tuple(parameters),
        inputs=() if inputs is None else tuple(_inputs(scanner, scanner.inside(inputs))),
        outputs=tuple(_outputs(scanner, Span(start, equals))),
    )


def _inputs(scanner: SplScanner, inside: Span) -> Iterator[tuple[str, ...]]:
    """``stream , { "," , stream } , [ "as" , alias ]`` of each port, between semicolons."""
    for port in scanner.split(inside, ";"):
        yield tuple(scanner.word(one.start) for one in scanner.split(port, ",") if scanner.named(one.start))


def _outputs(scanner: SplScanner, outputs: Span) -> Iterator[str]:
    """The streams in front of the equals sign: one, or those in parentheses, between semicolons."""
    parenthesized = scanner.word(outputs.start) == "("
    for one in scanner.split(scanner.inside(outputs.start), ";") if parenthesized else [outputs]:
        stream = _stream_name(scanner, one)
        if stream is not None:
            yield scanner.word(stream)


def _instance(scanner: SplScanner, outputs: Span) -> int | None:
    """The place of the instance's name: after ``as`` behind the parentheses, else that of the first stream.

    The alias of an output, ``stream<T> S as O``, names its port and not the operator.
    """
    if outputs.start >= outputs.end:
        return None
    if scanner.word(outputs.start) != "(":
        return _stream_name(scanner, outputs)
    after = scanner.after(outputs.start)
    if after < outputs.end:
        last = outputs.end - 1
        return last if scanner.named(last) and scanner.word(after) == "as" and after + 1 == last else None
    streams = scanner.split(scanner.inside(outputs.start), ";")
    return _stream_name(scanner, streams[0]) if streams else None


def _stream_name(scanner: SplScanner, output: Span) -> int | None:
    """``"stream" , "<" , type , ">" , name , [ "as" , alias ] ;``: the place of the name."""
    last = output.end - 1
    if last - 2 >= output.start and scanner.word(last - 1) == "as":
        last -= 2
    return last if scanner.named(last) and last > output.start else None


def _annotations(scanner: SplScanner, span: Span) -> tuple[tuple[SplAnnotation, ...], int]:
    """The annotations at the beginning of a statement, and the place after them."""
    annotations: list[SplAnnotation] = []
    place = span.start
    while place + 1 < span.end and scanner.word(place) == "@" and scanner.named(place + 1):
        name, following = scanner.word(place + 1), place + 2
        arguments = Span(following, following)
        after = scanner.after(following) if following < span.end and scanner.word(following) == "(" else span.end
        # Parentheses before "as" or "=" are the outputs of an invocation whose annotation has no arguments.
        if after < span.end and scanner.word(after) not in {"as", "="}:
            arguments, following = scanner.inside(following), after
        annotations.append(SplAnnotation(name, place + 1, arguments))
        place = following
    return tuple(annotations), place
