"""Request bodies: their schemas, and the entities that are read from them, with all mistakes at once.

The models are the schemas of the OpenAPI document, too. What they cannot express (two spellings of one field that
contradict each other, amounts, units) is checked by the parsers that the webhook reads HPAIntent objects with, so that
an intent that is stored here is one that pods can get hardware from.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WrapValidator
from pydantic_core import ErrorDetails, PydanticCustomError

from webhook.placement.annotations.described_devices import ATTRIBUTE_LIMIT, DEVICES_LIMIT, SELECTOR_LIMIT
from webhook.placement.annotations.hardware import HEAVIEST, LIGHTEST
from webhook.placement.annotations.hardware_text import read_requirements
from webhook.placement.annotations.yaml_text import of_json
from webhook.placement.kube.names import KEY_LIMIT, NAME_LIMIT
from webhook.placement.kube.quantity import LENGTH_LIMIT
from webhook.placement.objects.consumer import REPLICA_LIMIT
from webhook.placement.objects.intent import read_intent
from webhook.placement.text.keys import LABEL_LIMIT
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, quote
from webhook.rest.intents import (
    ConsumerEntity,
    DeviceWish,
    Entity,
    EntityMetadata,
    HardwareWish,
    IntentEntity,
    RequirementEntity,
)
from webhook.rest.request_error import SHOWN, FieldError, RequestError
from webhook.rest.routes import NAME, NAME_RULE, Collection
from webhook.rest.storage.intent_objects import workload_of

INVALID: Final = 400
"""Status of a body that is JSON and breaks a rule (EMCO answers so)."""

_NOTE_LIMIT: Final = 1024
"""Characters of a note, as of the notes in HPAIntent objects."""

_AMOUNT_RULE: Final = 'must be a whole number, or a quantity as text such as "500m"'


def _amount(value: object, inner: Callable[[object], object]) -> object:
    """Validates an amount with one message, where pydantic would have one for each type."""
    try:
        return inner(value)
    except ValidationError:
        raise PydanticCustomError("amount", _AMOUNT_RULE) from None


EntityName = Annotated[str, Field(pattern=f"^{NAME}$", max_length=128)]
Note = Annotated[str, Field(max_length=_NOTE_LIMIT)]
Amount = Annotated[
    Annotated[int, Field(ge=1)] | Annotated[str, Field(min_length=1, max_length=LENGTH_LIMIT)], WrapValidator(_amount)
]
ContainerName = Annotated[str, Field(min_length=1, max_length=LABEL_LIMIT)]
ResourceName = Annotated[str, Field(min_length=1, max_length=KEY_LIMIT)]
ObjectName = Annotated[str, Field(min_length=1, max_length=NAME_LIMIT)]
AttributeName = Annotated[str, Field(min_length=1, max_length=ATTRIBUTE_LIMIT)]
ReplicaCount = Annotated[int, Field(ge=1, le=REPLICA_LIMIT)]
Unit = Literal["KB", "MB", "GB", "TB", "Ki", "Mi", "Gi", "Ti"]


class StrictBody(BaseModel):
    """A JSON object whose fields are all known and have exactly the type that is stated."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=False)


class MetadataBody(StrictBody):
    """Name and notes; the notes change nothing."""

    name: EntityName
    description: Note = ""
    user_data1: Note = Field("", alias="userData1")
    user_data2: Note = Field("", alias="userData2")

    def entity(self) -> EntityMetadata:
        """The metadata as it is stored."""
        return EntityMetadata(self.name, self.description, self.user_data1, self.user_data2)


class IntentFields(StrictBody):
    """The application that an HPA intent is for."""

    app: ObjectName | None = Field(None, description="The application. One of app and appName is required.")
    app_name: ObjectName | None = Field(None, alias="appName", description="Another word for app.")
    consumers: Annotated[list[Any], Field(max_length=0)] | None = Field(
        None, alias="resourceConsumers", description="Empty: consumers are created below the intent."
    )


class IntentBody(StrictBody):
    """An HPA intent: what an application needs of the hardware, said by its resource consumers."""

    metadata: MetadataBody
    spec: IntentFields

    def entity(self) -> IntentEntity:
        """The intent as it is stored."""
        return IntentEntity(self.metadata.entity(), self.spec.app or self.spec.app_name or "")


class WorkloadFields(StrictBody):
    """The workload whose pods get the hardware."""

    api_version: ObjectName = Field(alias="apiVersion", description="Of its kind, such as apps/v1.")
    kind: ContainerName = Field(description="Such as Deployment.")
    name: ObjectName
    container_name: ContainerName | None = Field(
        None, alias="container-name", description="Container that receives allocatable resources."
    )
    container: ContainerName | None = Field(None, description="Another word for container-name.")
    replicas: ReplicaCount | None = Field(None, description="How many of its pods need the hardware; 1 if absent.")


