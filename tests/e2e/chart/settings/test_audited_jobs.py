"""In audit mode workloads of one job that could not run together are stored, with a warning."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.kubectl_apply import applied
from tests.e2e.chart.settings.conftest import Upgraded
from tests.e2e.chart.workloads.test_job_workloads import apart_sink, part, refused_anew
from tests.e2e.client.api import Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import emptied, namespace

SPACE: Final = "audited"
SECONDS: Final = 60


def here(found: Object) -> Object:
    """The same in the namespace of this test."""
    return {**found, "metadata": {**found["metadata"], "namespace": SPACE}}


@pytest.fixture(scope="module", autouse=True)
def _audited(upgraded: Upgraded, plane: ControlPlane) -> Iterator[None]:
    namespace(plane.admin, SPACE)
    upgraded({"settings": {"mode": "audit"}})
    yield
    emptied(plane.admin, SPACE)


def test_what_would_be_refused_is_a_warning(plane: ControlPlane) -> None:
    applied(plane, here(part("source", placement='hostExlocation("apart")', paused=True)))
    # The API server may have a connection to a webhook of before, which answers until it is drained.
    until(lambda: not refused_anew(plane, here(apart_sink())), "the webhook only warns", SECONDS)
    said = applied(plane, here(apart_sink()))
    assert "Warning: audit: this would be refused: The workloads of job pipeline together: " in said
