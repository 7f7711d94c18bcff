"""The API server refuses Jobs and ProcessingElements that break a rule, and stores the others unchanged."""

import http
import json
import subprocess
import sys
from typing import Any, Final

import msgspec
import pytest

from tests.e2e.chart.objects.hostpools import POOLS, SPACE, pool
from tests.e2e.chart.objects.jobs import (
    BUNDLE,
    CLAIM,
    ELEMENTS,
    FULL,
    JOBS,
    TEMPLATE,
    Spec,
    element,
    job,
    of,
    operators,
)
from tests.e2e.client.api import MERGE, Api, RefusedError
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.polling import until
from webhook.placement.jobs.problems import problems_of_job
from webhook.placement.objects.jobs.job_spec import JobSpec, ProcessingElementSpec

DEFAULTS: Final = {"submissionTimeOutInSeconds": 300, "transportCertificateValidityInDays": 30}


@pytest.fixture(scope="module")
def jobs(pools: Api) -> Api:
    """An API server that knows Jobs and ProcessingElements, too."""
    for path in (JOBS, ELEMENTS):
        until(lambda path=path: pools.send("GET", path).code == http.HTTPStatus.OK, f"{path} is served")
    return pools


def ask(api: Api, spec: object, name: str = "parallel") -> Any:
    """The spec that would be stored."""
    return api.call("POST", f"{JOBS}?dryRun=All", job(spec, name)).body["spec"]


GOOD: Final[dict[str, Spec]] = {
    "as short as can be": {},
    "the sample of the instance operator": {"bundle": BUNDLE, "fusion": {"manual": 3}},
    "something in every field": FULL,
    "a file": {"bundle": {**BUNDLE, "file": {"path": "a.sab"}}},
    "a repository": {"bundle": {**BUNDLE, "github": {"url": "https://example.com/a.sab"}}},
    "a private repository": {
        "bundle": {
            **BUNDLE,
            "github": {"url": "https://api.github.com/repos/u/r/contents/p/a.sab", "secret": "token"},
        }
    },
    "release, and no word of valgrind": of(buildType="release", runWithValgrind=False),
    "everything said no to": {"fusion": {"automatic": False, "legacy": False}, "threadingModel": {"manual": False}},
    "1000 elements of 4 operators": {
        "bundle": BUNDLE,
        "processingElements": [{"operators": [{"name": f"o{at}_{one}"} for one in range(4)]} for at in range(1000)],
    },
    "a template of its own": of(template={**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}),
}

E0: Final = "spec.processingElements[0]"

