"""What hardware requirements give to containers, and where that meets what they ask for themselves."""

import pytest

from tests.placement.hardware_containers import FIRST, FPGA, GPU, container, device, spec
from webhook.placement.annotations.hardware import Hardware
from webhook.placement.kube.containers import Place, only, resources_at
from webhook.placement.kube.pod import PodSpec, Resources
from webhook.placement.kube.quantity import NANO
from webhook.placement.provision.effects import SetResources
from webhook.placement.provision.grants import Grants, grant, granted
from webhook.placement.text.problem import Problem

SECOND, START = Place(init=False, at=1), Place(init=True, at=0)
ONE = spec(container())
TWO = spec(container("a"), container("b"), init=(container("i"),))


def cores(requests: int, limits: int | None = None) -> Hardware:
    """A requirement of so many cores."""
    return Hardware("at cpu", "cpu", requests=requests * NANO, limits=None if limits is None else limits * NANO)


def given(*hardware: Hardware, found: PodSpec = ONE, bound: bool = False) -> Grants:
    """The grants of a pod whose only container is its main one."""
    return Grants(found, hardware, only(found), bound=bound)


HOLDING = spec(container("a"), container("b", {GPU: 1}), container("c", {GPU: 2}), container("d", {"cpu": 1}))
PLACES: dict[str, tuple[PodSpec, str, Place | None, Place]] = {
    "one by name": (TWO, "b", FIRST, SECOND),
    "one that starts the pod, by name": (TWO, "i", None, START),
    "the main one": (TWO, "", SECOND, SECOND),
    "the main one, whoever has it": (HOLDING, "", FIRST, FIRST),
    "where none is, the only one that has it already": (HOLDING, "", None, SECOND),
}


@pytest.mark.parametrize(("found", "name", "main", "expected"), PLACES.values(), ids=PLACES)
def test_a_requirement_is_for_one_container(found: PodSpec, name: str, main: Place | None, expected: Place) -> None:
    made = grant(device(container=name), found, main)
    assert made == SetResources("hardware example.com/gpu 1", expected, GPU, NANO, NANO)


@pytest.mark.parametrize(
    ("found", "name", "main"),
    [
        pytest.param(TWO, "c", FIRST, id="a name of none"),
        pytest.param(TWO, "", None, id="nobody has it"),
        pytest.param(spec(container("a", {GPU: 1}), container("b", {GPU: 1})), "", None, id="two have it"),
        pytest.param(PodSpec(), "", None, id="no containers"),
    ],
)
def test_a_requirement_for_no_container_gives_nothing(found: PodSpec, name: str, main: Place | None) -> None:
    assert grant(device(container=name), found, main) is None


def test_what_is_only_wanted_is_a_choice_of_the_moment() -> None:
    made = grant(device(mandatory=False), ONE, FIRST)
    assert made
    assert not made.firm


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param(2 * NANO, Resources({"cpu": "1"}, {"cpu": "2"}), id="both"),
        pytest.param(None, Resources({"cpu": "1"}, {}), id="no limit"),
    ],
)
def test_a_container_asks_for_what_it_is_given(limits: int | None, expected: Resources) -> None:
    made = granted(ONE, SetResources("c", FIRST, "cpu", NANO, limits))
    assert resources_at(made, FIRST) == expected


def test_all_that_is_required_is_given() -> None:
    found = given(cores(1, 2), device())
    assert [effect.resource for effect in found.given] == ["cpu", GPU]
    assert resources_at(found.spec, FIRST) == Resources({"cpu": "1", GPU: "1"}, {"cpu": "2", GPU: "1"})
    assert (found.wanted, found.problems, found.warnings) == ([], [], [])


def test_labels_are_not_given_to_containers() -> None:
    assert given(Hardware("f", "disk", value="ssd")).given == []


def test_wishes_are_left_for_later_heaviest_first_then_by_name() -> None:
    wishes = device(weight=3, mandatory=False), device(weight=9, name=FPGA, mandatory=False)
    light = device(weight=3, name="a.com/x", mandatory=False)
    found = given(*wishes, light)
    assert ([wish.resource for wish in found.wanted], found.given) == ([FPGA, "a.com/x", GPU], [])


SAID: dict[str, PodSpec] = {
    "in requests and limits": spec(container("a", {GPU: 1}, {GPU: "1"})),
    "in limits, which are requests too": spec(container("a", limits={GPU: "1"})),
}


@pytest.mark.parametrize("found", SAID.values(), ids=SAID)
def test_a_wish_that_the_pod_asks_for_already_is_given(found: PodSpec) -> None:
    made = given(device(mandatory=False), found=found)
    assert ([effect.firm for effect in made.given], made.wanted, made.warnings) == ([False], [], [])


