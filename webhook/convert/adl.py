"""Reads the compiled description of Streams applications (ADL, XML) into Streams applications.

The elements are those of the schema ``adlModel.xsd`` of Streams 4.2, in the namespace of any version. Documents with a
document type are refused, and entities with them, and nothing is loaded; expat's own limits do the rest. Operators
come with full names and tokens; parallel regions are not expanded yet in an ADL, so each channel becomes an operator.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from xml.parsers import expat

from msgspec import Struct, field

from webhook.convert.adl_streams import AdlStreams
from webhook.convert.findings import InputLine, RefusedInputError, Remark
from webhook.convert.streams_application import (
    DeclaredPool,
    ParallelRegion,
    StreamsApplication,
    StreamsOperator,
    TokenParts,
)
from webhook.placement.objects.jobs.job_spec import ELEMENT_LIMIT
from webhook.placement.spl.clauses import DEFAULT_POOL, ClauseName, PlacementClause, PoolName
from webhook.placement.spl.host_pools import SIZE_LIMIT, PoolDeclaration
from webhook.placement.spl.placement import CLAUSE_LIMIT, INDEX_LIMIT
from webhook.placement.text.problem import Problem, quote

ADL_LIMIT: Final = 32 * 1024 * 1024
"""Bytes of an ADL: that of an application of a thousand operators has two million."""

_DEPTH: Final = 200
"""Elements inside one another; composites of real applications reach some twenty."""

_OPERATORS: Final = 10 * ELEMENT_LIMIT
_NAMESPACE: Final = "http://www.ibm.com/xmlns/prod/streams/application"
_ROOT: Final = "applicationSet"
_SEPARATOR: Final = "\n"
"""Between namespace and name: no name has a line break."""

_AT_RUN_TIME: Final = re.compile(r"byChannel\((?P<operator>[^,()]*), (?P<level>[0-9]{1,3})\)")
_CLAUSES: Final[Mapping[str, tuple[str, Mapping[str, ClauseName]]]] = {
    "coLocation": (
        "colocId", {"resources": ClauseName.COLOCATION, "partitions": ClauseName.PARTITION_COLOCATION},
    ),
    "exLocation": (
        "exlocId", {"resources": ClauseName.EXLOCATION, "partitions": ClauseName.PARTITION_EXLOCATION},
    ),
}  # fmt: skip

_WIDTHS: Final = {
    "constantWidth": "constant",
    "submissionTimeWidth": "submitted",
    "submissionTimeParameterIndexForWidth": "parameter",
}
"""Elements with the width of a parallel region, and the fields that hold their number."""

Attributes = Mapping[str, str]


class _AdlOperator(Struct):
    """An operator instance while its element is read; ``around`` are the indexes of the composites around it."""

    at: InputLine
    name: str
    index: str
    around: tuple[str, ...]
    restartable: bool
    relocatable: bool
    threaded: bool = False
    clauses: list[PlacementClause] = field(default_factory=list)
    pool: tuple[str, int | None] | None = None


class _AdlPool(Struct):
    """A host pool while its element is read."""

    at: InputLine
    name: str
    index: str
    size: int | None
    exclusive: bool
    hosts: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


class _AdlRegion(Struct):
    """A parallel region: its name, the index of its operator, and its width, as far as it is known."""

    at: InputLine
    name: str = ""
    operator: str = ""
    constant: int | None = None
    submitted: int | None = None
    parameter: int | None = None


class _AdlApplication(Struct):
    """An application while its element is read."""

    at: InputLine
    name: str
    bundle: str
    pools: list[_AdlPool] = field(default_factory=list)
    operators: list[_AdlOperator] = field(default_factory=list)
    regions: list[_AdlRegion] = field(default_factory=list)
    values: dict[str, tuple[str, str]] = field(default_factory=dict)
    streams: AdlStreams = field(default_factory=AdlStreams)


def read_adl(name: str, content: bytes) -> tuple[list[StreamsApplication], list[Remark]]:
    """The applications of an ADL, and remarks. Raises :class:`RefusedInputError`."""
    if len(content) > ADL_LIMIT:
        raise RefusedInputError(Problem(name, f"the ADL has {len(content)} bytes, at most {ADL_LIMIT} are read"))
    reader = _AdlReader(name)
    reader.read(content)
    return [reader.finished(each) for each in reader.applications], reader.remarks


class _AdlReader:
    """Handles the elements of one document in their order."""

    def __init__(self, name: str) -> None:
        self.applications: list[_AdlApplication] = []
        self.remarks: list[Remark] = []
        self._name = name
        self._open: list[str] = []
        self._composites: list[str] = []
        self._text: list[str] = []
        self._parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        self._starts: Mapping[str, Callable[[Attributes], None]] = {
            "splApplication": self._application,
            "hostpool": self._hostpool,
            "host": self._host,
            "tag": self._tag,
            "compositeOperInstance": self._composite,
            "primitiveOperInstance": self._operator,
            "resources": self._isolation,
            "partitions": self._isolation,
            "hostLocation": self._host_location,
            "poolLocation": self._pool_location,
            "coLocation": self._location,
            "exLocation": self._location,
            "parallelRegion": self._region,
            "parallelOperator": self._region_operator,
            "replicateHostTag": self._replicated_tag,
            "threadedPort": self._threaded_port,
            "submissionTimeValue": self._submission_value,
        }

    def read(self, content: bytes) -> None:
        """Parse the document in one piece. Raises :class:`RefusedInputError`."""
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype
        try:
            self._parser.Parse(content, True)  # noqa: FBT003 -- positional in expat: this is all of the document
        except expat.ExpatError as error:
            message = f"this is not XML: {expat.ErrorString(error.code)}"
            raise RefusedInputError(Problem(str(InputLine(self._name, error.lineno)), message)) from None
        except (LookupError, ValueError) as error:  # an encoding that Python does not know, or not one byte a character
            raise self._refused(f"this XML cannot be read: {error}") from None

    @property
    def _here(self) -> InputLine:
        return InputLine(self._name, self._parser.CurrentLineNumber)

    def _refused(self, message: str) -> RefusedInputError:
        return RefusedInputError(Problem(str(self._here), message))

    def _doctype(self, name: str, *_: object) -> None:
        raise self._refused(
            f"the document type {quote(name)} is not allowed: an ADL has none, and it could define entities"
        )

    def _characters(self, text: str) -> None:
        if self._open[-1] in _WIDTHS:
            self._text.append(text[:16])

    def _start(self, full: str, attributes: dict[str, str]) -> None:
        namespace, _, name = full.rpartition(_SEPARATOR)
        if not self._open and (name != _ROOT or not namespace.startswith(_NAMESPACE)):
            raise self._refused(f"the root is {quote(name)}, but that of an ADL is {_ROOT} of {_NAMESPACE}")
        if len(self._open) >= _DEPTH:
            raise self._refused(f"more than {_DEPTH} elements are inside one another")
        self._open.append(name)
        self._text.clear()
        if name == "splApplication" or self.applications:
            handle = self._starts.get(name)
            if handle is not None:
                handle(attributes)
            self._now.streams.start(name, attributes, self._open)

    def _end(self, _full: str) -> None:
        name = self._open.pop()
        if self.applications:
            self._now.streams.end(name)
        if name == "compositeOperInstance" and self._composites:
            self._composites.pop()
        elif (width := _WIDTHS.get(name)) and self.applications and self._now.regions:
            number = self._number({name: "".join(self._text)}, name, _OPERATORS)
            setattr(self._now.regions[-1], width, number)

    def _number(self, attributes: Attributes, name: str, maximum: int) -> int | None:
        """The whole number in an attribute; ``None`` if it is absent."""
        text = attributes.get(name)
        if text is None:
            return None
        digits = text.strip()
        if digits.isascii() and digits.isdigit() and len(digits) <= len(str(maximum)) and int(digits) <= maximum:
            return int(digits)
        raise self._refused(f"{name} is {quote(text)}, which is not a whole number from 0 to {maximum}")

    def _switch(self, attributes: Attributes, name: str, *, absent: bool) -> bool:
        """The truth value in an attribute, as XML Schema writes it."""
        return attributes.get(name, "true" if absent else "false").strip() in {"true", "1"}

    @property
    def _now(self) -> _AdlApplication:
        return self.applications[-1]

    def _application(self, attributes: Attributes) -> None:
        bundle = attributes.get("bundle", "").replace("\\", "/").rpartition("/")[2]
        name = attributes.get("name", "")
        self.applications.append(_AdlApplication(self._here, name, bundle or f"{name.replace('::', '.')}.sab"))
        self._composites.clear()

    def _hostpool(self, attributes: Attributes) -> None:
        size = self._number(attributes, "size", SIZE_LIMIT)
        exclusive = attributes.get("membershipMode") == "exclusive"
        name, index = attributes.get("name", ""), attributes.get("index", "")
        self._now.pools.append(_AdlPool(self._here, name, index, size, exclusive))

    def _host(self, attributes: Attributes) -> None:
        if self._now.pools:
            self._now.pools[-1].hosts.append(attributes.get("hostname", ""))

    def _tag(self, attributes: Attributes) -> None:
        if self._now.pools and self._open[-2] == "hostpool":
            self._now.pools[-1].tags.append(attributes.get("name", ""))

    def _composite(self, attributes: Attributes) -> None:
        self._composites.append(attributes.get("index", ""))

    def _operator(self, attributes: Attributes) -> None:
        if len(self._now.operators) >= _OPERATORS:
            raise self._refused(f"the application has more than {_OPERATORS} operators")
        name, index = attributes.get("name", ""), attributes.get("index", "")
        restartable = self._switch(attributes, "restartable", absent=True)
        relocatable = self._switch(attributes, "relocatable", absent=True)
        around = tuple(self._composites)
        self._now.operators.append(_AdlOperator(self._here, name, index, around, restartable, relocatable))
        if not relocatable:
            why = "Kubernetes starts the pod of a restart on any host that its constraints allow"
            instead = "give it host(...) if it has to come back to the same host"
            self.remarks.append(
                Remark(self._here, f"relocatable=false of {name} only decides what is fused", why, instead)
            )

    def _add(self, name: ClauseName, argument: str | None) -> None:
        if self._now.operators:
            clauses = self._now.operators[-1].clauses
            if len(clauses) >= CLAUSE_LIMIT:
                raise self._refused(f"the operator has more than {CLAUSE_LIMIT} constraints")
            clauses.append(PlacementClause(name, argument))

    def _isolation(self, attributes: Attributes) -> None:
        if self._switch(attributes, "isolation", absent=False):
            whole = self._open[-1] == "resources"
            self._add(ClauseName.ISOLATION if whole else ClauseName.PARTITION_ISOLATION, None)

    def _host_location(self, attributes: Attributes) -> None:
        self._add(ClauseName.HOST, attributes.get("hostname", ""))

    def _pool_location(self, attributes: Attributes) -> None:
        if self._now.operators:
            within = self._number(attributes, "inpoolIndex", INDEX_LIMIT)
            self._now.operators[-1].pool = (attributes.get("poolIndex", ""), within)

    def _location(self, attributes: Attributes) -> None:
        named, clauses = _CLAUSES[self._open[-1]]
        if clause := clauses.get(self._open[-2]):
            self._add(clause, attributes.get(named, ""))

    def _threaded_port(self, _attributes: Attributes) -> None:
        if self._now.operators:
            self._now.operators[-1].threaded = True

    def _region(self, attributes: Attributes) -> None:
        self._now.regions.append(_AdlRegion(self._here, attributes.get("name", "")))

    def _region_operator(self, attributes: Attributes) -> None:
        if self._now.regions:
            self._now.regions[-1].operator = attributes.get("operIndex", "")

    def _replicated_tag(self, attributes: Attributes) -> None:
        what = f"the replicated host tag {attributes.get('name', '')}"
        why = "tags of channels are generated at run time"
        instead = "declare a pool for each channel"
        self.remarks.append(Remark(self._here, f"{what} is left out", why, instead, demand=True))

    def _submission_value(self, attributes: Attributes) -> None:
        name = attributes.get("name", "")
        value = attributes.get("value", attributes.get("defaultValue"))
        if value is not None:
            self._now.values[attributes.get("index", "")] = (name, value.strip('"'))
            return
        why = "the application has no default for it"
        instead = "add it to spec.submissionTimeValues"
        self.remarks.append(Remark(self._here, f"the submission-time value {name} is not known", why, instead))

    def finished(self, read: _AdlApplication) -> StreamsApplication:
        """The application with its pools by name, and an operator for each channel."""
        pools = {pool.index: pool for pool in read.pools}
        widths = {region.operator: self._width(region, read.values) for region in read.regions}
        names = _names(read.regions)
        operators: list[StreamsOperator] = []
        indices: list[str] = []
        for operator in read.operators:
            around = [index for index in (*operator.around, operator.index) if index in widths]
            for channels in _channels([widths[index] for index in around]):
                if len(operators) >= _OPERATORS:
                    message = f"the application expands to more than {_OPERATORS} operators"
                    raise RefusedInputError(Problem(str(operator.at), message))
                regions = zip((names[index] for index in around), channels, strict=True)
                operators.append(_on(operator, tuple(ParallelRegion(*region) for region in regions), pools))
                indices.append(operator.index.strip())
        declared = tuple(DeclaredPool(pool.at, _declaration(pool)) for pool in read.pools if pool.name != DEFAULT_POOL)
        streams = read.streams.connections(operators, indices)
        return StreamsApplication(read.at, read.name, read.bundle, declared, tuple(operators), streams)

    def _width(self, region: _AdlRegion, values: Mapping[str, tuple[str, str]]) -> int:
        """The number of channels; the default of the submission-time value that it is, or 1, with a remark."""
        width = region.submitted if region.submitted is not None else region.constant
        if width is not None:
            return width
        name, default = values.get(str(region.parameter), ("", ""))
        if default.isascii() and default.isdigit() and len(default) <= len(str(_OPERATORS)):
            what = f"a parallel region with {default} channels"
            why = f"that is the default of the submission-time value {name}"
            instead = "set width of the region if you submit another one"
            self.remarks.append(Remark(region.at, what, why, instead))
            return int(default)
        why = "it is only known when a job is submitted"
        what = "the width of a parallel region is left out"
        self.remarks.append(Remark(region.at, what, why, "set width of the region", demand=True))
        return 1


def _names(regions: Sequence[_AdlRegion]) -> dict[str, str]:
    """A name of its own for each parallel region, by the number of its operator."""
    names: dict[str, str] = {}
    for region in regions:
        usual = region.name or "region"
        names[region.operator] = f"{usual}_{region.operator}" if usual in names.values() else usual
    return names


def _channels(widths: list[int]) -> Iterator[tuple[int, ...]]:
    """Every combination of channels of regions inside one another, the outermost first."""
    if not widths:
        yield ()
        return
    for channel in range(widths[0]):
        yield from ((channel, *inner) for inner in _channels(widths[1:]))


def _on(operator: _AdlOperator, regions: tuple[ParallelRegion, ...], pools: Mapping[str, _AdlPool]) -> StreamsOperator:
    """The operator on these channels."""
    channels = [region.channel for region in regions]
    resolved = [_resolved(clause, channels) for clause in operator.clauses]
    if operator.pool is not None:
        index, within = operator.pool
        if index not in pools:
            message = f"operator {quote(operator.name)} is placed on the host pool with index {quote(index)}"
            raise RefusedInputError(Problem(str(operator.at), f"{message}, which does not exist"))
        resolved.insert(0, (PlacementClause(ClauseName.HOST, PoolName(pools[index].name, within)), ()))
    return StreamsOperator(
        operator.at,
        operator.name + "".join(f"[{channel}]" for channel in channels),
        tuple(clause for clause, _ in resolved),
        operator.restartable,
        relocatable=operator.relocatable,
        threaded=operator.threaded,
        regions=regions,
        parts=tuple(parts for _, parts in resolved),
    )


def _resolved(clause: PlacementClause, channels: Sequence[int]) -> tuple[PlacementClause, TokenParts]:
    """The clause with the channel in place of ``byChannel(operator, level)`` in its token, and the parts of that."""
    if clause.name is ClauseName.HOST or not isinstance(clause.argument, str):
        return clause, ()
    texts: list[str] = []
    parts: list[str | None] = []
    end = 0
    for match in _AT_RUN_TIME.finditer(clause.argument):
        level = int(match["level"])
        if level < len(channels):
            before = clause.argument[end : match.start()]
            texts += before, str(channels[level])
            # byChannel() of a Job stands for the channels of all regions around.
            parts += before, None if level == len(channels) - 1 else ""
            end = match.end()
    token = "".join((*texts, clause.argument[end:]))
    return PlacementClause(clause.name, token), (*parts, clause.argument[end:]) if parts else ()


def _declaration(pool: _AdlPool) -> PoolDeclaration:
    hosts: tuple[str, ...] | None = tuple(pool.hosts) or None
    size: Any = None if hosts else pool.size
    mode: Any = "Exclusive" if pool.exclusive else "Shared"
    return PoolDeclaration(pool.name, hosts, size, tuple(pool.tags), mode)
