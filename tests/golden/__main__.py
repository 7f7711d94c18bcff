"""``make golden``: rewrite every expected text that the product words differently now.

Read the difference before you commit it. Written anew: expected results of the examples, string literals that failing
tests compared, schemas and the reference of the command line, and what pages of the documentation show. Tests that fail
for any other reason are left alone and named; the exit code is then 1.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

import msgspec

from tests.docs.pages import PAGES
from tests.golden import pages
from tests.golden.conversions import write_conversions
from tests.golden.examples import write_examples
from tests.golden.layout import edited, laid_out
from tests.golden.plugin import Failure
from tests.golden.rewriting import Change, Edit, Left, Plan, Rewriter
from tests.golden.wording import old_words, phrases
from tools import command_line, messages, schemas

ROOT: Final = Path(__file__).parents[2]
WRITTEN: Final = ("tests", "examples", "docs", "README.md")
ROUNDS: Final = 8
"""Runs of failing tests. One run shows one text of a test: what follows a failing assertion is not reached."""


def main(arguments: list[str] | None = None) -> int:
    """Write everything, and say what was done."""
    options = _options(arguments)
    if not options.force and (changed := uncommitted(ROOT)):
        print(f"commit or stash these first, or say --force:\n{changed}", file=sys.stderr)  # noqa: T201 - a command
        return 2
    whole = not options.tests
    made = (write_examples, write_conversions, messages.write, schemas.write, command_line.write)
    touched = {path for write in made for path in write()} if whole else set()
    # Pages show what commands write of the examples, and tests run these commands again.
    shown = list(pages.written_anew()) if whole else []
    touched |= {page for page, why in shown if why is None}
    golden = Golden(ROOT, PAGES)
    touched |= golden.rewrite(options.tests or ["tests"])
    left = [*golden.left, *(Left(str(page.relative_to(ROOT)), why) for page, why in shown if why)]
    print(summary(golden.changes, touched, left, still_said(ROOT, golden.changes)))  # noqa: T201 - a command
    return 1 if left else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description="Rewrite expected texts.")
    parser.add_argument("--force", action="store_true", help="even where changes are not committed")
    parser.add_argument(
        "tests", nargs="*", help="tests to run, as for pytest; default: all but tests/e2e, and the pages"
    )
    return parser.parse_args(arguments)


def uncommitted(root: Path) -> str:
    """Changes of files that would be written, as git shows them."""
    command = ("git", "status", "--porcelain", "--", *(path for path in WRITTEN if (root / path).exists()))
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout  # noqa: S603 - git


class Golden:
    """Runs tests below a root, rewrites what they expected, and runs those that failed again until nothing changes."""

    def __init__(self, root: Path, shown: tuple[Path, ...] = ()) -> None:
        self.changes: Counter[Change] = Counter()
        self.left: tuple[Left, ...] = ()
        self._root = root
        self._shown = shown
        """Pages where tests look for texts."""
        self._known = Rewriter(root).known
        self._made: set[Change] = set()

    def rewrite(self, tests: Iterable[str]) -> set[Path]:
        """The files that were written."""
        touched: set[Path] = set()
        wanted = list(tests)
        for _ in range(ROUNDS):
            failures = self._failures(wanted)
            plan = self._plan(failures)
            self.left = plan.left
            written = self._written(plan.edits) | self._reworded(failures)
            if not written:
                return touched
            touched |= written
            # Without parameters: their ids may be the very texts that were rewritten.
            wanted = sorted({failure.test.partition("[")[0] for failure in failures})
        return touched

    def _plan(self, failures: list[Failure]) -> Plan:
        rewriter = Rewriter(self._root, self._known)
        plan = rewriter.plan(failures, self._made)
        self._known |= rewriter.known
        self._made |= set(plan.changes)
        self.changes.update(plan.changes)
        return plan

    def _failures(self, tests: list[str]) -> list[Failure]:
        """What fails of the tests now."""
        with tempfile.TemporaryDirectory() as folder:
            file, ids = Path(folder, "failures.json"), Path(folder, "tests")
            ids.write_text("\n".join(tests))
            mine = ("-p", "tests.golden.plugin", f"--golden-file={file}", "--quiet", "--tb=no", "-r", "")
            files = {test.partition("::")[0] for test in tests}
            # Tests of one file take less time than it takes to start workers.
            few = len(files) == 1 and all(Path(self._root, file).is_file() for file in files)
            spread = () if few else ("--numprocesses=auto", "--dist=worksteal", "--ignore=tests/e2e")
            command = (sys.executable, "-m", "pytest", *mine, *spread, "--continue-on-collection-errors", f"@{ids}")
            environment = os.environ | {"PYTHONPATH": str(ROOT)}
            done = subprocess.run(command, cwd=self._root, env=environment, check=False)  # noqa: S603 - pytest
            if done.returncode not in {0, 1}:
                raise SystemExit(f"pytest could not run these tests: exit code {done.returncode}")
            return msgspec.json.decode(file.read_bytes(), type=list[Failure])

    def _written(self, edits: Iterable[Edit]) -> set[Path]:
        edits = list(edits)
        paths = {edit.path for edit in edits}
        for path in paths:
            text = edited(path.read_text(), (edit for edit in edits if edit.path == path))
            path.write_text(laid_out(path, text))
        return paths

    def _reworded(self, failures: list[Failure]) -> set[Path]:
        """Pages with the texts that tests look for there."""
        sought = [each.left for failure in failures for each in failure.comparisons if each.operator == "in"]
        return set(pages.reworded(sorted(self._known), sought, self._shown))


def still_said(root: Path, changes: Iterable[Change]) -> list[str]:
    """Lines, as ``file:line``, with words that have changed and the next: of end-to-end tests, prose, helpers."""
    old = {words for change in changes for words in old_words(*change)}
    command = ("git", "grep", "-n", "-F", "--no-color", *(word for each in sorted(old) for word in ("-e", each)), "--")
    if not old:
        return []
    done = subprocess.run((*command, *WRITTEN), cwd=root, capture_output=True, text=True, check=False)  # noqa: S603 - git
    return [":".join(line.split(":")[:2]) for line in done.stdout.splitlines()]


def summary(
    changes: Counter[Change], touched: Iterable[Path], left: Iterable[Left], still: Collection[str] = ()
) -> str:
    """What a person reads beside the difference."""
    reworded = Counter(phrase for change, times in changes.items() for phrase in phrases(*change) for _ in range(times))
    files = sorted({path.relative_to(ROOT) if path.is_relative_to(ROOT) else path for path in touched})
    rest = list(left)
    return "\n".join((
        f"{len(changes)} expected texts were rewritten, by these differences:",
        *(f"{times:6} x {phrase}" for phrase, times in sorted(reworded.items(), key=lambda item: (-item[1], item[0]))),
        f"{len(files)} files were written:",
        *(f"  {path}" for path in files),
        f"{len(rest)} were left alone{':' if rest else '.'}",
        *(f"  {each.test}: {each.why}" for each in rest),
        *(["These lines, which nothing here runs or compares, still have the words from before:"] if still else ()),
        *(f"  {place}" for place in still),
    ))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
