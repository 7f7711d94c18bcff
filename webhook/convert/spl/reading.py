"""Reads SPL programs, and pieces of them, into Streams applications (``docs/coming-from.md``).

Several texts are one program, or a toolkit and programs. A main composite is one that no other composite of the texts
invokes, and that has no ports; each is an application. A text without a composite is one application without a bundle,
if it has operators or clauses, and else only has what other texts use.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from webhook.convert.findings import RefusedInputError, Remark
from webhook.convert.source_text import SourceText
from webhook.convert.spl.accounts import unheld, unseen
from webhook.convert.spl.clauses import SplFindings
from webhook.convert.spl.expansion import Expansion, Parameters, Surroundings
from webhook.convert.spl.library import Definition, SplLibrary, SplText
from webhook.convert.spl.program import SplComposite, SplConfig, read_program
from webhook.convert.spl.scanner import SplScanner
from webhook.convert.streams_application import DeclaredPool, StreamsApplication, StreamsOperator
from webhook.placement.spl.placement import parse_placement
from webhook.placement.text.problem import Problem, quote

_NO_NAME: Final = re.compile(r"^(?=[0-9])|[^A-Za-z0-9_]")
"""What the name of a file has that that of an operator cannot have."""

_NAME: Final = 64
"""Tokens of a name of an operator, at most."""

_NOTHING_RUNS: Final = "it has neither a main composite nor an operator, so nothing would run"


class SplReading(Struct, frozen=True):
    """What one text is: its applications with remarks, or what is wrong with it. A library has no applications."""

    applications: tuple[StreamsApplication, ...] = ()
    remarks: tuple[Remark, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_spl(sources: Sequence[SourceText], primitives: frozenset[str], *, alone: bool) -> list[SplReading]:
    """The readings of texts that belong together, in their order.

    ``primitives`` are names of operators that are not composites. If there are no other texts that could not
    be read (``alone``), one of the texts has to be more than a library.
    """
    broken: dict[int, tuple[Problem, ...]] = {}
    texts: list[SplText] = []
    numbers: list[int] = []
    for at, source in enumerate(sources):
        try:
            scanner = SplScanner(source)
            program = read_program(scanner)
        except RefusedInputError as refused:
            broken[at] = refused.problems
            continue
        texts.append(SplText(len(texts), scanner, program, SplFindings(scanner, len(texts))))
        numbers.append(at)
    reader = _SplReader(SplLibrary(texts, primitives))
    readings = dict(zip(numbers, reader.readings(alone=alone and not broken), strict=True))
    return [readings.get(at) or SplReading(problems=broken[at]) for at in range(len(sources))]


class _SplReader:
    """Reads the texts of a library; findings are collected with the texts."""

    def __init__(self, library: SplLibrary) -> None:
        self._library = library
        self._texts = library.texts
        self._invoked = {id(one.composite) for text in library.texts for one in _invoked(library, text)}
        self._reached: set[int] = set()

    def readings(self, *, alone: bool) -> list[SplReading]:
        """The readings of all texts. If there are no others, one of them has to be more than a library."""
        applications = [self._read(text) for text in self._texts]
        right = not any(text.findings.problems for text in self._texts)
        if alone and right and self._texts and not any(applications):
            self._texts[0].findings.report(self._nothing(self._texts[0]))
        elif right:
            for text in self._texts:
                self._account(text)
        return [
            SplReading(problems=tuple(text.findings.problems))
            if text.findings.problems
            else SplReading(tuple(own), tuple(text.findings.remarks))
            for own, text in zip(applications, self._texts, strict=True)
        ]

    def _read(self, text: SplText) -> list[StreamsApplication]:
        """The applications of one text; none if it is wrong."""
        text.findings.report(*self._library.twice(text))
        if text.findings.problems:
            return []
        try:
            return list(self._applications(text))
        except RefusedInputError as refused:
            text.findings.report(*refused.problems)
            return []

    def _account(self, text: SplText) -> None:
        """Remarks about clauses of a text that no operator has, and about pools that no application has."""
        mains = {id(one) for one in self._mains(text)}
        for remark in unheld(text, self._reached | {id(text.program.loose)}):
            text.findings.remark(remark)
        for composite in text.program.composites:
            for config in composite.configs if id(composite) not in mains else ():
                if config.name == "hostPool":
                    what, why = (
                        f"the host pools of {composite.name} are left out",
                        "pools are those of a main composite",
                    )
                    text.findings.remark(Remark(text.findings.line(config.place), what, why, "declare them there"))

    def _mains(self, text: SplText) -> list[SplComposite]:
        """The main composites of a text; one without operators is a place for types."""
        return [one for one in text.program.composites if one.invocations and self._is_main(one)]

    def _is_main(self, composite: SplComposite) -> bool:
        return not composite.ported and id(composite) not in self._invoked

    def _nothing(self, text: SplText) -> Problem:
        """The problem of a text that is only a library."""
        for composite in filter(self._is_main, text.program.composites):
            message = f"{quote(composite.name)} invokes no operator, so nothing would run"
            return text.scanner.problem(composite.place, message)
        for composite in text.program.composites:
            message = "no composite is a main one: each has ports, or is invoked by another"
            return text.scanner.problem(composite.place, message)
        return text.scanner.problem(0, _NOTHING_RUNS)

    def _applications(self, text: SplText) -> Iterator[StreamsApplication]:
        """An application for each main composite, and one for what is in no composite."""
        program = text.program
        for main in self._mains(text):
            definition = Definition(text, main)
            bundle = f"{definition.title.replace('::', '.')}.sab"
            parameters = Parameters(text, main.parameters)
            pools = tuple(_pools(text, main.configs, parameters))
            expansion = Expansion(self._library, self._reached)
            operators = tuple(expansion.main(definition, parameters))
            at, streams = text.findings.line(main.place), expansion.connections()
            yield StreamsApplication(at, definition.title, bundle, pools, operators, streams)
        loose = program.loose
        if loose.invocations or loose.configs or not (program.composites or program.defines):
            yield self._piece(text)
        if loose.invocations or loose.configs or program.composites or program.defines:
            text.findings.report(*unseen(text))

    def _piece(self, text: SplText) -> StreamsApplication:
        """What is in no composite; a placement that belongs to no operator belongs to one that is made up."""
        at, loose = text.findings.line(0), text.program.loose
        stem = _NO_NAME.sub("_", at.file.rpartition("/")[2].partition(".")[0]) or "piece"
        outer = Surroundings(text, Parameters(text))
        pools = tuple(_pools(text, loose.configs, outer.parameters))
        expansion = Expansion(self._library, self._reached)
        if not loose.invocations and not loose.configs:
            operators = tuple(_bare(text, stem))
        elif loose.invocations:
            operators = tuple(expansion.operators(loose, outer))
        else:
            operators = tuple(expansion.made_up(loose, stem, outer))
        return StreamsApplication(at, stem, "", pools, operators, expansion.connections())


def _invoked(library: SplLibrary, text: SplText) -> Iterator[Definition]:
    """The composites that a text invokes, or hands to composites as parameters."""
    for composite in (*text.program.composites, text.program.loose):
        names = [one.invoked for one in composite.invocations]
        spans = [one.value for one in composite.parameters]
        spans += [one.value for each in composite.invocations for one in each.parameters]
        names += ["".join(map(text.scanner.word, range(*span))) for span in spans if span.end - span.start < _NAME]
        yield from filter(None, (library.find(text, name) for name in names))


def _bare(text: SplText, stem: str) -> Iterator[StreamsOperator]:
    """The operators of a bare placement text: ``host(P), hostExlocation("t")``, or ``A: host(P); B: ...``."""
    source = text.scanner.source
    clauses, problems = parse_placement(source.text, "")
    text.findings.report(*(source.problem(one.offset or 0, one.message) for one in problems))
    for name in dict.fromkeys(clause.operator for clause in clauses if not problems):
        own = tuple(clause for clause in clauses if clause.operator == name)
        yield StreamsOperator(source.line(own[0].offset), name or stem, own)


def _pools(text: SplText, configs: Sequence[SplConfig], parameters: Parameters) -> Iterator[DeclaredPool]:
    for config in configs:
        if config.name == "hostPool":
            yield from text.findings.pools(config, parameters)
        elif config.name == "defaultPoolSize":
            what = f"defaultPoolSize {text.scanner.text(config.value)} is left out"
            why = "Kubernetes has no pool of all hosts with a size"
            instead = "declare a pool of that size, and say host of it"
            text.findings.remark(Remark(text.findings.line(config.place), what, why, instead, demand=True))
