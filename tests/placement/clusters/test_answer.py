"""The lists of apps over several clusters, and the texts about apps without a list."""

from collections.abc import Sequence

import pytest

from tests.placement.clusters.cluster_worlds import GPU, answered, app, examined, workload, world
from tests.placement.planning.at_once import AtOnce
from webhook.placement.clusters import sharing
from webhook.placement.clusters.answer import AppList, ClustersAnswer, Contention, answer
from webhook.placement.clusters.application import ClusterApp
from webhook.placement.clusters.compatible_sets import CompatibleSets
from webhook.placement.clusters.examination import ExaminedCluster
from webhook.placement.planning.search.solver import finished

SMALL, LARGE = world({"cpu": 4}), world({"cpu": 8})


def test_the_shorter_list_is_given_and_allow_if_both_are_as_long() -> None:
    worlds = {"a": world({"cpu": 9}), "b": SMALL, "c": LARGE}
    assert answered([app("one", workload("a", cpu=9))], worlds).apps["one"] == AppList(
        replication_count=1, allow=("a",), best=("a",)
    )
    assert answered([app("one", workload("a", cpu=8))], worlds).apps["one"] == AppList(
        replication_count=1, deny=("b",), best=("a",)
    )
    assert answered([app("one", workload("a", cpu=1))], worlds).apps["one"] == AppList(
        replication_count=1, deny=(), best=("a",)
    )
    assert answered([app("one", workload("a", cpu=5))], {"a": LARGE, "b": SMALL}).apps["one"].allow == ("a",)


def test_a_cluster_that_was_not_read_is_in_no_allow_list_and_in_every_deny_list() -> None:
    found = answered([app("one", workload("a", cpu=4))], {"a": SMALL, "b": LARGE, "c": "is down", "d": LARGE})
    assert found.apps["one"].deny == ("c",)
    assert found.unread == {"c": "is down"}
    assert found.clusters == ("a", "b", "c", "d")


def test_apps_that_fit_together_on_no_cluster_have_disjoint_lists() -> None:
    apps = [app("one", workload("a", cpu=3), replication=2), app("two", workload("b", cpu=3))]
    names = ("a", "b", "c", "d")
    found = answered(apps, dict.fromkeys(names, SMALL))
    one, two = (set(found.apps[name].allowed(names)) for name in ("one", "two"))
    assert (one & two, len(one), len(two)) == (set(), 2, 2)
    assert found.contention == (Contention(("one", "two"), names),)


def test_a_contended_cluster_goes_where_it_weighs_most() -> None:
    wish = f"[{{name: {GPU}, limits: 1, mandatory: false, weight: 9}}]"
    apps = [app("plain", workload("a", cpu=3)), app("wishes", workload("b", cpu=3, hardware=wish))]
    found = answered(apps, {"a": world({"cpu": 4, "gpu": 1}), "b": SMALL})
    assert found.apps["wishes"] == AppList(replication_count=1, allow=("a",), best=("a",), weights={"a": 9})
    assert found.apps["plain"].allow == ("b",)


def test_clusters_of_which_one_is_not_contended_are_counted() -> None:
    apps = [app("one", workload("a", cpu=3), replication=2), app("two", workload("b", cpu=3), replication=2)]
    found = answered(apps, {"a": SMALL, "b": SMALL, "c": LARGE})
    assert not found.refused
    assert "c" in set(found.apps["one"].allowed(found.clusters)) & set(found.apps["two"].allowed(found.clusters))


def test_apps_that_cannot_all_have_enough_clusters_are_refused_and_the_others_are_not() -> None:
    apps = [
        app("one", workload("a", cpu=3), replication=2),
        app("other", workload("c", cpu=1)),
        app("two", workload("b", cpu=3)),
    ]
    found = answered(apps, {"a": SMALL, "b": SMALL})
    assert list(found.apps) == ["other"]
    text = (
        "Apps one, two cannot all have enough clusters: where they contend, a cluster takes only some of them.\n"
        "  one: 2 clusters can take it alone, 2 are needed\n"
        "  two: 2 clusters can take it alone, 1 is needed\n"
        "Nearest fix: add a cluster that can take app one, or lower the replication count of app one to 1."
    )
    assert found.refused == {"one": text, "two": text}


def test_only_apps_that_are_needed_for_the_clash_are_refused() -> None:
    wish = f"[{{name: {GPU}, limits: 1, mandatory: false, weight: 9}}]"
    apps = [
        app("one", workload("a", cpu=3, hardware=wish), replication=2),
        app("three", workload("c", cpu=2)),
        app("two", workload("b", cpu=3)),
    ]
    found = answered(apps, {"a": world({"cpu": 4, "gpu": 1}), "b": SMALL, "c": world({"cpu": 2})})
    assert (list(found.apps), list(found.refused)) == (["three"], ["one", "two"])
    assert found.apps["three"].deny == ()


