"""What an operator's own manifests give to a cluster: its rights and the definitions of its kinds."""

from pathlib import Path
from typing import Final

import yaml

from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until

SECONDS: Final = 60


def granted(admin: Api, account: str, file: Path) -> None:
    """The project's role, for the ServiceAccount ``namespace/name`` of its operator."""
    role = yaml.safe_load(file.read_text())
    namespace, name = account.split("/")
    group = "rbac.authorization.k8s.io"
    admin.create(role)
    admin.create(
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role["metadata"]["name"]},
            "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": name}],
        }
    )


def defined(plane: ControlPlane, file: Path, path: str) -> None:
    """The project's definition of a kind, whose objects are at the path."""
    done = plane.kubectl("create", "--filename", str(file))
    assert done.returncode == 0, done.stderr
    until(lambda: plane.admin.send("GET", path).code == 200, f"{file.stem} is served", SECONDS)
