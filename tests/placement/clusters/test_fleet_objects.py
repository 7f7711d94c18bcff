"""Lists as objects of Karmada and Open Cluster Management."""

from msgspec.structs import replace

from tests.placement.clusters.cluster_worlds import GPU, answered, app, workload, world
from webhook.placement.clusters.fleet_objects import NAME_LIMIT, object_name, ocm_placements, propagation_policies

WISH = f"[{{name: {GPU}, limits: 1, mandatory: false, weight: 9}}]"
APPS = [
    app("huge", workload("h", cpu=99)),
    replace(app("shop", workload("a", cpu=1, hardware=WISH), workload("b", cpu=1), replication=2), intents=("gpus",)),
]
WORLDS = {"a": world({"cpu": 4}), "b": world({"cpu": 4, "gpu": 1}), "c": "is down", "d": world({"cpu": 4})}
FOUND = answered(APPS, WORLDS)
SELECTORS = [
    {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
    {"apiVersion": "apps/v1", "kind": "Deployment", "name": "b"},
    {"apiVersion": "streams.ibm.com/v1", "kind": "HPAIntent", "name": "gpus"},
]


def test_a_propagation_policy_sends_the_whole_app_to_the_best_clusters() -> None:
    assert list(propagation_policies(APPS, FOUND)) == [
        {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "PropagationPolicy",
            "metadata": {"name": "shop", "namespace": "default"},
            "spec": {
                "resourceSelectors": SELECTORS,
                "placement": {
                    "clusterAffinity": {"clusterNames": ["a", "b"]},
                    "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}],
                    "replicaScheduling": {"replicaSchedulingType": "Duplicated"},
                },
            },
        }
    ]


def test_replicas_may_be_divided_by_weight() -> None:
    [policy] = propagation_policies(APPS, FOUND, divide=True)
    assert policy["spec"]["placement"]["replicaScheduling"] == {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {
            "staticWeightList": [
                {"targetCluster": {"clusterNames": ["a"]}, "weight": 1},
                {"targetCluster": {"clusterNames": ["b"]}, "weight": 10},
            ]
        },
    }


def test_a_placement_names_all_clusters_that_are_as_good_as_the_last_of_the_best() -> None:
    [placement] = ocm_placements(APPS, FOUND)
    assert placement == {
        "apiVersion": "cluster.open-cluster-management.io/v1beta1",
        "kind": "Placement",
        "metadata": {"name": "shop", "namespace": "default"},
        "spec": {
            "numberOfClusters": 2,
            "predicates": [
                {
                    "requiredClusterSelector": {
                        "celSelector": {"celExpressions": ['managedCluster.metadata.name in ["a", "b", "d"]']}
                    }
                }
            ],
        },
    }


def test_a_placement_for_one_cluster_names_the_best_only() -> None:
    one = [app("shop", workload("a", cpu=1, hardware=WISH))]
    [placement] = ocm_placements(one, answered(one, WORLDS))
    assert '["b"]' in str(placement)


def test_names_of_apps_become_names_of_objects() -> None:
    assert object_name("shop-2") == "shop-2"
    odd = ["My App", "my app", "team/shop", "", "-", "é", "a" * 64, "a" * 65]
    names = [object_name(name) for name in odd]
    assert len(set(names)) == len(odd)
    assert all(object_name(name) == name for name in names)
    assert max(map(len, names)) <= NAME_LIMIT
    assert names[0].startswith("my-app-")
