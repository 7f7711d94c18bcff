"""``make golden`` on a small folder of tests: texts are rewritten, whatever else fails is left alone and named."""

import subprocess
from pathlib import Path

import pytest

from tests.golden.__main__ import Golden, main, uncommitted

PRODUCT = """\
def refusal(count):
    return f"WORD hold: 0 of {count} nodes can run this pod.\\n  Nearest fix: drop it"

def kept():
    return 3
"""

SAMPLE = """\
import pytest
from product import kept, refusal

WHO = "nodes can run"

CASES = {
    "one": (1, "cannot hold: 0 of 1 nodes can run this pod."),
    "two": (2, "cannot hold: 0 of 2 nodes can run this pod."),
}


@pytest.mark.parametrize(("count", "expected"), CASES.values(), ids=CASES.keys())
def test_a_table(count, expected):
    assert refusal(count).partition("\\n")[0] == expected


@pytest.mark.parametrize(("count", "expected"), [(3, "cannot hold: 0 of 3 nodes can run this pod.")])
def test_a_literal_table(count, expected):
    assert refusal(count).partition("\\n")[0] == expected


def test_pieces():
    assert (refusal(4), 1) == (
        "cannot hold: 0 of 4 nodes "
        "can run this pod.\\n"
        "  Nearest fix: drop it", 1
    )


@pytest.mark.parametrize("count", [5, 6])
def test_fields(count):
    assert refusal(count).splitlines() == [f"cannot hold: 0 of {count} {WHO} this pod.", "  Nearest fix: drop it"]


def test_one_after_the_other():
    assert refusal(7).startswith("cannot hold: 0 of 7")
    assert "cannot hold: 0 of 7 nodes" in refusal(7)
    with pytest.raises(ValueError, match="^cannot hold"):
        raise ValueError(refusal(7))


def test_a_number():
    assert kept() == 3


def test_a_text_that_is_missing():
    assert refusal(8) is not None
    assert "Nearest fix" in refusal(8), "gone"


def test_another_text():
    assert "cannot hold" == "cannot " + "hold"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "product.py").write_text(PRODUCT.replace("WORD", "cannot"))
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 120\n")
    (tmp_path / "test_sample.py").write_text(SAMPLE)
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    command = ("git", *arguments)
    subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603 - git


def reworded(folder: Path, words: str) -> None:
    (folder / "product.py").write_text(PRODUCT.replace("WORD", words))


@pytest.mark.integration
def test_a_wording_is_changed_wherever_it_is_expected(folder: Path) -> None:
    reworded(folder, "must not be expected to")
    golden = Golden(folder)
    assert golden.rewrite(["."]) == {folder / "test_sample.py"}
    assert golden.left == ()
    text = (folder / "test_sample.py").read_text()
    assert text.count("cannot") == 2
    assert text.count("must not be expected to hold: 0 of ") == 7
    assert "assert kept() == 3" in text
    assert max(map(len, text.splitlines())) <= 120
    assert Golden(folder).rewrite(["test_sample.py"]) == set()


@pytest.mark.integration
def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "test_sample.py").write_text("import nothing")
    golden = Golden(folder)
    assert golden.rewrite(["test_sample.py"]) == set()
    (left,) = golden.left
    assert left == ("test_sample.py", "not a text: E   ModuleNotFoundError: No module named 'nothing'")


@pytest.mark.integration
def test_tests_that_are_not_there_are_no_success(folder: Path) -> None:
    with pytest.raises(SystemExit, match="^pytest could not run these tests: exit code "):
        Golden(folder).rewrite(["test_other.py"])


@pytest.mark.integration
def test_what_is_not_text_is_left_alone_and_named(folder: Path) -> None:
    (folder / "product.py").write_text(PRODUCT.replace("WORD", "cannot").replace("return 3", "return 4"))
    golden = Golden(folder)
    assert golden.rewrite(["test_sample.py"]) == set()
    assert golden.left == (("test_sample.py::test_a_number", "not a text: AssertionError: assert 4 == 3"),)
    assert (folder / "test_sample.py").read_text() == SAMPLE


@pytest.mark.integration
def test_cases_of_one_literal_that_differ_now_are_left_to_a_person(folder: Path) -> None:
    (folder / "test_sample.py").write_text(
        "import pytest\n\n\n"
        '@pytest.mark.parametrize("name", ["one word", "two words"])\n'
        "def test_both(name):\n"
        '    assert f"this has {name}" == "this has no word"\n'
    )
    golden = Golden(folder)
    assert golden.rewrite(["test_sample.py"]) == set()
    assert {each.why for each in golden.left} == {"cases with one literal differ now: give each its own"}
    assert [each.test for each in golden.left] == [
        f"test_sample.py::test_both[{name}]" for name in ("one word", "two words")
    ]


def test_changes_that_are_not_committed_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    (folder / "tests").mkdir()
    (folder / "tests" / "test_sample.py").write_text("")
    git(folder, "init")
    assert uncommitted(folder) == "?? tests/\n"
    git(folder, "add", "tests")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--message=x")
    assert uncommitted(folder) == ""


def test_the_command_refuses_where_changes_are_not_committed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.golden.__main__.uncommitted", lambda _root: " M tests/test_app.py")
    assert main([]) == 2
    assert capsys.readouterr().err == "commit or stash these first, or say --force:\n M tests/test_app.py\n"
