"""The controllers of LeaderWorkerSets and DisaggregatedSets: their definitions, rights, webhooks and program."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.e2e.controlplane.component import Component
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.controller_runtime import configured, webhook_configurations
from tests.e2e.operators.manifests import defined, granted

SPACE: Final = "lws-system"
ACCOUNT: Final = f"{SPACE}/lws-controller-manager"
"""The ServiceAccount that the project's manifests have."""

DISAGGREGATED: Final = "/apis/disaggregatedset.x-k8s.io/v1"
GROUPS: Final = "/apis/leaderworkerset.x-k8s.io/v1"
SET_NAME: Final = "leaderworkerset.sigs.k8s.io/name"
"""Label of all pods of a LeaderWorkerSet."""


@contextlib.contextmanager
def running(plane: ControlPlane, files: Mapping[str, Path], folder: Path) -> Iterator[Component]:
    """The controllers work, and the API server calls their webhooks."""
    folder.mkdir()
    granted(plane.admin, ACCOUNT, files["role.yaml"])
    defined(plane, files["leaderworkerset.x-k8s.io_leaderworkersets.yaml"], f"{GROUPS}/leaderworkersets")
    defined(plane, files["disaggregatedset.x-k8s.io_disaggregatedsets.yaml"], f"{DISAGGREGATED}/disaggregatedsets")
    own = {"apiVersion": "config.lws.x-k8s.io/v1alpha1", "internalCertManagement": {"enable": False}}
    webhooks = webhook_configurations(files["manifests.yaml"], of_pods=SET_NAME)
    with configured(plane, files["lws"], ACCOUNT, folder, own, webhooks) as controller:
        yield controller
