"""Values that the schema accepts and that could not work are refused at installation, with a clear message."""

from typing import Final

import pytest

from tests.e2e.chart.rendering import CHART, RELEASE, Values, helm, render

_IMAGE: Final = "is not an image without its tag, such as registry.example.com/streams-placement"
_NETWORK: Final = "is not a network, such as 10.0.0.0/28 or fd00::/64"
_SELECTOR: Final = 'is not a label selector, such as "key", "!key", "key=value" or "key in (a, b)"'
_KEY: Final = "is not a key of a label or an annotation, such as team or example.com/team"
_VALUE: Final = 'is not a label value, which is up to 63 letters, digits, "-", "_" and "."'
_VALUES: Final = (
    "networkPolicy.metricsFrom.matchExpressions[0].values: In and NotIn need some, Exists and DoesNotExist have none"
)
_NAME: Final = 'is not an object name, which is lower-case letters, digits, "-" and "."'
_AMOUNT: Final = "is not an amount, such as 500m, 2 or 512Mi"


def tolerating(**toleration: object) -> Values:
    return {"tolerations": [toleration]}


def resources(**parts: object) -> Values:
    return {"resources": {"requests": {}, "limits": {}, **parts}}


def chosen(**expression: object) -> Values:
    return {"networkPolicy": {"metricsFrom": {"matchExpressions": [expression]}}}


