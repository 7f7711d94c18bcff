"""Templates of described devices: the object that the controller makes is read as the spec that pods are judged by."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from webhook.cluster.objects.device_claims import read_template
from webhook.controller.claimtemplates.template_object import template_object, template_path
from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.devices.published.claims import ClaimSpec, ClaimTemplate
from webhook.placement.devices.published.described import content_of, describes, spec_of

DESCRIBED = st.builds(
    DescribedDevices,
    st.sampled_from(["gpu", "nic.example.com"]),
    st.text(max_size=20),
    st.integers(1, 32),
    st.sampled_from(["", "resource.kubernetes.io/pcieRoot"]),
)


@given(DESCRIBED)
def test_the_object_is_read_as_what_was_described(described: DescribedDevices) -> None:
    made = template_object("apps", described)
    made["metadata"] |= {"uid": "u", "resourceVersion": "7"}
    found, notes = read_template(msgspec.Raw(msgspec.json.encode(made)))
    expected = ClaimTemplate("apps", described.template, spec_of(described), made=True, uid="u", version="7")
    assert (found, notes) == (expected, [])
    assert content_of(found.name, found.spec) == described
    assert template_path(("apps", found.name)).endswith(f"/namespaces/apps/resourceclaimtemplates/{found.name}")


GPU = DescribedDevices("gpu", "true", 2, "a.example/b")
SPEC = spec_of(GPU)


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("other", SPEC),
        (GPU.template, spec_of(DescribedDevices("gpu"))),
        (GPU.template, ClaimSpec()),
        (GPU.template, replace(SPEC, requests=SPEC.requests * 2)),
        (GPU.template, replace(SPEC, requests=(replace(SPEC.requests[0], choices=()),))),
        (GPU.template, replace(SPEC, unread="spec.spec.devices.config")),
        (GPU.template, replace(SPEC, agreements=SPEC.agreements * 2)),
    ],
    ids=["another name", "other devices", "nothing", "two requests", "no choice", "unread", "two agreements"],
)
def test_another_template_has_no_such_content(name: str, spec: ClaimSpec) -> None:
    assert content_of(name, spec) is None


@pytest.mark.parametrize(
    "more",
    [
        {"spec": {"devices": {"config": [{"opaque": {"driver": "d", "parameters": {}}}]}}},
        {"metadata": {"labels": {"queue": "first"}}},
        {"metadata": {"annotations": {"a": "b"}}},
    ],
    ids=["configuration", "labels", "annotations"],
)
def test_a_template_that_states_more_than_the_description_has_other_content(more: dict[str, Any]) -> None:
    made = template_object("apps", GPU)
    spec = made["spec"]["spec"]["devices"] | more.get("spec", {}).get("devices", {})
    made["spec"] = {"spec": {"devices": spec}, "metadata": more.get("metadata", {})}
    found, _ = read_template(msgspec.Raw(msgspec.json.encode(made)))
    assert (found.made, found.spec) == (False, SPEC)
    assert not describes(found, GPU)
    plain, _ = read_template(msgspec.Raw(msgspec.json.encode(template_object("apps", GPU))))
    assert describes(plain, GPU)


@pytest.mark.parametrize("change", [{"labels": {}}, {"name": "mine"}], ids=["without the label", "of another name"])
def test_a_template_that_was_not_made_is_not_kept_for_deletion(change: dict[str, object]) -> None:
    made = template_object("apps", GPU)
    made["metadata"] |= {"uid": "u", "resourceVersion": "7", **change}
    found, _ = read_template(msgspec.Raw(msgspec.json.encode(made)))
    assert (found.made, found.uid, found.version, found.spec) == (False, "", "", SPEC)
