"""OpenAPI schema, CEL rules and printer columns of ParallelRegion: what the API server checks and kubectl shows.

The fields are described in ``docs/fusion.md``.
"""

from typing import Any, Final

from webhook.cluster.crds.condition_schema import OBSERVED_GENERATION, conditions_schema
from webhook.cluster.crds.element_schema import RULES
from webhook.cluster.crds.openapi import Schema, number, obj, properties, root, rule, text
from webhook.placement.objects.jobs.job_spec import ELEMENT_LIMIT
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec
from webhook.placement.text.keys import LABEL_LIMIT

SPEC_RULES: Final = [
    rule("self.job == oldSelf.job", "cannot be changed: the controller makes a ParallelRegion", fieldPath=".job"),
    rule(
        "self.region == oldSelf.region", "cannot be changed: the controller makes a ParallelRegion", fieldPath=".region"
    ),
    rule(
        "!has(self.maxWidth) || self.width <= self.maxWidth",
        "is more than maxWidth, which the Job states",
        fieldPath=".width",
    ),
]
"""CEL rules of the spec."""

_SPEC: Final = obj(
    "Desired state; the width may be changed, also by the subresource scale.",
    properties(ParallelRegionSpec),
    required=["job", "region", "width"],
) | {RULES: SPEC_RULES}

_SELECTOR_LIMIT: Final = (ELEMENT_LIMIT + 4) * (LABEL_LIMIT + 1)
"""Characters of a selector with the names of all processing elements of a Job."""

_STATUS: Final = obj(
    "Observed state.",
    {
        "width": number("Number of channels that the Job is fused with.", at_least=0),
        "selector": text(
            "Label selector of the pods that run operators of the region, for autoscalers.", maxLength=_SELECTOR_LIMIT
        ),
        "conditions": conditions_schema(
            "Conditions of the parallel region.",
            "A condition of the parallel region.",
            "Scaled while the Job is fused with the desired width.",
        ),
        "observedGeneration": OBSERVED_GENERATION,
    },
)

SCHEMA: Final[Schema] = root(
    "A parallel region of a Streams job, which can be scaled; the controller makes it.",
    _SPEC,
    _STATUS,
    required=["spec"],
)

SUBRESOURCES: Final[dict[str, Any]] = {
    "status": {},
    "scale": {
        "specReplicasPath": ".spec.width",
        "statusReplicasPath": ".status.width",
        "labelSelectorPath": ".status.selector",
    },
}

COLUMNS: Final[list[Schema]] = [
    {"name": "Job", "type": "string", "jsonPath": ".spec.job"},
    {"name": "Region", "type": "string", "jsonPath": ".spec.region"},
    {"name": "Width", "type": "integer", "jsonPath": ".spec.width", "description": "Desired number of channels."},
    {"name": "Made", "type": "integer", "jsonPath": ".status.width", "description": "Number of channels there are."},
    {"name": "Max", "type": "integer", "jsonPath": ".spec.maxWidth"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    {
        "name": "Message",
        "type": "string",
        "jsonPath": '.status.conditions[?(@.type=="Scaled")].message',
        "description": "Whether it is scaled, and why not.",
        "priority": 1,
    },
]
"""Printer columns, which ``kubectl get`` shows with their names in capitals; those of priority 1 with ``-o wide``."""
