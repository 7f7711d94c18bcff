"""JSON that the API server puts around objects: pages of a list, events of a watch. The objects stay JSON text."""

from msgspec import Raw, Struct, field


class ListMetadata(Struct, frozen=True, gc=False):
    """``metadata`` of a list: its resourceVersion, and the token for its next page, which the last page lacks."""

    version: str = field(name="resourceVersion", default="")
    following: str | None = field(name="continue", default=None)


class Page(Struct, frozen=True, gc=False):
    """A page of a list."""

    metadata: ListMetadata = ListMetadata()
    items: tuple[Raw, ...] | None = None


class Event(Struct, frozen=True, gc=False):
    """A line of a watch; ``type`` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""

    type: str
    object: Raw


class Identity(Struct, frozen=True, gc=False):
    """The part of an object's metadata that identifies the object and its version.

    Of an object that was deleted, or that cannot be used, nothing else is read.
    """

    name: str = ""
    namespace: str = ""
    uid: str = ""
    version: str = field(name="resourceVersion", default="")


class Identified(Struct, frozen=True, gc=False):
    """Any object, of which only the identity is read."""

    metadata: Identity = Identity()