class ConsumerFields(StrictBody):
    """A workload as the consumer of hardware: below consumer, or with its fields here, as EMCO's programs send it."""

    consumer: WorkloadFields | None = Field(None, description="The workload; required without the fields beside it.")
    api_version: ObjectName | None = Field(None, alias="apiVersion", description="Of its kind, such as apps/v1.")
    kind: ContainerName | None = Field(None, description="Such as Deployment.")
    name: ObjectName | None = Field(None, description="The name of the workload.")
    container_name: ContainerName | None = Field(
        None, alias="container-name", description="Container that receives allocatable resources."
    )
    container: ContainerName | None = Field(None, description="Another word for container-name.")
    replicas: ReplicaCount | None = Field(None, description="How many of its pods need the hardware; 1 if absent.")


class ConsumerBody(StrictBody):
    """A resource consumer: a workload that needs hardware."""

    metadata: MetadataBody
    spec: ConsumerFields

    def entity(self) -> ConsumerEntity:
        """The consumer as it is stored, without requirements."""
        return ConsumerEntity(self.metadata.entity(), workload_of({"spec": self.spec.model_dump(by_alias=True)}))


class ResourceFields(StrictBody):
    """An amount of a resource, or a label of the node."""

    name: ResourceName | None = Field(None, description="The resource, such as nvidia.com/gpu, or the key of a label.")
    key: ResourceName | None = Field(None, description="Another word for name.")
    requests: Amount | None = Field(None, description="How much is needed; as much as limits if absent.")
    limits: Amount | None = Field(None, description="How much may be used; of a device, as much as requests.")
    units: Unit | None = Field(None, description="What a number of bytes counts; MB if absent.")
    value: Annotated[str, Field(max_length=LABEL_LIMIT)] | None = Field(None, description="The value of the label.")


class DeviceFields(StrictBody):
    """Where devices come from: a class, a claim or a template."""

    claim: ObjectName | None = Field(None, description="A ResourceClaim of the namespace, which all pods share.")
    template: ObjectName | None = Field(
        None, description="A ResourceClaimTemplate of the namespace: each pod gets a claim of its own."
    )
    device_class: ObjectName | None = Field(
        None, alias="class", description="A DeviceClass: each pod gets devices of its own, as the other fields say."
    )
    selector: Annotated[str, Field(min_length=1, max_length=SELECTOR_LIMIT)] | None = Field(
        None, description="A CEL expression that each device of the class must meet."
    )
    count: Annotated[int, Field(ge=1, le=DEVICES_LIMIT)] | None = Field(
        None, description="How many devices of the class; 1 if absent."
    )
    same_attribute: AttributeName | None = Field(
        None, alias="sameAttribute", description="Attribute of which all of them must have the same value."
    )

    def entity(self) -> DeviceWish:
        """The source as it is stored."""
        return DeviceWish(self.claim, self.template, self.device_class, self.selector, self.count, self.same_attribute)


class RequirementFields(ResourceFields):
    """What is required of the node: one kind of hardware."""

    mandatory: bool | None = Field(None, description="Whether the pod must have it, which is so if absent.")
    weight: Annotated[int, Field(ge=LIGHTEST, le=HEAVIEST)] | None = Field(
        None, description="How much a requirement that is not mandatory is wanted; 10 is highest, 1 if absent."
    )
    allocatable: bool | None = Field(
        None, description="True for an amount of a resource, false for a label; if absent, whether there is no value."
    )
    container_name: ContainerName | None = Field(
        None, alias="container-name", description="Container that receives it; defaults to that of the consumer."
    )
    container: ContainerName | None = Field(None, description="Another word for container-name.")
    resource: ResourceFields | None = Field(None, description="Another place for what is said of resource or label.")
    device: DeviceFields | None = Field(None, description="Devices, in place of all that is said of resource or label.")


class RequirementBody(StrictBody):
    """A resource requirement of a consumer."""

    metadata: MetadataBody
    spec: RequirementFields

    def entity(self) -> RequirementEntity:
        """The requirement as it is stored: each field in its usual place and spelling."""
        said, nested = self.spec, self.spec.resource or ResourceFields()
        value = said.value if said.value is not None else nested.value
        wish = HardwareWish(
            name=said.name or said.key or nested.name or nested.key,
            mandatory=said.mandatory is not False,
            weight=said.weight,
            allocatable=value is None if said.allocatable is None else said.allocatable,
            requests=said.requests or nested.requests,
            limits=said.limits or nested.limits,
            units=said.units or nested.units,
            value=value,
            container=said.container_name or said.container,
            device=said.device.entity() if said.device else None,
        )
        return RequirementEntity(self.metadata.entity(), wish)


Body = IntentBody | ConsumerBody | RequirementBody

BODIES: Final[Mapping[Collection, type[Body]]] = MappingProxyType(
    {
        Collection.INTENTS: IntentBody,
        Collection.CONSUMERS: ConsumerBody,
        Collection.REQUIREMENTS: RequirementBody,
    }
)
"""The schema of the body by which an element of each collection is created or replaced."""


