"""The composition root: the only package that sees every layer, with one file for each program.

- ``serve``: reviews answered over HTTPS.
- ``controller``: HostPools made true.
- ``release``: hosts given back while no controller acts.
- ``explain``: manifests judged against a cluster.
- ``cluster_source``: where the state of a cluster comes from.

A program is imported when it is asked for: a replica that serves shall not wait for a controller.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from webhook.app import controller, explain, release, serve

__all__ = ["controller", "explain", "release", "serve"]

_PROGRAMS: Final = frozenset({"controller", "explain", "release", "serve"})


def __getattr__(name: str) -> ModuleType:
    """Import the program's file."""
    if name not in _PROGRAMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
