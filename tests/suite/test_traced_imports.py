"""Modules of the product are traced while they are imported, and nothing else is."""

import importlib.util
import sys
from pathlib import Path
from types import FrameType

from tests.suite.traced_imports import ProductImports


def test_what_runs_on_import_is_traced_and_what_comes_after_it_is_not(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text("ONE = 1\n\ndef two():\n    return 2\n")
    lines: list[tuple[str, int]] = []

    def trace(frame: FrameType, event: str, _of: object) -> object:
        if event == "line":
            lines.append((frame.f_globals["__name__"], frame.f_lineno))
        return trace

    before = sys.gettrace()
    spec = ProductImports(trace).find_spec("certs.made", [str(tmp_path)])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert sys.gettrace() is before
    assert module.two() == 2
    assert [line for name, line in lines if name == "certs.made"] == [1, 3]


def test_other_modules_are_found_by_others() -> None:
    finder = ProductImports(lambda *_: None)
    assert finder.find_spec("tests.builders", None) is None
    assert finder.find_spec("certs.nowhere", []) is None
