"""AdmissionChecks become inactive when the product is uninstalled, and active again with the next controller."""

import json
import logging
from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.storage import Storage
from tests.controller.admissionchecks.checked_cluster import CHECKS, GROUP, VERSION, CheckedCluster, Json
from tests.controller.controller_process import EPOCH, FaultyApi
from webhook.controller.admissionchecks.closed_checks import TRIES, ClosedChecks

SERVED = "/apis/kueue.x-k8s.io"
PATH = f"{CHECKS}/placement"


class KueueApi(FaultyApi):
    """The way to an API server that says in which versions it serves Kueue's kinds, if it does."""

    def __init__(self, kube: Storage) -> None:
        super().__init__(kube)
        self.group: Any = {"versions": [{"groupVersion": VERSION}]}

    def serve(self, *versions: str) -> None:
        self.group = {"versions": [{"groupVersion": version} for version in versions]}

    async def read(self, path: str) -> bytes:
        if path != SERVED:
            return await super().read(path)
        if isinstance(self.group, ApiError):
            raise self.group
        return json.dumps(self.group).encode()


@pytest.fixture
async def checked(checked: CheckedCluster) -> CheckedCluster:
    """A controller has made the check active, and ended."""
    await checked.lead()
    await checked.answered()
    await checked.end()
    assert active(checked)["status"] == "True"
    return checked


@pytest.fixture
def line(checked: CheckedCluster) -> KueueApi:
    return KueueApi(checked.kube)


def active(checked: CheckedCluster, name: str = "placement") -> Json:
    (found,) = (
        one for one in checked.kube.objects[f"{CHECKS}/{name}"]["status"]["conditions"] if one["type"] == "Active"
    )
    return dict(found)


def closing(line: KueueApi) -> ClosedChecks:
    return ClosedChecks(line, now=lambda: EPOCH + 3600)


async def closed(line: KueueApi) -> list[str]:
    """The names of the checks that were made inactive."""
    checks = closing(line)
    found = await checks.open()
    for check in found:
        await checks.close(check)
    return [check.name for check in found]


async def test_a_check_becomes_inactive_with_a_reason(checked: CheckedCluster, line: KueueApi) -> None:
    other = {"type": "Other", "status": "True", "reason": "x", "message": ""}
    conditions = checked.kube.objects[PATH]["status"]["conditions"]
    checked.kube.change(PATH, {"status": {"conditions": [*conditions, other]}})
    checked.check("foreign", controller="example.com/other")
    assert await closed(line) == ["placement"]
    assert active(checked) == {
        "type": "Active",
        "status": "False",
        "reason": "ControllerUninstalled",
        "message": "streams-placement was uninstalled: install it again, or take this check out of all ClusterQueues",
        "lastTransitionTime": "2026-01-01T01:00:00Z",
        "observedGeneration": 1,
    }
    assert other in checked.kube.objects[PATH]["status"]["conditions"]
    assert "status" not in checked.kube.objects[f"{CHECKS}/foreign"]


async def test_done_again_it_changes_nothing(checked: CheckedCluster, line: KueueApi) -> None:
    await closed(line)
    before = len(checked.kube.changes)
    assert (await closed(line), len(checked.kube.changes)) == ([], before)


async def test_a_check_that_was_never_active_stays_as_it_is(checked: CheckedCluster, line: KueueApi) -> None:
    checked.check("new")
    assert await closed(line) == ["placement"]
    assert "status" not in checked.kube.objects[f"{CHECKS}/new"]


async def test_the_next_controller_makes_it_active_again(checked: CheckedCluster, line: KueueApi) -> None:
    await closed(line)
    await checked.lead()
    await checked.answered()
    assert (active(checked)["status"], active(checked)["reason"]) == ("True", "Active")


@pytest.mark.parametrize("versions", [(), ("kueue.x-k8s.io/v9",)], ids=["no version", "another version"])
async def test_of_a_version_that_is_not_known_nothing_is_read(line: KueueApi, versions: tuple[str, ...]) -> None:
    line.serve(*versions)
    assert await closed(line) == []


async def test_without_kueue_there_is_nothing_to_close(line: KueueApi) -> None:
    line.group = ApiError(Cause.MISSING, "the API server answers 404")
    assert await closed(line) == []


