"""What is read of a webhook configuration, and what a patch changes."""

import base64
from typing import Any

import jsonpatch
import pytest

from certs.managed.configuration import (
    ApiServiceConfiguration,
    WebhookConfiguration,
    configuration_of,
    configuration_path,
)
from tests.certs.managed.rotation_samples import SERVICE

PEM = b"-----BEGIN CERTIFICATE-----\n"
TEXT = base64.b64encode(PEM).decode()


def ours(**changes: Any) -> dict[str, Any]:
    client = {"service": {"namespace": "ns", "name": "web", "path": "/mutate"}, **changes}
    return {"name": "ours.web.ns", "clientConfig": client, "failurePolicy": "Fail"}


def others(**service: str) -> dict[str, Any]:
    called = {"namespace": "ns", "name": "web", **service}
    return {"name": "others.web.ns", "clientConfig": {"service": called, "caBundle": "b3RoZXI="}}


def configuration(*entries: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "m", "uid": "u", "generation": 3, "resourceVersion": "17"}
    return {"metadata": metadata, "webhooks": list(entries)}


def read(document: dict[str, Any]) -> WebhookConfiguration:
    return WebhookConfiguration.of("/path", document, SERVICE)


@pytest.mark.parametrize(
    ("changes", "bundle"),
    [
        pytest.param({}, b"", id="none"),
        pytest.param({"caBundle": None}, b"", id="null"),
        pytest.param({"caBundle": ""}, b"", id="empty"),
        pytest.param({"caBundle": "not base64!"}, b"", id="not base64"),
        pytest.param({"caBundle": "é"}, b"", id="not ASCII"),
        pytest.param({"caBundle": TEXT}, PEM, id="one"),
        pytest.param({"caBundle": TEXT, "service": None, "url": "https://127.0.0.1:8443"}, PEM, id="of a URL"),
    ],
)
def test_what_a_webhook_trusts(changes: dict[str, Any], bundle: bytes) -> None:
    assert read(configuration(ours(**changes))).bundles == (bundle,)


@pytest.mark.parametrize("service", [{"namespace": "other"}, {"name": "other"}], ids=["namespace", "name"])
def test_webhooks_of_other_services_are_not_ours(service: dict[str, str]) -> None:
    found = read(configuration(others(**service), ours()))
    assert [(webhook.index, webhook.name) for webhook in found.webhooks] == [(1, "ours.web.ns")]


@pytest.mark.parametrize("document", [configuration(), {**configuration(), "webhooks": None}], ids=["empty", "null"])
def test_a_configuration_may_have_no_webhooks(document: dict[str, Any]) -> None:
    assert read(document).bundles == ()


def test_an_edition_changes_with_the_webhooks_and_not_with_labels() -> None:
    first = configuration(ours())
    labelled = {**first, "metadata": {**first["metadata"], "resourceVersion": "18"}}
    changed = {**first, "metadata": {**first["metadata"], "resourceVersion": "19", "generation": 4}}
    again = {**first, "metadata": {**first["metadata"], "uid": "v"}}
    editions = [read(document).edition for document in (first, labelled, changed, again)]
    assert editions == ["u/3", "u/3", "u/4", "v/3"]


def test_a_patch_changes_nothing_but_bundles() -> None:
    document = configuration(others(name="other"), ours(), ours(caBundle=TEXT), ours(caBundle="b2xk"))
    expected = configuration(others(name="other"), *[ours(caBundle=TEXT) for _ in range(3)])
    assert jsonpatch.apply_patch(document, read(document).patch(PEM)) == expected


def test_a_patch_names_the_version_and_each_webhook() -> None:
    assert read(configuration(others(name="other"), ours())).patch(PEM) == [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "17"},
        {"op": "test", "path": "/webhooks/1/name", "value": "ours.web.ns"},
        {"op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": TEXT},
    ]


def test_the_path_of_a_configuration() -> None:
    path = configuration_path("validating", "web")
    assert path == "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/web"


def api_service(bundle: str | None = None, **service: str) -> dict[str, Any]:
    called = {"namespace": "ns", "name": "web", "port": 8444, **service}
    spec = {"group": "g", "version": "v1", "service": called, **({"caBundle": bundle} if bundle else {})}
    return {"metadata": {"name": "v1.g", "uid": "u", "resourceVersion": "5"}, "spec": spec}


def test_an_api_service_trusts_one_bundle() -> None:
    assert configuration_path("apiservice", "v1.g") == "/apis/apiregistration.k8s.io/v1/apiservices/v1.g"
    for bundle, known in ((None, b""), (TEXT, PEM)):
        read = configuration_of("apiservice", "/path", api_service(bundle), SERVICE)
        assert read == ApiServiceConfiguration("/path", "5", "u", (known,))
    document = api_service(TEXT)
    patched = jsonpatch.apply_patch(document, read.patch(b"new"))
    assert patched["spec"]["caBundle"] == base64.b64encode(b"new").decode()


@pytest.mark.parametrize("service", [{"namespace": "other"}, {"name": "other"}], ids=["namespace", "name"])
def test_an_api_service_of_another_service_is_not_ours(service: dict[str, str]) -> None:
    assert configuration_of("apiservice", "/path", api_service(**service), SERVICE).bundles == ()


def test_an_api_service_of_the_api_server_itself_is_not_ours() -> None:
    document = {"metadata": {"resourceVersion": "5"}, "spec": {"group": "g", "version": "v1", "service": None}}
    assert configuration_of("apiservice", "/path", document, SERVICE).bundles == ()


def test_other_kinds_are_webhook_configurations() -> None:
    assert configuration_of("mutating", "/path", configuration(ours()), SERVICE) == read(configuration(ours()))
