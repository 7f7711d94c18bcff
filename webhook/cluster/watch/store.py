"""``Store``: writes listed and watched objects of one kind into a sink, and knows their keys.

After every list the sink is as if the list had been read into an empty sink. No second copy is made for that: an object
that the list does not contain is removed at the end of the list.
"""

from collections.abc import Callable, Iterator, KeysView

from kubeapi.client import decoding
from webhook.cluster.objects import items
from webhook.cluster.objects.items import Item
from webhook.cluster.objects.kinds import AnyKind
from webhook.cluster.objects.metadata import MalformedError
from webhook.cluster.objects.report import FINDING_LIMIT, Finding
from webhook.cluster.objects.sink import Sink

TellFinding = Callable[[Finding], object]
"""Called with what is wrong with an object."""

Findings = dict[str, Finding | None]
"""Findings by the object's key; ``None`` for those beyond :data:`FINDING_LIMIT`, which are only counted."""


class Store:
    """Writes the objects of one kind into a sink; ``tell`` is called once with each finding about an object.

    ``skipped`` are the objects that could not be used, ``noted`` those of which a part could not be used.
    """

    def __init__(self, kind: AnyKind, sink: Sink, tell: TellFinding) -> None:
        self._own: dict[str, None] = {}
        """Keys of the objects in the sink, unless the sink keeps them: 150,000 pods are in one table only."""
        self.known: KeysView[str] = kind.kept(sink) if kind.kept else self._own.keys()
        """Keys of the objects in the sink."""
        self.skipped: Findings = {}
        self.noted: Findings = {}
        self._kind = kind
        self._sink = sink
        self._tell = tell
        self._unseen: set[str] = set()
        self._nameless = 0

    def begin(self) -> None:
        """A list begins: :meth:`end` removes the objects that are not put until then."""
        self._unseen = {*self.known, *self.skipped}

    def end(self) -> Iterator[str]:
        """The list is complete: remove the objects that it did not contain, one at each step of the iterator."""
        gone, self._unseen = self._unseen, set()
        for key in gone:
            self.remove(key)
            yield key

    def listed(self, *, readable: bool) -> None:
        """Tell the sink that all objects are in it, or that the kind cannot be read."""
        self._kind.listed(self._sink, readable)

    def put(self, item: Item) -> None:
        """An object was added or changed. An object that cannot be used is removed from the sink."""
        try:
            value, notes = self._kind.read(item)
            if value is None:
                self.remove(self._kind.key(items.identity(item)))
                return
            key: str = self._kind.value_key(value)
            self._kind.put(self._sink, value)
        except MalformedError as error:
            self._skip(item, str(error))
        except decoding.ERRORS as error:
            self._skip(item, decoding.reason(error))
        except Exception as error:  # noqa: BLE001 -- one unforeseen object must not end the watch of all others
            self._skip(item, f"unforeseen: {type(error).__name__}: {error}")
        else:
            self._keep(key)
            if notes or self.noted:
                self._note(key, item, notes)

    def remove(self, key: str) -> None:
        """An object is gone, or needs no resources any more (a finished pod). An unknown key is ignored."""
        if key in self.known:
            self._own.pop(key, None)
            self._kind.drop(self._sink, key)
        self._unseen.discard(key)
        self.skipped.pop(key, None)
        self.noted.pop(key, None)

    def _keep(self, key: str) -> None:
        if self._kind.kept is None:
            self._own[key] = None
        self._unseen.discard(key)
        if self.skipped:
            self.skipped.pop(key, None)

    def _skip(self, item: Item, reason: str) -> None:
        identity = items.identity(item)
        if identity.name or identity.uid:
            key = self._kind.key(identity)
        else:
            self._nameless += 1
            key = f"? {self._nameless}"
        before = self.skipped.get(key)
        self.remove(key)
        self._find(self.skipped, key, Finding("", self._subject(item), reason), before)

    def _note(self, key: str, item: Item, notes: list[str]) -> None:
        before = self.noted.pop(key, None)
        if notes:
            self._find(self.noted, key, Finding("", self._subject(item), "; ".join(notes)), before)

    def _find(self, findings: Findings, key: str, finding: Finding, before: Finding | None) -> None:
        if len(findings) >= FINDING_LIMIT:
            findings[key] = None
            return
        findings[key] = finding
        if finding != before:
            self._tell(finding)

    def _subject(self, item: Item) -> str:
        return f"{self._kind.name} {items.name(item) or 'without a name'}"
