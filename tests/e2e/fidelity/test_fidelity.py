"""Random scenarios: nothing is refused that the real scheduler binds, and nothing bound where it must not be.

``make fidelity`` plays many more of them (``docs/verdicts.md``).
"""

from collections.abc import Iterator

import pytest

from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.fidelity.application_run import ApplicationRun
from tests.e2e.fidelity.device_group_run import DeviceGroupRun
from tests.e2e.fidelity.device_run import DeviceRun
from tests.e2e.fidelity.run import FidelityRun
from tests.fidelity.case_verdict import CaseVerdict
from tests.fidelity.comparison import AGREED, CORNERED, FALSE_REFUSAL, MISPLACED
from tests.fidelity.journal import Journal
from tests.fidelity.judges import refusing
from tests.suite.example_count import some_of

pytestmark = pytest.mark.early

SEED = 7
CASES = some_of(100, every_day=50)
GROUPS = some_of(20, every_day=8)
"""Jobs and HostPools with devices, each of which is played in up to 30 ways."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A control plane of its own, without nodes."""
    with ControlPlane(tmp_path_factory.mktemp("fidelity")) as plane:
        yield plane.admin


def test_nothing_is_refused_that_runs_and_nothing_is_misplaced(api: Api) -> None:
    journal = Journal(None, SEED)
    run = FidelityRun(api, SEED, journal)
    run.all(CASES)
    run.again()
    assert len(journal.entries) == CASES
    assert not [one for one in journal.wrong if one.outcome in {FALSE_REFUSAL, MISPLACED}]
    admitted = [one for one in journal.entries.values() if one.admitted and one.outcome == AGREED]
    assert len(admitted) > CASES / 5


def test_a_judge_that_refuses_everything_is_found_out(api: Api) -> None:
    journal = Journal(None, SEED)
    FidelityRun(api, SEED, journal, refusing).all(10)
    assert any(one.outcome == FALSE_REFUSAL for one in journal.wrong)


def test_devices_are_judged_as_the_scheduler_allocates_them(api: Api) -> None:
    journal = Journal(None, SEED)
    agrees(DeviceRun(api, SEED, journal), journal, CASES)


def test_jobs_and_pools_with_devices_are_judged_as_the_scheduler_allocates_them(api: Api) -> None:
    journal = Journal(None, SEED)
    agrees(DeviceGroupRun(api, SEED, journal), journal, GROUPS)


def test_a_judge_that_refuses_jobs_and_pools_with_devices_is_found_out(api: Api) -> None:
    run = DeviceGroupRun(api, SEED, Journal(None, SEED), lambda _: CaseVerdict(admitted=False, text="no"))
    ends = run.ends([run.scenario(number) for number in (1, 15)])  # a Job and a HostPool that run
    assert {(end.scenario.kind, end.result.outcome) for end in ends} == {
        ("job", FALSE_REFUSAL),
        ("pool", FALSE_REFUSAL),
    }


def test_applications_are_judged_as_the_scheduler_binds_their_pods(api: Api) -> None:
    journal = Journal(None, SEED)
    agrees(ApplicationRun(api, SEED, journal), journal, ApplicationRun.side_by_side)


def agrees(run: DeviceRun | DeviceGroupRun | ApplicationRun, journal: Journal, count: int) -> None:
    """Play so many scenarios: none is wrong, and at least an eighth of them each is admitted and refused."""
    run.all(count)
    run.again()
    assert len(journal.entries) == count
    assert not [one for one in journal.wrong if one.outcome != CORNERED]
    agreed = [one for one in journal.entries.values() if one.outcome == AGREED]
    assert min(sum(one.admitted for one in agreed), sum(not one.admitted for one in agreed)) > count / 8
