"""Expands the composites of SPL programs into operators, as the SPL compiler does.

An operator has a full name such as ``Result.Region1``, with the channels of parallel regions at the end,
``Result.Region1[0]``, and the clauses of its own config and of those around it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.convert.findings import InputLine, RefusedInputError, Remark
from webhook.convert.spl.clauses import SplClause
from webhook.convert.spl.library import Definition, Origin, SplLibrary, SplText
from webhook.convert.spl.program import Invocation, SplAnnotation, SplComposite, SplConfig, SplParameter
from webhook.convert.spl.scanner import Span
from webhook.convert.spl.values import COMPOSITE, REPLICA, OperatorName, Value
from webhook.convert.spl.wiring import Wiring
from webhook.convert.streams_application import ParallelRegion, StreamConnection, StreamsOperator
from webhook.placement.objects.jobs.job_spec import ELEMENT_LIMIT
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.spl.placement import CLAUSE_LIMIT
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

_KINDS: Final[Mapping[str, str]] = {
    "host": "host", "hostColocation": "location", "hostExlocation": "location", "hostIsolation": "location",
    "partitionColocation": "partition", "partitionExlocation": "partition", "partitionIsolation": "partition",
}  # fmt: skip
"""The clauses that one config replaces as a whole where an outer config has them, too."""

_TITLES: Final = frozenset(ClauseName)

Inherited = Mapping[str, tuple[SplClause, ...]]
"""The clauses that hold where an operator says nothing, by the kinds of ``_KINDS``."""


class Parameters:
    """The parameters of one expanded composite: what its invocation states, else their defaults. Evaluated when asked.

    What an invocation states is evaluated where the invocation stands, a default where the composite is defined.
    """

    def __init__(self, text: SplText, formals: Sequence[SplParameter] = ()) -> None:
        self._text = text
        self._spans = {one.name: (text, one.value, self) for one in formals}
        self._known: dict[str, Value] = {}
        self._asked: set[str] = set()
        self.read: dict[tuple[int, int], tuple[SplClause, ...]] = {}
        """The clauses of configs with these parameters, by place and depth of the config."""

    def inside(self, definition: Definition, actuals: Sequence[SplParameter]) -> "Parameters":
        """The parameters of a composite that is invoked where these are known."""
        formals = definition.composite.parameters
        inner = Parameters(definition.text, formals)
        inner._spans |= {one.name: (self._text, one.value, self) for one in actuals if one.name in inner._spans}
        return inner

    def __call__(self, name: str) -> Value:
        """The value of a parameter; ``None`` if it is not known, or made of itself or of a long chain of others."""
        if name not in self._known:
            if name not in self._spans or name in self._asked or len(self._asked) > _DEPTH:
                return None
            self._asked.add(name)
            text, span, values = self._spans[name]
            self._known[name] = _stated(text, span, values)
            self._asked.remove(name)
        return self._known[name]


def _stated(text: SplText, span: Span, values: Parameters) -> Value:
    """The value of a parameter; a name alone is that of an operator."""
    if span.start >= span.end:
        return None
    scanner = text.scanner
    words = [scanner.word(place) for place in range(span.start, span.end)]
    if len(words) <= 2 and words[0] == "$":  # noqa: PLR2004 -- the sign and the name
        return values(words[-1])
    if all(scanner.named(at) or scanner.word(at) in {".", "::"} for at in range(span.start, span.end)):
        plain = "".join(words)
        return plain == "true" if plain in {"true", "false"} else OperatorName(text.number, plain)
    return text.findings.value(span, values)


class Surroundings(Struct, frozen=True, gc=False):
    """What is around an invocation: its text and parameters, the prefix of names, parallel regions, clauses, options.

    ``scope`` is the instance of the composite in which streams have their names.
    """

    text: SplText
    parameters: Parameters
    prefix: str = ""
    regions: tuple[ParallelRegion, ...] = ()
    clauses: Inherited = {}
    restartable: bool = True
    relocatable: bool = True
    scope: int = 0
    above: tuple[SplComposite, ...] = ()
    main: str = ""

    @property
    def instance(self) -> str:
        """The name of the composite instance that is around."""
        return self.prefix.removesuffix(".") or self.main


class Expansion:
    """Expands composites of a library; findings are collected with the texts. One is made for each application.

    The identities of the composites that were expanded are added to ``reached``.
    """

    def __init__(self, library: SplLibrary, reached: set[int]) -> None:
        self._library = library
        self._reached = reached
        self._steps = 0
        self._wiring = Wiring()

    def connections(self) -> tuple[StreamConnection, ...] | None:
        """The streams between the operators so far; ``None`` for more than a Job may have."""
        return self._wiring.connections()

    def main(self, definition: Definition, parameters: Parameters) -> Iterator[StreamsOperator]:
        """The operators of a main composite, and of those that it invokes."""
        outer = Surroundings(definition.text, parameters, above=(definition.composite,), main=definition.title)
        yield from self.operators(definition.composite, outer)

    def made_up(self, loose: SplComposite, name: str, outer: Surroundings) -> Iterator[StreamsOperator]:
        """The operator of a config that stands alone; none if it says nothing about placement."""
        clauses = self.clauses(loose.configs, outer, name)
        if any(clauses.values()):
            yield self._operator(outer.text.findings.line(0), name, replace(outer, clauses=clauses))

    def _operator(self, at: InputLine, name: str, outer: Surroundings, *, threaded: bool = False) -> StreamsOperator:
        """An operator with all clauses that hold for it."""
        own = [each for kind in outer.clauses.values() for each in kind]
        for each in own:
            self._library.texts[each.text].findings.answered.add(each.place)
        channels = [region.channel for region in outer.regions]
        return StreamsOperator(
            at,
            name,
            tuple(each.on(channels) for each in own),
            outer.restartable,
            relocatable=outer.relocatable,
            threaded=threaded,
            regions=outer.regions,
            parts=tuple(each.parts if each.depth else () for each in own),
        )

    def operators(self, composite: SplComposite, outer: Surroundings) -> Iterator[StreamsOperator]:
        """The operators of a composite, those of the composites that it invokes expanded."""
        self._reached.add(id(composite))
        clauses = self.clauses(composite.configs, outer, outer.instance)
        inside = replace(outer, clauses=clauses, **_options(composite.configs, outer))
        for invocation in composite.invocations:
            for channel in _channels(invocation, outer):
                self._steps += 1
                if self._steps > OPERATOR_LIMIT:
                    message = f"the program expands to more than {OPERATOR_LIMIT} operators"
                    raise RefusedInputError(outer.text.scanner.problem(invocation.place, message))
                name = outer.prefix + invocation.name
                regions = outer.regions if channel is None else (*outer.regions, ParallelRegion(name, channel))
                yield from self._expanded(invocation, replace(inside, regions=regions))

    def _expanded(self, invocation: Invocation, outer: Surroundings) -> Iterator[StreamsOperator]:
        """The operators that one invocation stands for, on one channel."""
        name = outer.prefix + invocation.name
        outer = replace(
            outer,
            clauses=self.clauses(invocation.configs, outer, name),
            **_options(invocation.configs, outer),
        )
        text, invoked = self._invoked(invocation, outer)
        if definition := self._library.find(text, invoked):
            self._check(definition, invocation, outer, invoked)
            inside = replace(
                outer,
                text=definition.text,
                parameters=outer.parameters.inside(definition, invocation.parameters),
                prefix=f"{name}.",
                above=(*outer.above, definition.composite),
                scope=self._wiring.composite(outer.scope, invocation, definition.composite),
            )
            yield from self.operators(definition.composite, inside)
        elif invoked not in _PSEUDO:
            self._look_for(text, invoked, invocation, outer)
            full = name + "".join(f"[{region.channel}]" for region in outer.regions)
            self._wiring.operator(outer.scope, invocation)
            threaded = any(config.name == "threadedPort" for config in invocation.configs)
            yield self._operator(outer.text.findings.line(invocation.place), full, outer, threaded=threaded)

    def _invoked(self, invocation: Invocation, outer: Surroundings) -> tuple[SplText, str]:
        """The name of what is invoked, and the text in which the name is written: ``$Op`` is a parameter."""
        if invocation.invoked.startswith("$"):
            operator = outer.parameters(invocation.invoked[1:])
            if isinstance(operator, OperatorName):
                return self._library.texts[operator.text], operator.name
        return outer.text, invocation.invoked

    def _check(self, definition: Definition, invocation: Invocation, outer: Surroundings, invoked: str) -> None:
        """Raise :class:`RefusedInputError` for a composite inside itself, and one with several definitions."""
        message = ""
        if any(one is definition.composite for one in outer.above) or len(outer.above) > _DEPTH:
            message = f"composite {quote(invoked)} invokes itself, or composites are nested too deeply"
        elif places := self._library.ambiguous(outer.text, invoked):
            message = f"composite {quote(invoked)} is defined in {places}: convert the files of one program at a time"
        if message:
            raise RefusedInputError(outer.text.scanner.problem(invocation.place, message))

    def _look_for(self, text: SplText, invoked: str, invocation: Invocation, outer: Surroundings) -> None:
        """A remark about an operator that may be a composite, and that no text defines."""
        origin = self._library.origin(text, invoked)
        at = outer.text.findings.line(invocation.place)
        if origin is Origin.TOOLKIT:
            why = "the source of its toolkit is not among the files"
            instead = "if it is a composite with placement, convert its source as well"
            remark = Remark(at, f"{invoked} counts as one operator", why, instead)
            outer.text.findings.remark_of(f"operator {invoked}", remark)
        elif origin is Origin.UNKNOWN:
            what = f"what {invoked} may place is left out"
            why = "none of the files defines it, and it may be a composite"
            instead = "convert the files, or the folder, that define it as well"
            remark = Remark(at, what, why, instead, demand=True)
            outer.text.findings.remark_of(f"operator {invoked}", remark)

    def clauses(self, configs: Sequence[SplConfig], outer: Surroundings, owner: str) -> Inherited:
        """The clauses that hold where these configs do: the inner config replaces the outer one's of the same kind.

        ``owner`` is the full name of the operator that the configs are of.
        """
        _look_at(configs, outer.text)
        names = {f"{REPLICA}()": owner, f"{COMPOSITE}()": outer.instance}

        def value(name: str) -> Value:
            return names.get(name) or outer.parameters(name)

        depth = len(outer.regions)
        by_operator: dict[str, list[SplClause]] = {}
        for config in configs:
            if config.name == "placement":
                key = (config.place, depth)
                read = outer.parameters.read
                if key not in read:
                    read[key] = tuple(outer.text.findings.clauses(config, depth, value))
                for each in read[key]:
                    by_operator.setdefault(_KINDS[each.clause.name], []).append(each)
        _check_number(configs, by_operator, outer.text)
        return {**outer.clauses, **{kind: tuple(clauses) for kind, clauses in by_operator.items()}}


def _check_number(configs: Sequence[SplConfig], clauses: Mapping[str, Sequence[SplClause]], text: SplText) -> None:
    """Refuse two hosts, and more clauses than a placement text may have."""
    hosts, number = clauses.get("host", ()), sum(map(len, clauses.values()))
    message = ""
    if len(hosts) > 1:
        both = f"{hosts[0].clause} and {hosts[1].clause}"
        message = f"the config has {both}: SPL allows one host per operator"
    elif number > CLAUSE_LIMIT:
        message = f"the configs have {number} clauses, at most {CLAUSE_LIMIT} are allowed"
    if message:
        place = next(config.place for config in configs if config.name == "placement")
        text.findings.report(text.scanner.problem(place, message))


def _look_at(configs: Sequence[SplConfig], text: SplText) -> None:
    """Note configs that are misspelt, and those that Kubernetes has nothing like."""
    for config in configs:
        meant = None if config.name in _CONFIGS else nearest(config.name, _SPELLED)
        if config.name in _TITLES:
            message = f"{quote(config.name)} is a clause, not a config: write placement : {config.name}"
            text.findings.report(text.scanner.problem(config.place, message))
        elif meant is not None:
            message = f"unknown config {quote(config.name)} (did you mean {meant}?)"
            text.findings.report(text.scanner.problem(config.place, message))
        elif config.name == "relocatable" and text.scanner.text(config.value) == "false":
            why = "Kubernetes starts the pod of a restart on any host that its constraints allow"
            instead = "give it host(...) if it has to come back to the same host"
            at = text.findings.line(config.place)
            text.findings.remark(Remark(at, "relocatable: false only decides what is fused", why, instead))


def _options(configs: Sequence[SplConfig], outer: Surroundings) -> dict[str, bool]:
    """Whether what these configs are about can be restarted, and on another host."""
    options = {"restartable": outer.restartable, "relocatable": outer.relocatable}
    for config in reversed(configs):
        if config.name in options:
            options[config.name] = outer.text.findings.value(config.value, outer.parameters) is not False
    return options


def _channels(invocation: Invocation, outer: Surroundings) -> Sequence[int | None]:
    """The channels on which the invocation runs; only ``None`` where it is not parallel."""
    for annotation in invocation.annotations:
        if annotation.name == "parallel":
            return _width(annotation, outer)
    return (None,)


def _width(annotation: SplAnnotation, outer: Surroundings) -> Sequence[int]:
    """The channels of ``@parallel(width=3)``; one, and a remark, if the width is only known later."""
    findings, scanner = outer.text.findings, outer.text.scanner
    width = 1
    for part in scanner.split(annotation.arguments, ","):
        name, value = scanner.word(part.start), Span(part.start + 2, part.end)
        at = findings.line(part.start)
        if name == "width":
            known = findings.value(value, outer.parameters)
            if isinstance(known, int) and not isinstance(known, bool):
                width = known
                continue
            why = "it is only known when a job is submitted"
            what = f"the width {scanner.text(value)} of a parallel region is left out"
            findings.remark(Remark(at, what, why, "write the number of channels", demand=True))
        elif name == "replicateHostTags":
            what, why = f"{name}={scanner.text(value)} is left out", "tags of channels are generated at run time"
            findings.remark(Remark(at, what, why, "declare a pool for each channel", demand=True))
    if not 1 <= width <= OPERATOR_LIMIT:
        message = f"a parallel region has 1 to {OPERATOR_LIMIT} channels, found {width}"
        raise RefusedInputError(scanner.problem(annotation.place, message))
    return range(width)
