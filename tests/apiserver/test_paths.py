"""What a path of the API says."""

import pytest

from tests.apiserver.paths import NODES, PODS, POOLS, ApiPath, api_path, node_path, path_of, pod_path, pool_path

LEASES = "/apis/coordination.k8s.io/v1/leases"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param(NODES, ApiPath(NODES, "", "", ""), id="a collection"),
        pytest.param(f"{NODES}/a", ApiPath(NODES, "", "a", ""), id="an object"),
        pytest.param(f"{NODES}/a/status", ApiPath(NODES, "", "a", "status"), id="a subresource"),
        pytest.param("/api/v1/namespaces/team/pods", ApiPath(PODS, "team", "", ""), id="a namespace's collection"),
        pytest.param("/api/v1/namespaces/team/pods/p/log/x", ApiPath(PODS, "team", "p", "log/x"), id="more than one"),
        pytest.param("/api/v1/namespaces/team", ApiPath("/api/v1/namespaces", "", "team", ""), id="a namespace"),
        pytest.param(
            "/api/v1/namespaces/team/status", ApiPath("/api/v1/namespaces", "", "team", "status"), id="its status"
        ),
        pytest.param(
            "/apis/coordination.k8s.io/v1/namespaces/team/leases/l", ApiPath(LEASES, "team", "l", ""), id="of a group"
        ),
    ],
)
def test_a_path_says_what_is_meant(path: str, expected: ApiPath) -> None:
    assert api_path(path) == expected


@pytest.mark.parametrize("path", ["/", "/api/v1", "/apis/apps/v1", "/healthz", "/k8s/clusters/c-1/api/v1/nodes"])
def test_other_paths_say_nothing(path: str) -> None:
    assert api_path(path) is None


@pytest.mark.parametrize(
    ("path", "collection"),
    [(node_path("a"), NODES), (pod_path("a"), PODS), (pool_path("a", "team"), POOLS), (path_of(LEASES, "a"), LEASES)],
)
def test_a_path_that_is_made_leads_to_its_collection(path: str, collection: str) -> None:
    where = api_path(path)
    assert where is not None
    assert (where.collection, where.name, path_of(collection, "a", where.namespace)) == (collection, "a", path)


def test_a_resource_is_the_last_part_of_a_collection() -> None:
    assert ApiPath(POOLS, "team", "p", "").resource == "streamshostpools"
