"""Reads SPL programs, and pieces of them, into Streams applications (``docs/coming-from.md``).

A main composite is one that no other composite of the text invokes, and that has no ports; each is an application.
The invocations of its composites are expanded, as the SPL compiler does, into operators with full names such as
``Result.Region1``, with the channels of parallel regions at the end, ``Result.Region1[0]``. A text without a composite
is one application without a bundle.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.convert.findings import RefusedInputError, Remark
from webhook.convert.source_text import SourceText
from webhook.convert.spl_clauses import SplClause, SplFindings
from webhook.convert.spl_program import Invocation, SplAnnotation, SplComposite, SplConfig, SplProgram, read_program
from webhook.convert.spl_scanner import Span, SplScanner
from webhook.convert.streams_application import DeclaredPool, StreamsApplication, StreamsOperator
from webhook.placement.inventory.job_spec import ELEMENT_LIMIT
from webhook.placement.spl.placement import CLAUSE_LIMIT, parse_placement
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import quote

OPERATOR_LIMIT: Final = 10 * ELEMENT_LIMIT
"""Operators of one application, and invocations that are expanded for them."""

_DEPTH: Final = 32
"""Composites that are expanded inside one another."""

_SPELLED: Final = ("placement", "hostPool")
"""Configs that must not be passed over because they are misspelt."""

_CONFIGS: Final = frozenset(
    {"checkpoint", "defaultPoolSize", "inputTransport", "logLevel", "outputTransport", "relocatable", "restartable",
     "streamViewability", "threadedPort", "threading", "tracing", "wrapper", *_SPELLED}
)  # fmt: skip
"""Configs of the SPL reference; those that are not about hosts and restarts are for the program, which has them."""

_PSEUDO: Final = frozenset({"Export", "Import", "spl.adapter::Export", "spl.adapter::Import"})
"""Operators that only name streams: nothing of them runs."""

_NO_NAME: Final = re.compile(r"^(?=[0-9])|[^A-Za-z0-9_]")
"""What the name of a file has that that of an operator cannot have."""

_KINDS: Final[Mapping[str, str]] = {
    "host": "host", "hostColocation": "location", "hostExlocation": "location", "hostIsolation": "location",
    "partitionColocation": "partition", "partitionExlocation": "partition", "partitionIsolation": "partition",
}  # fmt: skip
"""The clauses that one config replaces as a whole where an outer config has them, too."""

Inherited = Mapping[str, tuple[SplClause, ...]]
"""The clauses that hold where an operator says nothing, by the kinds of ``_KINDS``."""


class Surroundings(Struct, frozen=True, gc=False):
    """What is around an invocation: the prefix of names, channels of parallel regions, clauses, and restartability."""

    prefix: str = ""
    channels: tuple[int, ...] = ()
    clauses: Inherited = {}
    restartable: bool = True
    above: tuple[str, ...] = ()


def read_spl(source: SourceText) -> tuple[list[StreamsApplication], list[Remark]]:
    """The applications of a text, and remarks. Raises :class:`RefusedInputError` with all problems of the text."""
    scanner = SplScanner(source)
    reader = _SplReader(scanner, read_program(scanner))
    applications = list(reader.applications())
    if reader.findings.problems:
        raise RefusedInputError(*reader.findings.problems)
    return applications, reader.findings.remarks


class _SplReader:
    """Expands the composites of one program; findings are collected on the way."""

    def __init__(self, scanner: SplScanner, program: SplProgram) -> None:
        self.scanner = scanner
        self.program = program
        self.findings = SplFindings(scanner)
        self.composites = {composite.name: composite for composite in program.composites}
        self.steps = 0
        self._seen: set[int] = set()
        self._read: dict[tuple[int, int], tuple[SplClause, ...]] = {}

    def applications(self) -> Iterator[StreamsApplication]:
        """An application for each main composite, and one for what is in no composite."""
        if twice := len(self.program.composites) - len(self.composites):
            names = [composite.name for composite in self.program.composites]
            place = next(each.place for at, each in enumerate(self.program.composites) if each.name in names[:at])
            message = f"{twice} composites have the name of another one"
            self.findings.problems.append(self.scanner.problem(place, message))
            return
        invoked = {
            self._simple(each.invoked) for composite in self.composites.values() for each in composite.invocations
        }
        mains = [each for each in self.composites.values() if not each.ported and each.name not in invoked]
        if self.composites and not mains:
            first = next(iter(self.composites.values()))
            message = "no composite is a main one: each has ports, or is invoked by another"
            self.findings.problems.append(self.scanner.problem(first.place, message))
        for main in mains:
            name = f"{self.program.namespace}::{main.name}" if self.program.namespace else main.name
            bundle = f"{name.replace('::', '.')}.sab"
            yield self._application(main, name, bundle)
        loose = self.program.loose
        if loose.invocations or loose.configs or not self.composites:
            yield self._piece(loose)

    def _simple(self, invoked: str) -> str:
        """The name of a composite of this text without its namespace, if it has that of the text."""
        return invoked.removeprefix(f"{self.program.namespace}::") if self.program.namespace else invoked

    def _application(self, main: SplComposite, name: str, bundle: str) -> StreamsApplication:
        pools = tuple(self._pools(main.configs))
        at = self.findings.line(main.place)
        outer = Surroundings(above=(main.name,))
        operators = tuple(self._operators(main, outer))
        return StreamsApplication(at, name, bundle, pools, operators)

    def _piece(self, loose: SplComposite) -> StreamsApplication:
        """What is in no composite; a placement that belongs to no operator belongs to one that is made up."""
        at = self.findings.line(0)
        stem = _NO_NAME.sub("_", at.file.rpartition("/")[2].partition(".")[0]) or "piece"
        pools = tuple(self._pools(loose.configs))
        if not loose.invocations and not loose.configs:
            operators = tuple(self._bare(stem))
        elif loose.invocations:
            operators = tuple(self._operators(loose, Surroundings()))
        else:
            clauses = self._clauses(loose.configs, {}, 0)
            found = tuple(each.on(()) for kind in clauses.values() for each in kind)
            operators = (StreamsOperator(at, stem, found),) if found else ()
        return StreamsApplication(at, stem, "", pools, operators)

    def _bare(self, stem: str) -> Iterator[StreamsOperator]:
        """The operators of a bare placement text: ``host(P), hostExlocation("t")``, or ``A: host(P); B: ...``."""
        source = self.scanner.source
        clauses, problems = parse_placement(source.text, "")
        self.findings.problems += [source.problem(one.offset or 0, one.message) for one in problems]
        for name in dict.fromkeys(clause.operator for clause in clauses if not problems):
            own = tuple(clause for clause in clauses if clause.operator == name)
            yield StreamsOperator(source.line(own[0].offset), name or stem, own)

    def _pools(self, configs: Sequence[SplConfig]) -> Iterator[DeclaredPool]:
        for config in configs:
            if config.name == "hostPool":
                yield from self.findings.pools(config)
            elif config.name == "defaultPoolSize":
                text = f"defaultPoolSize {self.scanner.text(config.value)}"
                why = "Kubernetes has no pool of all hosts with a size"
                instead = "declare a pool of that size, and say host of it"
                at = self.findings.line(config.place)
                self.findings.remarks.append(Remark(at, f"{text} is left out", why, instead, demand=True))

    def _operators(self, composite: SplComposite, outer: Surroundings) -> Iterator[StreamsOperator]:
        """The operators of a composite, those of the composites that it invokes expanded."""
        clauses = self._clauses(composite.configs, outer.clauses, len(outer.channels))
        inside = replace(
            outer, clauses=clauses, restartable=self._restartable(composite.configs, outer=outer.restartable)
        )
        for invocation in composite.invocations:
            for channel in self._channels(invocation):
                self.steps += 1
                if self.steps > OPERATOR_LIMIT:
                    message = f"the program expands to more than {OPERATOR_LIMIT} operators"
                    raise RefusedInputError(self.scanner.problem(invocation.place, message))
                channels = outer.channels if channel is None else (*outer.channels, channel)
                yield from self._expanded(invocation, replace(inside, channels=channels))

    def _expanded(self, invocation: Invocation, outer: Surroundings) -> Iterator[StreamsOperator]:
        """The operators that one invocation stands for, on one channel."""
        name = outer.prefix + invocation.name
        clauses = self._clauses(invocation.configs, outer.clauses, len(outer.channels))
        restartable = self._restartable(invocation.configs, outer=outer.restartable)
        invoked = self._simple(invocation.invoked)
        if composite := self.composites.get(invoked):
            if invoked in outer.above or len(outer.above) > _DEPTH:
                message = f"composite {quote(invoked)} is invoked inside itself, or too many are inside one another"
                raise RefusedInputError(self.scanner.problem(invocation.place, message))
            inside = Surroundings(f"{name}.", outer.channels, clauses, restartable, (*outer.above, invoked))
            yield from self._operators(composite, inside)
        elif invocation.invoked not in _PSEUDO:
            own = tuple(each.on(outer.channels) for kind in clauses.values() for each in kind)
            full = name + "".join(f"[{channel}]" for channel in outer.channels)
            yield StreamsOperator(self.findings.line(invocation.place), full, own, restartable)

    def _clauses(self, configs: Sequence[SplConfig], inherited: Inherited, depth: int) -> Inherited:
        """The clauses that hold where these configs do: the inner config replaces the outer one's of the same kind."""
        self._look_at(configs)
        found: dict[str, list[SplClause]] = {}
        for config in configs:
            if config.name == "placement":
                key = (config.place, depth)
                if key not in self._read:
                    self._read[key] = tuple(self.findings.clauses(config, depth))
                for each in self._read[key]:
                    found.setdefault(_KINDS[each.clause.name], []).append(each)
        self._check_number(configs, found)
        return {**inherited, **{kind: tuple(clauses) for kind, clauses in found.items()}}

    def _check_number(self, configs: Sequence[SplConfig], found: Mapping[str, Sequence[SplClause]]) -> None:
        """Refuse two hosts, and more clauses than a placement text may have."""
        hosts, number = found.get("host", ()), sum(map(len, found.values()))
        message = ""
        if len(hosts) > 1:
            both = f"{hosts[0].clause} and {hosts[1].clause}"
            message = f"the config has {both}: SPL allows one host per operator"
        elif number > CLAUSE_LIMIT:
            message = f"the configs have {number} clauses, at most {CLAUSE_LIMIT} are allowed"
        if message:
            place = next(config.place for config in configs if config.name == "placement")
            problem = self.scanner.problem(place, message)
            if problem not in self.findings.problems:
                self.findings.problems.append(problem)

    def _look_at(self, configs: Sequence[SplConfig]) -> None:
        """Note configs that are misspelt, and those that Kubernetes has nothing like."""
        for config in configs:
            if config.place in self._seen:
                continue
            self._seen.add(config.place)
            meant = None if config.name in _CONFIGS else nearest(config.name, _SPELLED)
            if meant is not None:
                message = f"unknown config {quote(config.name)} (did you mean {meant}?)"
                self.findings.problems.append(self.scanner.problem(config.place, message))
            elif config.name == "relocatable" and self.scanner.text(config.value) == "false":
                why = "Kubernetes starts the pod of a restart on any host that its constraints allow"
                instead = "give it host(...) if it has to come back to the same host"
                at = self.findings.line(config.place)
                self.findings.remarks.append(Remark(at, "relocatable: false is left out", why, instead))

    def _restartable(self, configs: Sequence[SplConfig], *, outer: bool) -> bool:
        """Whether what these configs are about can be restarted."""
        for config in configs:
            if config.name == "restartable":
                return self.scanner.text(config.value) != "false"
        return outer

    def _channels(self, invocation: Invocation) -> Sequence[int | None]:
        """The channels on which the invocation runs; only ``None`` where it is not parallel."""
        for annotation in invocation.annotations:
            if annotation.name == "parallel":
                return self._width(annotation)
        return (None,)

    def _width(self, annotation: SplAnnotation) -> Sequence[int]:
        """The channels of ``@parallel(width=3)``; one, and a remark, if the width is computed."""
        width = 1
        for part in self.scanner.split(annotation.arguments, ","):
            name, text = self.scanner.word(part.start), self.scanner.text(Span(part.start + 2, part.end))
            if name == "width" and text.removesuffix("u").isdigit() and text.isascii():
                width = int(text.removesuffix("u")[:9])
            elif name == "width":
                self._remark_once(part, f"the width {text} of a parallel region", "write the number of channels")
            elif name == "replicateHostTags":
                self._remark_once(part, f"{name}={text}", "declare a pool for each channel")
        if not 1 <= width <= OPERATOR_LIMIT:
            message = f"a parallel region has 1 to {OPERATOR_LIMIT} channels, found {width}"
            raise RefusedInputError(self.scanner.problem(annotation.place, message))
        return range(width)

    def _remark_once(self, part: Span, what: str, instead: str) -> None:
        """A remark about an annotation, which is read once for each time that its composite is expanded."""
        at = self.findings.line(part.start)
        why = (
            "it is only known when a job is submitted"
            if "width" in what
            else "tags of channels are made up at run time"
        )
        remark = Remark(at, f"{what} is left out", why, instead, demand=True)
        if remark not in self.findings.remarks:
            self.findings.remarks.append(remark)
