"""Objects to compare the webhook with: webhooks like the chart's own that call the echo server, and a CEL policy.

The chart's webhooks are read from the API server as they are installed, and copied with another service and other
pods. So rules, conditions and time-out are the same, whatever the chart says.
"""

import base64
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Final

import msgspec

from bench.e2e.chart import GROUP
from bench.e2e.clients.pods import FAST
from bench.e2e.clients.variants import ECHO, OTHER, POLICY, SAME, Variant
from bench.e2e.echo import PATCH_PATH, PATH
from bench.trouble import Trouble
from tests.e2e.chart.installation import PORT
from tests.e2e.chart.rendering import RELEASE
from tests.e2e.client.api import Api, Object
from webhook.placement.text import keys

NAMESPACE: Final = "bench-peer"
SERVICE: Final = "echo"

TARGET_PORT: Final = 8443
"""The port of the webhook's own container, too."""

_ENTRY: Final = "pods.placement.streams.ibm.com"
"""The chart's entry for pods that ask for hosts."""

_TEXT: Final = '{"spec":{"affinity":{"nodeAffinity":"host(Fast)"}}}'
"""About what the webhook writes into its annotation."""


def service(address: str) -> list[Object]:
    """A Service and its only endpoint."""
    meta = {"name": SERVICE, "namespace": NAMESPACE}
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"ports": [{"name": "https", "port": PORT}]}},
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {**meta, "labels": {"kubernetes.io/service-name": SERVICE}},
            "addressType": "IPv4",
            "ports": [{"name": "https", "port": TARGET_PORT, "protocol": "TCP"}],
            "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        },
    ]


def echo_configurations(admin: Api, authority: Path) -> list[Object]:
    """A mutating entry, as the chart has, for each variant that calls the echo."""
    bundle = base64.b64encode(authority.read_bytes()).decode()
    wanted = ((ECHO, PATH), (SAME, PATCH_PATH))
    return [_echo_configuration(admin, variant, path, bundle) for variant, path in wanted]


def _echo_configuration(admin: Api, variant: Variant, path: str, bundle: str) -> Object:
    where = {"name": SERVICE, "namespace": NAMESPACE, "port": PORT, "path": path}
    entry = {
        **_installed(admin),
        "name": f"{variant.name}.bench.example",
        "clientConfig": {"service": where, "caBundle": bundle},
        "namespaceSelector": _only(variant),
    }
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": f"zz-bench-{variant.name}"},
        "webhooks": [entry],
    }


def _installed(admin: Api) -> Object:
    """The chart's mutating entry for pods, about pods with the other prefix."""
    path = f"/apis/{GROUP}/v1/mutatingwebhookconfigurations/zz-{RELEASE}"
    entries: Iterable[Object] = admin.get(path)["webhooks"]
    found = next((each for each in entries if each["name"] == _ENTRY), None)
    if found is None:
        raise Trouble(f"the chart's MutatingWebhookConfiguration has no entry {_ENTRY}")
    text = msgspec.json.encode(found).decode().replace(keys.PREFIX, OTHER)
    rewritten: Object = msgspec.json.decode(text)
    return rewritten


def policy_version(admin: Api) -> str:
    """The best version of the API in which policies that mutate are served."""
    for version in ("v1", "v1beta1", "v1alpha1"):
        answer = admin.send("GET", f"/apis/{GROUP}/{version}")
        served = answer.body["resources"] if answer.code == HTTPStatus.OK else ()
        if any(each["name"] == "mutatingadmissionpolicies" for each in served):
            return version
    raise Trouble("this API server has no MutatingAdmissionPolicy")


def policy(admin: Api, version: str) -> list[Object]:
    """A policy that adds a node affinity, a label and an annotation to the same pods, and its binding."""
    entry = _installed(admin)
    meta = {"name": f"bench-{POLICY.name}"}
    api = f"{GROUP}/{version}"
    spec = {
        "failurePolicy": entry["failurePolicy"],
        "reinvocationPolicy": entry["reinvocationPolicy"],
        "matchConstraints": {"namespaceSelector": _only(POLICY), "resourceRules": entry["rules"]},
        "matchConditions": entry["matchConditions"],
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": _patch()}}],
    }
    return [
        {"apiVersion": api, "kind": "MutatingAdmissionPolicy", "metadata": meta, "spec": spec},
        {
            "apiVersion": api,
            "kind": "MutatingAdmissionPolicyBinding",
            "metadata": meta,
            "spec": {"policyName": meta["name"]},
        },
    ]


def _patch() -> str:
    """In CEL: what the webhook adds for ``host(Fast)``, and a label."""
    path = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    kind, opened = "Object.spec", ""
    for field in path:
        kind = f"{kind}.{field}"
        opened += f"{field}: {kind}{{" if opened else f"{kind}{{"
    term, need = f"{kind}.nodeSelectorTerms", f"{kind}.nodeSelectorTerms.matchExpressions"
    wanted = f'{need}{{key: "{keys.TAG}", operator: "In", values: ["{FAST}"]}}'
    affinity = f"{opened}nodeSelectorTerms: [{term}{{matchExpressions: [{wanted}]}}]{'}' * len(path)}"
    key = "jsonpatch.escapeKey('" + OTHER
    return f"""[
        JSONPatch{{op: "add", path: "/metadata/annotations/" + {key}injected'), value: '{_TEXT}'}},
        JSONPatch{{op: "add", path: "/metadata/labels/" + {key}pool'), value: "{FAST}"}},
        JSONPatch{{op: "add", path: "/spec/affinity", value: {affinity}}}
    ]"""


def _only(variant: Variant) -> Object:
    """A selector of the variant's namespace."""
    return {"matchLabels": {"kubernetes.io/metadata.name": variant.namespace}}
