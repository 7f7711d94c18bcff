"""The pods of the rendered chart."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.chart.rendering import CI, NAMESPACE, RELEASE, Values, of_kind, render
from tests.e2e.client.api import Object

EXISTING: Values = {"tls": {"source": "existingSecret", "existingSecret": {"name": "own"}}}


def name(file: Path) -> str:
    return file.stem


def pods(objects: list[Object]) -> list[Object]:
    """The pod templates."""
    return [one["spec"]["template"] for one in of_kind(objects, "Deployment", "Job")]


def webhook_pod(objects: list[Object]) -> Object:
    found: Object = next(one for one in pods(objects) if one["spec"]["containers"][0]["name"] == "webhook")
    return found


@pytest.mark.parametrize("file", CI, ids=name)
def test_every_container_is_hardened(file: Path) -> None:
    for pod in pods(render(None, file)):
        security = pod["spec"]["securityContext"]
        assert (security["runAsNonRoot"], security["runAsUser"] > 0) == (True, True)
        for container in pod["spec"]["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "runAsNonRoot": True,
                "capabilities": {"drop": ["ALL"]},
                "seccompProfile": {"type": "RuntimeDefault"},
            }
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}
            assert container["resources"]["limits"].keys() == {"memory"}


@pytest.mark.parametrize("file", CI, ids=name)
def test_no_pod_gets_variables_of_services_which_would_look_like_settings(file: Path) -> None:
    assert [pod["spec"]["enableServiceLinks"] for pod in pods(render(None, file))].count(False) == len(
        pods(render(None, file))
    )


@pytest.mark.parametrize("file", CI, ids=name)
def test_our_own_pods_ask_for_no_hosts(file: Path) -> None:
    keys = [key for pod in pods(render(None, file)) for part in pod["metadata"].values() for key in part]
    assert not [key for key in keys if key.startswith("streams.ibm.com/")]


@pytest.mark.parametrize(("drain", "grace"), [(0, 25), (5, 30), (7.5, 33)])
def test_a_pod_is_given_the_time_that_it_needs_to_stop(drain: float, grace: int) -> None:
    spec = webhook_pod(render({"settings": {"drain": drain}}))["spec"]
    assert spec["terminationGracePeriodSeconds"] == grace > drain + 20


def test_there_is_never_one_pod_less_than_wanted() -> None:
    deployment = next(one for one in of_kind(render(), "Deployment") if one["metadata"]["name"] == RELEASE)
    assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert deployment["spec"]["replicas"] == 2


def test_only_the_pair_is_mounted_for_the_server() -> None:
    volumes = webhook_pod(render())["spec"]["volumes"]
    assert [item["key"] for volume in volumes for item in volume["secret"]["items"]] == ["tls.crt", "tls.key"]


def test_clients_may_have_to_show_a_certificate() -> None:
    spec = webhook_pod(render({"tls": {"clientCA": {"configMap": "api-server", "key": "bundle.pem"}}}))["spec"]
    assert "--client-ca=/etc/streams-placement/client-ca/ca.crt" in spec["containers"][0]["args"]
    mounted = next(volume["configMap"] for volume in spec["volumes"] if "configMap" in volume)
    assert mounted == {"name": "api-server", "items": [{"key": "bundle.pem", "path": "ca.crt"}]}


OWN: Final[Object] = {"key": "streams.ibm.com/exclusive", "operator": "Exists"}
"""Of every effect, and for ever."""

PASSED_ON: dict[str, tuple[Values, tuple[str, ...], Any]] = {
    "priority": ({"priorityClassName": "system-cluster-critical"}, ("priorityClassName",), "system-cluster-critical"),
    "tolerations": ({"tolerations": [{"operator": "Exists"}]}, ("tolerations",), [OWN, {"operator": "Exists"}]),
    "no second toleration of exclusive hosts": ({"tolerations": [OWN]}, ("tolerations",), [OWN]),
    "pull secrets": ({"imagePullSecrets": [{"name": "x"}]}, ("imagePullSecrets",), [{"name": "x"}]),
    "node selector": ({"nodeSelector": {"infra": "yes"}}, ("nodeSelector", "infra"), "yes"),
}


@pytest.mark.parametrize(("values", "path", "value"), PASSED_ON.values(), ids=PASSED_ON.keys())
def test_all_pods_are_given(values: Values, path: tuple[str, ...], value: object) -> None:
    for pod in pods(render(values)):
        found = pod["spec"]
        for step in path:
            found = found[step]
        assert found == value


def test_all_pods_carry_labels_and_annotations_of_the_values() -> None:
    for pod in pods(render({"podLabels": {"team": "x"}, "podAnnotations": {"note": "y"}})):
        assert (pod["metadata"]["labels"]["team"], pod["metadata"]["annotations"]) == ("x", {"note": "y"})


def test_the_networks_of_the_api_server_narrow_both_directions() -> None:
    objects = render({**EXISTING, "networkPolicy": {"apiServerCIDRs": ["10.0.0.0/28"]}})
    webhook, controller = (one["spec"] for one in of_kind(objects, "NetworkPolicy"))
    block = [{"ipBlock": {"cidr": "10.0.0.0/28"}}]
    assert (webhook["ingress"][0]["from"], webhook["egress"][0]["to"]) == (block, block)
    assert controller["egress"][0]["to"] == block


@pytest.mark.parametrize(
    ("url", "port"),
    [("http://collector.monitoring:4318/v1/traces", 4318), ("https://collector/v1/traces", 443), ("http://c", 80)],
)
def test_traces_may_leave_to_the_port_of_the_collector_and_names_be_looked_up(url: str, port: int) -> None:
    policies = of_kind(render({**EXISTING, "settings": {"tracesEndpoint": url}}), "NetworkPolicy")
    for policy in policies:
        assert policy["spec"]["egress"][1:] == [
            {"ports": [{"port": port}]},
            {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]},
        ]
    without = of_kind(render(EXISTING), "NetworkPolicy")
    assert [len(policy["spec"]["egress"]) for policy in without] == [1, 1]


COLLECTOR: Final[Values] = {
    "headers": {"secret": "token", "key": "it"},
    "certificate": {"configMap": "authorities", "key": "bundle.pem"},
    "client": {"secret": "pair"},
    "compression": "gzip",
    "resourceAttributes": "k8s.cluster.name=east",
}


def _of_traces(pod: Object) -> tuple[dict[str, object], dict[str, Object]]:
    """Variables of OpenTelemetry, and volumes by the path of their mount."""
    (container,) = pod["spec"]["containers"]
    variables = {
        one["name"]: one.get("value") or one["valueFrom"]
        for one in container.get("env", ())
        if one["name"].startswith("OTEL_")
    }
    volumes = {one["name"]: one for one in pod["spec"].get("volumes", ())}
    mounts = {one["mountPath"]: volumes[one["name"]] for one in container.get("volumeMounts", ())}
    return variables, {path: volume for path, volume in mounts.items() if "collector" in path}


def test_what_sends_traces_gets_the_environment_of_the_exporter_and_its_files() -> None:
    rest = {"enabled": True, "tlsSecret": "rest"}
    values = {"settings": {"tracesEndpoint": "https://c/v1/traces"}, "traces": COLLECTOR, "hpaApi": rest}
    found = pods(render(values))
    folder = "/etc/streams-placement/collector"
    with_traces = {pod["spec"]["containers"][0]["name"]: _of_traces(pod) for pod in found}
    assert {name for name, told in with_traces.items() if told != ({}, {})} == {"webhook", "controller"}
    variables, volumes = with_traces["webhook"]
    assert with_traces["controller"] == (variables, volumes)
    assert variables == {
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
        "OTEL_RESOURCE_ATTRIBUTES": "k8s.cluster.name=east",
        "OTEL_EXPORTER_OTLP_HEADERS": {"secretKeyRef": {"name": "token", "key": "it", "optional": True}},
        "OTEL_EXPORTER_OTLP_CERTIFICATE": f"{folder}-ca/ca.crt",
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": f"{folder}-client/tls.crt",
        "OTEL_EXPORTER_OTLP_CLIENT_KEY": f"{folder}-client/tls.key",
    }
    authorities, pair = volumes[f"{folder}-ca"]["configMap"], volumes[f"{folder}-client"]["secret"]
    assert (authorities["name"], authorities["items"]) == ("authorities", [{"key": "bundle.pem", "path": "ca.crt"}])
    assert (pair["secretName"], [one["path"] for one in pair["items"]]) == ("pair", ["tls.crt", "tls.key"])
    assert (authorities["optional"], pair["optional"]) == (True, True), "a pod starts without them"


def test_without_a_collector_no_pod_gets_anything_of_it() -> None:
    assert render({"traces": COLLECTOR}) == render()


def test_with_an_endpoint_alone_only_the_compression_is_said() -> None:
    pod = webhook_pod(render({"settings": {"tracesEndpoint": "http://c/v1/traces"}}))
    assert _of_traces(pod) == ({"OTEL_EXPORTER_OTLP_COMPRESSION": "none"}, {})


def test_only_readers_of_metrics_may_talk_to_a_controller() -> None:
    _, controller = (one["spec"] for one in of_kind(render(EXISTING), "NetworkPolicy"))
    assert [rule["ports"] for rule in controller["ingress"]] == [[{"port": "health"}]]


def test_each_kind_of_process_has_metrics_of_its_own() -> None:
    services = of_kind(render({"serviceMonitor": {"enabled": True}}), "Service")
    chosen = {one["metadata"]["name"]: one["spec"]["selector"]["app.kubernetes.io/component"] for one in services}
    metrics = {f"{RELEASE}-metrics": "webhook", f"{RELEASE}-controller-metrics": "controller"}
    assert chosen == {RELEASE: "webhook", **metrics}


def test_as_many_controllers_stand_by_as_are_wanted() -> None:
    objects = render({"controller": {"replicas": 3}})
    (controller,) = [one for one in of_kind(objects, "Deployment") if one["metadata"]["name"].endswith("-controller")]
    (container,) = controller["spec"]["template"]["spec"]["containers"]
    assert controller["spec"]["replicas"] == 3
    assert container["args"][0] == "controller"
    assert f"--lease-name={RELEASE}-controller" in container["args"]


def test_network_policies_can_be_left_to_others() -> None:
    assert not of_kind(render({"networkPolicy": {"enabled": False}}), "NetworkPolicy")


def test_an_image_can_be_named_by_its_digest() -> None:
    digest = f"sha256:{'0' * 64}"
    values = {"image": {"repository": "example.com/it", "digest": digest}}
    images = {pod["spec"]["containers"][0]["image"] for pod in pods(render(values))}
    assert images == {f"example.com/it@{digest}"}


# What gives hosts back before anything is deleted

HOOK: Final = {"helm.sh/hook": "pre-delete", "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded"}
HELM_WAITS: Final = 300
"""Seconds, unless it is told otherwise."""


def hooks(objects: list[Object], when: str = "pre-delete") -> dict[str, Object]:
    """The objects of that hook, by kind."""
    found = [one for one in objects if (one["metadata"].get("annotations") or {}).get("helm.sh/hook") == when]
    return {one["kind"]: one for one in found}


def notes(objects: list[Object], when: str = "pre-delete") -> dict[str, dict[str, str]]:
    """The annotations of these objects, by kind."""
    return {kind: one["metadata"]["annotations"] for kind, one in hooks(objects, when).items()}


def test_hosts_are_given_back_by_an_account_that_is_there_for_that_time_only() -> None:
    account = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    before = {kind: {**HOOK, "helm.sh/hook-weight": "-1"} for kind in account}
    assert notes(render()) == {**before, "Job": {**HOOK, "helm.sh/hook-weight": "0"}}


def test_the_job_gives_up_before_helm_does() -> None:
    job = hooks(render())["Job"]["spec"]
    assert job["activeDeadlineSeconds"] < HELM_WAITS
    assert (job["backoffLimit"], job["template"]["spec"]["restartPolicy"]) == (2, "Never")


def test_the_job_takes_the_lease_of_the_controllers() -> None:
    (container,) = hooks(render())["Job"]["spec"]["template"]["spec"]["containers"]
    place = [f"--lease-namespace={NAMESPACE}", f"--lease-name={RELEASE}-controller"]
    assert container["args"] == ["release", "--all", "--delete-controller", *place, "--wait=60"]
    (controller,) = [
        pod["spec"]["containers"][0] for pod in pods(render()) if "controller" in pod["metadata"]["labels"].values()
    ]
    assert set(place) < set(controller["args"])


def test_both_jobs_connect_to_the_api_server_and_accept_no_connections() -> None:
    _, controller = (one["spec"] for one in of_kind(render(EXISTING), "NetworkPolicy"))
    expression = {"key": "app.kubernetes.io/component", "operator": "In", "values": ["controller", "release", "test"]}
    assert controller["podSelector"]["matchExpressions"] == [expression]


def test_hosts_can_be_left_to_others() -> None:
    assert hooks(render({"uninstall": {"releaseHosts": False}})) == {}


# What `helm test` does


def test_the_test_has_an_account_that_may_create_pods_of_one_namespace_while_it_lasts() -> None:
    made = hooks(render({"test": {"namespace": "tried"}}), "test")
    assert {kind: one["metadata"]["namespace"] for kind, one in made.items()} == {
        "ServiceAccount": NAMESPACE,
        "Role": "tried",
        "RoleBinding": "tried",
        "Job": NAMESPACE,
    }
    assert made["Role"]["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["create"]}]
    assert {note["helm.sh/hook-delete-policy"] for note in notes(render(), "test").values()} == {
        "before-hook-creation,hook-succeeded"
    }


def test_the_test_knows_audit_mode() -> None:
    def words(mode: str) -> list[str]:
        job = hooks(render({"settings": {"mode": mode}}), "test")["Job"]
        found: list[str] = job["spec"]["template"]["spec"]["containers"][0]["args"]
        return found

    assert words("enforce") == ["check", "--namespace=default"]
    assert words("audit") == ["check", "--namespace=default", "--audit"]


def test_the_test_tries_the_kinds_of_other_operators_that_are_chosen() -> None:
    made = hooks(render({"workloads": {"kinds": ["RayCluster", "VolcanoJob"]}}), "test")
    assert [(one["apiGroups"], one["resources"], one["verbs"]) for one in made["Role"]["rules"]] == [
        ([""], ["pods"], ["create"]),
        (["ray.io"], ["rayclusters"], ["create"]),
        (["batch.volcano.sh"], ["jobs"], ["create"]),
    ]
    words = made["Job"]["spec"]["template"]["spec"]["containers"][0]["args"]
    assert words[2:] == ["--reviewed-kinds=RayCluster.ray.io,Job.batch.volcano.sh"]
