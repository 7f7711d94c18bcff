"""Paths of objects in the API, from their ``apiVersion``, ``kind`` and metadata."""

from typing import Any, Final

_CLUSTER_WIDE: Final = frozenset(
    {
        "ClusterRole",
        "ClusterRoleBinding",
        "ClusterTrainingRuntime",
        "CSIDriver",
        "CustomResourceDefinition",
        "DeviceClass",
        "DeviceTaintRule",
        "KWOKNodeClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "NodeClaim",
        "NodePool",
        "PersistentVolume",
        "PriorityClass",
        "ResourceSlice",
        "RuntimeClass",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    }
)  # fmt: skip  -- a list of names, not of lines

_IRREGULAR: Final = {"Endpoints": "endpoints"}


def collection(thing: dict[str, Any]) -> str:
    """The path of all objects of its kind, in its namespace or ``default``."""
    version, kind = thing["apiVersion"], thing["kind"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    if kind in _CLUSTER_WIDE:
        return f"{root}/{plural(kind)}"
    return f"{root}/namespaces/{thing['metadata'].get('namespace', 'default')}/{plural(kind)}"


def item(thing: dict[str, Any]) -> str:
    """The path of the object itself."""
    return f"{collection(thing)}/{thing['metadata']['name']}"


def plural(kind: str) -> str:
    """The resource of a kind, by the rule that Kubernetes follows, too."""
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    word = kind.lower()
    if word.endswith("y"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch")) else f"{word}s"