def read_body(collection: Collection, document: object) -> Entity:
    """The entity that the JSON value describes; raises :class:`RequestError` with status 400 and all mistakes."""
    model = BODIES[collection]
    try:
        body = model.model_validate(document)
    except ValidationError as wrong:
        raise RequestError(INVALID, _shape_errors(wrong, model)) from None
    assert isinstance(document, dict)  # noqa: S101 -- the model has accepted it
    if problems := list(_RULES[collection](document["spec"])):
        raise RequestError(INVALID, (_field_error(problem, document) for problem in problems))
    return body.entity()


def _intent_problems(spec: Mapping[str, Any]) -> Iterator[Problem]:
    if not spec.get("app") and not spec.get("appName"):
        yield Problem("spec.app", "is missing: the application that the intent is for")
    yield from read_intent("", "", {name: spec[name] for name in ("app", "appName") if name in spec}).problems


def _consumer_problems(spec: Mapping[str, Any]) -> Iterator[Problem]:
    """The problems of the only consumer of an HPAIntent; messages name other fields by their paths, too."""
    for problem in read_intent("", "", {"consumers": [{"spec": spec}]}).problems:
        field, message = (text.replace("spec.consumers[0].spec", "spec") for text in (problem.field, problem.message))
        yield Problem(field, message)


def _requirement_problems(spec: Mapping[str, Any]) -> Iterator[Problem]:
    """The problems of the only entry of a list of requirements, in the form that has a ``spec`` of its own."""
    for problem in read_requirements(of_json([{"spec": spec}]), "")[1]:
        field, message = (text.replace("[0].spec", "spec") for text in (problem.field, problem.message))
        yield Problem("spec" if field == "[0]" else field, message)


_RULES: Final[Mapping[Collection, Callable[[Mapping[str, Any]], Iterable[Problem]]]] = MappingProxyType(
    {
        Collection.INTENTS: _intent_problems,
        Collection.CONSUMERS: _consumer_problems,
        Collection.REQUIREMENTS: _requirement_problems,
    }
)
"""The checks beyond the schemas, by the parsers of HPAIntent objects; each gets ``spec`` of a body."""


def _field_error(problem: Problem, document: object) -> FieldError:
    """The problem with the value that its path has in the body, if it has one."""
    value = document
    for part in problem.field.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return FieldError(problem.field, problem.message, _shown(value))


def _shown(value: object) -> str | None:
    """A scalar as JSON writes it; ``None`` for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _shape_errors(wrong: ValidationError, model: type[BaseModel]) -> Iterator[FieldError]:
    for error in wrong.errors(include_url=False)[:SHOWN]:
        *owner, name = map(str, error["loc"] or ("body",))
        path = ".".join((*owner, name))
        if error["type"] == "extra_forbidden":
            yield FieldError(path, unknown("field", name, _fields(model, owner)), _shown(error["input"]))
        elif error["type"] == "missing":
            yield FieldError(path, "is required, but missing")
        else:
            value = _shown(error["input"])
            what = f"{quote(value)} " if value is not None else ""
            yield FieldError(path, f"{what}{_shape_rule(error)}", value)


def _fields(model: type[BaseModel], path: Iterable[str]) -> list[str]:
    """The names of the fields that the object at the path may have."""
    annotated: type[BaseModel] = model
    for part in path:
        inner = next(each.annotation for name, each in annotated.model_fields.items() if (each.alias or name) == part)
        annotated = next(
            each
            for each in (inner, *getattr(inner, "__args__", ()))
            if isinstance(each, type) and issubclass(each, BaseModel)
        )
    return [each.alias or name for name, each in annotated.model_fields.items()]


def _shape_rule(error: ErrorDetails) -> str:
    """The rule that a value breaks, in words, from the type and the bounds of a pydantic error."""
    bounds: Mapping[str, Any] = error.get("ctx") or {}
    least, most = (1, REPLICA_LIMIT) if error["loc"][-1:] == ("replicas",) else (LIGHTEST, HEAVIEST)
    rules = {
        "string_type": "must be a text",
        "bool_type": "must be true or false",
        "int_type": "must be a whole number",
        "model_type": "must be an object",
        "model_attributes_type": "must be an object",
        "list_type": "must be a list",
        "string_pattern_mismatch": NAME_RULE,
        "string_too_short": "must not be empty",
        "string_too_long": f"has more than {bounds.get('max_length')} characters",
        "literal_error": f"is not one of {bounds.get('expected')}",
        "greater_than_equal": f"is not a whole number from {least} to {most}",
        "less_than_equal": f"is not a whole number from {least} to {most}",
        "too_long": "must be empty: each child is created by a request of its own",
    }
    return rules.get(error["type"], error["msg"])
