"""Every block of shell on a page is run, or says why not."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT
from tools.site.fences import Fence, fences, rewritten, unmarked

pytestmark = pytest.mark.untraced

ALL = (*PAGES, ROOT / "CHANGELOG.md", *sorted((ROOT / "charts").rglob("*.md")), *sorted((ROOT / "bench").glob("*.md")))


def test_every_block_of_shell_is_run_or_says_why_not() -> None:
    assert [block for page in ALL for block in unmarked(page.relative_to(ROOT), page.read_text())] == []


def test_a_test_that_a_reason_names_is_there() -> None:
    reasons = [(page, fence.info) for page in ALL for fence in fences(page.read_text())]
    named = {(page, name) for page, reason in reasons for name in re.findall(r"tests/[\w/]+\.py", reason)}
    assert [(page, name) for page, name in sorted(named) if not (ROOT / name).is_file()] == []


def block(info: str, text: str = "$ true\n") -> str:
    return f"words\n\n```{info}\n{text}```\n"


@pytest.mark.parametrize("info", ["sh", "sh on-cluster", "sh no-run: needs docker", "yaml", "", "text"])
def test_a_block_that_says_what_it_is_is_right(info: str) -> None:
    assert unmarked(Path("p.md"), block(info)) == []


@pytest.mark.parametrize(
    "info", ["sh no-run", "sh no-run:", "sh no-run: ", "sh later", "bash", "console", "shell", "zsh x"]
)
def test_a_block_of_shell_that_does_not_say_is_named(info: str) -> None:
    assert unmarked(Path("p.md"), block(info)) == [
        f'p.md:3: a block of shell says "{info.strip()}": write sh, sh on-cluster, or sh no-run: REASON'
    ]


def test_a_block_without_a_prompt_is_run_on_a_cluster_only() -> None:
    assert unmarked(Path("p.md"), block("sh on-cluster", "kubectl get nodes\n")) == []
    assert unmarked(Path("p.md"), block("sh", "make test\n")) == [
        'p.md:3: no line of this block starts with "$ ", so nothing runs it: add prompts, or say sh no-run: REASON'
    ]


def test_a_block_in_a_list_is_one_too() -> None:
    text = "1. first\n\n   ```sh no-run\n   make test\n   ```\n"
    assert [fence.line for fence in fences(text)] == [3]
    assert len(unmarked(Path("p.md"), text)) == 1


def test_what_lies_around_blocks_and_behind_their_backticks_is_rewritten() -> None:
    text = "one\n```sh no-run: x\none\n```\none\n"
    assert rewritten(text, lambda prose: prose.replace("one", "two"), lambda fence: fence.language) == (
        "two\n```sh\none\n```\ntwo\n"
    )


def test_a_page_that_nothing_is_rewritten_of_stays_as_it_is() -> None:
    for page in ALL:
        assert rewritten(page.read_text(), lambda prose: prose, lambda fence: fence.info) == page.read_text()


def test_a_block_of_shell_has_commands_if_a_line_has_a_prompt() -> None:
    assert [Fence(1, "sh", text).commands for text in ("$ a\n", "out\n> b\n", "   $ a\n")] == [True, False, True]
