"""The check that runs in the image imports all there is, and fails for a shell or for what cannot be imported."""

import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tools.image.self_check import OPTIONAL, OWN, import_all, import_each, shells

pytestmark = pytest.mark.untraced


@pytest.fixture(scope="module")
def asked() -> set[str]:
    """The names of all modules that were imported."""
    return import_all()


def test_all_modules_are_imported_and_what_they_import_late(asked: set[str]) -> None:
    own = {path.relative_to(ROOT).with_suffix("") for name in OWN for path in (ROOT / name).rglob("*.py")}
    named = {".".join(path.parts).removesuffix(".__init__") for path in own if path.name != "__main__"}
    assert named <= asked
    late = {"highspy", "cel_expr_python.ext", "opentelemetry.exporter.otlp.proto.http.trace_exporter", "rich"}
    assert late <= asked
    assert late <= set(sys.modules)


def test_only_what_is_optional_may_be_missing(asked: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked >= {"mcp.server", "msgspec"}
    for name in OPTIONAL:
        monkeypatch.setitem(sys.modules, name, None)
    import_each(asked)
    monkeypatch.setitem(sys.modules, "msgspec", None)
    with pytest.raises(ModuleNotFoundError, match="import of msgspec halted"):
        import_each(asked)


def test_a_shell_and_a_package_manager_are_found(tmp_path: Path) -> None:
    for name in ("sh", "dpkg", "python"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    assert shells(str(tmp_path)) == ["sh", "dpkg"]