BAD: Final[dict[str, tuple[Spec, str]]] = {
    "two kinds of fusion": (
        {"fusion": {"automatic": True, "manual": 3}},
        "spec.fusion: Forbidden: automatic, legacy and manual exclude each other",
    ),
    "two other kinds of fusion": ({"fusion": {"automatic": True, "legacy": True}}, "spec.fusion: Forbidden"),
    "no processing element": ({"fusion": {"manual": 0}}, "spec.fusion.manual: Invalid value: 0"),
    "an unknown type of fusion": ({"fusion": {"type": "no"}}, 'spec.fusion.type: Unsupported value: "no"'),
    "two threading models": (
        {"threadingModel": {"dynamic": {}, "dedicated": True}},
        "spec.threadingModel: Forbidden: automatic, dedicated, dynamic and manual exclude each other",
    ),
    "two sources": (
        {"bundle": {**BUNDLE, "file": {"path": "a"}, "github": {"url": "https://example.com/a.sab"}}},
        "spec.bundle: Forbidden: http, file and github exclude each other",
    ),
    "a bundle without a name": ({"bundle": {"file": {"path": "a"}}}, "spec.bundle.name: Required value"),
    "a secret without a url": (
        {"bundle": {**BUNDLE, "github": {"secret": "token"}}},
        "spec.bundle.github.url: Required value",
    ),
    "a secret for another url": (
        {"bundle": {**BUNDLE, "github": {"secret": "token", "url": "https://github.com/u/r/a.sab"}}},
        "spec.bundle.github.url: Invalid value: must have the form https://api.HOST/repos/USER/REPOSITORY/contents/",
    ),
    "valgrind in a release": (
        of(runWithValgrind=True, buildType="release"),
        f"{E0}.buildType: Invalid value: must be debug, as runWithValgrind needs it",
    ),
    "valgrind without ptrace": (
        of(runWithValgrind=True, allowPtrace=False),
        f"{E0}.allowPtrace: Invalid value: must not be false, as runWithValgrind needs it",
    ),
    "the same for all": (
        {"processingElement": {"runWithValgrind": True, "allowPtrace": False}},
        "spec.processingElement.allowPtrace: Invalid value",
    ),
    "two stores of checkpoints": (
        of(
            checkpointRepository={
                "fileSystem": {"path": "/c", "volumeClaim": CLAIM},
                "redis": {"service": "redis"},
            }
        ),
        f"{E0}.checkpointRepository: Invalid value: must be either fileSystem or redis",
    ),
    "a path out of the claim": (
        of(dataVolumeClaim={"name": "data", "subPath": "a/../../b"}),
        f"{E0}.dataVolumeClaim.subPath: Invalid value",
    ),
    "a data path that is relative": (of(dataPath="data"), f"{E0}.dataPath: Invalid value"),
    "a negative amount": (of(resources={"requests": {"cpu": "-1"}}), f"{E0}.resources.requests.cpu: Invalid value"),
    "no amount": (of(resources={"limits": {"memory": "1mb"}}), f"{E0}.resources.limits.memory: Invalid value"),
    "an unknown level": (of(appTraceLevel="info"), f'{E0}.appTraceLevel: Unsupported value: "info"'),
    "a name in capitals": (of(name="Source"), f"{E0}.name: Invalid value"),
    "an operator without a name": (of(operators=[{}]), f"{E0}.operators[0].name: Required value"),
    "an operator twice": (operators("A", "B", "A"), f"{E0}.operators[2]: Duplicate value"),
    "pods that the kubelet restarts": (
        of(template={"spec": {"containers": [{"name": "c"}], "restartPolicy": "Always"}}),
        f'{E0}.template.spec.restartPolicy: Unsupported value: "Always": supported values: "Never"',
    ),
    "a template without containers": (of(template={"spec": {}}), f"{E0}.template.spec.containers: Required value"),
    "a pool without a name": ({"hostPools": [{"size": 1}]}, "spec.hostPools[0].name: Required value"),
    "a pool twice": ({"hostPools": [{"name": "P"}, {"name": "P"}]}, "spec.hostPools[1]: Duplicate value"),
    "a pool of another job": (
        {"hostPools": [{"name": "P", "job": "other"}]},
        "spec.hostPools: Invalid value: a HostPool of a Job is for this Job: leave out job",
    ),
    "an exclusive pool without a size": (
        {"hostPools": [{"name": "P", "mode": "Exclusive"}]},
        "spec.hostPools[0].size: Required value: missing, an Exclusive pool must state how many hosts it takes",
    ),
    "101 pools": ({"hostPools": [{"name": f"P{at}"} for at in range(101)]}, "spec.hostPools: Too many: 101"),
    "1001 elements": ({"processingElements": [{}] * 1001}, "spec.processingElements: Too many: 1001"),
}


def refused_by_admission(spec: Spec) -> list[str]:
    try:
        return [problem.field for problem in problems_of_job("parallel", msgspec.convert(spec, JobSpec))]
    except msgspec.ValidationError as error:
        return [str(error)]


@pytest.mark.parametrize("spec", GOOD.values(), ids=GOOD)
def test_a_good_job_is_taken_by_both_as_it_stands(jobs: Api, spec: Spec) -> None:
    assert ask(jobs, spec) == DEFAULTS | spec
    assert refused_by_admission(spec) == []


@pytest.mark.parametrize("spec", [spec for spec, _ in BAD.values()], ids=BAD)
def test_what_the_api_server_refuses_admission_refuses_as_well(spec: Spec) -> None:
    assert refused_by_admission(spec)


