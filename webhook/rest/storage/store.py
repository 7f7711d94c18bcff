"""The protocol of storage: whole intents, read, listed and changed by operations; and the errors of storage."""

from typing import ClassVar, Protocol

from msgspec import Struct

from webhook.rest.intents import Change, IntentEntity
from webhook.rest.routes import IntentGroup


class StorageError(Exception):
    """Storage cannot do it now; ``status`` is the HTTP status of the answer, the text one sentence for the user."""

    def __init__(self, text: str, *, status: int = 503) -> None:
        super().__init__(text)
        self.status = status


class StaleTokenError(Exception):
    """A list's ``continue`` token was not made by storage (400), or is too old (410); the text says which."""

    BAD_REQUEST: ClassVar = 400

    def __init__(self, text: str, *, status: int = BAD_REQUEST) -> None:
        super().__init__(text)
        self.status = status


class IntentPage(Struct, frozen=True):
    """A part of a list of intents; ``following`` is the token for the next part, empty after the last one."""

    intents: tuple[IntentEntity, ...]
    following: str = ""


class IntentStore(Protocol):
    """Stores HPA intents, each as one value with everything that is below it.

    Every method raises :class:`StorageError` if storage cannot be reached or is full.
    """

    async def read(self, group: IntentGroup, name: str) -> IntentEntity | None:
        """The intent as it is stored now; ``None`` if it does not exist."""
        ...

    async def change(self, group: IntentGroup, name: str, change: Change) -> IntentEntity | None:
        """Store what the operation makes of the stored intent, and return it; errors of the operation are raised.

        The operation is called at least once, and again if another client was faster. When this method returns, the
        change is durable.
        """
        ...

    async def page(self, group: IntentGroup, limit: int, token: str) -> IntentPage:
        """At most ``limit`` intents of the group, from where the token says; raises :class:`StaleTokenError`."""
        ...

    def ready(self) -> str | None:
        """Why nothing can be stored or read now; ``None`` if it can."""
        ...

    async def close(self) -> None:
        """Finish changes under way, and let go of what is open."""
        ...
