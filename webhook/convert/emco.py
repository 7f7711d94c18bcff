"""Makes HPAIntents of EMCO's hardware intents, which come as an intent, its consumers and their requirements.

All spellings are read that EMCO's design and its code have: ``app``, ``appName`` and ``app-name``; the workload of a
consumer below ``consumer`` or beside it; the fields of a requirement below ``resource`` or beside it
(``docs/coming-from.md``).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from webhook.convert.emco_requests import EmcoObject, EmcoPath, emco_objects
from webhook.convert.findings import InputLine, Manifest, RefusedInputError, Remark
from webhook.convert.located_yaml import LocatedValue, refused_at
from webhook.convert.source_text import SourceText
from webhook.placement.kube.names import is_object_name
from webhook.placement.kube.resource_name import DEFAULT_UNIT, in_bytes
from webhook.placement.objects.intent import read_intent
from webhook.placement.text.api_kinds import HPA_INTENT, WORKLOADS
from webhook.placement.text.problem import Problem, enumerated, quote

REPLICAS: Final = "replicas"
"""How many pods of a consumer need its hardware: a field of its workload."""

_APPS: Final = ("app", "appName", "app-name")
_WORKLOAD: Final[Mapping[str, str]] = {
    "apiVersion": "apiVersion", "api-version": "apiVersion", "kind": "kind", "name": "name",
    "container-name": "container-name", "containerName": "container-name", "container": "container-name",
    REPLICAS: REPLICAS,
}  # fmt: skip
"""Spellings of the fields of a consumer's workload."""

_SWITCHES: Final = frozenset({"mandatory", "allocatable"})
_COUNT: Final = "replicationCount"
_NUMBERS: Final = frozenset({"weight", "requests", "limits"})
_FIELDS: Final = (
    *sorted(_SWITCHES | _NUMBERS),
    "name",
    "key",
    "units",
    "value",
    "container-name",
    "container",
    "resource",
)
_NOTES: Final = ("description", "userData1", "userData2")
_VERSIONS: Final = {kind.name: kind.api_version for kind in WORKLOADS}
_DIGITS: Final = 15
"""Digits of a number that is written as a number: more are left as text, which keeps each of them."""


FieldValue: TypeAlias = str | int | bool
"""A field of a requirement: a word, a number or a switch."""


class EmcoRequirement(Struct, frozen=True, gc=False):
    """A requirement with its fields as they will be."""

    at: InputLine
    name: str
    spec: dict[str, Any]
    notes: dict[str, str]


_LEFT_OUT: Final = 5
"""Names of resources that are left out, in one remark."""


class EmcoConsumer(Struct):
    """A consumer and its requirements so far; ``workload`` has ``replicas`` as a number, if it is one."""

    at: InputLine
    name: str
    workload: dict[str, FieldValue]
    notes: dict[str, str]
    requirements: list[EmcoRequirement] = field(default_factory=list)


class EmcoIntent(Struct):
    """An intent and its consumers so far; ``group`` is the path of its deployment intent group.

    ``count`` is on how many clusters the application is to run.
    """

    at: InputLine
    group: str
    name: str
    app: str
    consumers: list[EmcoConsumer] = field(default_factory=list)
    count: FieldValue | None = None


def read_emco(source: SourceText) -> tuple[list[EmcoIntent], list[Remark]]:
    """The intents of an input with all that belongs to them, and remarks. Raises :class:`RefusedInputError`."""
    reader = _IntentReader()
    for one in emco_objects(source):
        reader.add(one)
    if not reader.intents:
        raise RefusedInputError(Problem(source.name, "the input contains no hardware intent"))
    return reader.intents, [*_left_out(reader.others), *reader.remarks]