REFUSED: Final[dict[str, tuple[Values, str]]] = {
    "a network of 99 bits": (
        {"networkPolicy": {"apiServerCIDRs": ["10.0.0.0/8", "10.0.0.0/99"]}},
        f'networkPolicy.apiServerCIDRs[1]: "10.0.0.0/99" {_NETWORK}',
    ),
    "an address": (
        {"networkPolicy": {"apiServerCIDRs": ["::1"]}},
        f'networkPolicy.apiServerCIDRs[0]: "::1" {_NETWORK}',
    ),
    "two values of a label": (
        {"settings": {"poolableNodes": "a==b==c"}},
        f'settings.poolableNodes: "a==b==c" {_SELECTOR}',
    ),
    "two quotas of a namespace": (
        {"settings": {"exclusiveQuota": "2,team=3, team = 4"}},
        'settings.exclusiveQuota: "team = 4" is a second quota of team',
    ),
    "two quotas of all": (
        {"settings": {"exclusiveQuota": "2,team=3,5"}},
        'settings.exclusiveQuota: "5" is a second default',
    ),
    "an image with a tag": (
        {"image": {"repository": "example.com/it:1.0"}},
        f'image.repository: "example.com/it:1.0" {_IMAGE}',
    ),
    "a Secret for pulling": ({"imagePullSecrets": [{"name": "My"}]}, f'imagePullSecrets[0].name: "My" {_NAME}'),
    "a class": ({"priorityClassName": "very high"}, f'priorityClassName: "very high" {_NAME}'),
    "a Secret": (
        {"tls": {"source": "existingSecret", "existingSecret": {"name": "own_tls"}}},
        f'tls.existingSecret.name: "own_tls" {_NAME}',
    ),
    "a ConfigMap": ({"tls": {"clientCA": {"configMap": "CA"}}}, f'tls.clientCA.configMap: "CA" {_NAME}'),
    "headers of traces": (
        {"traces": {"headers": {"secret": "My"}}},
        f'traces.headers.secret: "My" {_NAME}',
    ),
    "an authority of the collector": (
        {"traces": {"certificate": {"configMap": "a b"}}},
        f'traces.certificate.configMap: "a b" {_NAME}',
    ),
    "a certificate for the collector": (
        {"traces": {"client": {"secret": "-"}}},
        f'traces.client.secret: "-" {_NAME}',
    ),
    "an issuer": (
        {"tls": {"source": "cert-manager", "certManager": {"issuerRef": {"name": "a b"}}}},
        f'tls.certManager.issuerRef.name: "a b" {_NAME}',
    ),
    "a label": ({"podLabels": {"a b": "c"}}, f'podLabels: "a b" {_KEY}'),
    "the value of a label": ({"podLabels": {"a": "b c"}}, f'podLabels[a]: "b c" {_VALUE}'),
    "a label of nodes": ({"nodeSelector": {"a": "b/c"}}, f'nodeSelector[a]: "b/c" {_VALUE}'),
    "an annotation": ({"podAnnotations": {"a b": "anything at all"}}, f'podAnnotations: "a b" {_KEY}'),
    "an annotation of the account": (
        {"serviceAccount": {"annotations": {"/a": ""}}},
        f'serviceAccount.annotations: "/a" {_KEY}',
    ),
    "a label of the monitor": (
        {"serviceMonitor": {"labels": {"a": "-"}}},
        f'serviceMonitor.labels[a]: "-" {_VALUE}',
    ),
    "no amount": (resources(limits={"memory": "512mi"}), f'resources.limits.memory: "512mi" {_AMOUNT}'),
    "no resource": (
        resources(requests={"gpu": 1}),
        'resources.requests: "gpu" is not a resource, such as cpu, memory or example.com/gpu',
    ),
    "a request above its limit": (
        resources(requests={"cpu": "1.5"}, limits={"cpu": "1200m"}),
        "resources.requests.cpu: 1.5 is more than the limit of 1200m",
    ),
    "one that YAML makes a number": (
        {"controller": {"resources": {"requests": {"memory": "3Gi"}, "limits": {"memory": 3000000000}}}},
        "controller.resources.requests.memory: 3Gi is more than the limit of 3e09",
    ),
    "an amount of a node shape": (
        {"nodeShapes": [{"name": "large", "resources": {"memory": "64gi"}}]},
        f'nodeShapes[0].resources.memory: "64gi" {_AMOUNT}',
    ),
    "a label of a node shape": (
        {"nodeShapes": [{"name": "large", "labels": {"a b": "c"}}]},
        f'nodeShapes[0].labels: "a b" {_KEY}',
    ),
    "a taint of a node shape": (
        {"nodeShapes": [{"name": "large", "taints": [{"key": "a b", "effect": "NoSchedule"}]}]},
        f'nodeShapes[0].taints: "a b" {_KEY}',
    ),
    "two node shapes of one name": (
        {"nodeShapes": [{"name": "large"}, {"name": "large"}]},
        'nodeShapes[1].name: "large" names several node shapes',
    ),
    "a toleration of everything by its value": (
        tolerating(value="x"),
        "tolerations[0]: without a key the operator must be Exists, which tolerates everything",
    ),
    "a key that is none": (tolerating(key="a b"), f'tolerations[0].key: "a b" {_KEY}'),
    "a value that is none": (tolerating(key="a", value="b c"), f'tolerations[0].value: "b c" {_VALUE}'),
    "a value that nobody looks at": (
        tolerating(key="a", operator="Exists", value="b"),
        'tolerations[0].value: "b" has no effect, as the operator is Exists',
    ),
    "a value that is no number": (
        tolerating(key="a", operator="Gt", value="b"),
        'tolerations[0].value: "b" is not a whole number, which the operator Gt compares with',
    ),
    "a time for nothing": (
        tolerating(key="a", operator="Exists", tolerationSeconds=3),
        "tolerations[0].tolerationSeconds: only for the effect NoExecute",
    ),
    "values for none": (
        chosen(key="a", operator="Exists", values=["b"]),
        _VALUES,
    ),
    "no values": (
        chosen(key="a", operator="In"),
        _VALUES,
    ),
    "values of an expression": (
        chosen(key="a", operator="In", values=["b c"]),
        f'networkPolicy.metricsFrom.matchExpressions[0].values: "b c" {_VALUE}',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("values", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_could_not_work_is_refused(values: Values, said: str) -> None:
    done = helm("template", RELEASE, str(CHART), values=values)
    sentences = done.stderr.partition("these values are invalid:\n")[2].partition("\n\n")[0].splitlines()
    assert (done.returncode, [sentence.strip() for sentence in sentences]) == (1, [said]), done.stderr


def test_all_that_is_wrong_is_said_at_once() -> None:
    several = {"podLabels": {"a b": "c d"}, "priorityClassName": "X", "settings": {"poolableNodes": "a b"}}
    done = helm("template", RELEASE, str(CHART), values=several)
    assert (done.returncode, done.stderr.count("\n  ")) == (1, 4), done.stderr


_HALF: Final = "-----BEGIN CERTIFICATE-----"

BY_SCHEMA: Final[dict[str, tuple[Values, str]]] = {
    "an interval of nothing": ({"serviceMonitor": {"interval": "0s"}}, "/serviceMonitor/interval"),
    "an unknown operator": (chosen(key="a", operator="Is"), "matchExpressions/0/operator"),
    "half a certificate": (
        {"tls": {"source": "existingSecret", "existingSecret": {"name": "own", "caBundle": _HALF}}},
        "caBundle",
    ),
    "a hidden key": ({"tls": {"clientCA": {"configMap": "a", "key": ".."}}}, "clientCA/key"),
    "less than nothing": (resources(limits={"memory": -1}), "resources/limits/memory"),
    "a switch as a text": ({"uninstall": {"releaseHosts": "no"}}, "uninstall/releaseHosts"),
}  # fmt: skip


@pytest.mark.parametrize(("values", "named"), BY_SCHEMA.values(), ids=BY_SCHEMA.keys())
def test_what_has_no_such_form_is_refused_by_the_schema(values: Values, named: str) -> None:
    done = helm("template", RELEASE, str(CHART), values=values)
    assert (done.returncode, named in done.stderr) == (1, True), done.stderr


WORKING: Final[dict[str, Values]] = {
    "both families": {"networkPolicy": {"apiServerCIDRs": ["10.0.0.0/28", "fd00::/64", "0.0.0.0/0", "::/0"]}},
    "a longer selector": {"settings": {"poolableNodes": "pool in (a, b), !old, tier != web"}},
    "several quotas": {"settings": {"exclusiveQuota": "20, team-a = 40,team-b=0"}},
    "a quota as a number": {"settings": {"exclusiveQuota": 3}},
    "amounts": resources(requests={"cpu": 0.5, "example.com/gpu": 1}, limits={"cpu": "1e0", "memory": 2000000000}),
    "a toleration of everything": tolerating(operator="Exists"),
    "a toleration for a while": tolerating(key="a/b", operator="Exists", effect="NoExecute", tolerationSeconds=3),
    "a toleration of a number": tolerating(key="a", operator="Gt", value="-7"),
    "annotations of others": {"podAnnotations": {"Example.com/Note": "anything, at all"}},
    "a registry with a port": {"image": {"repository": "localhost:5000/team/it"}},
    "expressions": chosen(key="team", operator="NotIn", values=["", "x"]),
    "nothing of a default": {"nodeSelector": {"kubernetes.io/os": None}, "resources": {"limits": None}},
}


@pytest.mark.parametrize("values", WORKING.values(), ids=WORKING.keys())
def test_what_works_is_rendered(values: Values) -> None:
    assert render(values)
