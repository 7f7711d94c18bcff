"""The definitions of our kinds say what the code says."""

import ipaddress
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.chart.schema_paths import undescribed
from tools.crds import FOLDER, files
from webhook.cluster.crds.definitions import DEFINITIONS, hostpool_definition, hpaintent_definition
from webhook.cluster.objects.kinds import KINDS
from webhook.cluster.objects.wire import HostPoolStatus
from webhook.placement.annotations.hardware import HEAVIEST, LIGHTEST
from webhook.placement.annotations.hardware_fields import DEVICE_FIELDS, FIELDS, fields_of
from webhook.placement.annotations.hardware_text import REQUIREMENT_LIMIT
from webhook.placement.field_rules.hostpool_patterns import HOST, NAME, VALUE
from webhook.placement.kube.addresses import canonical
from webhook.placement.kube.names import LABEL_VALUE, is_object_name
from webhook.placement.kube.resource_name import UNITS
from webhook.placement.objects.intent import CONSUMER_LIMIT, read_intent
from webhook.placement.objects.pool_spec import HostPoolSpec, problems_of_spec
from webhook.placement.text.api_kinds import PARALLEL_REGION, PROCESSING_ELEMENT

VERSION: dict[str, Any] = hostpool_definition()["spec"]["versions"][0]
SCHEMA: dict[str, Any] = VERSION["schema"]["openAPIV3Schema"]
SPEC: dict[str, Any] = SCHEMA["properties"]["spec"]
INTENT: dict[str, Any] = hpaintent_definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
CONSUMERS: dict[str, Any] = INTENT["properties"]["spec"]["properties"]["consumers"]
REQUIREMENTS: dict[str, Any] = CONSUMERS["items"]["properties"]["requirements"]


def test_the_files_of_the_chart_are_the_definitions() -> None:
    assert {path: path.read_text() for path in sorted(FOLDER.iterdir())} == files()


def test_a_definition_has_the_name_that_the_api_server_wants() -> None:
    for definition in DEFINITIONS:
        spec = definition()["spec"]
        assert definition()["metadata"]["name"] == f"{spec['names']['plural']}.{spec['group']}"


def test_the_webhook_watches_what_is_defined_but_for_what_only_the_controller_needs() -> None:
    watched = {kind.full_resource for kind in KINDS if kind.optional}
    defined = {definition()["metadata"]["name"] for definition in DEFINITIONS}
    assert defined - watched == {PROCESSING_ELEMENT.full_resource, PARALLEL_REGION.full_resource}


def test_the_fields_of_a_spec_are_those_that_are_read() -> None:
    assert tuple(SPEC["properties"]) == HostPoolSpec.__struct_fields__


def test_whatever_is_read_of_a_status_is_defined() -> None:
    assert set(HostPoolStatus.__struct_fields__) <= set(SCHEMA["properties"]["status"]["properties"])


@pytest.mark.parametrize("schema", [SCHEMA, INTENT], ids=["HostPool", "HPAIntent"])
def test_every_field_is_explained_to_kubectl_explain(schema: dict[str, Any]) -> None:
    assert undescribed(schema) == [".apiVersion", ".kind", ".metadata"]  # the API server explains these itself


@pytest.mark.parametrize("schema", [SCHEMA, INTENT], ids=["HostPool", "HPAIntent"])
def test_no_field_is_open(schema: dict[str, Any]) -> None:
    assert "x-kubernetes-preserve-unknown-fields" not in str(schema)


@pytest.mark.parametrize("field", [field for field in HostPoolSpec.__struct_fields__ if field != "elastic"])
def test_a_field_cannot_be_changed(field: str) -> None:
    fixed = [rule for rule in SPEC["x-kubernetes-validations"] if "oldSelf" in rule["rule"]]
    assert [rule["fieldPath"] for rule in fixed].count(f".{field}") == 1


def test_columns_show_how_a_pool_stands() -> None:
    names = [column["name"] for column in VERSION["additionalPrinterColumns"]]
    assert names == ["Pool", "Mode", "Size", "Ready hosts", "Status", "Age"]


# HPAIntents

ENTRY: dict[str, Any] = REQUIREMENTS["items"]["properties"]
FORMS: dict[str, dict[str, Any]] = {"flat": ENTRY, "below spec": ENTRY["spec"]["properties"]}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_fields_of_a_requirement_are_those_that_are_read(form: dict[str, Any]) -> None:
    said = {name: "x" for name in form if name not in {"resource", "device", "spec", "metadata"}}
    found, problems = fields_of({**said, "resource": dict.fromkeys(form["resource"]["properties"], "x")}, "r")
    assert (set(found), problems) == (set(FIELDS), [])
    found, problems = fields_of({"device": dict.fromkeys(form["device"]["properties"], "x")}, "r")
    assert (set(found), problems) == ({f"device.{name}" for name in DEVICE_FIELDS}, [])