@pytest.mark.parametrize(("spec", "said"), BAD.values(), ids=BAD)
def test_a_bad_job_is_refused_at_the_field(jobs: Api, spec: Spec, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        ask(jobs, spec)
    assert (refused.value.code, said in refused.value.message) == (422, True), refused.value.message


def test_a_job_needs_a_spec(jobs: Api) -> None:
    without = {key: value for key, value in job({}).items() if key != "spec"}
    with pytest.raises(RefusedError, match="spec: Required value"):
        jobs.call("POST", f"{JOBS}?dryRun=All", without)


NAMES: Final[dict[str, tuple[int, list[Spec], str]]] = {
    "a Job that is not a label value": (64, [], "the name of a Job is a label value: at most 63 characters"),
    "elements that could be no label values": (
        60,
        [{"name": "a"}, {}],
        "the name of the Job has more than 59 characters, so that <job>-<index> may be no label value",
    ),
}


@pytest.mark.parametrize(("length", "elements", "said"), NAMES.values(), ids=NAMES)
def test_a_name_is_refused_if_pods_could_not_carry_it(jobs: Api, length: int, elements: list[Spec], said: str) -> None:
    with pytest.raises(RefusedError, match=said):
        ask(jobs, {"processingElements": elements}, "x" * length)


@pytest.mark.parametrize(("length", "elements"), [(63, [{"name": "a"}]), (59, [{}])])
def test_names_of_the_greatest_length_are_taken(jobs: Api, length: int, elements: list[Spec]) -> None:
    ask(jobs, {"processingElements": elements}, "x" * length)


# ProcessingElements


def test_a_processing_element_is_taken_as_the_job_states_it(jobs: Api) -> None:
    for at, stated in enumerate(FULL["processingElements"]):
        spec = {**stated, "job": "parallel", "contentId": "0f3a"}
        name = stated.get("name", f"parallel-{at}")
        made = jobs.call("POST", f"{ELEMENTS}?dryRun=All", element(spec, name)).body["spec"]
        assert made == {**spec, "launchCount": 1}
        msgspec.convert(made, ProcessingElementSpec)


LONE: Final[dict[str, tuple[Spec, str]]] = {
    "no Job": ({}, "spec.job: Required value"),
    "no launch": ({"job": "parallel", "launchCount": 0}, "spec.launchCount: Invalid value: 0"),
    "another name": (
        {"job": "parallel", "name": "other"},
        "spec.name: Invalid value: must equal metadata.name, if set",
    ),
    "valgrind in a release": (
        {"job": "parallel", "runWithValgrind": True, "buildType": "release"},
        "spec.buildType: Invalid value: must be debug, as runWithValgrind needs it",
    ),
}


@pytest.mark.parametrize(("spec", "said"), LONE.values(), ids=LONE)
def test_a_bad_processing_element_is_refused_at_the_field(jobs: Api, spec: Spec, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        jobs.call("POST", f"{ELEMENTS}?dryRun=All", element(spec))
    assert (refused.value.code, said in refused.value.message) == (422, True), refused.value.message


def test_the_name_of_a_processing_element_is_a_label_value(jobs: Api) -> None:
    with pytest.raises(RefusedError, match="the name of a ProcessingElement is a label value: at most 63 characters"):
        jobs.call("POST", f"{ELEMENTS}?dryRun=All", element({"job": "parallel"}, "x" * 64))


@pytest.fixture(scope="module")
def kept(jobs: Api) -> str:
    """The path of a ProcessingElement that is stored, with its fifth launch."""
    jobs.call("POST", ELEMENTS, element({"job": "parallel", "launchCount": 5}, "kept"))
    return f"{ELEMENTS}/kept"


CHANGES: Final[dict[str, tuple[Spec, str]]] = {
    "its Job": (
        {"job": "other"},
        "spec.job: Invalid value: cannot be changed: create another ProcessingElement instead",
    ),
    "fewer launches": (
        {"launchCount": 4},
        "spec.launchCount: Invalid value: cannot be decreased: every launch has its own number",
    ),
    "no launches": ({"launchCount": None}, "spec.launchCount: Invalid value: cannot be decreased"),
}


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES)
def test_a_change_that_would_lose_something_is_refused(jobs: Api, kept: str, change: Spec, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        jobs.call("PATCH", f"{kept}?dryRun=All", {"spec": change}, content=MERGE)
    assert (refused.value.code, said in refused.value.message) == (422, True), refused.value.message


def test_a_launch_count_is_raised_and_options_are_changed(jobs: Api, kept: str) -> None:
    change = {"launchCount": 6, "buildType": "release", "contentId": "1"}
    made = jobs.call("PATCH", f"{kept}?dryRun=All", {"spec": change}, content=MERGE).body
    assert made["spec"] == {"job": "parallel", **change}


# kubectl

WORDS: Final = {
    "Job": ("stj", "streamsjob", "streamsjobs", "streams"),
    "ProcessingElement": ("stp", "processingelement", "processingelements", "streamspe", "streamspes", "streams"),
    "ParallelRegion": ("stpr", "parallelregion", "parallelregions", "streamsparallelregion", "streams"),
}


@pytest.mark.parametrize("word", [word for words in WORDS.values() for word in words])
@pytest.mark.usefixtures("jobs")
def test_kubectl_finds_them_by(unattended: BarePlane, word: str) -> None:
    done = unattended.kubectl("get", word, "--namespace", SPACE)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("jobs")
def test_kubectl_refuses_an_unknown_field(unattended: BarePlane) -> None:
    asked = json.dumps(job(of(restartFailedPods=True)))
    done = unattended.kubectl("apply", "--dry-run=server", "-f", "-", stdin=asked)
    assert f'unknown field "{E0}.restartFailedPods"' in done.stderr


def condition(message: str) -> Spec:
    return {"type": "Ready", "status": "False", "reason": "Waiting", "message": message}


def test_kubectl_shows_how_a_job_stands(unattended: BarePlane, jobs: Api) -> None:
    jobs.call("POST", JOBS, job({}, "shown"))
    counts = {"processingElements": 3, "running": 2, "waiting": 1, "failed": 0, "completed": 0}
    conditions = [{**condition("x"), "type": "Submitted"}, condition("parallel-2 has no node")]
    status = {"phase": "Degraded", **counts, "pools": 2, "readyPools": 1, "conditions": conditions}
    jobs.call("PATCH", f"{JOBS}/shown/status", {"status": status}, content=MERGE)
    head, row = unattended.kubectl("get", "stj", "shown", "--namespace", SPACE).stdout.splitlines()
    assert head.split() == ["NAME", "STATUS", "PES", "RUNNING", "WAITING", "FAILED", "AGE"]
    assert row.split()[:6] == ["shown", "Degraded", "3", "2", "1", "0"]
    wide = unattended.kubectl("get", "stj", "shown", "--namespace", SPACE, "--output", "wide").stdout
    assert wide.splitlines()[1].split()[7:] == ["0", "2", "1", "parallel-2", "has", "no", "node"]


def test_kubectl_shows_where_a_processing_element_runs(unattended: BarePlane, jobs: Api) -> None:
    jobs.call("POST", ELEMENTS, element({"job": "parallel"}, "shown-0"))
    ended = {"launchCount": 2, "outcome": "Failed", "exitCode": 1, "reason": "Error", "message": "m"}
    place = {"launchCount": 3, "pod": "shown-0-3", "podUID": "u", "node": "foo"}
    status = {
        "phase": "Pending",
        **place,
        "restarts": 2,
        "failures": 1,
        "ended": ended,
        "conditions": [condition("no node")],
        "observedGeneration": 1,
    }
    made = jobs.call("PATCH", f"{ELEMENTS}/shown-0/status", {"status": status}, content=MERGE).body
    assert made["status"] == status
    head, row = unattended.kubectl("get", "stp", "shown-0", "--namespace", SPACE, "-o", "wide").stdout.splitlines()
    assert head.split() == ["NAME", "JOB", "STATUS", "NODE", "POD", "RESTARTS", "AGE", "MESSAGE"]
    assert (row.split()[:6], row.split()[7:]) == (
        ["shown-0", "parallel", "Pending", "foo", "shown-0-3", "2"],
        ["no", "node"],
    )


def test_the_command_status_shows_what_the_api_server_has(unattended: BarePlane, jobs: Api) -> None:
    spec = {"hostPools": [{"name": "P"}], "processingElements": [{}, {}]}
    jobs.call("POST", JOBS, job(spec, "tree"))
    jobs.call("POST", POOLS, pool("tree-p", {"name": "P", "job": "tree", "size": 1}))
    jobs.call("POST", ELEMENTS, element({"job": "tree"}, "tree-0"))
    told = {"phase": "Pending", "conditions": [{**condition("quota exceeded"), "type": "PodCreated"}]}
    jobs.call("PATCH", f"{ELEMENTS}/tree-0/status", {"status": told}, content=MERGE)
    environment = {"KUBECONFIG": str(unattended.kubeconfig()), "PATH": "/usr/bin:/bin"}
    command = (sys.executable, "-m", "webhook", "status", "tree", "--namespace", SPACE)
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=240, env=environment)  # noqa: S603 -- ourselves
    assert (done.stdout, done.stderr, done.returncode) == (
        (
            f"Job {SPACE}/tree: Unknown\n"
            "| 2 processing elements: 1 Absent, 1 Pending\n"
            "+- HostPool tree-p (P): Unknown\n"
            "+- ProcessingElement tree-0: Pending\n"
            "|    quota exceeded\n"
            "`- ProcessingElement tree-1: Absent\n"
            "     the object does not exist\n"
        ),
        "",
        0,
    )
