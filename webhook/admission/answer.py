"""What a reviewer says back: the HTTP answer, and the facts that logs and metrics want to know about it."""

import enum

from msgspec import Struct


class Outcome(enum.StrEnum):
    """How a review ended."""

    ALLOWED = "allowed"
    PATCHED = "patched"
    DENIED = "denied"
    ERRORED = "errored"
    """Our own trouble: HTTP 503."""
    UNREADABLE = "unreadable"
    """Not an AdmissionReview that could be answered: HTTP 400."""


class Workload(Struct, frozen=True, gc=False):
    """Which workload makes a pod, as the pod says: ``version`` is its apiVersion."""

    namespace: str
    version: str
    kind: str
    name: str


class Unseen(Struct, frozen=True, gc=False):
    """A pod that is to be bound to an exclusive host before anything is known of it; ``uid`` may be empty."""

    namespace: str
    name: str
    uid: str


class Answer(Struct, frozen=True, gc=False):
    """The answer to one request body.

    ``status`` is the HTTP status and ``body`` its JSON. The rest is for logs and metrics: ``reason`` is a short word
    (``Invalid``, ``Forbidden``, ...) or empty, ``message`` the refusal, if any; ``uid``, ``namespace`` and ``name`` are
    the caller's words and may hold anything. ``depends`` is the workload whose number of pods may make it another one,
    ``unseen`` the pod that has to be looked at before the answer holds. ``waits`` is why a pod is let in that no node
    can run now (``Cause``), empty for all others.
    """

    status: int
    body: bytes
    outcome: Outcome
    reason: str = ""
    kind: str = ""
    operation: str = ""
    uid: str = ""
    namespace: str = ""
    name: str = ""
    message: str = ""
    depends: Workload | None = None
    unseen: Unseen | None = None
    waits: str = ""
