"""The composition root: the only package that sees every layer, with one file for each program.

Each program imports what it needs and no more: a replica that serves shall not wait for a controller.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from webhook.app.controlling import control
    from webhook.app.releasing import release
    from webhook.app.serving import serve
    from webhook.app.worlds import explaining

__all__ = ["control", "explaining", "release", "serve"]

_FILES: Final = {"control": "controlling", "explaining": "worlds", "release": "releasing", "serve": "serving"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- whatever the file offers; type checkers see the imports above
    """Import the program when it is asked for."""
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_FILES[name]}"), name)
