"""How much memory a container has left, by its control group."""

from pathlib import Path

import pytest

from webhook.aggregated.review_process import memory_left

FILES = {"memory.max": "1000\n", "memory.current": "900\n", "memory.stat": "anon 700\ninactive_file 50\n"}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="ascii")
    return folder


def test_files_that_were_not_used_lately_are_free(tmp_path: Path) -> None:
    assert memory_left(written(tmp_path, FILES)) == 150


@pytest.mark.parametrize(
    "files",
    [
        {**FILES, "memory.max": "max\n"},
        {**FILES, "memory.stat": "anon 700\n"},
        {**FILES, "memory.stat": "inactive_file \n"},
        {"memory.max": "1000\n"},
        {},
    ],
)
def test_without_a_limit_or_its_files_nothing_is_known(tmp_path: Path, files: dict[str, str]) -> None:
    assert memory_left(written(tmp_path, files)) is None
