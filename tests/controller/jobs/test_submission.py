"""A Job is submitted."""

from tests.apiserver.paths import ELEMENTS, POOLS
from tests.controller.jobs.job_cluster import JobCluster


async def test_a_job_gets_its_pools_elements_and_pods(cluster: JobCluster) -> None:
    cluster.job(hostPools=[{"name": "MyPool", "size": 1}], processingElements=[{}, {}, {"name": "sink"}])
    await cluster.lead()
    assert cluster.names(POOLS) == ["parallel-mypool"]
    assert cluster.names(ELEMENTS) == ["parallel-0", "parallel-1", "sink"]
    assert cluster.pods == ["parallel-0-1", "parallel-1-1", "sink-1"]
    assert cluster.status()["phase"] == "Running"