def test_a_requirement_may_be_wrapped_as_it_is_read() -> None:
    _, problems = fields_of({"name": "n", "metadata": {}, "spec": {}}, "r")
    assert problems == []


def sample(schema: dict[str, Any]) -> object:
    """Something in every field."""
    kind = schema.get("type")
    if kind == "object":
        return {name: sample(inner) for name, inner in schema["properties"].items()}
    if kind == "integer":
        return schema["minimum"]
    return [sample(schema["items"])] if kind == "array" else "x"


def test_all_fields_around_requirements_are_read() -> None:
    spec = sample(INTENT["properties"]["spec"])
    problems = read_intent("default", "i", spec).problems
    assert [problem.field for problem in problems if "requirements" not in problem.field] == []


def test_the_bounds_are_those_of_the_code() -> None:
    assert (CONSUMERS["maxItems"], REQUIREMENTS["maxItems"]) == (CONSUMER_LIMIT, REQUIREMENT_LIMIT)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_units_and_weights_are_those_of_the_code(form: dict[str, Any]) -> None:
    weight = form["weight"]
    assert (form["units"]["enum"], weight["minimum"], weight["maximum"]) == (list(UNITS), LIGHTEST, HEAVIEST)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_an_amount_is_a_number_or_a_quantity(form: dict[str, Any]) -> None:
    amounts = [place[name] for place in (form, form["resource"]["properties"]) for name in ("requests", "limits")]
    assert all(amount["x-kubernetes-int-or-string"] and "type" not in amount for amount in amounts)


def test_columns_show_what_an_intent_is_for() -> None:
    columns = hpaintent_definition()["spec"]["versions"][0]["additionalPrinterColumns"]
    assert [column["name"] for column in columns] == ["App", "First consumer", "Age"]


# Patterns, which are matched as a whole

ADDRESSES = st.one_of(
    st.ip_addresses().map(str),
    st.ip_addresses(v=6).map(lambda address: address.exploded),
    st.tuples(st.ip_addresses(v=4), st.sampled_from(["::ffff:", "::", "64:ff9b::", "1:2:3:4:5:6:"])).map(
        lambda parts: f"{parts[1]}{parts[0]}"
    ),
    st.lists(st.sampled_from(["", "0", "1", "ffff", "12345", "g", "1.2.3.4", "01.2.3.4"]), max_size=9).map(":".join),
)


@given(st.one_of(ADDRESSES, st.text("a0.-:%A/", max_size=12), st.tuples(ADDRESSES, st.text(max_size=4)).map("%".join)))
@example("1:2:3:4:5:6:7::")
@example("::2:3:4:5:6:7:8")
@example("1:2:3:4:5:6:7::8")
@example("fe80::1%eth0")
@example("fe80::1%a b")
@example("2001:db8::/32")
@example("a" * 253)
@example("a\n")
def test_a_host_is_one_to_the_pattern_as_to_the_code(text: str) -> None:
    known = canonical(text) is not None or is_object_name(text)
    assert bool(re.fullmatch(HOST.removeprefix("^").removesuffix("$"), text)) == known


@given(st.text("aZ0_-.", max_size=6))
@example("a" * 64)
def test_a_name_is_one_to_the_pattern_as_to_the_code(text: str) -> None:
    fits = bool(re.fullmatch(NAME, text)) and len(text) <= 63
    assert fits == (not list(problems_of_spec(HostPoolSpec(name=text))))


@given(st.text("aZ0_-.", max_size=6))
def test_a_label_value_is_one_to_the_pattern_as_to_the_code(text: str) -> None:
    assert bool(re.fullmatch(VALUE, text)) == bool(LABEL_VALUE.fullmatch(text))


def test_every_form_of_an_address_has_the_pattern() -> None:
    """Of two groups at every place that ``::`` can have."""
    groups = ["1", "2", "3", "4", "5", "6", "7", "8"]
    for start in range(9):
        for end in range(start, 9):
            text = ":".join(groups[:start]) + "::" + ":".join(groups[end:])
            assert bool(re.fullmatch(HOST, text)) == (end > start), text
            if end > start:
                ipaddress.IPv6Address(text)
