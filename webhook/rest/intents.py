"""HPA intents with their resource consumers and requirements, and what each operation makes of a stored intent.

An intent is stored as one value with everything below it. An operation is a pure function from the stored intent
(``None`` if it does not exist) to the intent to store (``None`` to remove it); it raises :class:`RequestError` if it is
not allowed. Storage calls it again when another client was faster, so that no change is lost.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from webhook.placement.annotations.hardware_text import REQUIREMENT_LIMIT
from webhook.placement.objects.intent import CONSUMER_LIMIT
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import counted, enumerated, quote
from webhook.rest.request_error import FieldError, RequestError
from webhook.rest.routes import LEVELS, Collection, RouteTarget

INTENT_LIMIT: Final = 512 * 1024
"""Bytes of a stored intent with all that is below it: a third of what etcd takes for one object."""

_NAMED: Final = 8
"""Names that one message lists at most."""


class EntityMetadata(Struct, frozen=True, omit_defaults=True):
    """Name and notes of an intent, consumer or requirement; the notes change nothing."""

    name: str
    description: str = ""
    user_data1: str = field(name="userData1", default="")
    user_data2: str = field(name="userData2", default="")


class DeviceWish(Struct, frozen=True, omit_defaults=True):
    """The ResourceClaim or ResourceClaimTemplate of devices, or their description (``docs/devices.md``)."""

    claim: str | None = None
    template: str | None = None
    device_class: str | None = field(name="class", default=None)
    selector: str | None = None
    count: int | None = None
    same_attribute: str | None = field(name="sameAttribute", default=None)


class HardwareWish(Struct, frozen=True, omit_defaults=True):
    """What a requirement asks for (``docs/hardware.md``): an amount of a resource, a label of the node, or devices."""

    name: str | None = None
    mandatory: bool | None = None
    weight: int | None = None
    allocatable: bool | None = None
    requests: int | str | None = None
    limits: int | str | None = None
    units: str | None = None
    value: str | None = None
    container: str | None = field(name="container-name", default=None)
    device: DeviceWish | None = None


class RequirementEntity(Struct, frozen=True):
    """A resource requirement."""

    metadata: EntityMetadata
    spec: HardwareWish


class ConsumerWorkload(Struct, frozen=True, omit_defaults=True):
    """The workload that a resource consumer stands for, and the container that gets what is allocatable.

    ``replicas`` is how many of its pods need the hardware at the same time; one if that is not said.
    """

    api_version: str = field(name="apiVersion")
    kind: str
    name: str
    container: str | None = field(name="container-name", default=None)
    replicas: int | None = None


class ConsumerEntity(Struct, frozen=True, omit_defaults=True):
    """A resource consumer with its requirements, in the order in which they were created."""

    metadata: EntityMetadata
    consumer: ConsumerWorkload
    requirements: tuple[RequirementEntity, ...] = ()


class IntentEntity(Struct, frozen=True, omit_defaults=True):
    """An HPA intent with its consumers, in the order in which they were created."""

    metadata: EntityMetadata
    app: str = ""
    consumers: tuple[ConsumerEntity, ...] = ()


Change = Callable[[IntentEntity | None], IntentEntity | None]
"""An operation: from the stored intent to the intent to be stored; ``None`` stands for none."""

Entity = IntentEntity | ConsumerEntity | RequirementEntity


class _HasMetadata(Protocol):
    @property
    def metadata(self) -> EntityMetadata: ...


_E = TypeVar("_E", bound=_HasMetadata)


def created(target: RouteTarget, given: Entity) -> Change:
    """The operation that adds the entity to the collection that the target lists."""

    def change(stored: IntentEntity | None) -> IntentEntity:
        if isinstance(given, IntentEntity):
            if stored is not None:
                raise _duplicate(Collection.INTENTS, given.metadata.name)
            return given
        intent = _existing(stored, target)
        if isinstance(given, ConsumerEntity):
            return replace(intent, consumers=_with(intent.consumers, given, Collection.CONSUMERS, CONSUMER_LIMIT))
        consumer = consumer_of(intent, target)
        requirements = _with(consumer.requirements, given, Collection.REQUIREMENTS, REQUIREMENT_LIMIT)
        return _put(intent, replace(consumer, requirements=requirements))

    return _bounded(change)


def replaced(target: RouteTarget, given: Entity, check: Callable[[Entity], object]) -> Change:
    """The operation that replaces the element that the target names; ``check`` is called with the stored element."""

    def change(stored: IntentEntity | None) -> IntentEntity:
        intent = _existing(stored, target)
        before = element_of(intent, target)
        check(before)
        _childless(before, target, "changed")
        if isinstance(given, IntentEntity):
            return given
        if isinstance(given, ConsumerEntity):
            return _put(intent, given)
        consumer = consumer_of(intent, target)
        entries = tuple(given if each.metadata.name == target.names[2] else each for each in consumer.requirements)
        return _put(intent, replace(consumer, requirements=entries))

    return _bounded(change)


def removed(target: RouteTarget, check: Callable[[Entity], object]) -> Change:
    """The operation that removes the element that the target names; ``check`` is called with the stored element."""

    def change(stored: IntentEntity | None) -> IntentEntity | None:
        intent = _existing(stored, target)
        before = element_of(intent, target)
        check(before)
        _childless(before, target, "deleted")
        if target.collection is Collection.INTENTS:
            return None
        if target.collection is Collection.CONSUMERS:
            return replace(intent, consumers=tuple(each for each in intent.consumers if each is not before))
        consumer = consumer_of(intent, target)
        requirements = tuple(each for each in consumer.requirements if each is not before)
        return _put(intent, replace(consumer, requirements=requirements))

    return change


def emptied(target: RouteTarget, check: Callable[[Entity], object]) -> Change:
    """The operation that removes all elements of the list of consumers, or of requirements, that the target names.

    ``check`` is called with each of them. None is removed if one of them has something below it.
    """

    def change(stored: IntentEntity | None) -> IntentEntity:
        intent = _existing(stored, target)
        for each in children_of(intent, target):
            check(each)
            _childless(each, target.element(each.metadata.name), "deleted")
        if target.collection is Collection.CONSUMERS:
            return replace(intent, consumers=())
        return _put(intent, replace(consumer_of(intent, target), requirements=()))

    return change


def element_of(stored: IntentEntity | None, target: RouteTarget) -> Entity:
    """The element that the target names; raises :class:`RequestError` with status 404 if it or a parent is missing."""
    intent = _existing(stored, target)
    if target.collection is Collection.INTENTS:
        return intent
    consumer = consumer_of(intent, target)
    if target.collection is Collection.CONSUMERS:
        return consumer
    return _pick(consumer.requirements, target, 2, f"resource consumer {target.names[1]}")


def children_of(stored: IntentEntity | None, target: RouteTarget) -> Sequence[Entity]:
    """The elements of the list of consumers, or of requirements, that the target names."""
    intent = _existing(stored, target)
    return intent.consumers if target.collection is Collection.CONSUMERS else consumer_of(intent, target).requirements


def consumer_of(intent: IntentEntity, target: RouteTarget) -> ConsumerEntity:
    """The consumer that the target names, as an element or as a parent."""
    return _pick(intent.consumers, target, 1, f"HPA intent {target.names[0]}")


def _existing(stored: IntentEntity | None, target: RouteTarget) -> IntentEntity:
    if stored is None:
        raise _missing(LEVELS[0][1], target.intent, f"deployment intent group {target.group} has no such HPA intent")
    return stored


def _pick(entities: Sequence[_E], target: RouteTarget, level: int, where: str) -> _E:
    """The entity that the target names at that level; the error suggests the nearest name."""
    name = target.names[level]
    for each in entities:
        if each.metadata.name == name:
            return each
    collection, parameter = LEVELS[level]
    names = [each.metadata.name for each in entities]
    suggestion = nearest(name, names)
    if suggestion:
        known = f", did you mean {suggestion}?"
    else:
        known = f"; it has {enumerated(names, _NAMED)}" if names else "; it has none"
    raise _missing(parameter, name, f"{where} has no such {collection.noun}{known}")


def _with(entities: tuple[_E, ...], given: _E, collection: Collection, limit: int) -> tuple[_E, ...]:
    if any(each.metadata.name == given.metadata.name for each in entities):
        raise _duplicate(collection, given.metadata.name)
    if len(entities) >= limit:
        rule = f"there are {counted(limit, collection.noun)} already, the most that are allowed in one place"
        raise RequestError(400, (FieldError("metadata.name", rule, given.metadata.name),))
    return (*entities, given)


def _put(intent: IntentEntity, given: ConsumerEntity) -> IntentEntity:
    """The intent with its consumer of that name replaced."""
    name = given.metadata.name
    return replace(
        intent, consumers=tuple(given if each.metadata.name == name else each for each in intent.consumers)
    )  # fmt: skip


def _childless(entity: Entity, target: RouteTarget, verb: str) -> None:
    """Raise the error 409 if something is below the entity."""
    collection, children = _children(entity)
    if not children:
        return
    names = enumerated([each.metadata.name for each in children], _NAMED)
    noun = LEVELS[len(target.names) - 1][0].noun
    rule = f"{noun} {target.names[-1]} cannot be {verb} while it has {counted(len(children), collection.noun)}"
    raise RequestError(
        409, (FieldError(LEVELS[len(target.names) - 1][1], f"{rule} ({names}): delete these first", target.names[-1]),)
    )


def _children(entity: Entity) -> tuple[Collection, Sequence[Entity]]:
    if isinstance(entity, IntentEntity):
        return Collection.CONSUMERS, entity.consumers
    if isinstance(entity, ConsumerEntity):
        return Collection.REQUIREMENTS, entity.requirements
    return Collection.REQUIREMENTS, ()


def _bounded(change: Callable[[IntentEntity | None], IntentEntity]) -> Change:
    """The operation, which is not allowed if the whole intent would have more than :data:`INTENT_LIMIT` bytes."""

    def within(stored: IntentEntity | None) -> IntentEntity:
        after = change(stored)
        if len(msgspec.json.encode(after)) > INTENT_LIMIT:
            rule = f"the HPA intent with all that is below it would have more than {INTENT_LIMIT // 1024} KiB"
            raise RequestError(400, (FieldError("body", rule),))
        return after

    return within


def _duplicate(collection: Collection, name: str) -> RequestError:
    rule = f"there is a {collection.noun} {quote(name)} already"
    if collection is Collection.INTENTS:
        rule = f"there is an {collection.noun} {quote(name)} already"
    return RequestError(409, (FieldError("metadata.name", rule, name),))


def _missing(field_name: str, name: str, rule: str) -> RequestError:
    return RequestError(404, (FieldError(field_name, f"{quote(name)}: {rule}", name),))
