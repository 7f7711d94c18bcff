"""OpenAPI schema, CEL rules and printer columns of HPAIntent: what the API server checks and ``kubectl get`` shows.

The fields are described in ``docs/hpaintent.md``. Several fields have two names or two places, as in EMCO's HPA; the
rules make sure that both say the same.
"""

import itertools
from typing import Final

from webhook.cluster.crds.openapi import Schema, listed, number, obj, root, rule, switch, text
from webhook.placement.annotations.described_devices import COUNT, DESCRIPTION, TEXTS
from webhook.placement.annotations.hardware import HEAVIEST, LIGHTEST
from webhook.placement.annotations.hardware_claim import SOURCES
from webhook.placement.annotations.hardware_fields import CONTAINERS, NOTES
from webhook.placement.annotations.hardware_text import REQUIREMENT_LIMIT
from webhook.placement.kube.names import KEY_LIMIT
from webhook.placement.kube.quantity import LENGTH_LIMIT
from webhook.placement.kube.resource_name import UNITS
from webhook.placement.objects.consumer import COUNT as REPLICAS
from webhook.placement.objects.consumer import OWN_NAME, WORDS
from webhook.placement.objects.intent import APPS, CLUSTERS, CONSUMER_LIMIT
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
    return rule(_same(one, other), f"means the same as {one}, and must have the same value", fieldPath=f".{other}")


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

_BESIDE_CLASS: Final = tuple(field for field in DESCRIPTION if field != "class")

_DEVICE: Final = "has(self.device)"
"""CEL: whether a requirement asks for devices."""

REQUIREMENT: Final = [
    rule(f"{_DEVICE} || {_there('name', 'key')}", "needs a name: of a resource, or of a node label", reason=_REQUIRED),
    rule(
        f"!{_DEVICE} || !{_there('name', 'key', *AMOUNTS, 'value')}",
        "name, amounts and value belong to a resource or a node label, and this requirement is for devices",
        reason=_FORBIDDEN,
    ),
    rule(
        f"!{_DEVICE} || !has(self.allocatable) || self.allocatable",
        "devices are allocatable",
        fieldPath=".allocatable",
    ),
    rule(
        f"!{_DEVICE} || ({' + '.join(f'(has(self.device.{one}) ? 1 : 0)' for one in ('class', *SOURCES))}) == 1",
        "must name a class, a claim or a template, and only one of these",
        fieldPath=".device",
    ),
    rule(
        f"!{_DEVICE} || has(self.device.class) || !({' || '.join(f'has(self.device.{one})' for one in _BESIDE_CLASS)})",
        "selector, count and sameAttribute belong to a class",
        fieldPath=".device",
    ),
    rule(
        f"{_DEVICE} || {_LABEL} || {_there('requests', 'limits')}",
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
        "must agree with the fields beside it",
        fieldPath=".resource",
    ),
]
"""Rules of the fields of a requirement."""

