"""Every annotation key, label key and taint key of the product, and how some keys and values are derived from names.

``docs/annotations.md`` lists all keys with their meaning.
"""

import functools
import hashlib
import re
from typing import Final

API_GROUP: Final = "streams.ibm.com"
"""API group of the product's own kinds, and the domain of all of its keys."""

PREFIX: Final = f"{API_GROUP}/"
"""Prefix of every annotation and label that this product reads or writes on pods."""

JOB: Final = f"{PREFIX}job"
"""Pod label: the name of the pod's job."""
PE: Final = f"{PREFIX}pe"
"""Pod label: the name of the pod's processing element."""

PLACEMENT: Final = f"{PREFIX}placement"
"""Pod annotation: placement clauses of SPL."""
PREFERRED: Final = f"{PREFIX}preferred"
"""Pod annotation: the constraints that are only preferences, by name."""
HOST_BINDING: Final = f"{PREFIX}host-binding"
"""Pod annotation: how ``host("name")`` ties the pod to its node."""
INJECTED: Final = f"{PREFIX}injected"
"""Pod annotation that the webhook writes: what was added to the pod, and by which clauses."""
WAITS: Final = f"{PREFIX}waits"
"""Pod annotation that the webhook writes: what the pod waits for, if no node could run it at its creation."""
SEAL: Final = f"{PREFIX}seal"
"""Pod label that the webhook writes: a checksum of the pod, by which the API server sees whether others changed it."""

MAPPED: Final = f"{PREFIX}kubernetes.worker.to.node.mapping"
"""Pod annotation: ``true`` switches on the node expressions of worker mapping."""
MAPPING_KEY: Final = f"{PREFIX}kubernetes.worker.mapping.key"
MAPPING_OPERATOR: Final = f"{PREFIX}kubernetes.worker.mapping.operator"
MAPPING_VALUES: Final = f"{PREFIX}kubernetes.worker.mapping.values"
MAPPING: Final = f"{PREFIX}kubernetes.worker.mapping"
"""Pod annotation: a list of node expressions."""
UNIFORM: Final = f"{PREFIX}kubernetes.worker.mapping.uniform"
RUN_WITH: Final = f"{PREFIX}run-with"
RUN_APART_FROM: Final = f"{PREFIX}run-apart-from"

WORKER_MAPPING: Final = (
    MAPPED, MAPPING_KEY, MAPPING_OPERATOR, MAPPING_VALUES, MAPPING, UNIFORM, RUN_WITH, RUN_APART_FROM,
)  # fmt: skip
"""Pod annotations of worker mapping, under the names of Twister2's parameters (``docs/mapping.md``)."""

HARDWARE: Final = f"{PREFIX}hpa-requirements"
"""Pod annotation: hardware requirements, as in an EMCO HPA intent."""
INTENT: Final = f"{PREFIX}hpa-intent"
"""Pod annotation: the names of HPAIntent objects that apply to the pod."""
BIND: Final = f"{PREFIX}kubernetes.bind.worker.to.cpu"
"""Pod annotation: ``true`` gives the worker container cpu cores of its own."""
CONTAINER: Final = f"{PREFIX}container"
"""Pod annotation: the name of the worker container."""

EQUIPMENT: Final = (HARDWARE, INTENT, BIND, CONTAINER)
"""Pod annotations about the hardware of the pod's containers (``docs/hardware.md``)."""

INTENT_GROUP: Final = f"{PREFIX}intent-group"
"""Label of HPAIntents that the REST interface makes: a hash of the deployment intent group of EMCO."""
EMCO: Final = f"{PREFIX}emco"
"""Annotation of HPAIntents that the REST interface makes: the names that EMCO knows them by, and its notes."""

INJECT: Final = f"{PREFIX}inject"
"""Namespace label: every pod of the namespace is reviewed, and HPAIntents apply to pods that do not name them."""
ENABLED: Final = "enabled"
"""The one value of the label ``INJECT`` that has an effect."""

WRITTEN: Final = frozenset({INJECTED, WAITS})
"""Annotations that only the webhook writes. What a pod brings under these keys is replaced or removed, never read."""

ANNOTATIONS: Final = frozenset({PLACEMENT, PREFERRED, HOST_BINDING, *WRITTEN, *WORKER_MAPPING, *EQUIPMENT})
"""Annotations that the product reads or writes."""

FOREIGN: Final = frozenset(
    PREFIX + name for name in ("applicationName", "applicationScope", "contentId", "redisConfig")
)
"""Annotations under the prefix that the Streams instance operator writes. The webhook leaves them alone."""

TAG: Final = f"{PREFIX}hostpool"
"""Node label whose value is a tag, for host pools with a single tag (Streams host constraints)."""
TAGS: Final = f"hostpool.{API_GROUP}/"
"""Prefix of one node label per tag, for host pools with several tags: a single key could not hold all values."""

MEMBERSHIP: Final = f"{API_GROUP}.node-restriction.kubernetes.io/hostpool."
"""Prefix of the node label on hosts of a sized or literal pool; NodeRestriction keeps kubelets from writing it."""

EXCLUSIVE: Final = f"{PREFIX}exclusive"
"""Key of the taint on hosts of exclusive pools; :func:`exclusive` makes its value."""

COLOCATION: Final = f"{PREFIX}hostcolocation."
EXLOCATION: Final = f"{PREFIX}hostexlocation."
ISOLATION: Final = f"{PREFIX}hostisolation."
"""Prefix of a pod label, like ``COLOCATION`` and ``EXLOCATION``: the SHA-1 of a token or operator follows."""

WORKER: Final = f"{PREFIX}worker"
"""Pod label of workers with uniform mapping; its value is ``true``."""

GROUP: Final = "group"
"""Value of the colocation label of a group of several tokens."""

HOSTNAME: Final = "kubernetes.io/hostname"
"""Node label with the host name: the topology key of constraints about sharing a host."""

LABEL_LIMIT: Final = 63
"""Characters of a label value, and of the name part of a label key (Kubernetes, labels and selectors)."""


@functools.lru_cache(maxsize=4096)
def digest(text: str) -> str:
    """SHA-1 of the UTF-8 text in upper-case hex: 40 characters, so a text of any length fits into a label key."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest().upper()


def membership(namespace: str, name: str) -> str:
    """Key of the membership label on hosts of a sized or literal pool; ``name`` is the HostPool object's name."""
    return MEMBERSHIP + digest(f"{namespace}/{name}")


def exclusive(namespace: str, name: str) -> str:
    """Value of an exclusive pool's taint: ``namespace.name``, cut and ended by a SHA-1 beyond 63 characters."""
    value = f"{namespace}.{name}"
    if len(value) <= LABEL_LIMIT:
        return value
    return f"{value[: LABEL_LIMIT - 41].rstrip('-_.')}-{digest(value)}"


def label_value(name: str) -> str:
    """An operator's name as a legal label value, by the rules of the Streams instance operator for isolation labels."""
    value = name.replace("[", "-").replace("]", "-").replace("::", ".")
    if value.startswith("_"):
        value = "u" + value
    if value.endswith("_"):
        value += "u"
    if value.startswith("."):
        value = "d" + value
    value = re.sub(r"[^-A-Za-z0-9_.]", "-", value)
    return value.lstrip("-_.")[:LABEL_LIMIT].rstrip("-_.") or "x"
