"""What calls the Service, webhook configurations and APIServices: its ``caBundle``, and the JSON Patch that sets it."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, TypeAlias

ConfigurationKind = Literal["mutating", "validating", "apiservice"]
Object = dict[str, Any]
"""Any object of the API server, decoded from JSON."""

_PATHS: Final[dict[ConfigurationKind, str]] = {
    "mutating": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "validating": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "apiservice": "/apis/apiregistration.k8s.io/v1/apiservices",
}


@dataclass(frozen=True, slots=True)
class ServiceReference:
    """The Service that the API server calls (``clientConfig.service``)."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Webhook:
    """One entry of ``webhooks`` that calls the managed Service, or a URL: index, name, and its ``caBundle`` as PEM."""

    index: int
    name: str
    bundle: bytes


@dataclass(frozen=True, slots=True)
class WebhookConfiguration:
    """One configuration as it was read; ``edition`` changes with its webhooks, but not with its labels."""

    path: str
    version: str
    edition: str
    webhooks: tuple[Webhook, ...]

    @classmethod
    def of(cls, path: str, read: Object, service: ServiceReference) -> Self:
        """The configuration of the object ``read``; entries that call another Service are left out."""
        metadata = read["metadata"]
        webhooks = tuple(
            Webhook(index, one["name"], _decoded(one["clientConfig"].get("caBundle")))
            for index, one in enumerate(read.get("webhooks") or ())
            if _calls(one["clientConfig"], service)
        )
        edition = f"{metadata.get('uid')}/{metadata.get('generation')}"
        return cls(path, metadata["resourceVersion"], edition, webhooks)

    @property
    def bundles(self) -> tuple[bytes, ...]:
        """The bundle of each entry."""
        return tuple(webhook.bundle for webhook in self.webhooks)

    def patch(self, bundle: bytes) -> list[Object]:
        """The JSON Patch (RFC 6902) that sets ``caBundle`` of every entry to ``bundle``.

        The tests of the names are a second protection against wrong indexes, beside :func:`_unchanged`.
        """
        operations = [_unchanged(self.version)]
        for webhook in self.webhooks:
            if webhook.bundle != bundle:
                entry = f"/webhooks/{webhook.index}"
                operations += [
                    {"op": "test", "path": f"{entry}/name", "value": webhook.name},
                    _setting(f"{entry}/clientConfig", bundle),
                ]
        return operations


@dataclass(frozen=True, slots=True)
class ApiServiceConfiguration:
    """One APIService as it was read; it has no bundles if it calls another Service, or is the API server's own."""

    path: str
    version: str
    edition: str
    bundles: tuple[bytes, ...]

    @classmethod
    def of(cls, path: str, read: Object, service: ServiceReference) -> Self:
        """The APIService of the object ``read``."""
        metadata, spec = read["metadata"], read["spec"]
        ours = spec.get("service") is not None and _calls(spec, service)
        bundles = (_decoded(spec.get("caBundle")),) if ours else ()
        return cls(path, metadata["resourceVersion"], str(metadata.get("uid")), bundles)

    def patch(self, bundle: bytes) -> list[Object]:
        """The JSON Patch (RFC 6902) that sets ``caBundle``."""
        return [_unchanged(self.version), _setting("/spec", bundle)]


CallingConfiguration: TypeAlias = WebhookConfiguration | ApiServiceConfiguration
"""What has the address of the Service, and the authorities by which its certificate is verified."""


def configuration_of(kind: str, path: str, read: Object, service: ServiceReference) -> CallingConfiguration:
    """The configuration of the object ``read``, by its kind."""
    made = ApiServiceConfiguration if kind == "apiservice" else WebhookConfiguration
    return made.of(path, read, service)


def configuration_path(kind: ConfigurationKind, name: str) -> str:
    """The path of the configuration on the API server."""
    return f"{_PATHS[kind]}/{name}"


def _unchanged(version: str) -> Object:
    """The operation by which the API server answers 409 if the object has changed since it was read."""
    return {"op": "replace", "path": "/metadata/resourceVersion", "value": version}


def _setting(client: str, bundle: bytes) -> Object:
    """The operation that sets the ``caBundle`` of the client configuration at that path."""
    return {"op": "add", "path": f"{client}/caBundle", "value": base64.b64encode(bundle).decode()}


def _calls(client: Object, service: ServiceReference) -> bool:
    called = client.get("service")
    return called is None or (called["namespace"], called["name"]) == (service.namespace, service.name)


def _decoded(text: str | None) -> bytes:
    try:
        return base64.b64decode(text or "", validate=True)
    except (binascii.Error, ValueError):
        return b""