_BESIDE: Final = (
    "key", "mandatory", "weight", "allocatable", *AMOUNTS, "value", "container-name", "container", "resource",
    "device",
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

_FIELDS: Final = ("apiVersion", "kind", "name", "container-name", "container", "replicas")
"""Fields of a workload."""

_CONTAINERS: Final = frozenset({"container-name", "container"})


def _meaning(field: str) -> tuple[str, ...]:
    """The spellings of the field."""
    return ("container-name", "container") if field in _CONTAINERS else (field,)


def _consistent(place: str, other: str, fields: tuple[str, ...]) -> str:
    """CEL: whether what two objects state of a workload is the same; an empty path is the object of the rule."""
    pairs = [
        (f"{place}.{one}", f"{other}.{two}".lstrip(".")) for one in _FIELDS for two in _meaning(one) if two in fields
    ]
    return " && ".join(itertools.starmap(_same, pairs))


_BESIDE_WORKLOAD: Final = tuple(field for field in _FIELDS if field != "name")

BODY: Final = [
    _alike("container-name", "container"),
    rule(
        f"!has(self.consumer) || ({_consistent('consumer', '', _FIELDS)})",
        "must agree with the fields beside it",
        fieldPath=".consumer",
    ),
    *(
        rule(f"has(self.consumer) || {_has(field)}", "missing: names the workload", reason=_REQUIRED)
        | {"fieldPath": f".{field}"}
        for field in ("apiVersion", "kind", "name")
    ),
]
"""Rules of ``spec`` of an entry of ``consumers``, which is the body of EMCO's programs."""

CONSUMER: Final = [
    rule(
        "has(self.consumer) || has(self.spec) || (has(self.apiVersion) && has(self.kind) && has(self.name))",
        "must name a workload: consumer, or apiVersion, kind and name",
        reason=_REQUIRED,
    ),
    _alike("container-name", "container"),
    rule(
        f"!has(self.consumer) || ({_consistent('consumer', '', _BESIDE_WORKLOAD)})",
        "must agree with the fields beside it",
        fieldPath=".consumer",
    ),
    rule(
        "!has(self.spec) || "
        f"({_consistent('spec', '', _BESIDE_WORKLOAD)} && {_consistent('spec', 'consumer', _FIELDS)})",
        "must agree with the fields beside it",
        fieldPath=".spec",
    ),
]
"""Rules of an entry of ``consumers``."""

_NAME: Final = (
    "(has({0}.name) ? {0}.name : has({0}.metadata) && has({0}.metadata.name) ? {0}.metadata.name : "
    "has({0}.consumer) ? {0}.consumer.name : has({0}.spec) && has({0}.spec.consumer) ? {0}.spec.consumer.name : "
    "has({0}.spec) && has({0}.spec.name) ? {0}.spec.name : '')"
)

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

_RULES: Final = "x-kubernetes-validations"


def _amount(about: str) -> Schema:
    """The schema of an amount: a number, or a quantity as text."""
    return {"x-kubernetes-int-or-string": True, "description": about, "maxLength": LENGTH_LIMIT}


_RESOURCE: Final[Schema] = {
    "name": text("The resource, such as nvidia.com/gpu, or the key of a node label.", minLength=1, maxLength=KEY_LIMIT),
    "key": text("Alias of name.", minLength=1, maxLength=KEY_LIMIT),
    "requests": _amount("Requested amount; defaults to limits."),
    "limits": _amount("Limit; for a device, equal to requests."),
    "units": text("Unit of a number of bytes without a suffix; MB if absent.", enum=list(UNITS)),
    "value": text("The value of the node label.", maxLength=LABEL_LIMIT),
}

_METADATA: Final = obj("EMCO metadata; ignored.", {name: note.schema() for name, note in NOTES.items()})

_SAID: Final[Schema] = {
    **_RESOURCE,
    "mandatory": switch("Whether the requirement is mandatory (the default) or a preference."),
    "weight": number("Weight of a preference.", at_least=LIGHTEST, maximum=HEAVIEST),
    "allocatable": switch("Whether the requirement is an amount; true if absent, unless value is set."),
    **{name: container.schema() for name, container in CONTAINERS.items()},
    "device": obj(
        "Devices: of a class, or of a ResourceClaim of the namespace, or of one that is made from a template.",
        {
            **{name: source.schema() for name, source in SOURCES.items()},
            **{name: field.schema() for name, field in TEXTS.items()},
            "count": COUNT.schema(),
        },
    ),
    "resource": obj("Alternative place for the fields of the resource or label.", _RESOURCE),
}

_ENTRY: Final = obj(
    "Amount of a resource for a container, or a label that the node must carry.",
    {
        **_SAID,
        "metadata": _METADATA,
        "spec": obj("All fields of the requirement, where the requirement has its own name.", _SAID)
        | {_RULES: REQUIREMENT},
    },
) | {_RULES: ENTRY}

_WORKLOAD_FIELDS: Final[Schema] = {
    **{name: field.schema() for name, field in WORDS.items()},
    "replicas": REPLICAS.schema(),
}

_WORKLOAD: Final = obj("Reference to the workload.", _WORKLOAD_FIELDS, required=["apiVersion", "kind", "name"]) | {
    _RULES: WORKLOAD
}

_CONSUMER: Final = obj(
    "A workload, and the hardware requirements of each of its pods.",
    {
        **_WORKLOAD_FIELDS,
        "name": OWN_NAME.schema(),
        "consumer": _WORKLOAD,
        "container": text("Alternative field for container-name of the consumer.", maxLength=LABEL_LIMIT),
        "spec": obj(
            "Alternative form of the workload reference, as EMCO's programs write it.",
            {
                **_WORKLOAD_FIELDS,
                "consumer": _WORKLOAD,
            },
        )
        | {_RULES: BODY},
        "metadata": _METADATA,
        "requirements": listed(
            "Requirements of its pods; one node must meet all of them.", _ENTRY, kind="atomic", limit=REQUIREMENT_LIMIT
        ),
    },
) | {_RULES: CONSUMER}

_SPEC: Final = obj(
    "Workloads and their requirements.",
    {
        **{name: field.schema() for name, field in APPS.items()},
        "replicationCount": CLUSTERS.schema(),
        "consumers": listed("The workloads.", _CONSUMER, kind="atomic", limit=CONSUMER_LIMIT),
    },
    default={},
) | {_RULES: SPEC}

SCHEMA: Final[Schema] = root("Hardware requirements of workloads in the namespace.", _SPEC)

COLUMNS: Final[list[Schema]] = [
    {"name": "App", "type": "string", "jsonPath": ".spec.app", "description": "The application."},
    {"name": "First consumer", "type": "string", "jsonPath": ".spec.consumers[0].consumer.name"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]
"""Printer columns, which ``kubectl get`` shows with their names in capitals. A column has one value, hence only the
first consumer."""
