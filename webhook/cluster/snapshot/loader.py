"""Items of files put into a sink: each of the kinds that placement knows, once."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import ClassVar

from kubeapi.client import decoding
from webhook.cluster.objects import hpaintent, items, streamsjob, translate, wire
from webhook.cluster.objects.items import Head, Item
from webhook.cluster.objects.report import FINDING_LIMIT, Finding, Report
from webhook.cluster.objects.sink import Sink
from webhook.cluster.objects.translate import MalformedError

CORE = "v1"
GROUP = "streams.ibm.com"
STREAMS = f"{GROUP}/v1"

KINDS = (
    (CORE, "Node"), (CORE, "Pod"), (STREAMS, "HostPool"), (STREAMS, "Job"), (STREAMS, "HPAIntent"), (CORE, "Namespace"),
)  # fmt: skip
"""The kinds that are read; the Job of ``batch/v1`` is another."""

_LISTS: dict[tuple[str, str], Head | None] = {
    (CORE, "List"): None,
    **{(version, f"{kind}List"): Head(version, kind) for version, kind in KINDS},
}
"""Kinds of lists, and what their members are; those of a ``List`` say so themselves."""


class _Findings:
    """Findings: all of them counted, the first of them kept."""

    def __init__(self) -> None:
        self.kept: list[Finding] = []
        self.count = 0

    def add(self, finding: Finding) -> None:
        self.count += 1
        if self.count <= FINDING_LIMIT:
            self.kept.append(finding)


class SnapshotLoader:
    """One pass over a number of files; what cannot be used is skipped, named, and never fatal."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._file = ""
        self._place = 0
        self._seen: dict[str, set[str]] = {}
        self._counts = Counter[str]()
        self._skipped = _Findings()
        self._noted = _Findings()

    def begin(self, file: str) -> None:
        """What comes next is from this file."""
        self._file = file
        self._place = 0

    def skip(self, reason: str, subject: str = "") -> None:
        """Something of the file cannot be used."""
        self._skipped.add(Finding(self._file, subject, reason))

    def document(self, item: Item) -> None:
        """An object, or a list of objects."""
        try:
            head, members = items.document(item)
        except decoding.ERRORS as error:
            self.skip(decoding.reason(error))
            return
        stated = _LISTS.get((head.api_version, head.kind), head)
        for member in (item,) if stated is head else members:
            self._place += 1
            self._object(member, stated)

    def report(self) -> Report:
        """What came of everything so far."""
        return Report(
            counts={kind: self._counts[kind] for _, kind in KINDS},
            finished=self._counts["finished"],
            ignored=self._counts["ignored"],
            skipped=tuple(self._skipped.kept),
            skipped_count=self._skipped.count,
            noted=tuple(self._noted.kept),
            noted_count=self._noted.count,
        )

    def _object(self, item: Item, stated: Head | None) -> None:
        """One object; ``stated`` is what it says it is, or its list says for it."""
        try:
            stated = stated or items.head(item)
            put = self._PUT.get((stated.api_version, stated.kind))
            if put:
                put(self, item)
            else:
                self._ignore(stated)
        except MalformedError as error:
            self.skip(str(error), self._subject(item, stated))
        except decoding.ERRORS as error:
            self.skip(decoding.reason(error), self._subject(item, stated))

    def _subject(self, item: Item, stated: Head | None) -> str:
        kind = (stated and stated.kind) or "object"
        return f"{kind} {items.name(item) or f'number {self._place}'}"

    def _node(self, item: Item) -> None:
        value, notes = translate.node(items.decode(item, wire.Node))
        self._once("Node", "name", value.name)
        self._sink.set_node(value)
        self._used("Node", value.name, notes)

    def _pod(self, item: Item) -> None:
        source = items.decode(item, wire.Pod)
        value, notes = translate.bound_pod(source)
        if value is None:
            self._counts["finished"] += 1
            return
        name = translate.full_name(source.metadata)
        # With 150,000 pods a second list of who was seen would weigh as much as the pods; the sink knows them already.
        if self._sink.has_pod(value.uid):
            raise MalformedError("an earlier Pod has the same uid")
        self._sink.set_pod(value)
        self._used("Pod", name, notes)

    def _pool(self, item: Item) -> None:
        value = translate.pool(items.decode(item, wire.HostPool))
        self._once("HostPool", "name", f"{value.namespace}/{value.name}")
        self._sink.set_pool(value)
        self._used("HostPool")

    def _job(self, item: Item) -> None:
        value = streamsjob.job(items.decode(item, wire.Job))
        self._once("Job", "name", f"{value.namespace}/{value.name}")
        self._sink.set_job(value)
        self._used("Job")

    def _intent(self, item: Item) -> None:
        value, notes = hpaintent.intent(items.decode(item, wire.HPAIntent))
        name = f"{value.namespace}/{value.name}"
        self._once("HPAIntent", "name", name)
        self._sink.intents.put(value)
        self._used("HPAIntent", name, notes)

    def _namespace(self, item: Item) -> None:
        name, enabled = hpaintent.enabled(items.decode(item, wire.Namespace))
        self._once("Namespace", "name", name)
        if enabled:
            self._sink.intents.enable(name)
            self._used("Namespace")
        else:
            self._sink.intents.disable(name)
            self._counts["ignored"] += 1

    _PUT: ClassVar[dict[tuple[str, str], Callable[["SnapshotLoader", Item], None]]] = dict(
        zip(KINDS, (_node, _pod, _pool, _job, _intent, _namespace), strict=True)
    )

    def _ignore(self, stated: Head) -> None:
        """A kind that placement does not know; nothing is wrong unless it looks like one that it does."""
        if not stated.api_version or not stated.kind:
            raise MalformedError("apiVersion or kind is missing")
        if (stated.api_version, stated.kind) in _LISTS:
            raise MalformedError("a list inside a list is not read")
        if stated.api_version.startswith(f"{GROUP}/") and (STREAMS, stated.kind) in KINDS:
            raise MalformedError(f"apiVersion: {stated.api_version} is not known, only {STREAMS} is")
        self._counts["ignored"] += 1

    def _once(self, kind: str, field: str, value: str) -> None:
        """Refuse an object that was read before."""
        seen = self._seen.setdefault(f"{kind} {field}", set())
        if value in seen:
            raise MalformedError(f"an earlier {kind} has the same {field}")
        seen.add(value)

    def _used(self, kind: str, name: str = "", notes: Iterable[str] = ()) -> None:
        self._counts[kind] += 1
        for note in notes:
            self._noted.add(Finding(self._file, f"{kind} {name}", note))
