"""The manifests of EMCO's REST interface: none by default, and no more rights than it needs."""

from typing import Any, Final

import pytest

from tests.e2e.chart.rendering import CHART, NAMESPACE, RELEASE, Values, helm, of_kind, render
from tests.e2e.client.api import Object

NAME: Final = "streams-placement-hpa-api"
ON: Final[Values] = {"enabled": True, "tlsSecret": "own"}


def parts(**values: Any) -> dict[str, Object]:
    """Its objects by kind and what their name has more than its own."""
    found = render({"hpaApi": ON | values})
    return {
        f"{one['kind']}{one['metadata']['name'].removeprefix(NAME)}": one
        for one in found
        if one["metadata"]["name"].startswith(NAME)
    }


def rights(role: Object) -> list[tuple[str, str, str]]:
    return [
        (",".join(rule["apiGroups"]), ",".join(rule["resources"]), ",".join(rule["verbs"])) for rule in role["rules"]
    ]


INTENTS: Final = ("streams.ibm.com", "streamshpaintents", "get,list,create,patch,delete")


def test_by_default_there_is_nothing_of_it() -> None:
    assert not [one for one in render() if "hpa-api" in one["metadata"]["name"]]


def test_each_project_has_a_namespace_of_its_own_or_all_have_one() -> None:
    of_each, of_all = parts(), parts(namespace="edge")
    assert rights(of_each["ClusterRole"]) == rights(of_all["Role"]) == [INTENTS]
    assert "Role" not in of_each
    assert "ClusterRole" not in of_all
    assert of_all["Role"]["metadata"]["namespace"] == of_all["RoleBinding"]["metadata"]["namespace"] == "edge"
    for binding in (of_each["ClusterRoleBinding"], of_all["RoleBinding"]):
        assert binding["subjects"] == [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}]


def test_it_asks_for_users_unless_there_are_tokens() -> None:
    asked, told = parts(), parts(tokenSecret="tokens")
    assert rights(asked["ClusterRole-users"]) == [
        ("authentication.k8s.io", "tokenreviews", "create"),
        ("authorization.k8s.io", "subjectaccessreviews", "create"),
    ]
    assert "ClusterRole-users" not in told
    flag = "--token-file=/etc/streams-placement/tokens/tokens"
    assert [flag in arguments(one) for one in (asked, told)] == [False, True]
    assert ["--authorize" in arguments(one) for one in (asked, told)] == [True, False]
    audience = "--audience=streams-placement-hpa-api"
    assert [audience in arguments(one) for one in (asked, told)] == [True, False]
    assert "--audience=" in arguments(parts(audience=""))


def pod(found: dict[str, Object]) -> Object:
    spec: Object = found["Deployment"]["spec"]["template"]["spec"]
    return spec


def arguments(found: dict[str, Object]) -> list[str]:
    words: list[str] = pod(found)["containers"][0]["args"]
    return words


def test_its_pods_are_as_hardened_as_the_others() -> None:
    spec = pod(parts())
    (container,) = spec["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert {probe["httpGet"]["scheme"] for probe in (container["readinessProbe"], container["livenessProbe"])} == {
        "HTTPS"
    }
    assert spec["terminationGracePeriodSeconds"] == 30


def test_who_may_connect_is_said_by_the_values() -> None:
    policy = parts(**{"from": {"matchLabels": {"team": "emco"}}})["NetworkPolicy"]["spec"]
    assert policy["ingress"] == [
        {"ports": [{"port": "https"}], "from": [{"namespaceSelector": {"matchLabels": {"team": "emco"}}}]}
    ]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert "NetworkPolicy" not in {
        one["kind"]
        for one in render({"hpaApi": ON, "networkPolicy": {"enabled": False}})
        if one["metadata"]["name"] == NAME
    }


def test_cert_manager_makes_its_certificate() -> None:
    values = {"tls": {"source": "cert-manager"}, "hpaApi": {"enabled": True}}
    (certificate,) = (one for one in of_kind(render(values), "Certificate") if one["metadata"]["name"] == NAME)
    assert f"{NAME}.{NAMESPACE}.svc" in certificate["spec"]["dnsNames"]
    (deployment,) = (one for one in of_kind(render(values), "Deployment") if one["metadata"]["name"] == NAME)
    volumes = deployment["spec"]["template"]["spec"]["volumes"]
    assert volumes[0]["secret"]["secretName"] == certificate["spec"]["secretName"] == f"{NAME}-tls"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"enabled": True},
            f"needed with tls.source managed: a Secret with tls.crt and tls.key for {NAME}.{NAMESPACE}.svc",
        ),
        (ON | {"tokenSecret": "A_b"}, 'hpaApi.tokenSecret: "A_b" is not an object name'),
        (ON | {"from": {"matchLabels": {"a b": "c"}}}, 'hpaApi.from.matchLabels: "a b" is not a key of a label'),
        (
            ON | {"from": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
            "hpaApi.from.matchExpressions[0].values: In and NotIn need some",
        ),
        (ON | {"namespace": "Edge"}, "/hpaApi/namespace"),
        (ON | {"resources": {"requests": {"cpu": "x"}}}, 'hpaApi.resources.requests.cpu: "x" is not an amount'),
    ],
)
def test_what_could_not_work_is_refused(values: Values, said: str) -> None:
    done = helm("template", RELEASE, str(CHART), "--namespace", NAMESPACE, values={"hpaApi": values})
    assert (done.returncode, said in done.stderr) == (1, True), done.stderr


def test_whoever_reads_metrics_may_connect_if_they_are_read() -> None:
    prometheus = {"matchLabels": {"name": "monitoring"}}
    values: Values = {"hpaApi": ON | {"from": {"matchLabels": {"name": "emco"}}}}
    values["networkPolicy"] = {"metricsFrom": prometheus}
    allowed = []
    for enabled in (False, True):
        objects = of_kind(render({**values, "serviceMonitor": {"enabled": enabled}}), "NetworkPolicy")
        (policy,) = (one for one in objects if one["metadata"]["name"] == NAME)
        allowed.append([one["namespaceSelector"] for one in policy["spec"]["ingress"][0]["from"]])
    emco = {"matchLabels": {"name": "emco"}}
    assert allowed == [[emco], [emco, prometheus]]
