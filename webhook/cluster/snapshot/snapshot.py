"""``read_snapshot``: puts the objects of a folder (files as ``kubectl get -o yaml`` prints) into a sink."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from msgspec import Raw

from webhook.cluster.objects.items import Item
from webhook.cluster.objects.kinds import DEVICES, RESOURCE_SLICES
from webhook.cluster.objects.report import Report, SnapshotError
from webhook.cluster.objects.sink import Sink
from webhook.cluster.snapshot.folder import files, read
from webhook.cluster.snapshot.json_documents import json_of
from webhook.cluster.snapshot.loader import SnapshotLoader

_ADVICE = 'put there what "kubectl get nodes,pods -A -o yaml" prints'
"""Leaves out HostPools and the like, because kubectl fails as a whole if one of the kinds is not installed."""


def read_snapshot(
    folder: Path,
    sink: Sink,
    *,
    abandoned: Callable[[], bool] = lambda: False,
    step: Callable[[int], object] = lambda _: None,
    keep: Collection[tuple[str, str]] = (),
) -> Report:
    """Put every object of the folder into ``sink``.

    An object, a document or a file that cannot be used is skipped and named in the report, and so is an object that
    was read before. Raises :class:`SnapshotError` if no Node is found, or if ``abandoned()``, which is called before
    every file, returns ``True``. ``step`` is called before each object with the number of those before it. The report
    has the objects of the kinds ``keep``, by apiVersion and kind.
    """
    loader = SnapshotLoader(sink, step, keep)
    for path in files(folder):
        if abandoned():
            raise SnapshotError(f"reading the folder {folder} was abandoned")
        _read_file(path, str(path.relative_to(folder)), loader)
    report = loader.report()
    if report.counts[RESOURCE_SLICES.name]:
        for kind in DEVICES:
            kind.listed(sink, True)  # noqa: FBT003 -- the outcome of a list
    if not report.counts["Node"]:
        first = f" ({report.skipped_count} skipped, the first is {report.skipped[0]})" if report.skipped else ""
        raise SnapshotError(f"the folder {folder} holds no Node: {_ADVICE}{first}")
    return report


def _read_file(path: Path, name: str, loader: SnapshotLoader) -> None:
    loader.begin(name)
    try:
        content = read(path)
    except OSError as error:
        loader.skip(f"cannot be read: {error.strerror}")
        return
    texts = json_of(content, path.suffix)
    if texts is None:
        for document in _yaml(content, loader):
            loader.document(document)
    else:
        for part in texts:
            loader.document(Raw(part.text), part.place)


def _yaml(content: bytes, loader: SnapshotLoader) -> Iterator[Item]:
    # Imported only here: PyYAML takes as long to import as the rest of this layer, and a live cluster does not need it.
    from webhook.cluster.snapshot.yaml_documents import UnreadableDocument, documents  # noqa: PLC0415 see above

    for document in documents(content):
        if isinstance(document, UnreadableDocument):
            loader.skip(document.reason)
        else:
            yield document