def test_the_fix_that_a_refusal_names_helps() -> None:
    apps = [app("one", workload("a", cpu=3), replication=2), app("two", workload("b", cpu=3))]
    assert not answered(apps, {"a": SMALL, "b": SMALL, "c": SMALL}).refused
    assert not answered([app("one", workload("a", cpu=3)), apps[1]], {"a": SMALL, "b": SMALL}).refused


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        (2, 2, "add 2 clusters that can take app one."),
        (1, 2, "add a cluster that can take app one."),
        (2, 1, "add a cluster that can take app one, or lower the replication count of app one to 1."),
    ],
)
def test_as_many_clusters_are_added_to_end_a_clash_as_are_missing(one: int, two: int, expected: str) -> None:
    apps = [app("one", workload("a", cpu=3), replication=one), app("two", workload("b", cpu=3), replication=two)]
    assert answered(apps, {"a": SMALL, "b": SMALL}).refused["two"].rpartition("Nearest fix: ")[2] == expected
    few = answered(apps, dict.fromkeys(("a", "b", "c")[: one + two - 1], SMALL))
    assert list(few.refused) == ["one", "two"]
    assert not answered(apps, dict.fromkeys(("a", "b", "c", "d")[: one + two], SMALL)).refused


def text_about(one: ClusterApp, **worlds: object) -> str:
    return answered([one], worlds).refused[one.name]  # type: ignore[arg-type]


def test_a_refusal_counts_clusters_by_reason_and_names_the_nearest_fix() -> None:
    one = app("one", workload("a", cpu=4, gpu=1), replication=2)
    found = text_about(one, a=world({"cpu": 4, "gpu": 1}), b=SMALL, c=LARGE, d="is down", e=world({"cpu": 2}))
    assert found == (
        "App one: 1 of 5 clusters can take it, 2 are needed.\n"
        f"  3 clusters: requests cpu 4, {GPU} 1 cannot hold (Deployment a)\n"
        "  1 cluster: not read\n"
        f"Nearest fix: in cluster b, add a node with cpu 4, {GPU} 1 free, or lower requests cpu 4, {GPU} 1 to {GPU} 0 "
        "(3 clusters could take it), or lower its replication count to 1."
    )


def test_where_nothing_was_read_that_is_the_fix() -> None:
    assert text_about(app("one", workload("a")), a="is down", b="is down, too") == (
        "App one: 0 of 2 clusters can take it, 1 is needed.\n"
        "  2 clusters: not read\n"
        "Nearest fix: make sure that 2 clusters can be read."
    )


def test_an_app_that_needs_more_clusters_than_there_are_needs_others() -> None:
    assert text_about(app("one", workload("a"), replication=3), a=SMALL) == (
        "App one: 1 of 1 cluster can take it, 3 are needed.\nNearest fix: lower its replication count to 1."
    )


def test_an_app_with_a_flaw_is_refused_for_it() -> None:
    assert text_about(app("one", workload("a"), flaw="its HPAIntents differ"), a=SMALL) == (
        "App one: 0 of 1 cluster can take it, 1 is needed.\n"
        "  1 cluster: its HPAIntents differ\n"
        "Nearest fix: correct this; no cluster can take the app as it is written."
    )


def test_a_pod_that_no_cluster_could_run_is_to_be_corrected() -> None:
    said = text_about(app("one", workload("a", hardware="[{limits: 1}]")), a=SMALL, b="is down")
    assert said.startswith("App one: 0 of 2 clusters can take it, 1 is needed.\n  1 cluster: Deployment a: metadata.")
    assert said.endswith("Nearest fix: correct this; no cluster can take the app as it is written.")


def undecided(apps: Sequence[ClusterApp], seconds: float, *, complete: bool = True) -> ClustersAnswer:
    """Clusters on each of which one app excludes the other, shared in that time."""
    sets = CompatibleSets(((0,), (1,)), complete=complete)
    one = examined("a", apps, SMALL)
    found = [ExaminedCluster(name, 1, one.fits, sets) for name in ("a", "b")]
    return finished(answer(apps, found, AtOnce(seconds)))


@pytest.mark.parametrize(("seconds", "complete"), [(0, True), (20, False)])
def test_a_refusal_that_is_not_proved_says_so(seconds: float, complete: bool) -> None:  # noqa: FBT001 -- a parameter
    apps = [app("one", workload("a", cpu=3), replication=2), app("two", workload("b", cpu=3))]
    found = undecided(apps, seconds, complete=complete)
    assert found.refused["one"].startswith(
        "Apps one, two may not all have enough clusters, which was not decided in time: "
    )
    assert found.refused["one"].endswith(
        "app one to 1." if seconds else "add clusters that can take them, or lower their replication counts."
    )


def test_more_clusters_than_are_counted_one_by_one_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "LEVELS", 1)
    apps = [app("one", workload("a", cpu=3)), app("two", workload("b", cpu=3))]
    found = answered(apps, {f"c{at}": SMALL for at in range(7)})
    sizes = sorted(len(one.allowed(found.clusters)) for one in found.apps.values())
    assert sum(sizes) == 7
    assert sizes[0] >= 2


def test_nothing_is_asked() -> None:
    assert answered([], {"a": SMALL}) == ClustersAnswer(apps={}, clusters=("a",))
    assert answered([app("one", workload("a"))], {}).refused["one"].startswith("App one: 0 of 0 clusters")


def test_a_requirement_that_is_dropped_says_how_many_clusters_could_take_it() -> None:
    one = app("one", workload("a", cpu=1, hardware="[{name: disk, value: ssd}]"))
    found = text_about(one, a=world({"cpu": 4}), b=world({"cpu": 2}))
    assert found.endswith("drop hardware disk=ssd (2 clusters could take it).")
