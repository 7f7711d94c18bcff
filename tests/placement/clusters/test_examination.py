"""One cluster and all apps: which it can take, why not, and what would help."""

import pytest

from tests.placement.clusters.cluster_worlds import app, examined, workload, world
from tests.placement.planning.at_once import AtOnce, Ending
from webhook.placement.clusters.application import AppWorkload
from webhook.placement.clusters.examination import UNDECIDED, AppFit
from webhook.placement.text import keys

GPU = "nvidia.com/gpu"
WISHES = (
    f"[{{name: {GPU}, limits: 1, mandatory: false, weight: 9}},"
    " {name: disk, value: ssd, mandatory: false, weight: 3}, {name: zone, value: a, mandatory: false, weight: 5}]"
)


def test_all_pods_of_all_workloads_must_fit_at_the_same_time() -> None:
    apps = [app("one", workload("a", cpu=2, count=2)), app("two", workload("a", cpu=3), workload("b", cpu=2))]
    found = examined("c", apps, world({"cpu": 3}, {"cpu": 2}))
    assert found.nodes == 2
    assert [fit.fits for fit in found.fits] == [True, True]
    assert found.sets.maximal == ((0,), (1,))


def test_all_requirements_of_a_pod_are_met_by_one_node() -> None:
    found = examined("c", [app("one", workload("a", cpu=4, gpu=1))], world({"cpu": 4}, {"cpu": 2, "gpu": 1}))
    [fit] = found.fits
    assert (fit.fits, fit.reason) == (False, f"requests cpu 4, {GPU} 1 cannot hold (Deployment a)")
    assert str(fit.fix) == f"add a node with cpu 4, {GPU} 1 free"
    assert [(str(opener.drop), opener.amounts) for opener in fit.openers] == [
        (f"lower requests cpu 4, {GPU} 1", {"cpu": 4000, GPU: 0})
    ]
    assert not found.takes(0)


def test_a_change_that_does_not_help_is_not_named() -> None:
    hardware = "[{name: disk, value: ssd}, {name: zone, value: a}]"
    found = examined("c", [app("one", workload("a", hardware=hardware))], world({"cpu": 4}))
    [fit] = found.fits
    assert (fit.reason, fit.openers) == ("hardware disk=ssd cannot hold (Deployment a)", ())


@pytest.mark.parametrize(
    ("labels", "gpus", "weight"),
    [
        ([{}, {}], (0, 0), 0),
        ([{}, {}], (0, 1), 9),
        ([{"disk": "ssd", "zone": "a"}, {}], (0, 1), 9),
        ([{"disk": "ssd", "zone": "a"}, {}], (0, 0), 8),
        ([{"disk": "ssd"}, {"zone": "a"}], (0, 0), 5),
        ([{}, {"disk": "ssd", "zone": "a"}], (0, 1), 17),
    ],
)
def test_a_cluster_weighs_what_one_node_has_heaviest_first(
    labels: list[dict[str, str]], gpus: tuple[int, int], weight: int
) -> None:
    one = world({"cpu": 4, "gpu": gpus[0]}, {"cpu": 4, "gpu": gpus[1]}, labels=labels)
    [fit] = examined("c", [app("one", workload("a", cpu=4, hardware=WISHES))], one).fits
    assert (fit.fits, fit.weight) == (True, weight)


def test_a_node_without_room_for_the_pod_adds_no_weight() -> None:
    apps = [app("one", workload("a", cpu=4, hardware=WISHES))]
    [fit] = examined("c", apps, world({"cpu": 4}, {"cpu": 2, "gpu": 1})).fits
    assert (fit.fits, fit.weight) == (True, 0)


def test_an_app_with_a_flaw_goes_nowhere() -> None:
    found = examined("c", [app("one", flaw="is broken"), app("two", workload("a"))], world({"cpu": 4}))
    assert found.fits == (AppFit(fits=False, reason="is broken", wrong=True), AppFit(fits=True))
    assert found.sets.maximal == ((1,),)


def test_a_pod_that_says_something_wrong_goes_nowhere() -> None:
    [fit] = examined("c", [app("one", workload("a", hardware="[{name: gpu}]"))], world({"cpu": 4})).fits
    assert fit.reason.startswith(f"Deployment a: metadata.annotations[{keys.HARDWARE}][0]")


def test_a_workload_without_pods_fits_everywhere() -> None:
    found = examined("c", [app("one", workload("a", count=0, cpu=99))], world({"cpu": 4}))
    assert found.fits == (AppFit(fits=True),)


def test_a_cluster_without_apps_has_no_fits() -> None:
    assert examined("c", [], world({"cpu": 4})).fits == ()


def test_what_is_not_decided_in_time_is_a_no() -> None:
    found = examined("c", [app("one", workload("a")), app("two", workload("b"))], world({"cpu": 4}), AtOnce(0))
    assert [fit.reason for fit in found.fits] == [UNDECIDED, UNDECIDED]


def test_time_that_is_over_while_pods_are_read_is_a_no() -> None:
    [fit] = examined("c", [app("one", workload("a"))], world({"cpu": 4}), Ending(1)).fits
    assert (fit.fits, fit.reason) == (False, UNDECIDED)


def test_several_workloads_are_named_by_three() -> None:
    many: list[AppWorkload] = [workload(f"w{at}", cpu=1) for at in range(5)]
    [fit] = examined("c", [app("one", *many)], world({"cpu": 4})).fits
    assert not fit.fits
    assert "Deployment w0" in fit.reason


def test_a_refusal_without_time_for_changes_of_the_app_names_none() -> None:
    apps = [app("one", workload("a", cpu=4, gpu=1))]
    cluster = world({"cpu": 4}, {"cpu": 2, "gpu": 1})
    found = [fit for looks in range(60) for fit in examined("c", apps, cluster, Ending(looks)).fits]
    assert not any(fit.fits for fit in found)
    reasons = [fit.reason for fit in found if fit.reason != UNDECIDED and not fit.openers]
    assert f"requests cpu 4, {GPU} 1 cannot hold (Deployment a)" in reasons
    assert found[-1].openers
