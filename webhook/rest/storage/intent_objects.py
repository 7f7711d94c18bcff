"""HPA intents as HPAIntent objects: names, labels and annotations of the objects, and their spec in both directions.

Five names of EMCO identify an intent: project, composite application, version, deployment intent group and the intent's
own. The name of the object is made of the intent's name, which people recognize, and of a hash of all five, so that no
two intents share an object. The annotation has the five names as they are, in upper and lower case; the label has a
hash of the first four, by which the API server lists the intents of a group.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from kubeapi.client.decoding import ERRORS
from webhook.placement.objects.consumer import NEEDED, own_name, stated
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import HPA_INTENT
from webhook.rest.intents import (
    ConsumerEntity,
    ConsumerWorkload,
    EntityMetadata,
    HardwareWish,
    IntentEntity,
    RequirementEntity,
)
from webhook.rest.routes import IntentGroup

_HASH_LENGTH: Final = 26
"""Characters of a hash: 130 bits in base32."""

_NAME_LENGTH: Final = 36
"""Characters of the intent's name in that of the object, which has 63 then at most."""

_WORKLOAD: Final = (*NEEDED, "container-name", "replicas")
"""Fields of a consumer's workload."""

_ODD: Final = re.compile(r"[^a-z0-9]+")


class UnusableObjectError(ValueError):
    """An object is not one that this interface has made, or can no longer be read; the text says why."""


