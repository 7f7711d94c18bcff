"""OpenAPI schema, CEL rules and printer columns of HostPool: what the API server checks and ``kubectl get`` shows.

The fields are described in ``docs/hostpool.md``.
"""

from typing import Final

from webhook.cluster.crds.condition_schema import OBSERVED_GENERATION, conditions_schema
from webhook.cluster.crds.openapi import Schema, listed, number, obj, properties, root, rule, text
from webhook.cluster.crds.selector_schema import selector_schema
from webhook.placement.kube.names import NAME_LIMIT
from webhook.placement.objects.pool import Phase
from webhook.placement.objects.pool_spec import KINDS_LIMIT, MODES, POOL_LIMIT, HostDevices, HostPoolSpec
from webhook.placement.text.keys import LABEL_LIMIT

SHARED, EXCLUSIVE = MODES

_IS_EXCLUSIVE: Final = f"has(self.mode) && self.mode == '{EXCLUSIVE}'"

_HAS_DEVICES: Final = "has(self.devices) && size(self.devices) > 0"

_EXCLUDED: Final = {
    "size": "has(self.size)",
    "tags": "has(self.tags) && size(self.tags) > 0",
    "selector": "has(self.selector)",
    "devices": _HAS_DEVICES,
    "mode Exclusive": _IS_EXCLUSIVE,
    "elastic": "has(self.elastic) && self.elastic",
}
"""Fields that a literal pool cannot have, as CEL expressions; values that a default fills in are let pass."""


def _fixed(field: str, value: str = "", default: str = "") -> Schema:
    """The rule that a field never changes. Its absence is equal to ``default``, or differs from every value."""
    new, old = (f"has({one}.{field})" for one in ("self", "oldSelf"))
    if default:
        sides = (f"(has({one}.{field}) ? {one}.{field}{value} : {default})" for one in ("self", "oldSelf"))
        expression = " == ".join(sides)
    else:
        expression = f"{new} == {old} && (!{new} || self.{field} == oldSelf.{field})"
    return rule(expression, "cannot be changed: create another HostPool instead", fieldPath=f".{field}")


_IN_ORDER: Final = ".map(entry, entry)"
"""CEL suffix that turns a list of type ``set`` into a plain list: sets are compared without regard to order."""

STATIC_RULES: Final = [
    *(
        rule(f"!has(self.hosts) || !({there})", f"excludes {name}", fieldPath=".hosts", reason="FieldValueForbidden")
        for name, there in _EXCLUDED.items()
    ),
    rule(
        f"has(self.size) || has(self.hosts) || !({_IS_EXCLUSIVE})",
        "missing, an Exclusive pool must state how many hosts it takes",
        fieldPath=".size",
        reason="FieldValueRequired",
    ),
    rule(
        f"has(self.size) || has(self.hosts) || {_IS_EXCLUSIVE} || !({_HAS_DEVICES})",
        "missing, a HostPool that selects devices must state how many hosts it takes",
        fieldPath=".size",
        reason="FieldValueRequired",
    ),
]
"""CEL rules that a spec keeps or breaks by itself; they hold for the pools in a Job, too."""

RULES: Final = [
    *STATIC_RULES,
    _fixed("name", default="''"),
    _fixed("job", default="''"),
    _fixed("hosts", _IN_ORDER, "[]"),
    _fixed("size"),
    _fixed("tags", _IN_ORDER, "[]"),
    _fixed("selector"),
    _fixed("devices", default="[]"),
    _fixed("mode", default=f"'{SHARED}'"),
]
"""CEL rules of the spec."""

FIELDS: Final[Schema] = properties(
    HostPoolSpec,
    selector=selector_schema("Additional label selector of the hosts, for nodes without tags."),
    devices=listed(
        "Devices that a node has when it becomes a host, free or not.",
        obj("Devices of a class.", properties(HostDevices), required=["class"]),
        kind="atomic",
        limit=KINDS_LIMIT,
    ),
)
"""The fields of a spec; ``job_schema`` takes them for the pools of a Job."""

_SPEC: Final = obj(
    "Desired state; every field except elastic is immutable.",
    FIELDS,
    default={},  # the immutability rules compare with the old spec, which must be there when fields are added later
) | {"x-kubernetes-validations": RULES}

_HOST: Final = obj(
    "A host assigned to the pool.",
    {
        "index": number("Index of the host in the pool; it never changes.", at_least=0, maximum=POOL_LIMIT - 1),
        "name": text("The node.", maxLength=NAME_LIMIT),
        "uid": text("UID of the node: a new node of the same name is a different host.", maxLength=LABEL_LIMIT),
    },
    required=["index", "name"],
)

_STATUS: Final = obj(
    "Observed state.",
    {
        "phase": text("State of the pool.", enum=[phase.value for phase in Phase]),
        "name": text("Name of the pool in host(...), whether set in the spec or defaulted.", maxLength=NAME_LIMIT),
        "hosts": listed("The hosts of a sized or literal pool.", _HOST, kind="map", limit=POOL_LIMIT)
        | {"x-kubernetes-list-map-keys": ["index"]},
        "readyHosts": number("Number of hosts that exist and carry the pool's labels.", at_least=0),
        "eligible": number("Number of nodes that are eligible for the pool.", at_least=0),
        "conditions": conditions_schema(
            "Conditions of the pool.",
            "A condition of the pool.",
            "Ready; Degraded when a host is missing; or Exclusive while no other pod runs on exclusive hosts.",
        ),
        "observedGeneration": OBSERVED_GENERATION,
    },
)

SCHEMA: Final[Schema] = root(
    "A named set of hosts for the host(...) constraints of stream-processing jobs.", _SPEC, _STATUS
)

COLUMNS: Final[list[Schema]] = [
    {"name": "Pool", "type": "string", "jsonPath": ".status.name", "description": "Name of the pool in host(...)."},
    {"name": "Mode", "type": "string", "jsonPath": ".spec.mode"},
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
    {"name": "Ready hosts", "type": "integer", "jsonPath": ".status.readyHosts"},
    {"name": "Status", "type": "string", "jsonPath": ".status.phase"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]
"""Printer columns, which ``kubectl get`` shows with their names in capitals."""
