"""How a Job stands, as it is read from the objects of a cluster."""

import json
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.queries.job_view import (
    ElementView,
    JobView,
    PoolView,
    StoredObject,
    UnknownJobError,
    read_job_view,
    view_of,
)
from webhook.placement.objects.jobs.job_fusion import RegionWidth

Json = dict[str, Any]

SPACE: Final = "/apis/streams.ibm.com/v1/namespaces/default"
JOBS, POOLS, ELEMENTS = f"{SPACE}/streamsjobs", f"{SPACE}/streamshostpools", f"{SPACE}/streamspes"
PODS: Final = "/api/v1/namespaces/default/pods"


def stored(name: str, spec: Json | None = None, status: Json | None = None, **metadata: Any) -> Json:
    return {"metadata": {"name": name, **metadata}, "spec": spec or {}, "status": status or {}}


def condition(kind: str, message: str = "", status: str = "False", reason: str = "Because") -> Json:
    return {"type": kind, "status": status, "reason": reason, **({"message": message} if message else {})}


def element(name: str = "parallel-0", job: str = "parallel", **status: Any) -> Json:
    return stored(name, {"job": job}, status)


def job(*elements: Json, **status: Any) -> Json:
    return stored("parallel", {"processingElements": list(elements)} if elements else {}, status)


def view(of: Json, *, pools: Any = (), elements: Any = (), pods: Any = ()) -> JobView:
    def read(objects: Any) -> list[StoredObject]:
        return [msgspec.convert(one, StoredObject) for one in objects]

    return view_of("default", *read([of]), pools=read(pools), elements=read(elements), pods=read(pods))


def only(*, pods: Any = (), **status: Any) -> ElementView:
    """The view of a processing element with that status."""
    (found,) = view(job({}), elements=[element(**status)], pods=pods).processing_elements
    return found


@pytest.mark.parametrize(("phase", "said"), [("Running", "no room"), ("Failed", "")])
def test_a_job_that_could_not_be_started_again(phase: str, said: str) -> None:
    found = view(job({}, phase=phase, conditions=[condition("Satisfiable", "no room")]))
    assert found.unsatisfiable == said


def test_a_job_of_which_some_finds_no_node() -> None:
    stranded = {**condition("Satisfiable", "no room beside the others"), "reason": "Stranded"}
    found = view(job({}, phase="Degraded", conditions=[stranded]))
    assert (found.unsatisfiable, found.stranded) == ("", "no room beside the others")


def test_a_job_of_operators_has_its_fusion() -> None:
    found = view(job({}, fusion={"scheme": "automatic", "asked": 2, "made": 2, "inside": 7})).fusion
    assert found is not None
    assert (found.scheme, found.asked, found.made, found.inside) == ("automatic", 2, 2, 7)


def test_a_job_that_runs() -> None:
    pool = {"name": "MyPool", "job": "parallel"}
    ready = {"phase": "Ready", "hosts": [{"index": 0, "name": "bar"}], "conditions": [condition("Ready", "", "True")]}
    runs = {"phase": "Running", "pod": "parallel-0-2", "launchCount": 2, "restarts": 1, "node": "old"}
    pod = stored("parallel-0-2", {"nodeName": "bar"}, {"conditions": [condition("PodScheduled", "", "True")]})
    found = view(
        job({}, phase="Running", submittedAt="2026-09-01T08:00:00Z", conditions=[condition("Ready", "", "True")]),
        pools=[stored("parallel-mypool", pool, ready)],
        elements=[element(**runs)],
        pods=[pod],
    )
    assert found == JobView(
        namespace="default",
        name="parallel",
        phase="Running",
        submitted_at="2026-09-01T08:00:00Z",
        host_pools=(PoolView("parallel-mypool", "MyPool", "Ready", ("bar",)),),
        processing_elements=(ElementView("parallel-0", "Running", "parallel-0-2", "bar", 2, 1),),
    )


def test_what_no_controller_has_looked_at_yet() -> None:
    found = view(job({}), pools=[stored("p", {"job": "parallel"})], elements=[element()])
    assert found == JobView(
        namespace="default",
        name="parallel",
        phase="Unknown",
        host_pools=(PoolView("p", "p", "Unknown"),),
        processing_elements=(ElementView("parallel-0", "Unknown"),),
    )


def test_the_words_of_a_job_and_of_a_pool_that_are_not_ready() -> None:
    waits = {"phase": "Pending", "conditions": [condition("Ready", "it needs 2 hosts")]}
    found = view(job(conditions=[condition("Ready")]), pools=[stored("p", {"job": "parallel"}, waits)])
    assert (found.message, found.host_pools[0].message) == ("Because", "it needs 2 hosts")


def test_objects_of_other_jobs_are_left_out() -> None:
    found = view(job(), pools=[stored("p", {}), stored("q", {"job": "other"})], elements=[element(job="other")])
    assert (found.host_pools, found.processing_elements) == ((), ())


def test_processing_elements_stand_in_the_order_of_the_list() -> None:
    listed = [{"name": "z"}, {}, {"name": "a"}]
    found = view(job(*listed), elements=[element("removed"), element("a"), element("z")])
    assert [(one.name, one.phase, one.message) for one in found.processing_elements] == [
        ("z", "Unknown", ""),
        ("parallel-1", "Absent", "the object does not exist"),
        ("a", "Unknown", ""),
        ("removed", "Unknown", "is not in the list of the Job"),
    ]


