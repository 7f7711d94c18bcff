"""What a pod's containers are given, and what is wrong with it."""

import pytest

from tests.builders import Json
from tests.placement.hardware_containers import FIRST, GPU, container, device, guaranteed, spec
from webhook.placement.annotations.hardware import Hardware
from webhook.placement.kube.containers import places, resources_at
from webhook.placement.kube.pod import PodSpec, Resources
from webhook.placement.kube.quantity import NANO
from webhook.placement.provision.provision import BARE, Provision, provide
from webhook.placement.text import keys

ONE = spec(container())
BOTH: Json = {"cpu": "2", "memory": "1Gi"}
BIND_FIELD = "metadata.annotations[streams.ibm.com/kubernetes.bind.worker.to.cpu]"
WORKER = "spec.containers[0].resources"
OTHERWISE = "is not what hardware cpu 2 asks for: under kubernetes.bind.worker.to.cpu remove one"
EVERY = "kubelets assign exclusive cores only if every container has cpu and memory limits equal to its requests"
MEMORY = Hardware("at memory", "memory", requests=10**9 * NANO, limits=10**9 * NANO)


def cores(count: int) -> Hardware:
    return Hardware("at cpu", "cpu", requests=count * NANO, limits=count * NANO)


def provided(*hardware: Hardware, found: PodSpec = ONE, **annotations: str) -> Provision:
    """Keys of the annotations without their prefix, underscores for dots and hyphens."""
    names = {"bind": keys.BIND, "container": keys.CONTAINER}
    return provide(found, {names[name]: text for name, text in annotations.items()}, hardware)


def refused(made: Provision) -> list[str]:
    """The problems, each with its path."""
    return [f"{problem.field}: {problem.message}" for problem in made.problems]


def test_a_pod_that_says_nothing_is_given_nothing() -> None:
    assert provided() == Provision(ONE)


def test_the_spec_is_as_its_containers_will_be() -> None:
    made = provided(cores(2), device(), found=spec(container("a", {"memory": "1Gi"})), bind="true")
    both: Json = {"memory": "1Gi", "cpu": "2", GPU: "1"}
    assert resources_at(made.spec, FIRST) == Resources(both, both)


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        pytest.param({}, ["pe"], id="the one called pe"),
        pytest.param({"container": "log"}, ["log"], id="the one that the annotation names"),
    ],
)
def test_a_requirement_without_a_name_is_for_the_worker(annotations: dict[str, str], expected: list[str]) -> None:
    made = provided(device(), found=spec(container("log"), container("pe")), **annotations)
    assert [found.name for _, found in places(made.spec) if found.resources and found.resources.requests] == expected


def test_what_is_wanted_is_not_there_yet() -> None:
    made = provided(device(mandatory=False))
    assert (made.spec, [wish.resource for wish in made.wanted]) == (ONE, [GPU])


# Labels


def label(value: str, name: str = "disk", at: str = "there", *, mandatory: bool = True) -> Hardware:
    return Hardware(at, name, mandatory, value=value)


def test_labels_are_of_the_node_each_once() -> None:
    made = provided(label("ssd"), label("x", "cpu-type"), label("ssd", at="here"))
    assert [(found.name, found.value, found.field) for found in made.labels] == [
        ("disk", "ssd", "there"),
        ("cpu-type", "x", "there"),
    ]


def test_two_values_that_one_label_must_have_contradict_each_other() -> None:
    made = provided(label("ssd"), label("hdd", at="here"))
    assert refused(made) == ["here: hardware disk=hdd and hardware disk=ssd (there) cannot both hold"]


def test_several_values_may_be_wanted() -> None:
    made = provided(label("ssd"), label("hdd", mandatory=False), label("nvme", mandatory=False))
    assert ([found.value for found in made.labels], made.problems) == (["ssd", "hdd", "nvme"], ())


def test_the_pods_own_selector_must_not_contradict() -> None:
    made = provided(label("ssd"), found=spec(container(), nodeSelector={"disk": "hdd"}))
    expected = 'spec.nodeSelector[disk]: is "hdd", but hardware disk=ssd (there) needs another value'
    assert (refused(made), made.labels) == ([expected], ())


@pytest.mark.parametrize(
    ("selector", "mandatory"),
    [
        pytest.param({"disk": "ssd"}, True, id="the same value"),
        pytest.param({"other": "hdd"}, True, id="another label"),
        pytest.param({"disk": "hdd"}, False, id="another value, where it is only wanted"),
    ],
)
def test_a_selector_that_says_something_else_does_not_matter(selector: dict[str, str], *, mandatory: bool) -> None:
    made = provided(label("ssd", mandatory=mandatory), found=spec(container(), nodeSelector=selector))
    assert (len(made.labels), made.problems) == (1, ())


# Binding


@pytest.mark.parametrize(("text", "bound"), [("true", True), ("false", False)])
def test_binding_is_on_or_off(text: str, *, bound: bool) -> None:
    made = provided(found=spec(guaranteed()), bind=text)
    assert (made.cpu_bound, made.problems, bool(made.binding)) == (bound, (), bound)


