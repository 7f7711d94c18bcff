"""The answer to a review as a value, and the questions that some answers depend on.

Nothing here talks to an API server: a question is data, which an outer layer asks. How answers are written as JSON is
in ``responses``.
"""

import enum
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct

from webhook.admission.review import User
from webhook.admission.unstructured import Unstructured
from webhook.placement.inventory.policy import Policy
from webhook.placement.kinds.references import ObjectReference
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.volumes import ClaimName, Volumes
from webhook.placement.pod_defaults.pod_defaults import ClassRef, PodDefaults

if TYPE_CHECKING:  # a module that only logs answers need not import the decision core
    from webhook.placement.inventory.inventory import Inventory
    from webhook.placement.jobs.job_verdict import JobVerdict
    from webhook.placement.jobs.whole_application import PodsToJudge
    from webhook.placement.planning.group import Group, Placed
    from webhook.placement.planning.search.solver import Solving


class Outcome(enum.StrEnum):
    """How a review ended."""

    ALLOWED = "allowed"
    PATCHED = "patched"
    DENIED = "denied"
    ERRORED = "errored"
    """Our own trouble: HTTP 503."""
    UNREADABLE = "unreadable"
    """Not an AdmissionReview that could be answered: HTTP 400."""


class WorkloadRef(Struct, frozen=True, gc=False):
    """The workload that makes a pod, as the pod's owner reference names it: ``version`` is its apiVersion."""

    namespace: str
    version: str
    kind: str
    name: str


class SizeQuestion(Struct, frozen=True):
    """How many pods is the workload to have at a time? ``resume`` decides again, once that is known."""

    workload: WorkloadRef
    resume: Callable[[], "Answer"]


class PodRef(Struct, frozen=True, gc=False):
    """A pod, as a Binding names it; ``uid`` may be empty."""

    namespace: str
    name: str
    uid: str


class PodQuestion(Struct, frozen=True):
    """Which pod is about to be bound to an exclusive host? ``resume`` takes the pod that was read."""

    pod: PodRef
    resume: Callable[[PodInfo], "Answer"]


PoolUse = tuple[str, str]
"""The name of a HostPool object, and the clause by which a pod uses it."""


class RightsQuestion(Struct, frozen=True):
    """May the user ``use`` these HostPools of the namespace? ``resume`` takes those that the user may not use."""

    user: User
    namespace: str
    pools: tuple[PoolUse, ...]
    resume: Callable[[Sequence[PoolUse]], "Answer"]
    then: "ClassQuestion | VolumesQuestion | WholeQuestion | WorkloadsQuestion | None" = None
    """What the answer depends on if the user may use all of them."""


class JobRef(Struct, frozen=True, gc=False):
    """A Job of Streams: its namespace and name."""

    namespace: str
    name: str


class JobQuestion(Struct, frozen=True):
    """The stored Job is needed: ``resume`` takes it, or ``None`` if it does not exist.

    ``needed`` tells that an answer without it would be an error. In audit mode nothing is refused, so it is not.
    """

    job: JobRef
    resume: Callable[[StreamsJob | None], "Answer"]
    needed: bool = True


class RegionQuestion(Struct, frozen=True):
    """The stored Job of a ParallelRegion is needed; ``known`` is the region's spec, ``None`` if it has to be read.

    ``resume`` takes the spec and the Job as JSON, ``None`` for what does not exist.
    """

    namespace: str
    name: str
    known: ParallelRegionSpec | None
    resume: Callable[[ParallelRegionSpec | None, Raw | None], "Answer"]


