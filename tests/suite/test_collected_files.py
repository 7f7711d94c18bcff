"""Files are left out of a run only if none of their tests belongs to it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.suite.collected_files import begun_with_what_is_shared, hidden, is_left_out

ALL = "import pytest\n\npytestmark = pytest.mark.integration\n"
SEVERAL = "import pytest\n\npytestmark = [pytest.mark.examples, pytest.mark.integration]\n"
ONE = "import pytest\n\n@pytest.mark.integration\ndef test_a(): ...\n"
NONE = "def test_b(): ...\n"


@pytest.mark.parametrize(
    ("text", "unit", "integration"),
    [(ALL, False, True), (SEVERAL, False, True), (ONE, True, True), (NONE, True, False)],
    ids=["all are", "all are, and more", "one is", "none is"],
)
def test_each_suite_imports_the_files_that_have_its_tests(
    tmp_path: Path, text: str, *, unit: bool, integration: bool
) -> None:
    file = tmp_path / "test_some.py"
    file.write_text(text)
    assert is_left_out(file, "not integration") is not unit
    assert is_left_out(file, "integration") is not integration
    assert not is_left_out(file, "")
    assert not is_left_out(file, "hypothesis or examples")


@pytest.mark.parametrize("name", ["conftest.py", "test_some.md", "builders.py"])
def test_what_is_no_file_of_tests_is_left_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(NONE)
    assert not is_left_out(file, "integration")


def test_a_file_that_has_its_marks_from_elsewhere_is_told(tmp_path: Path) -> None:
    files = {name: tmp_path / f"test_{name}.py" for name in ("said", "hidden", "unit")}
    files["said"].write_text(ONE)
    files["hidden"].write_text(NONE)
    files["unit"].write_text(NONE)

    def item(name: str) -> Any:
        return SimpleNamespace(path=files[name], get_closest_marker=lambda _: None if name == "unit" else object())

    assert hidden([item("said"), item("hidden"), item("unit")]) == {files["hidden"]}


def test_tests_that_share_a_release_begin_and_all_others_keep_their_order() -> None:
    names = ["rest/test_a.py", "tools/release/test_c.py", "tools/test_b.py", "tools/release/test_b.py", "test_app.py"]
    items: list[Any] = [SimpleNamespace(path=Path(__file__).parents[1] / name) for name in names]
    ordered = [str(item.path.relative_to(Path(__file__).parents[1])) for item in begun_with_what_is_shared(items)]
    assert ordered == [names[1], names[3], names[0], names[2], names[4]]
