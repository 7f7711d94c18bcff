"""The outcome of reading a cluster: how many objects are used, which are not, and why."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from webhook.placement.text.api_kinds import (
    CLAIM_TEMPLATE,
    DEVICE_TAINT_RULE,
    LIMIT_RANGE,
    NODE_TOPOLOGY,
    PRIORITY_CLASS,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    RUNTIME_CLASS,
)
from webhook.placement.text.problem import escape

FINDING_LIMIT = 1000
"""Findings that are named one by one; more are only counted."""

_WIDTH = 500
"""Characters of one finding: names and values in it may be as long as a file."""


_IF_ANY = frozenset(
    kind.name
    for kind in (
        RESOURCE_SLICE, RESOURCE_CLAIM, CLAIM_TEMPLATE, DEVICE_TAINT_RULE, NODE_TOPOLOGY, LIMIT_RANGE, RUNTIME_CLASS,
        PRIORITY_CLASS,
    )
)  # fmt: skip
"""Kinds that the line of a report names only if there are objects of them: most clusters have few."""


class SnapshotError(Exception):
    """The folder cannot serve as a cluster; the text is a sentence for the user who named it."""


class Finding(Struct, frozen=True, gc=False):
    """Something in a file that was not used.

    ``file`` is relative to the folder; ``subject`` is the object's kind and name as far as they could be read, or empty
    when the reason is about the file itself.
    """

    file: str
    subject: str
    reason: str

    def __str__(self) -> str:
        """One line of printable ASCII: ``pods.yaml: Pod default/web-1: metadata.name: missing``."""
        text = escape(": ".join(filter(None, (self.file, self.subject, self.reason))))
        return f"{text[:_WIDTH]}..." if len(text) > _WIDTH else text


class Report(Struct, frozen=True):
    """The outcome of reading a folder once.

    ``counts`` are the objects that are in use, by kind; ``finished`` the pods that hold nothing any more; ``ignored``
    objects of other kinds, and namespaces in which no intent holds. ``skipped`` are the objects, documents and files
    that could not be used, ``noted`` parts of objects that otherwise are; each names the first :data:`FINDING_LIMIT`,
    of ``skipped_count`` and ``noted_count``. ``kept`` are objects of kinds that were asked for, as they are written, by
    apiVersion, kind, namespace and name.
    """

    counts: Mapping[str, int]
    finished: int = 0
    ignored: int = 0
    skipped: tuple[Finding, ...] = ()
    skipped_count: int = 0
    noted: tuple[Finding, ...] = ()
    noted_count: int = 0
    kept: Mapping[tuple[str, str, str, str], dict[str, Any]] = {}

    def __str__(self) -> str:
        """One line: ``5 Node, 120 Pod, 0 HostPool, 0 Job, ...; 3 finished, 1 skipped, 0 ignored``."""
        used = ", ".join(f"{count} {kind}" for kind, count in self.counts.items() if count or kind not in _IF_ANY)
        return f"{used}; {self.finished} finished, {self.skipped_count} skipped, {self.ignored} ignored"
