"""OpenAPI schema, CEL rules and printer columns of ProcessingElement: what the API server checks and kubectl shows.

The fields are described in ``docs/jobs.md``.
"""

from typing import Final

from webhook.cluster.crds.condition_schema import OBSERVED_GENERATION, conditions_schema
from webhook.cluster.crds.element_schema import MODELLED, OPTION_RULES, RULES
from webhook.cluster.crds.openapi import Schema, number, obj, properties, root, rule, text
from webhook.placement.kube.names import NAME_LIMIT
from webhook.placement.objects.jobs.job_spec import ProcessingElementSpec
from webhook.placement.text.keys import LABEL_LIMIT

PHASES: Final = ("Pending", "Running", "Completed", "Failed", "Stopped")
OUTCOMES: Final = ("Completed", "Failed", "Deleted")

_REASON_LIMIT, _MESSAGE_LIMIT = 1024, 32_768
"""Characters of what a container says about its end: the message is that of a termination log (4 KiB), or less."""

SPEC_RULES: Final = [
    *OPTION_RULES,
    rule("self.job == oldSelf.job", "cannot be changed: create another ProcessingElement instead", fieldPath=".job"),
    rule(
        "self.launchCount >= oldSelf.launchCount",
        "cannot be decreased: every launch has its own number",
        fieldPath=".launchCount",
    ),
]
"""CEL rules of the spec."""

ROOT_RULES: Final = [
    rule(
        f"size(self.metadata.name) <= {LABEL_LIMIT}",
        f"the name of a ProcessingElement is a label value: at most {LABEL_LIMIT} characters",
    ),
    rule(
        "!has(self.spec.name) || self.spec.name == self.metadata.name",
        "must equal metadata.name, if set",
        fieldPath=".spec.name",
    ),
]
"""CEL rules of the whole object."""

_SPEC: Final = obj(
    "Desired state; the Job writes it from its list.",
    properties(ProcessingElementSpec, **MODELLED),
    required=["job"],
) | {RULES: SPEC_RULES}

_ENDED: Final = obj(
    "Result of the last launch that ended.",
    {
        "launchCount": number("Number of that launch.", at_least=1),
        "outcome": text("How the launch ended.", enum=list(OUTCOMES)),
        "exitCode": {"type": "integer", "format": "int32", "description": "Exit code of the container."},
        "reason": text("Reason in one CamelCase word.", maxLength=_REASON_LIMIT),
        "message": text("Human-readable message.", maxLength=_MESSAGE_LIMIT),
        "finishedAt": text("Time at which the launch ended.", format="date-time"),
    },
    required=["launchCount", "outcome"],
)

_STATUS: Final = obj(
    "Observed state.",
    {
        "phase": text("State of the processing element.", enum=list(PHASES)),
        "launchCount": number("Latest launch whose pod was created.", at_least=0),
        "pod": text("Name of the pod of that launch.", maxLength=NAME_LIMIT),
        "podUID": text("UID of that pod.", maxLength=LABEL_LIMIT),
        "node": text("Node that the pod runs on.", maxLength=NAME_LIMIT),
        "restarts": number("Number of restarts.", at_least=0),
        "failures": number("Number of consecutive failed launches.", at_least=0),
        "ended": _ENDED,
        "conditions": conditions_schema(
            "Conditions of the processing element.",
            "A condition of the processing element.",
            "PodCreated, Scheduled or Ready.",
        ),
        "observedGeneration": OBSERVED_GENERATION,
    },
)

SCHEMA: Final[Schema] = root(
    "A processing element of a Streams job; it runs as one pod.", _SPEC, _STATUS, required=["spec"]
) | {RULES: ROOT_RULES}

COLUMNS: Final[list[Schema]] = [
    {"name": "Job", "type": "string", "jsonPath": ".spec.job"},
    {"name": "Status", "type": "string", "jsonPath": ".status.phase"},
    {"name": "Node", "type": "string", "jsonPath": ".status.node"},
    {"name": "Pod", "type": "string", "jsonPath": ".status.pod"},
    {"name": "Restarts", "type": "integer", "jsonPath": ".status.restarts"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    {
        "name": "Message",
        "type": "string",
        "jsonPath": '.status.conditions[?(@.type=="Ready")].message',
        "description": "Why it waits.",
        "priority": 1,
    },
]
"""Printer columns, which ``kubectl get`` shows with their names in capitals; those of priority 1 with ``-o wide``."""