def _left_out(others: list[EmcoObject]) -> Iterator[Remark]:
    """One remark about all resources that are not hardware intents, such as the others of a package."""
    if len(others) == 1:
        [one] = others
        yield Remark(one.at, f"{one.name} is left out", "it is not a hardware intent", "create it in EMCO as before")
    elif others:
        by_name = Counter(one.name for one in others)
        names = [f"{name} ({count} times)" if count > 1 else name for name, count in by_name.items()]
        what = f"{len(others)} resources are left out, {enumerated(names, _LEFT_OUT)}"
        yield Remark(others[0].at, what, "they are not hardware intents", "create them in EMCO as before")


class _IntentReader:
    """Puts objects to where they belong, in the order in which they come."""

    def __init__(self) -> None:
        self.intents: list[EmcoIntent] = []
        self.remarks: list[Remark] = []
        self.others: list[EmcoObject] = []
        """Resources that are not hardware intents."""

    def add(self, one: EmcoObject) -> None:
        """Add an intent, or add a consumer or a requirement to what it belongs to."""
        if one.kind == "other":
            self.others.append(one)
        elif one.kind == "intent":
            self._intent(one)
        elif one.kind == "consumer":
            self._consumer(self._parent(one), one.at, one.name, one.spec, self._notes(one.metadata))
        else:
            consumer = self._workload_of(one)
            if one.name in {known.name for known in consumer.requirements}:
                raise refused_at(
                    one.at, f"requirement {quote(one.name)} of consumer {quote(consumer.name)} occurs twice"
                )
            consumer.requirements.append(self._requirement(one.at, one.name, one.spec, self._notes(one.metadata)))

    def _notes(self, metadata: Mapping[str, LocatedValue]) -> dict[str, str]:
        """The free texts of an object; a remark about anything else that is not its name."""
        for name, value in metadata.items():
            _word(f"metadata.{name}", value)
            if name not in _NOTES and name != "name":
                why = "EMCO's objects have a name, a description and two notes"
                self.remarks.append(Remark(value.at, f"metadata.{name} is left out", why, "write a comment"))
        return {name: metadata[name].text for name in _NOTES if name in metadata and metadata[name].text}

    def _intent(self, one: EmcoObject) -> None:
        if any(known.name == one.name for known in self.intents):
            other = next(known for known in self.intents if known.name == one.name)
            where = "" if other.group == one.path.group else f" in {other.group}, and both would be one object"
            raise refused_at(one.at, f"intent {quote(one.name)} occurs twice, first in line {other.at.line}{where}")
        if not is_object_name(one.name):
            raise refused_at(one.at, f"{quote(one.name)} is not an object name: a-z, 0-9, '-' and '.'")
        intent = EmcoIntent(one.at, one.path.group, one.name, _app(one))
        self.intents.append(intent)
        if notes := self._notes(one.metadata):
            said = ", ".join(f"{name} {quote(text)}" for name, text in notes.items())
            why = "an HPAIntent has no field for it"
            self.remarks.append(Remark(one.at, f"{said} of intent {one.name} is left out", why, "write a comment"))
        for name, value in one.spec.items():
            if name in {"consumers", "resourceConsumers"}:
                self._nested(intent, value)
            elif name == _COUNT:
                intent.count = _typed(name, value)
            elif name not in _APPS:
                raise refused_at(value.at, f"unknown field {quote(name)} of an intent")

    def _nested(self, intent: EmcoIntent, consumers: LocatedValue) -> None:
        """Consumers that are written inside their intent, with or without ``metadata`` and ``spec``."""
        for one in consumers.items:
            spec = one.fields["spec"].fields if "spec" in one.fields else one.fields
            metadata = one.fields["metadata"].fields if "metadata" in one.fields else one.fields
            own = {name: value for name, value in spec.items() if name not in {"requirements", "metadata"}}
            known = own.pop("name", None) if "consumer" in own else own.get("name")
            named = metadata.get("name") or known
            notes = self._notes(metadata) if metadata is not one.fields else {}
            consumer = self._consumer(intent, one.at, named.text if named is not None else "", own, notes)
            listed = spec.get("requirements") or one.fields.get("requirements")
            for entry in listed.items if listed is not None else ():
                inner = entry.fields["spec"].fields if "spec" in entry.fields else entry.fields
                outer = entry.fields["metadata"].fields if "metadata" in entry.fields else entry.fields
                title = outer["name"].text if "name" in outer and inner is not entry.fields else ""
                about = self._notes(outer) if outer is not entry.fields else {}
                consumer.requirements.append(self._requirement(entry.at, title, inner, about))

    def _parent(self, one: EmcoObject) -> EmcoIntent:
        """The intent that a consumer belongs to: that of its path, else the last one."""
        for intent in reversed(self.intents):
            if one.path == EmcoPath() or (intent.name == one.path.intent and intent.group in {one.path.group, ""}):
                return intent
        what = f"intent {quote(one.path.intent)}" if one.path.intent else "an intent"
        raise refused_at(
            one.at, f"{one.kind} {quote(one.name)} belongs to {what}, which must come before it in the input"
        )

    def _workload_of(self, one: EmcoObject) -> EmcoConsumer:
        """The consumer that a requirement belongs to."""
        intent = self._parent(one)
        for consumer in reversed(intent.consumers):
            if one.path.consumer in {consumer.name, ""}:
                return consumer
        what = f"consumer {quote(one.path.consumer)}" if one.path.consumer else "a consumer"
        raise refused_at(
            one.at, f"requirement {quote(one.name)} belongs to {what}, which must come before it in the input"
        )

    def _consumer(
        self, intent: EmcoIntent, at: InputLine, name: str, spec: Mapping[str, LocatedValue], notes: dict[str, str]
    ) -> EmcoConsumer:
        workload: dict[str, FieldValue] = {}
        inner = spec["consumer"].fields if "consumer" in spec else {}
        for said, value in (*inner.items(), *((key, one) for key, one in spec.items() if key != "consumer")):
            if (named := _WORKLOAD.get(said)) is None:
                raise refused_at(value.at, f"unknown field {quote(said)} of a consumer")
            if workload.setdefault(named, typed := _typed(said, value)) != typed:
                elsewhere = quote(str(workload[named]))
                raise refused_at(value.at, f"{said} is {quote(str(typed))} here and {elsewhere} elsewhere")
        self._repair_version(at, workload)
        name = name or str(workload.get("name", ""))
        if name in {known.name for known in intent.consumers}:
            raise refused_at(at, f"consumer {quote(name)} of intent {quote(intent.name)} occurs twice")
        intent.consumers.append(EmcoConsumer(at, name, workload, notes))
        return intent.consumers[-1]

    def _repair_version(self, at: InputLine, workload: dict[str, FieldValue]) -> None:
        """Write the version that a kind of workload has in Kubernetes, if the consumer states another one."""
        right = _VERSIONS.get(str(workload.get("kind", "")))
        stated = workload.get("apiVersion")
        if right is None or stated == right:
            return
        workload["apiVersion"] = right
        why = "consumers are found by it, and EMCO takes any" if stated else "the consumer does not state it"
        what = f"apiVersion {right} of {workload['kind']} instead of {quote(str(stated or ''))}"
        self.remarks.append(Remark(at, what, why, "check that this is the workload"))

    def _requirement(
        self, at: InputLine, name: str, said: Mapping[str, LocatedValue], notes: dict[str, str]
    ) -> EmcoRequirement:
        """The requirement with numbers and truth values as such, and with what it leaves to a default."""
        spec: dict[str, Any] = {}
        for field_name, value in said.items():
            if field_name == "resource":
                for inner, one in value.fields.items():
                    spec[inner] = self._same(spec, inner, one)
            elif field_name in _FIELDS:
                spec[field_name] = self._same(spec, field_name, value)
            else:
                raise refused_at(value.at, f"unknown field {quote(field_name)} of a requirement")
        what = f"requirement {name or spec.get('name') or spec.get('key') or ''}"
        if "mandatory" not in spec:
            spec = {"mandatory": True, **spec}
            why = "it does not say so; EMCO's code then treats it as optional"
            self.remarks.append(Remark(at, f"{what} is mandatory", why, "write mandatory: false if it is a wish"))
        bare = [spec[key] for key in ("requests", "limits") if key in spec]
        counted = in_bytes(str(spec.get("name", ""))) and any(isinstance(amount, int) for amount in bare)
        if counted and "units" not in spec:
            spec["units"] = DEFAULT_UNIT
            why = "that is the default of EMCO's design, and how its controllers count"
            self.remarks.append(Remark(at, f"{what} counts {DEFAULT_UNIT}", why, "write units"))
        return EmcoRequirement(at, name, spec, notes)

    def _same(self, spec: Mapping[str, Any], name: str, value: LocatedValue) -> FieldValue:
        typed = _typed(name, value)
        if name in spec and spec[name] != typed:
            raise refused_at(value.at, f"{name} is {quote(str(typed))} here and {quote(str(spec[name]))} beside it")
        return typed


