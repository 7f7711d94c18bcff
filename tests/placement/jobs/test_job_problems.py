"""What is wrong with the spec of a Job, or of a ProcessingElement."""

from typing import Any

import msgspec
import pytest

from webhook.placement.elements.environment import VALUES_LIMIT, values_text
from webhook.placement.jobs.named_pools import pool_clauses, undeclared_pools
from webhook.placement.jobs.problems import pool_object_name, problems_of_element, problems_of_job
from webhook.placement.kube.names import is_object_name
from webhook.placement.objects.jobs.job_spec import JobSpec, ProcessingElementSpec
from webhook.placement.text.problem import Problem

BUNDLE: dict[str, Any] = {"name": "a.sab"}
TEMPLATE: dict[str, Any] = {"spec": {"containers": [{"name": "c"}]}}


def told(problems: Any) -> list[str]:
    assert all(isinstance(problem, Problem) for problem in problems)
    return [f"{problem.field}: {problem.message}" for problem in problems]


def job(*elements: dict[str, Any], **spec: Any) -> JobSpec:
    return msgspec.convert({"bundle": BUNDLE, "processingElements": elements, **spec}, JobSpec)


def problems(*elements: dict[str, Any], **spec: Any) -> list[str]:
    return told(list(problems_of_job("parallel", job(*elements, **spec))))


WHOLE: dict[str, Any] = {
    "bundle": {"name": "a.sab", "pullPolicy": "IfNotPresent", "http": {"url": "https://x/a.sab"}},
    "fusion": {"type": "channelIsolation", "automatic": False, "manual": 3},
    "threadingModel": {"dynamic": {"elastic": True, "threadCount": 4}},
    "imagePullPolicy": "IfNotPresent",
    "imagePullSecret": "registry",
    "submissionTimeOutInSeconds": 60,
    "submissionTimeValues": {"rate": "5"},
    "transportCertificateValidityInDays": 7,
    "resources": {"requests": {"cpu": "4", "memory": "4Gi"}, "limits": {"cpu": "8"}},
    "processingElement": {
        "buildType": "debug",
        "transportSecurityType": "TLSv1.2",
        "appTraceLevel": "DEBUG",
        "dataPath": "/data",
        "dataVolumeClaim": {"name": "data", "subPath": "a/b"},
        "checkpointRepository": {"fileSystem": {"path": "/checkpoints", "volumeClaim": {"name": "claim"}}},
        "runWithValgrind": True,
        "resources": {"requests": {"cpu": "1"}},
    },
    "hostPools": [{"name": "P", "tags": ["a"]}, {"name": "Q", "size": 2, "job": "parallel"}],
}


