"""Fixtures: a control plane with our definitions, and an account with the rights that the chart gives ``hpa-api``."""

from collections.abc import Iterator

import pytest

from tests.e2e.chart.rendering import of_kind, render
from tests.e2e.client.api import Api
from tests.e2e.live.bare_plane import BarePlane, serve_hostpools
from tests.e2e.rest.hpa_process import ACCOUNT
from tests.e2e.workloads import namespace

_RBAC = "rbac.authorization.k8s.io"


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BarePlane]:
    with BarePlane(tmp_path_factory.mktemp("rest"), service_accounts=(ACCOUNT,)) as running:
        serve_hostpools(running)
        space, name = ACCOUNT.split("/")
        charts = render({"hpaApi": {"enabled": True, "tlsSecret": "own"}})
        roles = [one for one in of_kind(charts, "ClusterRole") if one["metadata"]["name"].startswith(f"{name}")]
        rules = [rule for role in roles for rule in role["rules"]]
        grant(running.admin, name, rules, {"kind": "ServiceAccount", "namespace": space, "name": name})
        for project in ("edge", "other"):
            namespace(running.admin, project)
        yield running


def grant(admin: Api, name: str, rules: list[dict[str, list[str]]], subject: dict[str, str], space: str = "") -> None:
    """Give rights, in one namespace or in all."""
    scope, meta = ("", {"name": name, "namespace": space}) if space else ("Cluster", {"name": name})
    role = {"apiGroup": _RBAC, "kind": f"{scope}Role", "name": name}
    admin.create({"apiVersion": f"{_RBAC}/v1", "kind": f"{scope}Role", "metadata": meta, "rules": rules})
    binding = {"kind": f"{scope}RoleBinding", "metadata": meta, "roleRef": role, "subjects": [subject]}
    admin.create({"apiVersion": f"{_RBAC}/v1", **binding})
