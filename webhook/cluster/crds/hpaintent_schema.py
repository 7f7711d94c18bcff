"""OpenAPI schema, CEL rules and printer columns of HPAIntent: what the API server checks and ``kubectl get`` shows.

The fields are described in ``docs/hpaintent.md``. Several fields have two names or two places, as in EMCO's HPA; the
rules see to it that both say the same.
"""

import itertools
from typing import Final

from webhook.cluster.crds.openapi import Schema, listed, number, obj, rule, switch, text
from webhook.placement.annotations.hardware import HEAVIEST, LIGHTEST
from webhook.placement.annotations.hardware_text import REQUIREMENT_LIMIT
from webhook.placement.inventory.intent import CONSUMER_LIMIT, REPLICATION_LIMIT
from webhook.placement.kube.addresses import NAME_LIMIT
from webhook.placement.kube.quantity import LENGTH_LIMIT
from webhook.placement.kube.resource_name import UNITS
from webhook.placement.text.keys import LABEL_LIMIT

AMOUNTS: Final = ("requests", "limits", "units")
_FORBIDDEN: Final = "FieldValueForbidden"
_REQUIRED: Final = "FieldValueRequired"


def _cel(path: str) -> str:
    """The path of a field in CEL, which writes a hyphen in a name as ``__dash__``."""
    return path.replace("-", "__dash__")


def _has(path: str) -> str:
    """CEL: whether the field exists, and every object that contains it."""
    parts = _cel(path).split(".")
    return " && ".join(f"has(self.{'.'.join(parts[:end])})" for end in range(1, len(parts) + 1))


def _there(*fields: str) -> str:
    """CEL: whether one of the fields exists, beside ``resource`` or in it."""
    places = [place for field in fields for place in (field, f"resource.{field}")]
    return f"({' || '.join(_has(place) for place in places)})"


def _same(one: str, other: str) -> str:
    """CEL: whether two fields are equal, unless one of them is absent."""
    return f"(!({_has(one)} && {_has(other)}) || self.{_cel(one)} == self.{_cel(other)})"


def _alike(one: str, other: str) -> Schema:
    """The rule that two fields with the same meaning have the same value."""
    return rule(_same(one, other), f"means the same as {one}, and must not say something else", fieldPath=f".{other}")


def _more(place: str) -> str:
    """CEL: whether the requests in an object are greater than its limits, if both are numbers."""
    requests, limits = f"{place}.requests", f"{place}.limits"
    numbers = f"type({requests}) == int && type({limits}) == int"
    return f"(has({requests}) && has({limits}) && {numbers} && {requests} > {limits})"


_LABEL: Final = f"(has(self.allocatable) ? !self.allocatable : {_there('value')})"
"""CEL: whether a requirement asks for a node label, not for an amount of a resource."""

_TWICE: Final = (
    ("name", "resource.key"), ("key", "resource.name"),
    *((field, f"resource.{field}") for field in ("name", "key", *AMOUNTS, "value")),
)  # fmt: skip
"""Fields that may stand beside ``resource`` and in it, as pairs of equal meaning."""

REQUIREMENT: Final = [
    rule(_there("name", "key"), "needs a name: of a resource, or of a node label", reason=_REQUIRED),
    rule(
        f"{_LABEL} || {_there('requests', 'limits')}",
        "needs requests or limits, or else the value of a node label",
        reason=_REQUIRED,
    ),
    rule(
        f"{_LABEL} || !{_there('value')}",
        "value belongs to a node label, and this requirement is allocatable",
        reason=_FORBIDDEN,
    ),
    rule(
        f"!{_LABEL} || {_there('value')}", "is not allocatable, so it needs the value of a node label", reason=_REQUIRED
    ),
    rule(
        f"!{_LABEL} || !{_there(*AMOUNTS)}",
        "requests, limits and units belong to a resource, and this requirement is not allocatable",
        reason=_FORBIDDEN,
    ),
    rule(f"!{_more('self')}", "is more than limits", fieldPath=".requests"),
    rule(f"!has(self.resource) || !{_more('self.resource')}", "is more than limits", fieldPath=".resource.requests"),
    _alike("name", "key"),
    _alike("container-name", "container"),
    rule(
        f"!has(self.resource) || {' && '.join(itertools.starmap(_same, _TWICE))}",
        "must not say something else than the fields beside it",
        fieldPath=".resource",
    ),
]
"""Rules of the fields of a requirement."""

_BESIDE: Final = (
    "key", "mandatory", "weight", "allocatable", *AMOUNTS, "value", "container-name", "container", "resource",
)  # fmt: skip

WRAPPED: Final = rule(
    f"!has(self.spec) || !({' || '.join(map(_has, _BESIDE))})",
    "with a spec of its own a requirement has a name beside it, and nothing else",
    reason=_FORBIDDEN,
)
"""Rule of a requirement in EMCO's form, which has its fields below ``spec``."""

ENTRY: Final = [WRAPPED, *(one | {"rule": f"has(self.spec) || {one['rule']}"} for one in REQUIREMENT)]
"""Rules of an entry of ``requirements``, whose fields are below ``spec`` or not."""

WORKLOAD: Final = [_alike("container-name", "container")]
"""Rules of ``consumer``, which names the workload."""

CONSUMER: Final = [_alike("consumer.container-name", "container"), _alike("consumer.container", "container")]
"""Rules of an entry of ``consumers``."""