def test_a_job_may_say_all_of_it() -> None:
    elements = {"operators": [{"name": "Main.Sink[0]", "placement": "host(P)"}]}, {"name": "b", "template": TEMPLATE}
    assert problems(*elements, **WHOLE) == []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            {"fusion": {"automatic": True, "manual": 2}},
            "spec.fusion: automatic and manual exclude each other: state one kind of fusion",
            id="two kinds of fusion",
        ),
        pytest.param({"fusion": {"manual": 0}}, "spec.fusion.manual: 0 is less than 1", id="no elements"),
        pytest.param(
            {"fusion": {"type": "x"}},
            'spec.fusion.type: "x" is not one of noChannelInfluence, channelIsolation, channelExlocation',
            id="type of fusion",
        ),
        pytest.param(
            {"threadingModel": {"manual": True, "dedicated": True}},
            "spec.threadingModel: dedicated and manual exclude each other: state one threading model",
            id="two threading models",
        ),
        pytest.param(
            {"threadingModel": {"dynamic": {"threadCount": 0}}},
            "spec.threadingModel.dynamic.threadCount: 0 is less than 1",
            id="no threads",
        ),
        pytest.param(
            {"imagePullPolicy": "Never"},
            'spec.imagePullPolicy: "Never" is not one of Always, IfNotPresent',
            id="pull policy",
        ),
        pytest.param({"imagePullSecret": "A b"}, 'spec.imagePullSecret: "A b" is not an object name', id="pull secret"),
        pytest.param(
            {"submissionTimeOutInSeconds": 0},
            "spec.submissionTimeOutInSeconds: 0 is less than 1",
            id="no time for a submission",
        ),
        pytest.param(
            {"transportCertificateValidityInDays": 0},
            "spec.transportCertificateValidityInDays: 0 is less than 1",
            id="no time for a certificate",
        ),
        pytest.param(
            {"bundle": {"name": "a", "http": {"url": "https://x"}, "file": {"path": "/a"}}},
            "spec.bundle: http and file exclude each other: state one source",
            id="two sources",
        ),
        pytest.param({"bundle": {}}, "spec.bundle.name: missing: a bundle has a name", id="no name of a bundle"),
        pytest.param(
            {"bundle": {"name": "a", "pullPolicy": "Never"}},
            'spec.bundle.pullPolicy: "Never" is not one of Always, IfNotPresent',
            id="pull policy of a bundle",
        ),
        pytest.param(
            {"bundle": {"name": "a", "http": {}}},
            "spec.bundle.http.url: missing: the location of the bundle",
            id="no URL",
        ),
        pytest.param(
            {"bundle": {"name": "a", "http": {"url": "https://x", "certificationAuthority": {}}}},
            "spec.bundle.http.certificationAuthority.configMapName: missing: the name of a ConfigMap",
            id="no ConfigMap",
        ),
        pytest.param(
            {"bundle": {"name": "a", "file": {}}},
            "spec.bundle.file.path: missing: the location of the bundle",
            id="no path",
        ),
        pytest.param(
            {"bundle": {"name": "a", "github": {}}},
            "spec.bundle.github.url: missing: the location of the bundle",
            id="no URL at GitHub",
        ),
        pytest.param(
            {"bundle": {"name": "a", "github": {"secret": "token"}}},
            'spec.bundle.github.url: missing: the location of the bundle; the secret "token" is for that url',
            id="a secret without an URL",
        ),
        pytest.param(
            {"bundle": {"name": "a", "github": {"url": "https://github.com/a/b", "secret": "token"}}},
            'spec.bundle.github.url: "https://github.com/a/b" does not have the form '
            "https://api.HOST/repos/USER/REPOSITORY/contents/PATH.sab, which a secret needs",
            id="a secret with an URL of another form",
        ),
        pytest.param(
            {"hostPools": [{"size": 1}]},
            "spec.hostPools[0].name: missing: the name of the pool in host(...)",
            id="no name",
        ),
        pytest.param(
            {"hostPools": [{"name": "P", "job": "other"}]},
            'spec.hostPools[0].job: "other" is another Job: leave it out',
            id="another job's pool",
        ),
        pytest.param(
            {"hostPools": [{"name": "P", "size": 0}]},
            "spec.hostPools[0].size: 0 is not between 1 and 5000",
            id="the rules of a pool",
        ),
        pytest.param(
            {"hostPools": [{"name": "P"}, {"name": "P", "size": 1}]},
            'spec.hostPools[1].name: "P" is also spec.hostPools[0].name',
            id="a pool twice",
        ),
        pytest.param(
            {"hostPools": [{"name": "My_Pool"}, {"name": "my-pool"}]},
            'spec.hostPools[1].name: makes the HostPool object "parallel-my-pool", as spec.hostPools[0].name does',
            id="two pools of one object",
        ),
        pytest.param(
            {"hostPools": [{"name": f"P{at}"} for at in range(101)]},
            "spec.hostPools: 101 of them, at most 100 are allowed",
            id="too many pools",
        ),
        pytest.param(
            {"processingElement": {"buildType": "x"}},
            'spec.processingElement.buildType: "x" is not one of debug, release',
            id="an option for all",
        ),
    ],
)
def test_a_rule_of_the_job_that_is_broken_is_a_problem(spec: dict[str, Any], expected: str) -> None:
    assert problems(**spec) == [expected]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"imagePullPolicy": "x"}, 'imagePullPolicy: "x" is not one of Always, IfNotPresent'),
        ({"transportSecurityType": "SSL"}, 'transportSecurityType: "SSL" is not one of none, TLSv1.2'),
        ({"appTraceLevel": "x"}, 'appTraceLevel: "x" is not one of OFF, ERROR, WARN, INFO, DEBUG, TRACE'),
        ({"runtimeTraceLevel": "x"}, 'runtimeTraceLevel: "x" is not one of OFF, ERROR, WARN, INFO, DEBUG, TRACE'),
        ({"initialProbeDelayInSeconds": -1}, "initialProbeDelayInSeconds: -1 is less than 0"),
        ({"probeFailureThreshold": 0}, "probeFailureThreshold: 0 is less than 1"),
        ({"probeIntervalInSeconds": 0}, "probeIntervalInSeconds: 0 is less than 1"),
        ({"imagePullSecret": "_"}, 'imagePullSecret: "_" is not an object name'),
        ({"appPropertiesSecret": "_"}, 'appPropertiesSecret: "_" is not an object name'),
        ({"restrictedPropertiesSecret": "_"}, 'restrictedPropertiesSecret: "_" is not an object name'),
        (
            {"runWithValgrind": True, "allowPtrace": False},
            "runWithValgrind: implies allowPtrace: true and buildType: debug; remove allowPtrace: false",
        ),
        (
            {"runWithValgrind": True, "buildType": "release"},
            "runWithValgrind: implies allowPtrace: true and buildType: debug; remove buildType: release",
        ),
        ({"dataPath": "data"}, 'dataPath: "data" is not an absolute path'),
        ({"dataVolumeClaim": {}}, "dataVolumeClaim.name: missing: the name of a PersistentVolumeClaim"),
        (
            {"dataVolumeClaim": {"name": "a", "subPath": "a/../b"}},
            'dataVolumeClaim.subPath: "a/../b" is not a path within the claim',
        ),
        (
            {
                "checkpointRepository": {
                    "fileSystem": {"path": "/a", "volumeClaim": {"name": "a"}},
                    "redis": {"service": "r"},
                }
            },
            "checkpointRepository: fileSystem and redis exclude each other: state one store of checkpoints",
        ),
        (
            {"checkpointRepository": {"fileSystem": {"path": "a", "volumeClaim": {"name": "a"}}}},
            'checkpointRepository.fileSystem.path: "a" is not an absolute path',
        ),
        (
            {"checkpointRepository": {"fileSystem": {"path": "/a"}}},
            "checkpointRepository.fileSystem.volumeClaim: missing: checkpoints must outlive the pod",
        ),
        ({"checkpointRepository": {}}, "checkpointRepository: missing: fileSystem or redis"),
        (
            {"checkpointRepository": {"redis": {"shardCount": 1}}},
            "checkpointRepository.redis.service: missing: the name of a Service",
        ),
        (
            {"checkpointRepository": {"redis": {"service": "r", "replicaCount": 0}}},
            "checkpointRepository.redis.replicaCount: 0 is less than 1",
        ),
        ({"resources": {"requests": {"cpu": "x"}}}, 'resources.requests[cpu]: "x" is not an amount of 0 or more'),
        ({"name": "A"}, "name: \"A\" is not an object name of at most 63 characters: a-z, 0-9, '-' and '.'"),
        ({"operators": [{"name": "a b"}]}, 'operators[0].name: "a b" is not an operator name, such as Main.Sink[0]'),
        ({"operators": [{"name": ""}]}, 'operators[0].name: "" is not an operator name, such as Main.Sink[0]'),
        (
            {"operators": [{"name": "A", "placement": "B: hostIsolation"}]},
            'operators[0].placement: "B" is another operator: each has a placement of its own',
        ),
        (
            {"operators": [{"name": f"A{at}"} for at in range(1001)]},
            "operators: 1001 of them, at most 1000 are allowed",
        ),
        (
            {"template": {"spec": {"containers": "x"}}},
            'template.spec.containers: "x" is a text, expected a list',
        ),
        ({"template": {}}, "template.spec.containers: missing: a pod needs a container"),
        (
            {"template": {"spec": {"containers": [{"name": "c"}], "restartPolicy": "Always"}}},
            (
                'template.spec.restartPolicy: "Always" is not Never: restartFailedPod and '
                "restartCompletedPod decide whether a pod is restarted"
            ),
        ),
        (
            {"template": {**TEMPLATE, "metadata": {"labels": {"streams.ibm.com/job": "x", "app": "y"}}}},
            "template.metadata.labels[streams.ibm.com/job]: is set for the pods of a Job, and cannot be stated",
        ),
    ],
)
def test_a_rule_of_an_element_that_is_broken_is_a_problem(options: dict[str, Any], expected: str) -> None:
    assert problems(options) == [f"spec.processingElements[0].{expected}"]


