"""The pod of a processing element."""

from typing import Any

import msgspec
import pytest

from webhook.placement.elements.names import launch_of, pod_name
from webhook.placement.elements.pod_manifest import Launch, pod_of
from webhook.placement.jobs.problems import problems_of_element
from webhook.placement.objects.jobs.job_spec import JobSpec, ProcessingElementSpec

Json = dict[str, Any]

LAUNCH = Launch(job="parallel", element="parallel-0", uid="pe-uid", count=3, image="registry/streams:{buildType}")


def made(element: Json | None = None, **job: Any) -> Json:
    stated = msgspec.convert({"job": "parallel", "contentId": "abc", **(element or {})}, ProcessingElementSpec)
    return pod_of(LAUNCH, stated, msgspec.convert(job, JobSpec))


def container(element: Json | None = None, **job: Any) -> Json:
    found: Json = made(element, **job)["spec"]["containers"][0]
    return found


def variables(element: Json | None = None, **job: Any) -> dict[str, Any]:
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in container(element, **job)["env"]}


def mounts(pod: Json) -> dict[str, Json]:
    """The mounts of the first container by the path, each with its volume."""
    volumes = {each["name"]: each for each in pod["spec"].get("volumes", ())}
    return {
        each["mountPath"]: {**volumes[each["name"]], **each} for each in pod["spec"]["containers"][0]["volumeMounts"]
    }


# Whose it is