async def test_the_best_version_is_read_that_is_served(checked: CheckedCluster, line: KueueApi) -> None:
    old = GROUP.replace("/v1", "/v1beta1")
    spec = {"controllerName": "placement.streams.ibm.com/admission-check"}
    status = {"conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": ""}]}
    path = f"{old}/admissionchecks/old"
    checked.kube.create(path, apiVersion="kueue.x-k8s.io/v1beta1", spec=spec, status=status)
    line.serve("kueue.x-k8s.io/v9", "kueue.x-k8s.io/v1beta1")
    assert await closed(line) == ["old"]
    assert checked.kube.objects[path]["status"]["conditions"][0]["status"] == "False"


async def test_checks_that_may_not_be_listed_stay_and_a_line_says_so(
    checked: CheckedCluster, line: KueueApi, caplog: pytest.LogCaptureFixture
) -> None:
    line.failures = [ApiError(Cause.FORBIDDEN, "the API server answers 403: no")]
    with caplog.at_level(logging.WARNING):
        assert await closed(line) == []
    assert caplog.messages == ["AdmissionChecks of Kueue are left unchanged: the API server answers 403: no"]
    assert active(checked)["status"] == "True"


async def test_a_failure_to_ask_for_versions_is_one(line: KueueApi) -> None:
    line.group = ApiError(Cause.BUSY, "the API server answers 503")
    with pytest.raises(ApiError, match="^the API server answers 503$"):
        await closed(line)


async def test_another_failure_is_one(line: KueueApi) -> None:
    line.failures = [ApiError(Cause.BUSY, "the API server answers 500")]
    with pytest.raises(ApiError, match="^the API server answers 500$"):
        await closed(line)


async def test_versions_that_cannot_be_read_are_a_failure(line: KueueApi) -> None:
    line.group = {"versions": 7}
    with pytest.raises(ApiError, match=r"^its versions cannot be read: "):
        await closed(line)


# Others that write meanwhile


async def test_a_conflict_is_tried_again(checked: CheckedCluster, line: KueueApi) -> None:
    line.before = interfering(checked, times=1)
    assert await closed(line) == ["placement"]
    assert active(checked)["status"] == "False"
    assert len(line.writes) == 1


def interfering(checked: CheckedCluster, *, times: int, **more: Any) -> Any:
    """Something else changes the check right before each of so many writes."""
    left = [times]

    def change(_: str) -> None:
        if left[0] > 0:
            left[0] -= 1
            checked.kube.change(PATH, {"metadata": {"labels": {"round": str(left[0])}}, **more})

    return change


async def test_conflicts_without_an_end_are_a_failure(checked: CheckedCluster, line: KueueApi) -> None:
    line.before = interfering(checked, times=2 * TRIES)
    with pytest.raises(ApiError, match="^it keeps being changed by other clients$"):
        await closed(line)
    assert line.reads == 1 + TRIES


async def test_a_check_that_another_controller_takes_over_is_left_to_it(
    checked: CheckedCluster, line: KueueApi
) -> None:
    line.before = interfering(checked, times=1, spec={"controllerName": "example.com/other"})
    await closed(line)
    assert active(checked)["status"] == "True"


async def test_a_check_that_something_else_has_closed_is_left_so(checked: CheckedCluster, line: KueueApi) -> None:
    told = [{"type": "Active", "status": "False", "reason": "Mine", "message": ""}]
    line.before = interfering(checked, times=1, status={"conditions": told})
    await closed(line)
    assert active(checked)["reason"] == "Mine"


async def test_a_check_that_is_deleted_meanwhile_is_done(checked: CheckedCluster, line: KueueApi) -> None:
    checks = closing(line)
    (check,) = await checks.open()
    checked.kube.delete(PATH)
    await checks.close(check)
    assert PATH not in checked.kube.objects


async def test_a_write_that_is_not_allowed_is_a_failure(line: KueueApi) -> None:
    checks = closing(line)
    (check,) = await checks.open()
    line.failures = [ApiError(Cause.FORBIDDEN, "the API server answers 403: no")]
    with pytest.raises(ApiError, match="403"):
        await checks.close(check)


async def test_a_check_that_is_being_deleted_is_left_alone(checked: CheckedCluster, line: KueueApi) -> None:
    checked.kube.change(PATH, {"metadata": {"finalizers": ["kueue.x-k8s.io/resource-in-use"]}})
    checked.kube.delete(PATH)
    assert await closed(line) == []
