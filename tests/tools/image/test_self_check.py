"""The check that runs in the image imports all there is, and fails for a shell or for what cannot be imported."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tools.image.self_check import OPTIONAL, OWN, import_all, shells

pytestmark = pytest.mark.untraced


def test_all_modules_are_imported_and_what_they_import_late() -> None:
    asked = import_all()
    own = {path.relative_to(ROOT).with_suffix("") for name in OWN for path in (ROOT / name).rglob("*.py")}
    named = {".".join(path.parts).removesuffix(".__init__") for path in own if path.name != "__main__"}
    assert named <= asked
    late = {"highspy", "cel_expr_python.ext", "opentelemetry.exporter.otlp.proto.http.trace_exporter", "rich"}
    assert late <= asked
    assert late <= set(sys.modules)


@pytest.mark.parametrize("missing", ["mcp", "msgspec"])
def test_only_what_is_optional_may_be_missing(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from tools.image.self_check import import_all; import_all()"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603 -- ourselves
    assert (done.returncode == 0) == (missing in OPTIONAL)
    assert (f"import of {missing} halted" in done.stderr) == (missing not in OPTIONAL)


def test_a_shell_and_a_package_manager_are_found(tmp_path: Path) -> None:
    for name in ("sh", "dpkg", "python"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    assert shells(str(tmp_path)) == ["sh", "dpkg"]