def test_a_secret_is_for_a_file_at_github() -> None:
    url = "https://api.github.com/repos/user/apps/contents/a/b.sab"
    assert problems(bundle={"name": "b.sab", "github": {"url": url, "secret": "token"}}) == []


def test_a_placement_that_does_not_parse_is_shown() -> None:
    [problem] = problems_of_job("parallel", job({"operators": [{"name": "A", "placement": "host("}]}))
    assert (problem.field, problem.text, problem.offset) == (
        "spec.processingElements[0].operators[0].placement", "host(", 5,
    )  # fmt: skip


def test_the_runtime_needs_a_bundle_and_a_template_does_not() -> None:
    assert problems({"template": TEMPLATE}, bundle=None) == []
    assert problems({}, {}, bundle=None) == [
        "spec.bundle: missing, and the element has no template: the Streams runtime needs a bundle to run"
    ]


def test_names_are_said_once() -> None:
    elements = {"name": "parallel-1", "operators": [{"name": "A"}]}, {"operators": [{"name": "A"}]}
    assert problems(*elements) == [
        'spec.processingElements[1].name: "parallel-1" is also spec.processingElements[0].name',
        'spec.processingElements[1].operators[0].name: "A" is also spec.processingElements[0].operators[0].name',
    ]


def test_a_thousand_elements_are_enough() -> None:
    assert problems(*[{}] * 1001) == ["spec.processingElements: 1001 of them, at most 1000 are allowed"]


