"""Answers about entities: their JSON, their ETag, and the schemas of both for the OpenAPI document."""

import hashlib
from collections.abc import Iterable
from typing import Annotated, Any, Final

import msgspec
from pydantic import Field

from webhook.rest.bodies import (
    Amount,
    ContainerName,
    DeviceFields,
    EntityName,
    Note,
    ObjectName,
    ReplicaCount,
    ResourceName,
    StrictBody,
    Unit,
)
from webhook.rest.intents import ConsumerEntity, Entity, EntityMetadata, IntentEntity

_ENCODE: Final = msgspec.json.Encoder().encode


class MetadataAnswer(StrictBody):
    """Name and notes."""

    name: EntityName
    description: Note
    user_data1: Note = Field(alias="userData1")
    user_data2: Note = Field(alias="userData2")


class WorkloadAnswer(StrictBody):
    """The workload whose pods get the hardware."""

    api_version: ObjectName = Field(alias="apiVersion")
    kind: ContainerName
    name: ObjectName
    container_name: ContainerName | None = Field(None, alias="container-name")
    replicas: ReplicaCount | None = None


class ConsumerAnswerFields(StrictBody):
    """The workload of a consumer."""

    consumer: WorkloadAnswer


class ConsumerAnswer(StrictBody):
    """A resource consumer."""

    metadata: MetadataAnswer
    spec: ConsumerAnswerFields


class IntentAnswerFields(StrictBody):
    """The application, in both spellings, and the consumers."""

    app: ObjectName
    app_name: ObjectName = Field(alias="appName")
    consumers: list[ConsumerAnswer] = Field(alias="resourceConsumers")


class IntentAnswer(StrictBody):
    """An HPA intent with its consumers."""

    metadata: MetadataAnswer
    spec: IntentAnswerFields


class RequirementAnswerFields(StrictBody):
    """An amount of a resource, a label of the node, or devices; fields that were not said are absent."""

    name: ResourceName | None = None
    mandatory: bool
    weight: Annotated[int, Field(ge=1, le=10)] | None = None
    allocatable: bool
    requests: Amount | None = None
    limits: Amount | None = None
    units: Unit | None = None
    value: str | None = None
    container_name: ContainerName | None = Field(None, alias="container-name")
    device: DeviceFields | None = None


class RequirementAnswer(StrictBody):
    """A resource requirement."""

    metadata: MetadataAnswer
    spec: RequirementAnswerFields


def encoded(entity: Entity) -> bytes:
    """The JSON of an entity in an answer."""
    return _ENCODE(_document(entity))


def encoded_list(entities: Iterable[Entity]) -> bytes:
    """The JSON of entities, separated by commas: the inside of a list."""
    return b",".join(encoded(entity) for entity in entities)


def entity_tag(entity: Entity) -> str:
    """The ETag of an entity: it changes whenever the answer about the entity does."""
    return f'"{hashlib.sha256(encoded(entity)).hexdigest()[:32]}"'


def _document(entity: Entity) -> dict[str, Any]:
    if isinstance(entity, IntentEntity):
        consumers = [_document(each) for each in entity.consumers]
        spec: object = {"app": entity.app, "appName": entity.app, "resourceConsumers": consumers}
    elif isinstance(entity, ConsumerEntity):
        spec = {"consumer": entity.consumer}
    else:
        spec = entity.spec
    return {"metadata": _metadata(entity.metadata), "spec": spec}


def _metadata(said: EntityMetadata) -> dict[str, str]:
    """All four fields, empty ones, too, as EMCO answers."""
    return {
        "name": said.name,
        "description": said.description,
        "userData1": said.user_data1,
        "userData2": said.user_data2,
    }
