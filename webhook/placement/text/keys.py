"""Every annotation key, label key and taint key of the product, made from one prefix (``docs/annotations.md``)."""

import functools
import hashlib
import re
from typing import Final

API_GROUP: Final = "streams.ibm.com"
"""API group of the product's own kinds, and the domain of all of its keys."""

PREFIX: Final = f"{API_GROUP}/"
"""Every annotation and label that this product reads or writes on pods starts with it."""

JOB: Final = f"{PREFIX}job"
PE: Final = f"{PREFIX}pe"

PLACEMENT: Final = f"{PREFIX}placement"
PREFERRED: Final = f"{PREFIX}preferred"
HOST_BINDING: Final = f"{PREFIX}host-binding"
INJECTED: Final = f"{PREFIX}injected"
WAITS: Final = f"{PREFIX}waits"

MAPPED: Final = f"{PREFIX}kubernetes.worker.to.node.mapping"
MAPPING_KEY: Final = f"{PREFIX}kubernetes.worker.mapping.key"
MAPPING_OPERATOR: Final = f"{PREFIX}kubernetes.worker.mapping.operator"
MAPPING_VALUES: Final = f"{PREFIX}kubernetes.worker.mapping.values"
MAPPING: Final = f"{PREFIX}kubernetes.worker.mapping"
UNIFORM: Final = f"{PREFIX}kubernetes.worker.mapping.uniform"
RUN_WITH: Final = f"{PREFIX}run-with"
RUN_APART_FROM: Final = f"{PREFIX}run-apart-from"

WORKER_MAPPING: Final = (
    MAPPED, MAPPING_KEY, MAPPING_OPERATOR, MAPPING_VALUES, MAPPING, UNIFORM, RUN_WITH, RUN_APART_FROM,
)  # fmt: skip
"""Annotations of worker mapping, under the names that Twister2 gives its parameters (``docs/mapping.md``)."""

HARDWARE: Final = f"{PREFIX}hpa-requirements"
INTENT: Final = f"{PREFIX}hpa-intent"
BIND: Final = f"{PREFIX}kubernetes.bind.worker.to.cpu"
CONTAINER: Final = f"{PREFIX}container"

EQUIPMENT: Final = (HARDWARE, INTENT, BIND, CONTAINER)
"""Annotations that say what hardware a pod's containers get (``docs/hardware.md``)."""

INJECT: Final = f"{PREFIX}inject"
"""Label of namespaces whose pods need not ask themselves."""
ENABLED: Final = "enabled"
"""Its value; with any other it is as good as absent."""

WRITTEN: Final = frozenset({INJECTED, WAITS})
"""Annotations that only the webhook writes, and that it never believes: what was added, and what the pod waits for."""

ANNOTATIONS: Final = frozenset({PLACEMENT, PREFERRED, HOST_BINDING, *WRITTEN, *WORKER_MAPPING, *EQUIPMENT})
"""Annotations this version acts on, or writes."""

FOREIGN: Final = frozenset(
    PREFIX + name for name in ("applicationName", "applicationScope", "contentId", "redisConfig")
)
"""Annotations that the Streams instance operator writes: passed through untouched."""

TAG: Final = f"{PREFIX}hostpool"
"""Node label whose value is a host pool's only tag (Streams host constraints)."""
TAGS: Final = f"hostpool.{API_GROUP}/"
"""Prefix of one node label per tag, for pools with several: one key holds one value, so tags could not be ANDed."""

MEMBERSHIP: Final = f"{API_GROUP}.node-restriction.kubernetes.io/hostpool."
"""Prefix of the label that marks a host of a sized or literal pool; NodeRestriction keeps kubelets from writing it."""

EXCLUSIVE: Final = f"{PREFIX}exclusive"
"""Key of the taint on hosts of exclusive pools."""

COLOCATION: Final = f"{PREFIX}hostcolocation."
EXLOCATION: Final = f"{PREFIX}hostexlocation."
ISOLATION: Final = f"{PREFIX}hostisolation."

WORKER: Final = f"{PREFIX}worker"
"""Pod label of the workers of a job that are mapped uniformly; its value is ``true``."""

GROUP: Final = "group"
"""Value of the label of a colocation group of several tokens."""

HOSTNAME: Final = "kubernetes.io/hostname"
"""The topology key of everything that must, or must not, share a host."""

LABEL_LIMIT: Final = 63
"""Characters of a label value, and of the name part of a label key (Kubernetes, labels and selectors)."""

LABEL_VALUE: Final = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?", re.ASCII)
"""Legal label values, the empty one among them; to be used with ``fullmatch``."""


@functools.lru_cache(maxsize=4096)
def digest(text: str) -> str:
    """SHA-1 of the UTF-8 text in upper-case hex: 40 characters, so that any text fits a label key."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest().upper()


def membership(namespace: str, name: str) -> str:
    """Key of the node label of a sized or literal pool; ``name`` is the HostPool object's."""
    return MEMBERSHIP + digest(f"{namespace}/{name}")


def exclusive(namespace: str, name: str) -> str:
    """Value of an exclusive pool's taint: ``namespace.name``, shortened with a hash when it is too long."""
    value = f"{namespace}.{name}"
    if len(value) <= LABEL_LIMIT:
        return value
    return f"{value[: LABEL_LIMIT - 41].rstrip('-_.')}-{digest(value)}"


def label_value(name: str) -> str:
    """An operator's name as a legal label value (Streams instance operator: sanitised host isolation labels)."""
    value = name.replace("[", "-").replace("]", "-").replace("::", ".")
    if value.startswith("_"):
        value = "u" + value
    if value.endswith("_"):
        value += "u"
    if value.startswith("."):
        value = "d" + value
    value = re.sub(r"[^-A-Za-z0-9_.]", "-", value)
    return value.lstrip("-_.")[:LABEL_LIMIT].rstrip("-_.") or "x"