_NAME: Final = "(has({0}.name) ? {0}.name : {0}.consumer.name)"

SPEC: Final = [
    _alike("app", "appName"),
    rule(
        "!has(self.consumers) || self.consumers.all(one, self.consumers.exists_one(other, "
        f"{_NAME.format('one')} == {_NAME.format('other')}))",
        "two consumers have the same name",
        fieldPath=".consumers",
    ),
]
"""Rules of the spec."""

KEY_LIMIT: Final = NAME_LIMIT + 1 + LABEL_LIMIT
"""Characters of a label key or resource name: a domain, a slash and a name (Kubernetes, ``IsQualifiedName``)."""

_NOTE_LIMIT: Final = 1024
"""Characters of a free text."""

_RULES: Final = "x-kubernetes-validations"


def _amount(about: str) -> Schema:
    """The schema of an amount: a number, or a quantity as text."""
    return {"x-kubernetes-int-or-string": True, "description": about, "maxLength": LENGTH_LIMIT}


_RESOURCE: Final[Schema] = {
    "name": text("The resource, such as nvidia.com/gpu, or the key of a node label.", minLength=1, maxLength=KEY_LIMIT),
    "key": text("Another word for name.", minLength=1, maxLength=KEY_LIMIT),
    "requests": _amount("How much of the resource is needed; as much as limits if absent."),
    "limits": _amount("How much of it may be used; of a device, as much as requests."),
    "units": text("What a number of bytes without a suffix of its own counts; MB if absent.", enum=list(UNITS)),
    "value": text("The value of the node label.", maxLength=LABEL_LIMIT),
}

_METADATA: Final = obj(
    "What EMCO says about it; it changes nothing.",
    {
        "name": text("A name.", maxLength=NAME_LIMIT),
        "description": text("What it is for.", maxLength=_NOTE_LIMIT),
        "userData1": text("A note.", maxLength=_NOTE_LIMIT),
        "userData2": text("A note.", maxLength=_NOTE_LIMIT),
    },
)

_SAID: Final[Schema] = {
    **_RESOURCE,
    "mandatory": switch("Whether pods must have it, which is so if absent, or are better off with it."),
    "weight": number("How much a wish counts.", at_least=LIGHTEST, maximum=HEAVIEST),
    "allocatable": switch("Whether it is an amount; so it is if absent, unless there is a value."),
    "container-name": text("The container that gets it; that of the consumer if absent.", maxLength=LABEL_LIMIT),
    "container": text("Another word for container-name.", maxLength=LABEL_LIMIT),
    "resource": obj("Another place for what is said of the resource or label.", _RESOURCE),
}

_ENTRY: Final = obj(
    "An amount of a resource for a container, or a label that the node must carry.",
    {
        **_SAID,
        "metadata": _METADATA,
        "spec": obj("All of it, where the requirement has a name of its own.", _SAID) | {_RULES: REQUIREMENT},
    },
) | {_RULES: ENTRY}

_WORKLOAD: Final = obj(
    "Which workload it is.",
    {
        "apiVersion": text("The version of its kind, such as apps/v1.", minLength=1, maxLength=NAME_LIMIT),
        "kind": text("Its kind, such as Deployment.", minLength=1, maxLength=LABEL_LIMIT),
        "name": text("Its name.", minLength=1, maxLength=NAME_LIMIT),
        "container-name": text("The container that gets what is allocatable.", maxLength=LABEL_LIMIT),
        "container": text("Another word for container-name.", maxLength=LABEL_LIMIT),
    },
    required=["apiVersion", "kind", "name"],
) | {_RULES: WORKLOAD}

_CONSUMER: Final = obj(
    "A workload, and the hardware that each of its pods needs.",
    {
        "name": text("What messages call it; the name of the workload if absent.", minLength=1, maxLength=NAME_LIMIT),
        "consumer": _WORKLOAD,
        "container": text("Another place for the container-name of the consumer.", maxLength=LABEL_LIMIT),
        "metadata": _METADATA,
        "requirements": listed(
            "What its pods need, all of it on one node.", _ENTRY, kind="atomic", limit=REQUIREMENT_LIMIT
        ),
    },
    required=["consumer"],
) | {_RULES: CONSUMER}

_SPEC: Final = obj(
    "Who needs what.",
    {
        "app": text("The application that the workloads are parts of.", maxLength=NAME_LIMIT),
        "appName": text("Another word for app.", maxLength=NAME_LIMIT),
        "replicationCount": number(
            "On how many clusters the application is to run; 1 if absent.", at_least=1, maximum=REPLICATION_LIMIT
        ),
        "consumers": listed("The workloads.", _CONSUMER, kind="atomic", limit=CONSUMER_LIMIT),
    },
    default={},
) | {_RULES: SPEC}

SCHEMA: Final[Schema] = obj(
    "The hardware that workloads of the namespace need.",
    {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": _SPEC,
    },
)

COLUMNS: Final[list[Schema]] = [
    {"name": "App", "type": "string", "jsonPath": ".spec.app", "description": "The application."},
    {"name": "First consumer", "type": "string", "jsonPath": ".spec.consumers[0].consumer.name"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]
"""Printer columns, which ``kubectl get`` shows with their names in capitals. A column has one value, hence only the
first consumer."""
