"""OpenAPI schema of a label selector with the six operators of node selectors (see ``placement/kube/selector.py``)."""

from typing import Final

from webhook.cluster.crds.openapi import Schema, listed, obj, rule, text
from webhook.placement.kube.names import KEY_LIMIT
from webhook.placement.kube.selection.selector import OPERATORS
from webhook.placement.objects.pool_spec import EXPRESSION_LIMIT, LABELS, VALUES

_COUNT: Final = "size(self.?values.orValue([]))"

_REQUIREMENT: Final = obj(
    "A requirement on one label.",
    {
        "key": text("The label.", minLength=1, maxLength=KEY_LIMIT),
        "operator": text("Operator that compares the label with the values.", enum=list(OPERATORS)),
        "values": VALUES.schema(),
    },
    required=["key", "operator"],
) | {
    "x-kubernetes-validations": [
        rule(
            f"!(self.operator in ['In', 'NotIn']) || {_COUNT} > 0",
            "must have at least one value when the operator is In or NotIn",
            fieldPath=".values",
        ),
        rule(
            f"!(self.operator in ['Exists', 'DoesNotExist']) || {_COUNT} == 0",
            "must be absent when the operator is Exists or DoesNotExist",
            fieldPath=".values",
        ),
        rule(
            # int() fails for more than 64 bits, and a rule that fails refuses the object
            f"!(self.operator in ['Gt', 'Lt']) || ({_COUNT} == 1 && self.values[0].matches('^0*[0-9]{{1,19}}$')"
            " && int(self.values[0]) <= 9223372036854775807)",
            "must be one 64-bit integer when the operator is Gt or Lt",
            fieldPath=".values",
        ),
    ]
}


def selector_schema(about: str) -> Schema:
    """The schema of a label selector; ``about`` is its description."""
    expressions = listed("Requirements, all of which must hold.", _REQUIREMENT, kind="atomic", limit=EXPRESSION_LIMIT)
    return obj(about, {"matchLabels": LABELS.schema(), "matchExpressions": expressions})