class PodOwner(Struct, frozen=True, gc=False, rename="camel"):
    """An owner reference of an object, of which every field may hold any text."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""


class OwnersQuestion(Struct, frozen=True):
    """Do these owners of a pod lead to an object that was judged, for which that user creates pods?

    The kinds of such objects, and the accounts of their operators, are those of the ``policy``. If the owners lead to
    such an object, ``resume`` decides again, about a pod that may wait.
    """

    user: str
    namespace: str
    owners: tuple[PodOwner, ...]
    policy: Policy
    resume: Callable[[], "Answer"]


class ReferenceQuestion(Struct, frozen=True):
    """Which object does the one under review refer to? It says of which pods that one is.

    ``resume`` takes the object as it is stored, or ``None`` if it cannot be read.
    """

    reference: ObjectReference
    resume: Callable[[Unstructured | None], "Answer"]


class VolumesQuestion(Struct, frozen=True):
    """Which nodes can use the volumes of these claims, and which do storage classes make volumes on?

    ``resume`` takes the answer, or ``None`` without an API server: then the inventory counts.
    """

    claims: tuple[ClaimName, ...]
    resume: Callable[[Volumes | None], "Answer"]


class ClassQuestion(Struct, frozen=True):
    """Does the API server have these RuntimeClasses and PriorityClasses, which pods name and the watch has not brought?

    ``known`` are the classes of the inventory; ``resume`` decides again with those that exist.
    """

    classes: tuple[ClassRef, ...]
    known: PodDefaults
    resume: Callable[[PodDefaults], "Answer"]


class WholeQuestion(Struct, frozen=True):
    """Can everything of a Job run at a time? That may take longer than other reviews can wait.

    ``resume`` finds it out with the given way to solve integer programs.
    """

    resume: Callable[["Solving"], Awaitable["Answer"]]


class PromisedObject(Struct, frozen=True, gc=False):
    """An object that was admitted and whose pods may not be there yet: its API path, and its uid."""

    namespace: str
    path: str
    uid: str


class PromisedQuestion(Struct, frozen=True):
    """Which of these objects are stored, and are not being deleted? Their uids are the reply.

    The last of them may have been admitted a moment ago: within ``patience`` seconds each will be stored, or never.
    """

    objects: tuple[PromisedObject, ...]
    patience: float = 0.0


class Promise(Struct, frozen=True, eq=False):
    """The room that an object is promised with the answer: its pods are made once it is stored.

    ``pods`` are the members of the group. ``judge`` has the verdict on some of them over an inventory of later.
    """

    object: PromisedObject
    group: "Group"
    placed: "Placed"
    pods: "tuple[PodsToJudge, ...]"
    judge: "Callable[[Sequence[PodsToJudge], Inventory, Solving], Coroutine[Any, Any, JobVerdict]]"


class WorkloadsQuestion(Struct, frozen=True):
    """Which workloads has the API server whose pods belong to this job of the namespace?

    ``resume`` takes the workloads that exist, and returns the question whether all of them can run together.
    """

    namespace: str
    job: str
    resume: Callable[[Sequence[Unstructured]], WholeQuestion]


class FieldsQuestion(Struct, frozen=True):
    """Which of these fields of pod templates does the API server not know?

    Each is given by the names of the fields from the template down to it. ``resume`` takes those that it does not know,
    ``None`` if that could not be found out.
    """

    fields: tuple[tuple[str, ...], ...]
    resume: Callable[[frozenset[tuple[str, ...]] | None], "Answer"]


Question = (
    SizeQuestion
    | PodQuestion
    | RightsQuestion
    | JobQuestion
    | OwnersQuestion
    | ReferenceQuestion
    | RegionQuestion
    | ClassQuestion
    | VolumesQuestion
    | WholeQuestion
    | WorkloadsQuestion
    | FieldsQuestion
)
"""What an answer depends on: what only the API server knows, and what takes long to find out."""


class Answer(Struct, frozen=True, gc=False):
    """The answer to one request body.

    ``status`` is the HTTP status and ``body`` its JSON. The rest is for logs and metrics: ``reason`` is a short word
    (``Invalid``, ``Forbidden``, ...) or empty, ``message`` the refusal, if any; ``uid``, ``namespace`` and ``name`` are
    the caller's words and may hold anything. ``waits`` is why a pod is let in that no node can run now (``WaitCause``),
    empty for all others. ``rules`` are those of a refusal; an answer that allows has rules only in audit mode, where it
    would be a refusal. An answer with a ``question`` stands if there is no API server to ask; the reply may change it.
    With a ``promise`` the object is told that its pods have room.
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
    waits: str = ""
    rules: tuple[str, ...] = ()
    question: Question | None = None
    promise: Promise | None = None
