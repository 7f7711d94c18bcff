"""Objects before their kind is known, from the API server or a file: undecoded JSON, or values of YAML.

Lists are taken apart without decoding their members, so a file of any number of objects needs little more memory than
its own size.
"""

import re
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from kubeapi.client.api_types import Identified, Identity
from kubeapi.client.decoding import ERRORS, decoded
from webhook.cluster.objects.wire import ObjectMetadata, PodObject

Item = Raw | object
"""An object: ``Raw`` is JSON text, a ``PodObject`` a pod that a watch has decoded, everything else plain values."""

T = TypeVar("T")

_HEAD = re.compile(rb'\s*\{\s*"apiVersion"\s*:\s*"([\w./-]+)"\s*,\s*"kind"\s*:\s*"(\w+)"')
"""How kubectl begins every object; seeing it saves a decoder's pass over the whole of it."""


class Head(Struct, frozen=True, gc=False, rename="camel"):
    """The apiVersion and kind that an object states."""

    api_version: str = ""
    kind: str = ""


class _Name(Struct, frozen=True, gc=False):
    name: str = ""
    namespace: str = ""


class _Named(Struct, frozen=True, gc=False):
    metadata: _Name = _Name()


class _RawDocument(Head, frozen=True, gc=False, rename="camel"):
    items: tuple[Raw, ...] | None = None


class _PlainDocument(Head, frozen=True, gc=False, rename="camel"):
    items: tuple[Any, ...] | None = None


def decode(item: Item, shape: type[T]) -> T:
    """The item as a Struct; raises one of :data:`decoding.ERRORS`."""
    if isinstance(item, Raw):
        return decoded(item, shape)
    return item if isinstance(item, shape) else msgspec.convert(item, shape)


def head(item: Item) -> Head:
    """The apiVersion and kind that the item states; raises one of :data:`decoding.ERRORS`."""
    seen = _HEAD.match(item) if isinstance(item, Raw) else None
    return Head(seen[1].decode(), seen[2].decode()) if seen else decode(item, Head)


def document(item: Item) -> tuple[Head, Sequence[Item]]:
    """The apiVersion and kind of the item, and its members if it is a list; raises one of :data:`decoding.ERRORS`.

    Both in one pass, as kubectl writes the kind of a list after its members.
    """
    raw = decode(item, _RawDocument) if isinstance(item, Raw) else decode(item, _PlainDocument)
    return Head(raw.api_version, raw.kind), raw.items or ()


def identity(item: Item) -> Identity:
    """Name, namespace, uid and version of an item of any kind; empty where they cannot be read."""
    if isinstance(item, PodObject):
        stated = item.metadata or ObjectMetadata()
        parts = stated.name, stated.namespace, stated.uid, stated.resource_version
        return Identity(*(part or "" for part in parts))
    try:
        return decode(item, Identified).metadata
    except ERRORS:
        return Identity()


def name(item: Item) -> str:
    """``namespace/name`` of an item of any kind; empty where these cannot be read."""
    try:
        metadata = identity(item) if isinstance(item, PodObject) else decode(item, _Named).metadata
    except ERRORS:
        return ""
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