class EmcoNames(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The value of the annotation: the names of an intent, and its notes."""

    project: str
    composite_app: str
    composite_app_version: str
    deployment_intent_group: str
    hpa_intent: str
    description: str = ""
    user_data1: str = field(name="userData1", default="")
    user_data2: str = field(name="userData2", default="")


class StoredMetadata(Struct, frozen=True):
    """The part of an object's metadata that is used."""

    name: str
    uid: str = ""
    version: str = field(name="resourceVersion", default="")
    annotations: dict[str, str] | None = None
    deleted: str | None = field(name="deletionTimestamp", default=None)


class StoredHPAIntent(Struct, frozen=True):
    """``streams.ibm.com/v1 HPAIntent`` as it is stored."""

    metadata: StoredMetadata
    spec: dict[str, Any] | None = None


def object_name(group: IntentGroup, intent: str) -> str:
    """The name of the object that stores an intent: every server computes the same one, and no two intents share it."""
    shown = _ODD.sub("-", intent.lower())[:_NAME_LENGTH].strip("-")
    return f"{shown}-{_hash(*_names(group), intent)}"


def group_label(group: IntentGroup) -> str:
    """The value of the label that all objects of the group have."""
    return _hash(*_names(group))


def object_of(group: IntentGroup, entity: IntentEntity) -> dict[str, Any]:
    """The object that stores the intent, to be created."""
    return {
        "apiVersion": HPA_INTENT.api_version,
        "kind": HPA_INTENT.name,
        "metadata": {
            "name": object_name(group, entity.metadata.name),
            "labels": {keys.INTENT_GROUP: group_label(group)},
            "annotations": {keys.EMCO: _annotation(group, entity.metadata)},
        },
        "spec": _spec(entity),
    }


def patch_of(group: IntentGroup, entity: IntentEntity, version: str) -> dict[str, Any]:
    """The merge patch (RFC 7396) that makes a stored object that of the intent, if it still has that version.

    What others have put on the object stays: labels, annotations, owners.
    """
    return {
        "metadata": {
            "resourceVersion": version,
            "annotations": {keys.EMCO: _annotation(group, entity.metadata)},
        },
        "spec": {"appName": None, **_spec(entity)},
    }


def entity_of(stored: StoredHPAIntent, group: IntentGroup) -> IntentEntity:
    """The intent that the object stores; raises :class:`UnusableObjectError` if it is not one of the group."""
    text = (stored.metadata.annotations or {}).get(keys.EMCO, "")
    try:
        names = msgspec.json.decode(text, type=EmcoNames)
    except ERRORS:
        raise UnusableObjectError(f"its annotation {keys.EMCO} was not written by this interface") from None
    if _hash(*_names(group), names.hpa_intent) != stored.metadata.name.rpartition("-")[2]:
        raise UnusableObjectError(f"its annotation {keys.EMCO} and its name stand for different HPA intents")
    spec = stored.spec or {}
    metadata = EntityMetadata(names.hpa_intent, names.description, names.user_data1, names.user_data2)
    try:
        consumers = tuple(map(_consumer, spec.get("consumers") or ()))
    except (msgspec.MsgspecError, AttributeError, TypeError) as error:
        raise UnusableObjectError(f"its spec cannot be read: {error}") from None
    return IntentEntity(metadata, spec.get("app") or spec.get("appName") or "", consumers)


def _names(group: IntentGroup) -> tuple[str, str, str, str]:
    return group.project, group.composite_app, group.version, group.name


def _hash(*names: str) -> str:
    """A hash of the names, each of which ends where the next one begins: no name holds a zero byte."""
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return base64.b32encode(digest).decode().lower()[:_HASH_LENGTH]


def _annotation(group: IntentGroup, said: EntityMetadata) -> str:
    names = EmcoNames(*_names(group), said.name, said.description, said.user_data1, said.user_data2)
    return msgspec.json.encode(names).decode()


def _spec(entity: IntentEntity) -> dict[str, Any]:
    return {"app": entity.app, "consumers": [_written(each) for each in entity.consumers]}


def _written(consumer: ConsumerEntity) -> dict[str, Any]:
    """The consumer as an entry of ``spec.consumers``."""
    requirements = [{"metadata": each.metadata, "spec": each.spec} for each in consumer.requirements]
    entry = {"name": consumer.metadata.name, "metadata": consumer.metadata, "consumer": consumer.consumer}
    return {**entry, "requirements": requirements} if requirements else entry


def workload_of(entry: Mapping[str, Any]) -> ConsumerWorkload:
    """The workload of an entry of ``spec.consumers``, in any of its spellings; raises ``msgspec.ValidationError``."""
    said = {name: next((value for _, value in stated(entry, name) if value), None) for name in _WORKLOAD}
    return msgspec.convert({name: value for name, value in said.items() if value is not None}, ConsumerWorkload)


def _consumer(entry: Mapping[str, Any]) -> ConsumerEntity:
    """An entry of ``spec.consumers`` in any of its spellings (``docs/hpaintent.md``): people may have edited it."""
    workload = workload_of(entry)
    name = own_name(entry) or workload.name
    return ConsumerEntity(_metadata(entry, name), workload, tuple(_requirements(entry.get("requirements") or ())))


def _requirements(entries: Iterable[Mapping[str, Any]]) -> Iterator[RequirementEntity]:
    """The requirements, each with a name: its own, or that of its resource, with a number if the name is taken."""
    used_names: set[str] = set()
    for entry in entries:
        said = entry.get("spec") or {name: value for name, value in entry.items() if name != "metadata"}
        nested = said.get("resource") or {}
        wish = {**nested, **said}
        wish["name"] = wish.get("name") or wish.get("key")
        wish["container-name"] = said.get("container-name") or said.get("container")
        wish = {name: value for name, value in wish.items() if value is not None}
        hardware = msgspec.convert(wish, HardwareWish)
        if hardware.name is None and hardware.device is None:
            raise msgspec.ValidationError("Object missing required field `name`")
        given = (entry.get("name") if "spec" in entry else None) or (entry.get("metadata") or {}).get("name")
        name = base = given or hardware.name or "device"
        count = 1
        while name in used_names:
            count += 1
            name = f"{base}-{count}"
        used_names.add(name)
        yield RequirementEntity(_metadata(entry, name), hardware)


def _metadata(entry: Mapping[str, Any], name: object) -> EntityMetadata:
    """The notes of an entry, under that name."""
    return msgspec.convert({**(entry.get("metadata") or {}), "name": name}, EntityMetadata)
