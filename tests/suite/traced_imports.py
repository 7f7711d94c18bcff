"""Imports of the product: they are traced wherever they happen, and what imports them is not."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _typeshed import TraceFunction


PRODUCT: Final = ("certs", "kubeapi", "webhook")
"""Packages whose lines count as coverage."""


class _TracedLoader(SourceFileLoader):
    """Runs a module with the tracer, and puts back what traced before."""

    def __init__(self, name: str, path: str, tracer: "TraceFunction") -> None:
        super().__init__(name, path)
        self._tracer = tracer

    def exec_module(self, module: ModuleType) -> None:
        before = sys.gettrace()
        sys.settrace(self._tracer)
        try:
            super().exec_module(module)
        finally:
            sys.settrace(before)


class ProductImports(MetaPathFinder):
    """Finds modules of the product as Python does, and traces what runs when they are imported."""

    def __init__(self, tracer: "TraceFunction") -> None:
        self._tracer = tracer

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in PRODUCT:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _TracedLoader(fullname, spec.origin, self._tracer)
        return spec
