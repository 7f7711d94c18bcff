"""The annotation ``preferred`` names constraints that the pod has; what it names besides has no effect, and is told."""

from typing import Any

import pytest

from tests.builders import asked, cluster, nodes, pod
from tests.placement.mapping_annotations import SEPARATE, mapping
from webhook.placement.text import keys

ONE = cluster(nodes(1))
FIELD = "metadata.annotations[streams.ibm.com/preferred]"
ONE_IS_IDLE = f"{FIELD}: %s has no effect, no constraint of the pod has that name"
SOME_ARE_IDLE = f"{FIELD}: %s have no effect, no constraint of the pod has those names"


def warnings(placement: str | None, preferred: str, annotations: dict[str, str] | None = None) -> tuple[str, ...]:
    """What is said of a pod with such a placement."""
    found: dict[str, Any] = pod(placement, annotations={**(annotations or {}), keys.PREFERRED: preferred})
    return asked(found, ONE).warnings


IDLE = {
    "no placement at all": (None, "host", ONE_IS_IDLE % "host"),
    "another clause": ('hostExlocation("a")', "host", ONE_IS_IDLE % "host"),
    "isolation": ('host("node-a")', "hostIsolation", ONE_IS_IDLE % "hostIsolation"),
    "one of two": ('hostExlocation("a")', "hostExlocation, hostColocation", ONE_IS_IDLE % "hostColocation"),
    "mapping": ('host("node-a")', "mapping", ONE_IS_IDLE % "mapping"),
    "uniform": ('host("node-a")', "uniform", ONE_IS_IDLE % "uniform"),
    "several, in one order": (None, "uniform, hostIsolation, host", SOME_ARE_IDLE % "host, hostIsolation, uniform"),
}


@pytest.mark.parametrize(("placement", "preferred", "warning"), IDLE.values(), ids=IDLE)
def test_what_the_pod_does_not_have_is_warned_of(placement: str | None, preferred: str, warning: str) -> None:
    assert warnings(placement, preferred) == (warning,)


THERE: dict[str, tuple[str | None, str, dict[str, str]]] = {
    "a clause": ('host("node-a")', "host", {}),
    "an expression": (None, "mapping", mapping("zone", "In", "a")),
    "uniform mapping": (None, "uniform", SEPARATE),
}


@pytest.mark.parametrize(("placement", "preferred", "annotations"), THERE.values(), ids=THERE)
def test_what_the_pod_has_is_not(placement: str | None, preferred: str, annotations: dict[str, str]) -> None:
    assert warnings(placement, preferred, annotations) == ()


BROKEN: dict[str, tuple[str | None, str, dict[str, str]]] = {
    "a clause": ('hots("node-a")', "host", {}),
    "an expression": (None, "mapping", mapping("zone", "Inn", "a")),
    "uniform mapping": (None, "uniform", {keys.UNIFORM: "all-seperate-nodes"}),
}


@pytest.mark.parametrize(("placement", "preferred", "annotations"), BROKEN.values(), ids=BROKEN)
def test_nothing_is_said_where_that_cannot_be_read(
    placement: str | None, preferred: str, annotations: dict[str, str]
) -> None:
    assert warnings(placement, preferred, annotations) == ()


def test_uniform_mapping_that_is_none_is_nothing_to_prefer() -> None:
    assert warnings(None, "uniform", {keys.UNIFORM: "none"}) == (ONE_IS_IDLE % "uniform",)