def test_the_pod_says_whose_it_is() -> None:
    found = made()
    assert (found["apiVersion"], found["kind"], found["spec"]["restartPolicy"]) == ("v1", "Pod", "Never")
    assert found["metadata"] == {
        "name": "parallel-0-3",
        "labels": {"streams.ibm.com/job": "parallel", "streams.ibm.com/pe": "parallel-0"},
        "annotations": {"streams.ibm.com/contentId": "abc"},
        "ownerReferences": [
            {
                "apiVersion": "streams.ibm.com/v1",
                "kind": "ProcessingElement",
                "name": "parallel-0",
                "uid": "pe-uid",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }


def test_the_placement_of_the_operators_is_that_of_the_pod() -> None:
    operators = [
        {"name": "Source", "placement": "host(P), hostIsolation"},
        {"name": "Filter"},
        {"name": "Sink", "placement": 'Sink: hostColocation("t");'},
    ]
    found = made({"operators": operators})["metadata"]["annotations"]["streams.ibm.com/placement"]
    assert found == 'Source: host(P), hostIsolation; Sink: hostColocation("t")'


def test_the_placement_of_the_template_comes_first() -> None:
    metadata = {"annotations": {"streams.ibm.com/placement": "host(Q);", "team": "a"}, "labels": {"app": "x"}}
    operators = [{"name": "Source", "placement": "host(P)"}]
    found = made({"operators": operators, "template": {"metadata": metadata, "spec": {}}})["metadata"]
    assert found["annotations"]["streams.ibm.com/placement"] == "host(Q); Source: host(P)"
    assert (found["annotations"]["team"], found["labels"]["app"]) == ("a", "x")


@pytest.mark.parametrize(("name", "text"), [("Op", "Op: host("), ("", "host(")])
def test_a_placement_with_mistakes_is_kept_for_the_refusal(name: str, text: str) -> None:
    found = made({"operators": [{"name": name, "placement": "host("}]})
    assert found["metadata"]["annotations"]["streams.ibm.com/placement"] == text


@pytest.mark.parametrize(
    ("pod", "launch"),
    [("pe-7", 7), ("pe-0", 0), ("pe-x", 0), ("pe", 0), ("7", 0), ("other-7", 0), ("pe-" + "9" * 20, 0)],
)
def test_the_launch_is_in_the_name(pod: str, launch: int) -> None:
    assert launch_of("pe", pod) == launch
    assert launch_of("pe", pod_name("pe", 12)) == 12


# The runtime's container


def test_without_a_template_it_is_the_container_of_the_runtime() -> None:
    found = container()
    assert {key: found[key] for key in ("name", "image", "imagePullPolicy", "livenessProbe")} == {
        "name": "pe",
        "image": "registry/streams:debug",
        "imagePullPolicy": "Always",
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": 8080},
            "initialDelaySeconds": 30,
            "failureThreshold": 1,
            "periodSeconds": 10,
        },
    }
    assert "resources" not in found


def test_it_has_no_more_rights_than_pod_security_restricted_lets_it_have() -> None:
    found = made()["spec"]
    assert found["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    context = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert [one["securityContext"] for one in found["containers"]] == [context]


def test_what_a_template_may_do_is_up_to_the_template() -> None:
    found = made({"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}})["spec"]
    assert "securityContext" not in found
    assert "securityContext" not in found["containers"][0]


def test_the_runtime_is_told_who_it_is() -> None:
    assert variables() == {
        "STREAMS_JOB_NAME": "parallel",
        "STREAMS_PE_NAME": "parallel-0",
        "STREAMS_LAUNCH_COUNT": "3",
        "STREAMS_TRANSPORT_CERTIFICATE_VALIDITY_DAYS": "30",
        "STREAMS_BUILD_TYPE": "debug",
        "STREAMS_RUNTIME_TRACE_LEVEL": "INFO",
        "STREAMS_TRANSPORT_SECURITY_TYPE": "none",
        "STREAMS_RUN_WITH_VALGRIND": "false",
    }


def test_options_of_an_element_are_those_of_its_container() -> None:
    options = {
        "buildType": "release",
        "imagePullPolicy": "IfNotPresent",
        "initialProbeDelayInSeconds": 5,
        "probeFailureThreshold": 2,
        "probeIntervalInSeconds": 7,
        "appTraceLevel": "DEBUG",
        "runtimeTraceLevel": "WARN",
        "transportSecurityType": "TLSv1.2",
        "sabName": "other.sab",
        "dataPath": "/var/data",
    }
    found, told = container(options), variables(options)
    assert (found["image"], found["imagePullPolicy"]) == ("registry/streams:release", "IfNotPresent")
    probe = {key: value for key, value in found["livenessProbe"].items() if key != "httpGet"}
    assert probe == {"initialDelaySeconds": 5, "failureThreshold": 2, "periodSeconds": 7}
    names = ("APP_TRACE_LEVEL", "RUNTIME_TRACE_LEVEL", "TRANSPORT_SECURITY_TYPE", "SAB_NAME", "DATA_PATH")
    assert [told[f"STREAMS_{name}"] for name in names] == ["DEBUG", "WARN", "TLSv1.2", "other.sab", "/var/data"]


def test_valgrind_needs_the_debug_build_and_ptrace() -> None:
    options = {"runWithValgrind": True, "buildType": "release", "allowPtrace": False}
    found = container(options)
    assert found["image"] == "registry/streams:debug"
    assert found["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["SYS_PTRACE"]}
    assert variables(options)["STREAMS_RUN_WITH_VALGRIND"] == "true"


def test_the_jobs_options_are_inherited() -> None:
    found = made(
        {}, imagePullSecret="mine", processingElement={"buildType": "release"}, submissionTimeValues={"a": "1"}
    )
    assert found["spec"]["imagePullSecrets"] == [{"name": "mine"}]
    assert found["spec"]["containers"][0]["image"] == "registry/streams:release"
    assert {"name": "STREAMS_SUBMISSION_TIME_VALUES", "value": '{"a":"1"}'} in found["spec"]["containers"][0]["env"]


def test_the_threading_model_and_the_certificates() -> None:
    told = variables({}, threadingModel={"dynamic": {"threadCount": 4}}, transportCertificateValidityInDays=7)
    assert told["STREAMS_THREADING_MODEL"] == '{"dynamic":{"threadCount":4}}'
    assert told["STREAMS_TRANSPORT_CERTIFICATE_VALIDITY_DAYS"] == "7"


# The bundle


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ({"http": {"url": "https://x/app.sab"}}, {"URL": "https://x/app.sab"}),
        ({"file": {"path": "/opt/app.sab"}}, {"PATH": "/opt/app.sab"}),
        ({"github": {"url": "https://g/app.sab"}}, {"URL": "https://g/app.sab"}),
        ({"pullPolicy": "Always"}, {"PULL_POLICY": "Always"}),
    ],
    ids=["http", "file", "github", "pull policy"],
)
def test_where_the_bundle_is(source: Json, told: Json) -> None:
    found = variables({}, bundle={"name": "app.sab", **source})
    expected = {"NAME": "app.sab", "PULL_POLICY": "IfNotPresent", **told}
    assert {name[15:]: value for name, value in found.items() if name.startswith("STREAMS_BUNDLE_")} == expected
    assert found["STREAMS_SAB_NAME"] == "app.sab"


def test_the_token_of_github_comes_from_its_secret() -> None:
    found = variables({}, bundle={"name": "app.sab", "github": {"url": "https://g/app.sab", "secret": "mine"}})
    assert found["STREAMS_GITHUB_TOKEN"] == {"secretKeyRef": {"name": "mine", "key": "token"}}


@pytest.mark.parametrize(("path", "file"), [({}, "ca.crt"), ({"subPath": "root.pem"}, "root.pem")])
def test_the_authority_of_the_bundle_is_a_volume(path: Json, file: str) -> None:
    source = {"url": "https://x/app.sab", "certificationAuthority": {"configMapName": "ca", **path}}
    bundle = {"name": "app.sab", "http": source}
    assert mounts(made({}, bundle=bundle))["/etc/streams/bundle-ca"] == {
        "name": "streams-bundle-ca",
        "configMap": {"name": "ca"},
        "mountPath": "/etc/streams/bundle-ca",
        "readOnly": True,
    }
    assert variables({}, bundle=bundle)["STREAMS_BUNDLE_CA"] == f"/etc/streams/bundle-ca/{file}"


# Volumes


def test_volumes() -> None:
    options = {
        "dataVolumeClaim": {"name": "claim", "subPath": "here"},
        "checkpointRepository": {"fileSystem": {"path": "/ckpt", "volumeClaim": {"name": "saved"}}},
        "appPropertiesSecret": "app",
        "restrictedPropertiesSecret": "restricted",
    }
    found = mounts(made(options))
    assert {path: (each["name"], each.get("subPath"), each.get("readOnly")) for path, each in found.items()} == {
        "/data": ("streams-data", "here", None),
        "/ckpt": ("streams-checkpoints", None, None),
        "/etc/streams/app-properties": ("streams-app-properties", None, True),
        "/etc/streams/restricted-properties": ("streams-restricted-properties", None, True),
    }
    assert found["/data"]["persistentVolumeClaim"] == {"claimName": "claim"}
    assert found["/etc/streams/app-properties"]["secret"] == {"secretName": "app"}
    told = variables(options)
    assert [told[f"STREAMS_{name}"] for name in ("DATA_PATH", "CHECKPOINT_TYPE", "CHECKPOINT_PATH")] == [
        "/data", "fileSystem", "/ckpt",
    ]  # fmt: skip


def test_the_data_volume_is_mounted_at_the_data_path() -> None:
    assert [*mounts(made({"dataPath": "/mine", "dataVolumeClaim": {"name": "claim"}}))] == ["/mine"]


def test_a_repository_in_a_file_system_needs_no_claim() -> None:
    assert "volumes" not in made({"checkpointRepository": {"fileSystem": {"path": "/ckpt"}}})["spec"]


def test_checkpoints_in_redis() -> None:
    redis = {"service": "redis", "replicaCount": 2, "shardCount": 3, "shuffle": True, "restrictedProperty": "password"}
    told = variables({"checkpointRepository": {"redis": redis}})
    found = {name[19:]: value for name, value in told.items() if name.startswith("STREAMS_CHECKPOINT_")}
    assert found == {
        "TYPE": "redis",
        "REDIS_SERVICE": "redis",
        "REDIS_REPLICA_COUNT": "2",
        "REDIS_SHARD_COUNT": "3",
        "REDIS_SHUFFLE": "true",
        "REDIS_RESTRICTED_PROPERTY": "password",
    }
    assert [*variables({"checkpointRepository": {"redis": {}}}).values()].count("redis") == 1


# Templates

PLAIN: Json = {"name": "main", "image": "busybox"}


def templated(element: Json | None = None, *containers: Json, metadata: Json | None = None, **job: Any) -> Json:
    template = {"metadata": metadata or {}, "spec": {"containers": [*(containers or (PLAIN,))], "hostNetwork": True}}
    found: Json = made({"template": template, **(element or {})}, **job)["spec"]
    return found


def test_a_template_is_the_pod() -> None:
    found = templated(None, bundle={"name": "app.sab"}, imagePullPolicy="Always")
    assert found == {"containers": [PLAIN], "hostNetwork": True, "restartPolicy": "Never"}


def test_a_template_without_metadata_is_one() -> None:
    assert made({"template": {"spec": {"containers": [PLAIN]}}})["spec"]["containers"] == [PLAIN]


@pytest.mark.parametrize(
    "more",
    [{"element": {"imagePullSecret": "s"}}, {"imagePullSecret": "s"}, {"processingElement": {"imagePullSecret": "s"}}],
    ids=["element", "job", "all elements"],
)
def test_a_pull_secret_is_added(more: Json) -> None:
    element = more.pop("element", None)
    assert templated(element, **more)["imagePullSecrets"] == [{"name": "s"}]


def test_a_pull_secret_is_added_once() -> None:
    spec = {"containers": [PLAIN], "imagePullSecrets": [{"name": "s"}]}
    found = made({"template": {"spec": spec}, "imagePullSecret": "s"})["spec"]
    assert found["imagePullSecrets"] == [{"name": "s"}]


def test_a_container_gets_what_is_stated() -> None:
    options = {"dataPath": "/d", "dataVolumeClaim": {"name": "claim"}, "allowPtrace": True}
    found = templated(
        options, {**PLAIN, "env": [{"name": "A", "value": "1"}]}, processingElement={"appTraceLevel": "INFO"}
    )
    assert found["containers"] == [
        {
            **PLAIN,
            "env": [
                {"name": "A", "value": "1"},
                {"name": "STREAMS_APP_TRACE_LEVEL", "value": "INFO"},
                {"name": "STREAMS_DATA_PATH", "value": "/d"},
            ],
            "volumeMounts": [{"name": "streams-data", "mountPath": "/d"}],
            "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}},
        }
    ]
    assert found["volumes"] == [{"name": "streams-data", "persistentVolumeClaim": {"claimName": "claim"}}]


def test_what_a_container_states_itself_stays() -> None:
    own = {"name": "STREAMS_DATA_PATH", "value": "/own"}
    context = {"runAsUser": 1, "capabilities": {"add": ["SYS_PTRACE", "NET_ADMIN"], "drop": ["ALL"]}}
    found = templated({"dataPath": "/d", "runWithValgrind": True}, {**PLAIN, "env": [own], "securityContext": context})
    assert found["containers"][0]["env"][0] == own
    assert [each["name"] for each in found["containers"][0]["env"]].count("STREAMS_DATA_PATH") == 1
    assert found["containers"][0]["securityContext"] == context


def test_probe_options_are_for_the_probe_of_the_container() -> None:
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    options = {"probeIntervalInSeconds": 9, "probeFailureThreshold": 4}
    found = templated(options, {**PLAIN, "livenessProbe": probe})["containers"][0]["livenessProbe"]
    assert found == {"exec": {"command": ["true"]}, "periodSeconds": 9, "failureThreshold": 4}
    assert "livenessProbe" not in templated(options)["containers"][0]


@pytest.mark.parametrize(
    ("containers", "annotation", "worker"),
    [
        ([{"name": "a"}, {"name": "pe"}], None, 1),
        ([{"name": "a"}, {"name": "pe"}], "a", 0),
        ([{"name": "a"}], None, 0),
        ([{"name": "a"}, {"name": "b"}], None, None),
        ([{"name": "a"}], "b", None),
    ],
    ids=["pe", "annotation", "the only one", "nobody knows", "no such container"],
)
def test_the_worker_gets_it(containers: list[Json], annotation: str | None, worker: int | None) -> None:
    annotations = {} if annotation is None else {"streams.ibm.com/container": annotation}
    found = templated({"dataPath": "/d"}, *containers, metadata={"annotations": annotations})
    assert [place for place, each in enumerate(found["containers"]) if "env" in each] == (
        [] if worker is None else [worker]
    )


NUMBER, TEXT = "5 is a whole number, expected a list", "found a mapping, expected a text"
HOSTILE = [
    pytest.param({"env": 5}, "env", NUMBER, id="environment"),
    pytest.param({"env": ["X"]}, "env[0]", '"X" is a text, expected a mapping', id="variable"),
    pytest.param({"env": [{"name": {}}]}, "env[0].name", TEXT, id="name of a variable"),
    pytest.param({"volumeMounts": 5}, "volumeMounts", NUMBER, id="mounts"),
    pytest.param({"livenessProbe": []}, "livenessProbe", "found a list, expected a mapping", id="probe"),
    pytest.param(
        {"securityContext": {"capabilities": {"add": 5}}}, "securityContext.capabilities.add", NUMBER, id="added"
    ),
    pytest.param(
        {"securityContext": {"capabilities": {"add": [{}]}}},
        "securityContext.capabilities.add[0]",
        TEXT,
        id="capability",
    ),
]

ASKS_MUCH: Json = {
    "allowPtrace": True,
    "imagePullSecret": "registry",
    "dataVolumeClaim": {"name": "data"},
    "appTraceLevel": "INFO",
}


@pytest.mark.parametrize(("said", "where", "why"), HOSTILE)
def test_a_template_of_other_types_is_left_to_the_api_server(said: Json, where: str, why: str) -> None:
    spec = {"containers": [{"name": "pe", **said}]}
    element = {"template": {"spec": spec}, **ASKS_MUCH}
    assert made(element)["spec"] == {**spec, "restartPolicy": "Never"}
    stated = msgspec.convert({"job": "parallel", **element}, ProcessingElementSpec)
    [problem] = problems_of_element("parallel-0", stated)
    assert (problem.field, problem.message) == (f"spec.template.spec.containers[0].{where}", why)


@pytest.mark.parametrize("part", ["imagePullSecrets", "volumes"])
def test_lists_of_a_template_are_lists(part: str) -> None:
    spec = {"containers": [{"name": "pe"}], part: 5}
    assert made({"template": {"spec": spec}, **ASKS_MUCH})["spec"] == {**spec, "restartPolicy": "Never"}


@pytest.mark.parametrize("template", [{}, {"spec": 5}, {"spec": {"containers": None}}, {"metadata": 5, "spec": {}}])
def test_any_template_makes_a_pod(template: Json) -> None:
    assert made({"template": template, **ASKS_MUCH})["kind"] == "Pod"
