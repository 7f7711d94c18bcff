"""What an app is: the workloads that HPAIntents name, and those of no intent."""

from typing import Any

from tests.placement.clusters.cluster_worlds import workload
from webhook.placement.clusters.application import AppWorkload, ClusterApp, apps_of
from webhook.placement.objects.intent import Intent, read_intent

CPU = {"name": "cpu", "requests": 1}


def intent(name: str, *consumers: dict[str, Any], namespace: str = "default", **spec: object) -> Intent:
    return read_intent(namespace, name, {"consumers": list(consumers), **spec})


def consumer(name: str, *requirements: dict[str, Any], kind: str = "Deployment", **tweaks: str) -> dict[str, Any]:
    version = tweaks.pop("version", "apps/v1")
    return {
        "name": f"{name}-{tweaks}",
        "consumer": {"apiVersion": version, "kind": kind, "name": name, **tweaks},
        "requirements": list(requirements) or [CPU],
    }


def containers(found: AppWorkload) -> list[str]:
    assert found.pod.spec is not None
    return [one.name for one in found.pod.spec.containers or ()]


def test_an_app_has_the_workloads_that_its_intents_name() -> None:
    front, back = workload("front", count=3), workload("back")
    shop = [intent("a", consumer("front"), app="shop", replicationCount=2), intent("b", consumer("back"), app="shop")]
    [found] = apps_of([("front", front), ("back", back)], shop)
    assert (found.name, found.replication, found.workloads) == ("shop", 2, (front, back))
    assert (found.intents, found.flaw) == (("a", "b"), "")


def test_an_intent_without_an_app_is_one_by_itself() -> None:
    [found] = apps_of([], [intent("lonely", consumer("w"))])
    assert (found.name, found.replication) == ("lonely", 1)


def test_a_workload_of_no_intent_is_part_of_the_app_that_it_says() -> None:
    one, other, third = workload("one"), workload("other"), workload("third")
    found = apps_of([("shop", one), ("third", third), ("shop", other)], [])
    assert [(app.name, app.workloads, app.intents) for app in found] == [
        ("shop", (one, other), ()),
        ("third", (third,), ()),
    ]


def test_a_workload_that_is_not_there_is_one_pod_with_the_containers_of_its_intents() -> None:
    intents = [
        intent("a", consumer("w", **{"container-name": "x"}), consumer("w", **{"container-name": "y"}), app="shop"),
        intent("b", consumer("w", **{"container-name": "z"}), app="shop"),
    ]
    [found] = apps_of([], intents)
    [assumed] = found.workloads
    assert (assumed.assumed, assumed.count, assumed.origin, assumed.api_version) == (True, 1, "Deployment w", "apps/v1")
    assert containers(assumed) == ["x", "y", "z"]


def test_a_container_that_is_not_named_has_a_name_of_its_own() -> None:
    bare = intent("a", consumer("w", kind="Pod", version="v1"), app="shop")
    [found] = apps_of([], [bare, intent("b", consumer("w", kind="Pod", version="v1"), app="shop")])
    [assumed] = found.workloads
    assert (containers(assumed), assumed.api_version) == (["workload"], "v1")


def test_apps_of_one_name_in_two_namespaces_are_two() -> None:
    found = apps_of([], [intent("a", consumer("w"), app="x"), intent("a", consumer("w"), app="x", namespace="edge")])
    assert [(app.name, app.namespace) for app in found] == [("default/x", "default"), ("edge/x", "edge")]


def flaw(*intents: Intent) -> list[str]:
    found: tuple[ClusterApp, ...] = apps_of([], intents)
    return [app.flaw for app in found]


def test_an_app_may_not_say_two_numbers_of_clusters() -> None:
    two = [intent(name, app="x", replicationCount=count) for name, count in (("a", 2), ("b", 1), ("c", 2))]
    assert flaw(*two) == ["its HPAIntents state different replication counts: 1, 2"]


def test_a_workload_is_part_of_one_app() -> None:
    two = [intent(name, consumer("w"), app=name) for name in ("one", "two")]
    assert flaw(*two) == ["", "Deployment w is part of app one as well, by another HPAIntent"]


def test_an_intent_with_a_problem_is_a_flaw_of_its_app() -> None:
    assert flaw(intent("a", app="x", replicationCount=0)) == [
        'spec.replicationCount: "0" is no whole number from 1 to 1000'
    ]
