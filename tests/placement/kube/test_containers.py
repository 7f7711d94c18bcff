"""The containers of a pod."""

import pytest

from tests.placement.hardware_containers import FIRST, container, spec
from webhook.placement.kube.containers import Place, asking, at, called, listed, named, only, places, resources_at
from webhook.placement.kube.pod import PodSpec, Resources

SECOND, START = Place(init=False, at=1), Place(init=True, at=0)
TWO = spec(container("a", {"cpu": "1"}), {"name": "b"}, init=(container("i", {"cpu": "3"}),))
NOBODY = PodSpec()


@pytest.mark.parametrize(
    ("place", "pointer", "path"),
    [
        pytest.param(SECOND, "/spec/containers/1", "spec.containers[1]", id="container"),
        pytest.param(START, "/spec/initContainers/0", "spec.initContainers[0]", id="init container"),
    ],
)
def test_a_place_is_a_pointer_to_patches_and_a_path_to_people(place: Place, pointer: str, path: str) -> None:
    assert (place.pointer, place.path) == (pointer, path)


def test_containers_come_before_those_that_start_the_pod() -> None:
    assert [(place, found.name) for place, found in places(TWO)] == [(FIRST, "a"), (SECOND, "b"), (START, "i")]


def test_a_pod_without_containers_has_no_places() -> None:
    assert list(places(NOBODY)) == []


@pytest.mark.parametrize(("place", "expected"), [(SECOND, "b"), (START, "i")])
def test_a_place_holds_its_container(place: Place, expected: str) -> None:
    assert at(TWO, place).name == expected


@pytest.mark.parametrize(("name", "expected"), [("b", SECOND), ("i", START), ("c", None)])
def test_a_container_is_found_by_its_name(name: str, expected: Place | None) -> None:
    assert named(TWO, name) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(NOBODY, None, id="none"),
        pytest.param(spec({"name": "a"}), FIRST, id="one"),
        pytest.param(spec({"name": "a"}, init=({"name": "i"},)), FIRST, id="one that another starts"),
        pytest.param(spec({"name": "a"}, {"name": "b"}), None, id="two"),
    ],
)
def test_the_only_container_is_meant_without_a_name(found: PodSpec, expected: Place | None) -> None:
    assert only(found) == expected


def test_messages_quote_the_name() -> None:
    assert called(spec({"name": "\x1b"}), FIRST) == r'container "\x1b"'


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(TWO, '"a", "b", "i"', id="all"),
        pytest.param(NOBODY, "none", id="none"),
        pytest.param(spec(*[{"name": "c"}] * 10), ", ".join(['"c"'] * 10), id="as many as are listed"),
        pytest.param(spec(*[{"name": "c"}] * 12), ", ".join(['"c"'] * 10) + " and 2 more", id="more than that"),
    ],
)
def test_names_are_listed(found: PodSpec, expected: str) -> None:
    assert listed(found) == expected


@pytest.mark.parametrize(("place", "expected"), [(FIRST, Resources({"cpu": "1"})), (SECOND, Resources())])
def test_what_a_container_asks_for_may_be_nothing(place: Place, expected: Resources) -> None:
    assert resources_at(TWO, place) == expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        pytest.param(FIRST, Resources({"cpu": "2"}, {"memory": "1"}), id="in place of the same resource"),
        pytest.param(SECOND, Resources({"cpu": "2"}, {"memory": "1"}), id="where nothing was said"),
        pytest.param(START, Resources({"cpu": "2"}, {"memory": "1"}), id="for what starts the pod"),
    ],
)
def test_a_container_may_ask_for_something_else(place: Place, expected: Resources) -> None:
    changed = asking(TWO, place, {"cpu": "2"}, {"memory": "1"})
    assert resources_at(changed, place) == expected
    others = [other for other, _ in places(TWO) if other != place]
    assert [at(changed, other) for other in others] == [at(TWO, other) for other in others]


def test_other_resources_of_the_container_stay() -> None:
    changed = asking(spec(container("a", {"memory": "1Gi"}, {"memory": "2Gi"})), FIRST, {"cpu": "2"}, {"cpu": "3"})
    expected = Resources({"memory": "1Gi", "cpu": "2"}, {"memory": "2Gi", "cpu": "3"})
    assert resources_at(changed, FIRST) == expected