FRACTION = (
    "divided among 2 processing elements it leaves a fraction of a cpu, and spec.processingElements[1] is to have "
    "cores of its own (kubernetes.bind.worker.to.cpu)"
)


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"requests": {"cpu": "1m"}}, [('requests[cpu]: "1m" among 2 processing elements leaves nothing for each: '
                                       "state at least 2m")]),
        ({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}, ['requests[cpu]: "2" is more than the limit, "1"']),
        ({"requests": {"cpu": "3"}}, [f"requests[cpu]: {FRACTION}"]),
        ({"limits": {"cpu": "3"}}, [f"limits[cpu]: {FRACTION}"]),
        ({"limits": {"cpu": "3"}, "requests": {"memory": "2Gi"}}, [f"limits[cpu]: {FRACTION}"]),
        ({"limits": {"cpu": "4"}}, []),
    ],
)  # fmt: skip
def test_what_the_job_states_must_do_for_each_element(resources: dict[str, Any], expected: list[str]) -> None:
    bound = {"metadata": {"annotations": {"streams.ibm.com/kubernetes.bind.worker.to.cpu": "true"}}, **TEMPLATE}
    found = problems({"template": {"metadata": None, **TEMPLATE}}, {"template": bound}, resources=resources)
    assert found == [f"spec.resources.{text}" for text in expected]


def test_submission_time_values_fit_into_a_variable() -> None:
    values = {f"a{at}": "x" * 4096 for at in range(31)}
    longest = VALUES_LIMIT - len(values_text(values | {"a": ""}))
    assert problems(submissionTimeValues=values | {"a": "x" * longest}) == []
    assert problems(submissionTimeValues=values | {"a": "x" * (longest + 1)}) == [
        "spec.submissionTimeValues: 131041 bytes as JSON: a container can be started with at most 131040"
    ]


def test_resources_without_elements_are_no_problem() -> None:
    assert problems(resources={"requests": {"cpu": "1m"}}) == []


