"""``SnapshotLoader``: reads objects of files into a sink; kinds are those of ``cluster/objects/kinds.py``."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from kubeapi.client import decoding
from webhook.cluster.objects import custom_resources, items, pods, wire
from webhook.cluster.objects.device_versions import CONVERTED, in_v1
from webhook.cluster.objects.items import Head, Item
from webhook.cluster.objects.kinds import KINDS, NAMESPACES, NODE_GROUPS, PODS, STORAGE, AnyKind
from webhook.cluster.objects.metadata import MalformedError, full_name
from webhook.cluster.objects.report import FINDING_LIMIT, Finding, Report
from webhook.cluster.objects.sink import Sink
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import HOST_POOL

_KINDS: Final[Mapping[tuple[str, str], AnyKind]] = {
    (version, kind.name): kind
    for kind in (*KINDS, *NODE_GROUPS, *STORAGE)
    for version in (*kind.api.api_versions, *CONVERTED.get(kind.name, ()))
}
"""The kinds that are read, by apiVersion and kind; the Job of ``batch/v1`` is not among them."""

READ: Final = _KINDS.keys()
"""apiVersion and kind of every object that a cluster is read from."""

_STORED: Final = {kind.name for kind in (*NODE_GROUPS, *STORAGE)}
"""Kinds that most snapshots do not have, and that are reported where they are."""

_LISTS: Final[Mapping[tuple[str, str], Head | None]] = {
    ("v1", "List"): None,
    **{(version, f"{kind}List"): Head(version, kind) for version, kind in _KINDS},
}
"""Kinds of lists, with the kind of their members; ``None`` for ``List``, whose members state their kinds themselves."""


class _Findings:
    """Findings: all of them counted, the first :data:`FINDING_LIMIT` kept."""

    def __init__(self) -> None:
        self.kept: list[Finding] = []
        self.count = 0

    def add(self, finding: Finding) -> None:
        self.count += 1
        if self.count <= FINDING_LIMIT:
            self.kept.append(finding)


class SnapshotLoader:
    """One pass over a number of files; an object that cannot be used is skipped and named in the report.

    ``step`` is called before each object with the number of those before it. Objects of the kinds ``keep``, by
    apiVersion and kind, are kept as they are written.
    """

    def __init__(
        self, sink: Sink, step: Callable[[int], object] = lambda _: None, keep: Collection[tuple[str, str]] = ()
    ) -> None:
        self._sink = sink
        self._keep = keep
        self._kept: dict[tuple[str, str, str, str], dict[str, Any]] = {}
        self._step = step
        self._total = 0
        self._file = ""
        self._place = 0
        self._seen: dict[str, set[str]] = {}
        self._counts = Counter[str]()
        self._skipped = _Findings()
        self._noted = _Findings()

    def begin(self, file: str) -> None:
        """The next objects are from this file."""
        self._file = file
        self._place = 0

    def skip(self, reason: str, subject: str = "") -> None:
        """Report something of the file that cannot be used."""
        self._skipped.add(Finding(self._file, subject, reason))

    def document(self, item: Item, place: str = "") -> None:
        """Read an object, or a list of objects; ``place`` says where in the file it is, for what cannot be read."""
        try:
            head, members = items.document(item)
        except decoding.ERRORS as error:
            self.skip(decoding.reason(error), place)
            return
        stated = _LISTS.get((head.api_version, head.kind), head)
        for member in (item,) if stated is head else members:
            self._step(self._total)
            self._place += 1
            self._total += 1
            self._object(member, stated)

    def report(self) -> Report:
        """The outcome of all that was read so far."""
        return Report(
            counts={kind: self._counts[kind] for _, kind in _KINDS if kind not in _STORED or self._counts[kind]},
            finished=self._counts["finished"],
            ignored=self._counts["ignored"],
            skipped=tuple(self._skipped.kept),
            skipped_count=self._skipped.count,
            noted=tuple(self._noted.kept),
            noted_count=self._noted.count,
            kept=self._kept,
        )

    def _object(self, item: Item, stated: Head | None) -> None:
        """Read one object; ``stated`` is its kind if its list says so, ``None`` if the object says it itself."""
        try:
            stated = stated or items.head(item)
            kind = _KINDS.get((stated.api_version, stated.kind))
            if (stated.api_version, stated.kind) in self._keep:
                self._put_away(stated, item)
            elif kind is None:
                self._ignore(stated)
            elif kind is PODS:
                self._pod(item)
            elif kind is NAMESPACES:
                self._namespace(item)
            else:
                self._put(kind, in_v1(stated, item))
        except MalformedError as error:
            self.skip(str(error), self._subject(item, stated))
        except decoding.ERRORS as error:
            self.skip(decoding.reason(error), self._subject(item, stated))

    def _subject(self, item: Item, stated: Head | None) -> str:
        kind = (stated and stated.kind) or "object"
        return f"{kind} {items.name(item) or f'number {self._place}'}"

    def _put(self, kind: AnyKind, item: Item) -> None:
        value, notes = kind.read(item)
        if value is None:
            self._counts["ignored"] += 1
            return
        name = kind.value_key(value)
        self._once(kind.name, name)
        kind.put(self._sink, value)
        self._used(kind.name, name, notes)

    def _pod(self, item: Item) -> None:
        source = items.decode(item, wire.PodObject)
        value, notes = pods.bound_pod(source)
        if value is None:
            self._counts["finished"] += 1
            return
        name = full_name(source.metadata)
        # The sink knows the pods; a set of the names of 150,000 pods would take as much memory as the pods.
        if self._sink.has_pod(value.uid):
            raise MalformedError("an earlier Pod has the same uid")
        self._sink.set_pod(value)
        self._used("Pod", name, notes)

    def _namespace(self, item: Item) -> None:
        name, enabled = custom_resources.enabled(items.decode(item, wire.NamespaceObject))
        self._once("Namespace", name)
        if enabled:
            self._sink.intents.enable(name)
            self._used("Namespace")
        else:
            self._sink.intents.disable(name)
            self._counts["ignored"] += 1

    def _put_away(self, stated: Head, item: Item) -> None:
        """Keep an object as it is written; the first of a name counts."""
        named = items.identity(item)
        key = (stated.api_version, stated.kind, named.namespace, named.name)
        self._kept.setdefault(key, items.decode(item, dict))
        self._counts["ignored"] += 1

    def _ignore(self, stated: Head) -> None:
        """Count an object of a kind that placement does not read; one that seems to be meant for it is an error."""
        if not stated.api_version or not stated.kind:
            raise MalformedError("apiVersion or kind is missing")
        if (stated.api_version, stated.kind) in _LISTS:
            raise MalformedError("a list inside a list is not read")
        ours = HOST_POOL.api_version
        if stated.api_version.startswith(keys.PREFIX) and (ours, stated.kind) in _KINDS:
            raise MalformedError(f"apiVersion: {stated.api_version} is not known, only {ours} is")
        self._counts["ignored"] += 1

    def _once(self, kind: str, name: str) -> None:
        """Raise :class:`MalformedError` if an object of that kind and name was read before."""
        seen = self._seen.setdefault(kind, set())
        if name in seen:
            raise MalformedError(f"an earlier {kind} has the same name")
        seen.add(name)

    def _used(self, kind: str, name: str = "", notes: Iterable[str] = ()) -> None:
        self._counts[kind] += 1
        for note in notes:
            self._noted.add(Finding(self._file, f"{kind} {name}", note))