@pytest.mark.parametrize("said", [{"requests": {GPU: 2}}, {"limits": {GPU: 2}}], ids=["requests", "limits"])
def test_a_wish_never_overrules_the_container(said: dict[str, dict[str, int]]) -> None:
    made = given(device(mandatory=False), found=spec(container("a", **said)))
    expected = 'hardware example.com/gpu 1 is not requested: container "a" asks for 2 itself'
    assert (made.given, made.wanted, made.warnings) == ([], [], [expected])


NOBODY: dict[str, tuple[PodSpec, str, str]] = {
    "a name of none": (TWO, "c", 'there is no container "c"; the containers: "a", "b", "i"'),
    "a name in a pod without containers": (PodSpec(), "c", 'there is no container "c"; the containers: none'),
    "no name among several": (TWO, "", 'hardware example.com/gpu 1 needs a container-name, one of "a", "b", "i"'),
}


@pytest.mark.parametrize("mandatory", [True, False], ids=["mandatory", "wanted"])
@pytest.mark.parametrize(("found", "name", "expected"), NOBODY.values(), ids=NOBODY)
def test_a_container_that_is_not_there_is_a_problem(
    found: PodSpec, name: str, expected: str, *, mandatory: bool
) -> None:
    made = given(device(container=name, mandatory=mandatory), found=found)
    assert (made.problems, made.given, made.wanted) == ([Problem(f"at {GPU}", expected)], [], [])


def test_the_same_twice_is_given_once() -> None:
    assert len(given(device(), device()).given) == 1


@pytest.mark.parametrize("mandatory", [True, False], ids=["both mandatory", "one wanted"])
def test_two_amounts_for_one_container_contradict_each_other(*, mandatory: bool) -> None:
    made = given(device(), Hardware("there", GPU, mandatory, requests=2 * NANO, limits=2 * NANO))
    message = (
        "hardware example.com/gpu 2 and hardware example.com/gpu 1 (at example.com/gpu) are for the same container: "
        "remove one"
    )
    assert made.problems == [Problem("there", message)]


def test_the_same_name_and_no_name_mean_the_same_container() -> None:
    assert [problem.field for problem in given(device(), device(2, container="runtime")).problems] == [f"at {GPU}"]


def test_two_containers_may_get_different_amounts() -> None:
    made = given(device(container="a"), device(2, container="b"), found=TWO)
    assert ([effect.place for effect in made.given], made.problems) == ([FIRST, SECOND], [])


OWN = spec(container("a", {"cpu": "500m"}, {"cpu": "4"}))


def test_a_requirement_goes_before_what_the_container_says_with_a_warning() -> None:
    made = given(cores(1, 2), found=OWN)
    assert resources_at(made.spec, FIRST) == Resources({"cpu": "1"}, {"cpu": "2"})
    assert (made.problems, made.warnings) == (
        [],
        [
            'requests cpu 500m of container "a" become 1: hardware cpu 1 asks for it',
            'limits cpu 4 of container "a" become 2: hardware cpu 1 asks for it',
        ],
    )


def test_where_cores_are_bound_two_amounts_are_a_problem() -> None:
    message = "is not what hardware cpu 1 asks for: under kubernetes.bind.worker.to.cpu remove one"
    made = given(cores(1, 2), found=OWN, bound=True)
    assert (made.problems, made.warnings) == (
        [
            Problem("spec.containers[0].resources.requests[cpu]", f'"500m" {message}'),
            Problem("spec.containers[0].resources.limits[cpu]", f'"4" {message}'),
        ],
        [],
    )


@pytest.mark.parametrize("bound", [False, True], ids=["free", "bound"])
@pytest.mark.parametrize("said", [{"cpu": "1000m"}, None], ids=["the same in other words", "nothing"])
def test_who_says_the_same_is_not_overruled(said: dict[str, str] | None, *, bound: bool) -> None:
    made = given(cores(1, 1), found=spec(container("a", said, said)), bound=bound)
    assert (made.problems, made.warnings) == ([], [])


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        pytest.param("4", [], id="above the requests"),
        pytest.param("1", [], id="as much"),
        pytest.param("500m", ['"500m" is less than hardware cpu 1 requests'], id="below"),
    ],
)
@pytest.mark.parametrize("bound", [False, True], ids=["free", "bound"])
def test_a_limit_of_its_own_must_not_be_below_what_is_requested(
    limit: str, expected: list[str], *, bound: bool
) -> None:
    made = given(cores(1), found=spec(container("a", limits={"cpu": limit})), bound=bound)
    assert [problem.message for problem in made.problems] == expected
    assert {problem.field for problem in made.problems} <= {"spec.containers[0].resources.limits[cpu]"}
