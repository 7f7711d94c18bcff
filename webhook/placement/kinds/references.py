"""Objects that say of which pods another object is, such as the training runtime of a TrainJob."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from webhook.placement.kinds.kind import OperatorKind, ReferencedKind
from webhook.placement.kinds.merging import merged_by_names
from webhook.placement.kube.names import is_namespace, is_object_name
from webhook.placement.text import keys
from webhook.placement.text.problem import CLAUSE_LIMIT, shorten

Json = dict[str, Any]

PATCHES: Final = 16
"""Most patches of an object that are merged; each costs as much as the object that is referred to."""


class ObjectReference(Struct, frozen=True, gc=False):
    """An object that another one refers to; ``namespace`` is empty for a kind that has none."""

    kind: ReferencedKind
    namespace: str
    name: str

    @property
    def path(self) -> str:
        """Where the API server has it; both names are such that they need no quotes."""
        inside = f"namespaces/{self.namespace}/" if self.namespace else ""
        return f"/apis/{self.kind.group}/{self.kind.version}/{inside}{self.kind.resource}/{self.name}"

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The apiVersion and kind, the namespace and the name."""
        return f"{self.kind.group}/{self.kind.version}", self.kind.kind, self.namespace, self.name


def reference_of(kind: OperatorKind, document: Json, namespace: str) -> ObjectReference | None:
    """The reference of an object in that namespace; ``None`` if it is to no object that there can be."""
    stated = kind.reference
    if stated is None:
        return None
    group, of_kind, name = (path.of(document) for path in (stated.group_path, stated.kind_path, stated.name_path))
    stated_kind = next((one for one in stated.kinds if (one.group, one.kind) == (group, of_kind)), None)
    if stated_kind is None or not isinstance(name, str) or not is_object_name(name):
        return None
    if not stated_kind.namespaced:
        return ObjectReference(stated_kind, "", name)
    return ObjectReference(stated_kind, namespace, name) if is_namespace(namespace) else None


def unknown_reference(kind: OperatorKind, document: Json) -> str:
    """The sentence about an object whose reference could not be followed; empty for a kind without references."""
    stated = kind.reference
    if stated is None:
        return ""
    said = [path.of(document) for path in (stated.kind_path, stated.name_path)]
    names = " ".join(shorten(one, CLAUSE_LIMIT) for one in said if isinstance(one, str))
    return f"{stated.path}: {names or 'the object'} cannot be read, so its pods were not judged"


def too_many_patches(kind: OperatorKind, document: Json) -> str:
    """The sentence about an object with more patches than are merged; empty for all others."""
    stated = kind.reference
    patches = stated.patches_path.of(document) if stated else None
    if stated is None or not isinstance(patches, list) or len(patches) <= PATCHES:
        return ""
    where = stated.patches_path.path
    return f"{where} has {len(patches)} entries, more than {PATCHES}, so its pods were not judged"


def with_reference(kind: OperatorKind, document: Json, referenced: Json) -> Json:
    """The object with the one that it refers to, which has the patches of the object in its spec."""
    stated = kind.reference
    if stated is None:
        return document
    patches = stated.patches_path.of(document)
    for patch in patches if isinstance(patches, list) else ():
        referenced = merged_by_names(referenced, {"spec": stated.patch_path.of(patch) or {}})
    return {**document, stated.name: referenced}


def says_something(kind: OperatorKind, document: Json) -> bool:
    """Whether the object itself, or what reaches its pods, has an annotation or a label of this product."""
    places = (place for path in kind.metadata_paths for place in _places(document, path.split(".")))
    return any(
        isinstance(key, str) and key.startswith(keys.PREFIX) and key not in keys.FOREIGN
        for place in places
        for field in ("annotations", "labels")
        if isinstance(said := place.get(field), dict)
        for key in said
    )


def _places(value: object, steps: list[str]) -> Iterator[Json]:
    """The objects at the end of a path, in which ``x[]`` stands for each entry of a list."""
    if not steps:
        if isinstance(value, dict):
            yield value
        return
    step, *further = steps
    inner = value.get(step.removesuffix("[]")) if isinstance(value, dict) else None
    if not step.endswith("[]"):
        yield from _places(inner, further)
    elif isinstance(inner, list):
        for one in inner:
            yield from _places(one, further)
