"""Fixtures: upgrades of the chart to other settings, which one upgrade takes back in the end."""

import json
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from tests.e2e.chart.installation import install
from tests.e2e.chart.rendering import NAMESPACE, Values
from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until

Upgraded: TypeAlias = Callable[[Values], None]
"""An upgrade to what other tests of the chart have, with these values in place of those of the file before.

Every process is another one then, and has promised no room yet.
"""


@pytest.fixture(scope="package")
def upgraded(installed: Kubelet, plane: ControlPlane) -> Iterator[Upgraded]:
    before: Values = json.loads((plane.folder / "values.yaml").read_text())
    now = [before]

    def change(values: Values) -> None:
        settings = {**before.get("settings", {}), **values.get("settings", {})}
        wanted = {**before, **values, "settings": settings}
        if wanted != now[-1]:
            install(plane, installed, wanted)
            now.append(wanted)
            until(lambda: not _any_ends(plane.admin), "what was replaced is gone")

    yield change
    change({})


def _any_ends(admin: Api) -> bool:
    """Whether a pod is about to end: a request on a connection that it closes at that very moment would fail."""
    pods = admin.get(f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]
    return any(one["metadata"].get("deletionTimestamp") for one in pods)
