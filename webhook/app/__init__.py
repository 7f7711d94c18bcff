"""The composition root: the only package that sees every layer, with one file for each program.

- ``serve``: the webhook server.
- ``controller``: the reconciler of HostPools.
- ``release``: the command that releases hosts of HostPools while no controller acts.
- ``status``: the command that shows how a Job stands.
- ``hpa_api``: the REST interface of HPA intents; ``hpa_placement``: its query about several clusters.
- ``clusters``: reads several clusters, and finds out which of them can take which apps.
- ``explain``: the world that manifests are judged against.
- ``review_requests``: asks an API server, or a snapshot, for PlacementReviews.
- ``cluster_source``: where the state of a cluster comes from.

A program is imported on first use, so that one program does not wait for the imports of another.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from webhook.app import controller, explain, hpa_api, release, serve, status

__all__ = ["controller", "explain", "hpa_api", "release", "serve", "status"]

_PROGRAMS: Final = frozenset({"controller", "explain", "hpa_api", "release", "serve", "status"})


def __getattr__(name: str) -> ModuleType:
    """Import the program's file."""
    if name not in _PROGRAMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
