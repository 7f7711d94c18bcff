"""The chart's webhook configurations, with the URL of one process in place of the Service."""

import base64
import contextlib
from collections.abc import Iterator

from tests.e2e.chart.rendering import of_kind, render
from tests.e2e.client.api import JSON_PATCH, Api, Object
from tests.e2e.client.paths import item, plural
from tests.e2e.live.webhook_process import Server

_GROUP = "/apis/admissionregistration.k8s.io/v1"

KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


@contextlib.contextmanager
def reviewed(admin: Api, server: Server) -> Iterator[None]:
    """The API server asks that process about everything that the chart wants to be asked about."""
    bundle = _encoded(server.authority.read_bytes())
    found = of_kind(render(), *KINDS)
    for configuration in found:
        for webhook in configuration["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": f"https://127.0.0.1:{server.port}{path}", "caBundle": bundle}
        admin.create(configuration)
    try:
        yield
    finally:
        for configuration in found:
            admin.delete(item(configuration))


def trust(admin: Api, bundle: bytes) -> None:
    """Change whom the API servers trust, in all of them."""
    for kind in KINDS:
        path = f"{_GROUP}/{plural(kind)}"
        for configuration in admin.get(path)["items"]:
            count = len(configuration["webhooks"])
            steps = [
                {"op": "replace", "path": f"/webhooks/{place}/clientConfig/caBundle", "value": _encoded(bundle)}
                for place in range(count)
            ]
            admin.patch(f"{path}/{configuration['metadata']['name']}", steps, content=JSON_PATCH)


def refusal_of_ours(body: Object) -> bool:
    """Whether a Status says that a webhook has denied the request."""
    return "denied the request" in str(body.get("message"))


def _encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