def _app(one: EmcoObject) -> str:
    """The application of an intent, in any spelling; empty if it states none."""
    apps = {_word(name, one.spec[name]) or "": name for name in _APPS if name in one.spec}
    if len(apps) > 1:
        raise refused_at(one.at, f"{' and '.join(apps.values())} mean the same, but have different values")
    return next(iter(apps), "")


def _word(name: str, value: LocatedValue) -> str | None:
    """The value of a field that has one word, or none."""
    if isinstance(value.value, list | dict):
        raise refused_at(value.at, f"{name} must be one word")
    return value.value


def _typed(name: str, value: LocatedValue) -> FieldValue:
    """The value of a field of a requirement as its schema has it; what is of no such type stays a text."""
    text = _word(name, value) or ""
    if name in _SWITCHES:
        return {"true": True, "false": False}.get(text.lower(), text)
    if name in {*_NUMBERS, _COUNT, REPLICAS} and text.isascii() and text.isdigit() and len(text) <= _DIGITS:
        return int(text)
    return text


def intent_objects(intents: list[EmcoIntent], namespace: str | None) -> Iterator[Manifest]:
    """The HPAIntents. Raises :class:`RefusedInputError` with all problems of one, at the lines of the input."""
    for intent in intents:
        spec: dict[str, Any] = {"app": intent.app} if intent.app else {}
        if intent.count is not None:
            spec[_COUNT] = intent.count
        spec["consumers"] = [_consumer_fields(one) for one in intent.consumers]
        problems = [
            Problem(str(_line(problem.field, intent)), problem.message)
            for problem in read_intent(namespace or "default", intent.name, spec).problems
        ]
        if problems:
            raise RefusedInputError(*problems)
        yield {
            "apiVersion": HPA_INTENT.api_version,
            "kind": HPA_INTENT.name,
            "metadata": {"name": intent.name, **({"namespace": namespace} if namespace else {})},
            "spec": spec,
        }


def _consumer_fields(consumer: EmcoConsumer) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": consumer.name, "consumer": dict(consumer.workload)}
    if consumer.notes:
        fields["metadata"] = dict(consumer.notes)
    if consumer.requirements:
        fields["requirements"] = [requirement_fields(one) for one in consumer.requirements]
    return fields


def requirement_fields(requirement: EmcoRequirement) -> dict[str, Any]:
    """The requirement as an entry of a list, with its name if it has one."""
    if not requirement.name:
        return dict(requirement.spec)
    notes = {"metadata": dict(requirement.notes)} if requirement.notes else {}
    return {"name": requirement.name, **notes, "spec": requirement.spec}


def _line(path: str, intent: EmcoIntent) -> InputLine:
    """The line of the input that the field at the path of an HPAIntent was made of."""
    consumer, requirement = (_index(path, part) for part in ("consumers[", "requirements["))
    if consumer is None or consumer >= len(intent.consumers):
        return intent.at
    entry = intent.consumers[consumer]
    if requirement is None or requirement >= len(entry.requirements):
        return entry.at
    return entry.requirements[requirement].at


def _index(path: str, part: str) -> int | None:
    digits = path.partition(part)[2].partition("]")[0]
    return int(digits) if digits.isdigit() else None
