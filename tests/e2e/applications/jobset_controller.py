"""The controller of JobSets, as its project has it: its definition, its rights, its webhooks and its program."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.e2e.controlplane.component import Component
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.controller_runtime import configured, webhook_configurations
from tests.e2e.operators.manifests import defined, granted

SPACE: Final = "jobset-system"
ACCOUNT: Final = f"{SPACE}/jobset-controller-manager"
"""The ServiceAccount that the project's manifests have."""

JOBSETS: Final = "/apis/jobset.x-k8s.io/v1alpha2"


@contextlib.contextmanager
def running(plane: ControlPlane, files: Mapping[str, Path], folder: Path) -> Iterator[Component]:
    """The controller works, and the API server calls its webhooks."""
    granted(plane.admin, ACCOUNT, files["role.yaml"])
    defined(plane, files["jobset.x-k8s.io_jobsets.yaml"], f"{JOBSETS}/jobsets")
    own = {"apiVersion": "config.jobset.x-k8s.io/v1alpha1", "internalCertManagement": {"enable": False}}
    webhooks = webhook_configurations(files["manifests.yaml"], of_pods="jobset.sigs.k8s.io/jobset-name")
    with configured(plane, files["jobset"], ACCOUNT, folder, own, webhooks) as controller:
        yield controller
