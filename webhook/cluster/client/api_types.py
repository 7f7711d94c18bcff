"""What the API server puts around objects: pages of a list, events of a watch. Objects stay JSON text in them."""

from msgspec import Raw, Struct, field


class ListMetadata(Struct, frozen=True, gc=False):
    """Of which moment a list is, and how to get its next page; empty on the last one."""

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
    """Which object it is, in which version; all that is read of one that is gone, or that cannot be used."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    version: str = field(name="resourceVersion", default="")


class Identified(Struct, frozen=True, gc=False):
    """Any object."""

    metadata: Identity = Identity()
