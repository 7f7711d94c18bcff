"""``PlacementReview``: the manifests that a user asks about in its spec, and the answer in its status.

Names are camelCase in JSON. Nothing of it is stored.
"""

from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

GROUP: Final = "placement.streams.ibm.com"
"""The API group; not that of the custom resources, all of which an aggregated API server would have to serve."""

VERSION: Final = "v1"
"""The version of the group."""

API_VERSION: Final = f"{GROUP}/{VERSION}"
"""``apiVersion`` of a review."""

KIND: Final = "PlacementReview"
"""``kind`` of a review."""

RESOURCE: Final = "placementreviews"
"""The resource in paths and in roles."""

ReviewVerdict: TypeAlias = Literal["Admitted", "Refused", "Waiting", "NotJudged"]
"""``Waiting`` is admitted, to wait for a node that there is not yet; ``NotJudged`` asks for no placement."""

EvictionVerdict: TypeAlias = Literal["Placed", "Refused", "Unplaced", "Deleted"]
"""What becomes of a pod that a drain evicts: its successor has a node, is refused, waits, or is made by nothing."""


class AddedTaint(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A taint of an added node."""

    key: str
    effect: str
    value: str = ""


class AddedShape(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What added nodes are like; amounts are quantities (``"64"``, ``"256Gi"``), and pods are 110 if not stated."""

    allocatable: dict[str, str | int] = {}
    labels: dict[str, str] = {}
    taints: tuple[AddedTaint, ...] = ()


class AddedNodes(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``count`` nodes like the node that ``like`` names, or of that ``shape``: give one of the two."""

    count: int = 1
    like: str = ""
    shape: AddedShape | None = None


class PodName(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A pod by its namespace, that of the review if empty, and its name."""

    name: str
    namespace: str = ""


class WhatIf(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Changes that the answer assumes.

    ``drain`` are nodes that take no new pods and whose pods are evicted, ``cordon`` nodes that only take no new pods.
    """

    drain: tuple[str, ...] = ()
    cordon: tuple[str, ...] = ()
    add_nodes: tuple[AddedNodes, ...] = ()
    remove_pods: tuple[PodName, ...] = ()


class ReviewSpec(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """What is asked: the objects, in the order in which they would be submitted, and whether to plan all together."""

    manifests: tuple[dict[str, Any], ...] = ()
    plan: bool = False
    what_if: WhatIf | None = None


class CandidateNodes(Struct, frozen=True, omit_defaults=True):
    """How many nodes can run the pod; their names only if the user may list nodes, else ``nodes`` is absent."""

    count: int
    nodes: tuple[str, ...] | UnsetType = UNSET


class ClosedByRule(Struct, frozen=True, omit_defaults=True):
    """How many nodes one rule is the first to close.

    ``rule`` is the user's clause, or the reason itself if no user wrote the rule (taints, capacity). ``reason`` goes on
    after "1 node". ``nodes`` are their names, only if the user may list nodes.
    """

    rule: str
    reason: str
    count: int
    nodes: tuple[str, ...] | UnsetType = UNSET


class ReviewResult(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The answer to one manifest, or to the pods of one of its components.

    ``manifest`` is its place in the spec, from 0. ``message`` is the refusal, word for word as admission has it; empty
    if there is none. ``replicas`` are the pods that it asks for, and ``fit`` how many of these can run at the same
    time; both are absent where they do not apply. ``patch`` are the JSON Patch operations that admission would make.
    """

    manifest: int
    kind: str
    namespace: str
    name: str
    component: str = ""
    verdict: ReviewVerdict
    message: str = ""
    warnings: tuple[str, ...] = ()
    replicas: int | None = None
    fit: int | None = None
    candidates: CandidateNodes | None = None
    closed: tuple[ClosedByRule, ...] = ()
    smallest_set: tuple[str, ...] = ()
    nearest_fix: str = ""
    patch: tuple[dict[str, Any], ...] = ()


class EvictedPod(Struct, frozen=True, omit_defaults=True):
    """A pod that leaves a drained node, and what becomes of its successor; ``node`` is where that would run."""

    namespace: str
    name: str
    verdict: EvictionVerdict
    message: str = ""
    node: str = ""


class EvictedElsewhere(Struct, frozen=True, omit_defaults=True):
    """Pods that leave drained nodes, in namespaces whose pods the user may not list: how many, by verdict."""

    count: int = 0
    placed: int = 0
    refused: int = 0
    unplaced: int = 0
    deleted: int = 0


class ReviewStatus(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The answer: results in the order of the manifests, and the plan if it was asked for.

    ``plan`` is what ``streams-placement plan -o json`` writes; for a user who may not list nodes the names in it are
    numbers (``node-1``).
    """

    results: tuple[ReviewResult, ...] = ()
    plan: dict[str, Any] | None = None
    evicted: tuple[EvictedPod, ...] = ()
    evicted_elsewhere: EvictedElsewhere | None = None


class ReviewMetadata(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The metadata of a review; a name is not needed, as nothing is stored."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class PlacementReview(Struct, frozen=True, rename="camel", kw_only=True):
    """A review as users send it and get it back."""

    api_version: str = API_VERSION
    kind: str = KIND
    metadata: ReviewMetadata = ReviewMetadata()
    spec: ReviewSpec = ReviewSpec()
    status: ReviewStatus | None = None


class Visible(Struct, frozen=True):
    """What the user may list: nodes, and the pods of these ``namespaces``, or of all of them with ``all_pods``."""

    nodes: bool = False
    namespaces: frozenset[str] = frozenset()
    all_pods: bool = False

    def pods(self, namespace: str) -> bool:
        """Whether the user may list the pods of the namespace."""
        return self.all_pods or namespace in self.namespaces
