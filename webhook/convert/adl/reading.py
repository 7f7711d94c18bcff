"""The elements of an ADL, read in their order.

The elements are those of the schema ``adlModel.xsd`` of Streams 4.2, in the namespace of any version. Documents with a
document type are refused, and entities with them, and nothing is loaded; expat's own limits do the rest.
"""

from collections.abc import Callable, Mapping
from typing import Final
from xml.parsers import expat

from webhook.convert.adl.application import OPERATORS, AdlApplication, AdlOperator, AdlPool, AdlRegion, expanded
from webhook.convert.findings import InputLine, RefusedInputError, Remark
from webhook.convert.streams_application import StreamsApplication
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.spl.host_pools import SIZE_LIMIT
from webhook.placement.spl.placement import CLAUSE_LIMIT, INDEX_LIMIT
from webhook.placement.text.problem import Problem, quote

ADL_LIMIT: Final = 32 * 1024 * 1024
"""Bytes of an ADL: that of an application of a thousand operators has two million."""

_DEPTH: Final = 200
"""Elements inside one another; composites of real applications reach some twenty."""

_NAMESPACE: Final = "http://www.ibm.com/xmlns/prod/streams/application"
_ROOT: Final = "applicationSet"
_FUSED_APPLICATION: Final = "application"
"""What is in the root before Streams 4.2, whose compiler fused operators; since then it is ``splApplication``."""
_SEPARATOR: Final = "\n"
"""Between namespace and name: no name has a line break."""

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


def read_adl(name: str, content: bytes) -> tuple[list[StreamsApplication], list[Remark]]:
    """The applications of an ADL, and remarks. Raises :class:`RefusedInputError`."""
    if len(content) > ADL_LIMIT:
        raise RefusedInputError(Problem(name, f"the ADL has {len(content)} bytes, at most {ADL_LIMIT} are read"))
    reader = _AdlReader(name)
    reader.read(content)
    return [expanded(each, reader.remarks) for each in reader.applications], reader.remarks


class _AdlReader:
    """Handles the elements of one document in their order."""

    def __init__(self, name: str) -> None:
        self.applications: list[AdlApplication] = []
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
            raise self._refused(f"elements are nested more than {_DEPTH} levels deep")
        if name == _FUSED_APPLICATION and len(self._open) == 1:
            raise self._refused(
                "this ADL is of Streams before 4.2, and lists processing elements that the compiler fused: compile the"
                " program with 4.2 or later, or convert its SPL"
            )
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
            number = self._number({name: "".join(self._text)}, name, OPERATORS)
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
    def _now(self) -> AdlApplication:
        return self.applications[-1]

    def _application(self, attributes: Attributes) -> None:
        bundle = attributes.get("bundle", "").replace("\\", "/").rpartition("/")[2]
        name = attributes.get("name", "")
        self.applications.append(AdlApplication(self._here, name, bundle or f"{name.replace('::', '.')}.sab"))
        self._composites.clear()

    def _hostpool(self, attributes: Attributes) -> None:
        size = self._number(attributes, "size", SIZE_LIMIT)
        exclusive = attributes.get("membershipMode") == "exclusive"
        name, index = attributes.get("name", ""), attributes.get("index", "")
        self._now.pools.append(AdlPool(self._here, name, index, size, exclusive))

    def _host(self, attributes: Attributes) -> None:
        if self._now.pools:
            self._now.pools[-1].hosts.append(attributes.get("hostname", ""))

    def _tag(self, attributes: Attributes) -> None:
        if self._now.pools and self._open[-2] == "hostpool":
            self._now.pools[-1].tags.append(attributes.get("name", ""))

    def _composite(self, attributes: Attributes) -> None:
        self._composites.append(attributes.get("index", ""))

    def _operator(self, attributes: Attributes) -> None:
        if len(self._now.operators) >= OPERATORS:
            raise self._refused(f"the application has more than {OPERATORS} operators")
        name, index = attributes.get("name", ""), attributes.get("index", "")
        restartable = self._switch(attributes, "restartable", absent=True)
        relocatable = self._switch(attributes, "relocatable", absent=True)
        around = tuple(self._composites)
        self._now.operators.append(AdlOperator(self._here, name, index, around, restartable, relocatable))
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
        self._now.regions.append(AdlRegion(self._here, attributes.get("name", "")))

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