@pytest.mark.parametrize(
    ("placement", "expected"),
    [
        ("host(P)", []),
        ("host(P[1])", []),
        ("host(Known), hostIsolation", []),
        ('host("node-a")', []),
        ("host($default)", []),
        ("host(", []),
        ("host(R)", ['the Job declares no HostPool "R"; known HostPools: Known, L, P, U']),
        ("host(P[2])", ["host(P[2]): HostPool P has 2 hosts, index 0 to 1"]),
        ("host(L[1])", ["host(L[1]): HostPool L has 1 host, index 0 only"]),
        ("host(U[0])", ["host(U[0]): HostPool U has no size, so its hosts have no index"]),
    ],
)
def test_pools_are_declared(placement: str, expected: list[str]) -> None:
    pools = [{"name": "P", "size": 2}, {"name": "L", "hosts": ["a"]}, {"name": "U"}]
    spec = job({"operators": [{"name": "A", "placement": placement}]}, hostPools=pools)
    found = told(list(undeclared_pools(pool_clauses(spec), spec, {"Known"})))
    assert found == [f"spec.processingElements[0].operators[0].placement: {text}" for text in expected]


@pytest.mark.parametrize("placement", ["host(R)", "host(P[2])", "host(U[0])"])
def test_pools_that_are_only_preferred_need_not_be_declared(placement: str) -> None:
    template = {"metadata": {"annotations": {"streams.ibm.com/preferred": "host"}}, **TEMPLATE}
    pools = [{"name": "P", "size": 2}, {"name": "U"}]
    spec = job({"operators": [{"name": "A", "placement": placement}], "template": template}, hostPools=pools)
    assert told(list(undeclared_pools(pool_clauses(spec), spec, {"Known"}))) == []


def with_placement(text: str) -> dict[str, Any]:
    return {"metadata": {"annotations": {"streams.ibm.com/placement": text}}, **TEMPLATE}


OWN = "template.metadata.annotations[streams.ibm.com/placement]"


def test_pools_that_a_template_names_are_declared() -> None:
    spec = job({"template": with_placement("host(R)")})
    assert told(list(undeclared_pools(pool_clauses(spec), spec, ()))) == [
        f'spec.processingElements[0].{OWN}: the Job declares no HostPool "R"; neither the Job nor its namespace has any'
    ]


def test_the_placement_of_a_template_is_one() -> None:
    [found] = problems({"template": with_placement("hots(P)")})
    assert found.startswith(f"spec.processingElements[0].{OWN}: ")


def test_the_operators_of_an_element_have_room_in_one_text() -> None:
    operators = [{"name": f"A{number}", "placement": "hostIsolation"} for number in range(65)]
    assert problems({"operators": operators[:64]}) == []
    [found] = problems({"operators": operators})
    assert found == (
        "spec.processingElements[0].operators: the placement of all operators is one annotation of the pod: "
        "too many placement clauses: at most 64 are allowed"
    )


def test_a_job_that_declares_no_pool_says_so() -> None:
    spec = job({"operators": [{"name": "A", "placement": "host(R)"}, {"name": "B"}]})
    [found] = told(list(undeclared_pools(pool_clauses(spec), spec, ())))
    assert found == (
        'spec.processingElements[0].operators[0].placement: the Job declares no HostPool "R"; '
        "neither the Job nor its namespace has any"
    )


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"job": "parallel"}, []),
        ({}, ["spec.job: missing: a ProcessingElement belongs to a Job"]),
        ({"job": "j", "launchCount": 0}, ["spec.launchCount: 0 is less than 1"]),
        ({"job": "j", "buildType": "x"}, ['spec.buildType: "x" is not one of debug, release']),
    ],
)
def test_an_element_has_rules_of_its_own(spec: dict[str, Any], expected: list[str]) -> None:
    found = problems_of_element("parallel-0", msgspec.convert(spec, ProcessingElementSpec))
    assert told(list(found)) == expected


def test_the_name_of_an_element_is_that_of_an_object() -> None:
    found = told(list(problems_of_element("a" * 64, ProcessingElementSpec(job="j"))))
    assert found == [
        f"metadata.name: \"{'a' * 64}\" is not an object name of at most 63 characters: a-z, 0-9, '-' and '.'"
    ]


@pytest.mark.parametrize(
    ("pool", "name"),
    [
        ("My_Pool", "j-my-pool"),
        ("P1", "j-p1"),
        ("__", "j-pool"),
        ("a.b", "j-a.b"),
        ("a..b", "j-a-b"),
        ("a._b", "j-a-b"),
        ("a-.b", "j-a-b"),
    ],
)
def test_the_object_of_a_pool_has_a_name_that_objects_can_have(pool: str, name: str) -> None:
    assert pool_object_name("j", pool) == name
    assert is_object_name(name)
