"""The page of conditions shows each entry and policy with its purpose, and expressions in lines that can be read."""

from typing import Any

import pytest

from tools.conditions import Manifest, laid_out, page

ENTRY: dict[str, Any] = {
    "name": "guard.placement.streams.ibm.com",
    "failurePolicy": "Ignore",
    "objectSelector": {"matchExpressions": [{"key": "streams.ibm.com/seal", "operator": "DoesNotExist"}]},
    "rules": [{"operations": ["CREATE", "UPDATE"], "resources": ["pods"]}],
    "matchConditions": [{"name": "guard", "expression": "a &&\n b"}],
}


def configuration(**tweaks: Any) -> Manifest:
    return {"kind": "ValidatingWebhookConfiguration", "webhooks": [{**ENTRY, **tweaks}]}


def test_an_entry_has_its_purpose_what_it_matches_and_its_conditions() -> None:
    assert page([configuration()]).partition("### ")[2].partition("\n## ")[0] == (
        "validating guard\n\n"
        "A pod without a seal could get round the taint of exclusive hosts: it names its node, or tolerates every "
        "taint.\n\n"
        "CREATE and UPDATE of `pods`, `streams.ibm.com/seal` DoesNotExist. `failurePolicy: Ignore`.\n\n"
        "Condition `guard`:\n\n```text\na && b\n```\n"
    )


def test_a_policy_has_its_variables_and_validations() -> None:
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": ENTRY["rules"]},
        "matchConditions": ENTRY["matchConditions"],
        "variables": [{"name": "c", "expression": "d"}],
        "validations": [{"expression": "variables.c"}],
    }
    policy = {"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "streams-placement-created"}, "spec": spec}
    found = page([policy]).partition("### policy created\n")[2]
    assert "Variable `c`:\n\n```text\nd\n```\n\nMust hold:\n\n```text\nvariables.c\n```\n" in found


def test_one_without_a_purpose_is_an_error() -> None:
    with pytest.raises(KeyError, match="validating other"):
        page([configuration(name="other.placement.streams.ibm.com")])


LONG = "a" * 70


@pytest.mark.parametrize(
    ("expression", "lines"),
    [
        (f"{LONG} && {LONG}", [LONG, f"&& {LONG}"]),
        (f"{LONG} || {LONG} && b", [LONG, f"|| {LONG} && b"]),
        (f"{LONG} ? {LONG} : b", [LONG, f"? {LONG}", ": b"]),
        (f"{LONG} + {LONG}", [LONG, f"+ {LONG}"]),
        (f"f({LONG}, {LONG})", ["f(", f"  {LONG},", f"  {LONG}", ")"]),
        (f"f({LONG}).g({LONG}b).h", [f"f({LONG}).g(", f"  {LONG}b", ").h"]),
        (f"f({LONG}{LONG}).g({LONG}{LONG}b)", ["f(", f"  {LONG}{LONG}", ").g(", f"  {LONG}{LONG}b", ")"]),
        (f"'{LONG} && {LONG}'", [f"'{LONG} && {LONG}'"]),
        (f"{LONG}{LONG}()", [f"{LONG}{LONG}()"]),
    ],
)
def test_long_expressions_are_broken_where_people_would(expression: str, lines: list[str]) -> None:
    assert list(laid_out(expression)) == lines