@pytest.mark.parametrize("text", ["", "True", "yes", "1", " true", "\x1b"])
def test_no_other_word_says_so(text: str) -> None:
    made = provided(bind=text)
    shown = text.replace("\x1b", r"\x1b")
    assert (refused(made), made.cpu_bound) == ([f'{BIND_FIELD}: "{shown}" is neither true nor false'], False)


def test_limits_are_filled_in_from_requests() -> None:
    made = provided(found=spec(container("a", BOTH)), bind="true")
    assert resources_at(made.spec, FIRST) == Resources(BOTH, BOTH)
    assert [(effect.resource, effect.cause) for effect in made.binding] == [
        ("cpu", "kubernetes.bind.worker.to.cpu"),
        ("memory", "kubernetes.bind.worker.to.cpu"),
    ]


def test_requirements_may_make_the_worker_fit_to_be_bound() -> None:
    assert provided(cores(2), MEMORY, bind="true").problems == ()


PROBLEMS: dict[str, tuple[Provision, list[str]]] = {
    "a worker that asks for nothing": (
        provided(bind="true"),
        [
            f'{WORKER}: container "runtime" needs a whole number of cpus to be bound: kubernetes.bind.worker.to.cpu',
            f'{WORKER}: container "runtime" needs an amount of memory to be bound: kubernetes.bind.worker.to.cpu',
        ],
    ),
    "no worker": (
        provided(found=spec(guaranteed("a"), guaranteed("b")), bind="true"),
        [f'{BIND_FIELD}: the annotation streams.ibm.com/container must name the worker: "a", "b"'],
    ),
    "a worker that is not there, bound or not": (
        provided(container="x"),
        ['metadata.annotations[streams.ibm.com/container]: there is no container "x"; the containers: "runtime"'],
    ),
    "a sidecar that shares": (
        provided(found=spec(guaranteed(), container("mesh", {"cpu": "10m"})), bind="true", container="runtime"),
        [f'{BIND_FIELD}: container "mesh" has no cpu limit; {EVERY}'],
    ),
    "an init container that asks for nothing": (
        provided(found=spec(guaranteed(), init=(container("wait"),)), bind="true"),
        [f'{BIND_FIELD}: init container "wait" has no cpu limit; {EVERY}'],
    ),
    "resources of the pod as a whole": (
        provided(found=spec(guaranteed(), resources={"limits": BOTH}), bind="true"),
        [
            f"{BIND_FIELD}: the pod has resources at pod level, which the CPU manager does not count; {EVERY}",
        ],
    ),
    "amounts of two sources": (
        provided(cores(2), found=spec(guaranteed(cpu="4")), bind="true"),
        [
            f'{WORKER}.requests[cpu]: "4" {OTHERWISE}',
            f'{WORKER}.limits[cpu]: "4" {OTHERWISE}',
        ],
    ),
    "everything at once": (
        provided(label("ssd"), label("hdd"), device(container="x"), bind="maybe", container="y"),
        [
            f'{BIND_FIELD}: "maybe" is neither true nor false',
            "there: hardware disk=hdd and hardware disk=ssd (there) cannot both hold",
            'at example.com/gpu: there is no container "x"; the containers: "runtime"',
            'metadata.annotations[streams.ibm.com/container]: there is no container "y"; the containers: "runtime"',
        ],
    ),
}


@pytest.mark.parametrize(("made", "expected"), PROBLEMS.values(), ids=PROBLEMS)
def test_what_cannot_be_given_is_a_problem(made: Provision, expected: list[str]) -> None:
    assert refused(made) == expected


def test_a_worker_may_be_named_that_is_not_bound() -> None:
    assert provided(container="runtime").problems == ()


# Cores that were meant to be exclusive

SHARED = {
    "one": (1, 'the 1 cpu of container "runtime" is not exclusive: container "mesh" has no cpu limit'),
    "several": (4, 'the 4 cpus of container "runtime" are not exclusive: container "mesh" has no cpu limit'),
}


@pytest.mark.parametrize(("count", "expected"), SHARED.values(), ids=SHARED)
def test_cores_that_another_container_keeps_from_being_exclusive_are_warned_of(count: int, expected: str) -> None:
    found = spec(container(), container("mesh"))
    hardware = Hardware("f", "cpu", container="runtime", requests=count * NANO, limits=count * NANO)
    memory = Hardware("f", "memory", container="runtime", requests=NANO, limits=NANO)
    assert provided(hardware, memory, found=found).warnings == (expected,)


SILENT: dict[str, Provision] = {
    "cores that are exclusive": provided(cores(2), MEMORY),
    "cores that were never meant to be": provided(Hardware("f", "cpu", requests=NANO, limits=2 * NANO)),
    "a device alone": provided(device()),
    "cores that no requirement gave": provided(device(), found=spec(guaranteed())),
}


@pytest.mark.parametrize("made", SILENT.values(), ids=SILENT)
def test_there_is_no_warning_of(made: Provision) -> None:
    assert made.warnings == ()


def test_the_provision_of_most_pods_says_nothing() -> None:
    assert (BARE.labels, BARE.grants, BARE.binding, BARE.wanted, BARE.cpu_bound) == ((), (), (), (), False)