def test_whatever_is_being_deleted_says_so() -> None:
    gone = {"deletionTimestamp": "2026-09-01T08:00:00Z"}
    found = view(
        stored("parallel", **gone),
        pools=[stored("p", {"job": "parallel"}, **gone)],
        elements=[stored("parallel-0", {"job": "parallel"}, **gone)],
    )
    words = [found.message, found.host_pools[0].message, found.processing_elements[0].message]
    assert words == ["is being deleted"] * 3


class TestWhyOneWaits:
    """The words of whoever knows best: the API server, the scheduler, the kubelet, the controller."""

    READY: Final = condition("Ready", "the controller's words")
    POD: Final = "parallel-0-1"

    def test_its_pod_could_not_be_created(self) -> None:
        found = only(conditions=[self.READY, condition("PodCreated", "quota exceeded")])
        assert found.message == "quota exceeded"

    def test_its_pod_has_no_node(self) -> None:
        pod = stored(self.POD, {}, {"conditions": [condition("PodScheduled", "0/3 nodes are available")]})
        found = only(pod=self.POD, conditions=[self.READY, condition("Scheduled", "older words")], pods=[pod])
        assert (found.node, found.message) == ("", "0/3 nodes are available")

    @pytest.mark.parametrize(
        ("state", "said"),
        [
            ({"waiting": {"reason": "ErrImagePull", "message": "no such image"}}, "ErrImagePull: no such image"),
            ({"waiting": {"reason": "ContainerCreating"}}, "ContainerCreating"),
            ({"waiting": {}}, "the controller's words"),
            ({"running": {}}, "the controller's words"),
            (None, "the controller's words"),
        ],
    )
    def test_its_container_has_not_started(self, state: Json | None, said: str) -> None:
        pod = stored(self.POD, {"nodeName": "bar"}, {"containerStatuses": [{"state": state}]})
        assert only(pod=self.POD, conditions=[self.READY], pods=[pod]).message == said

    def test_its_pod_is_not_there_any_more(self) -> None:
        found = only(pod=self.POD, node="bar", conditions=[condition("Scheduled", "last words"), self.READY])
        assert (found.node, found.message) == ("bar", "last words")

    def test_only_the_controller_knows(self) -> None:
        assert only(conditions=[self.READY]).message == "the controller's words"


class Reader:
    """Answers lists from what it holds; paths that it does not know are missing."""

    def __init__(self, **lists: Any) -> None:
        self.lists = {JOBS: [], POOLS: [], ELEMENTS: [], PODS: [], **lists}
        self.asked: list[tuple[str, dict[str, list[str]]]] = []

    async def read(self, path: str) -> bytes:
        parts = urlsplit(path)
        self.asked.append((parts.path, parse_qs(parts.query)))
        found = self.lists[parts.path]
        if isinstance(found, ApiError):
            raise found
        return json.dumps({"items": found}).encode()


async def test_every_kind_is_listed_once() -> None:
    reader = Reader(**{JOBS: [job({})], ELEMENTS: [element(phase="Pending")]})
    found = await read_job_view(reader, "default", "parallel")
    assert [one.phase for one in found.processing_elements] == ["Pending"]
    assert [path for path, _ in reader.asked] == [JOBS, POOLS, ELEMENTS, PODS]
    assert reader.asked[-1][1]["labelSelector"] == ["streams.ibm.com/job=parallel"]


async def test_a_job_that_is_not_there_is_an_error_with_those_that_are() -> None:
    with pytest.raises(UnknownJobError) as raised:
        await read_job_view(Reader(**{JOBS: [stored("b"), stored("a")]}), "default", "parallel")
    assert raised.value.names == ["a", "b"]


async def test_a_kind_that_is_not_defined_has_no_objects() -> None:
    reader = Reader(**{JOBS: [job({})], ELEMENTS: ApiError(Cause.MISSING, "404")})
    found = await read_job_view(reader, "default", "parallel")
    assert [one.phase for one in found.processing_elements] == ["Absent"]


async def test_a_list_that_is_refused_is_an_error() -> None:
    reader = Reader(**{JOBS: [job({})], PODS: ApiError(Cause.FORBIDDEN, "403: pods")})
    with pytest.raises(ApiError, match="^403: pods$"):
        await read_job_view(reader, "default", "parallel")


async def test_an_object_that_cannot_be_read_is_an_error() -> None:
    reader = Reader(**{JOBS: [{"metadata": {"name": 1}}]})
    with pytest.raises(ApiError, match=r"^a Job cannot be read: metadata\.name: expected `str`, got `int`$"):
        await read_job_view(reader, "default", "parallel")


def test_parallel_regions_have_the_widths_that_they_are_fused_with() -> None:
    regions = [{"name": "work", "width": 4, "stated": 2}]
    found = view(stored("parallel", {}, {"fusion": {"processingElements": [], "regions": regions}}))
    assert found.parallel_regions == (RegionWidth("work", 4, 2),)
