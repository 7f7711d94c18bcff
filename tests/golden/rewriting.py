"""From failing tests to edits of the string literals that they expected.

An expected text may be one literal, or be put together of several: f-strings, constants, lines that are joined. So each
difference between expected and actual text is looked up on its own: the longest literal that holds the replaced words,
and that the expected text has around them, is edited there.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.golden.literals import Run, Source
from tests.golden.plugin import Failure
from tests.golden.wording import Hunk, Phrase, hunks, is_message, phrases

SHORTEST: Final = 8
"""Characters of a literal that is part of a text. Shorter ones are in texts by chance."""


class Edit(NamedTuple):
    """What is to stand in a file between two offsets; ``literal`` is the offset of the literal that is edited."""

    path: Path
    start: int
    end: int
    text: str
    literal: int = 0


class Change(NamedTuple):
    """An expected text, and the one that takes its place."""

    old: str
    new: str


class Left(NamedTuple):
    """A failing test that is left alone, and why."""

    test: str
    why: str


class Plan(NamedTuple):
    """What can be done about the failures."""

    edits: frozenset[Edit]
    changes: tuple[Change, ...]
    left: tuple[Left, ...]


class Place(NamedTuple):
    """Literals that may hold an expected text of a test: its own function's, its module's, its helpers'."""

    path: Path
    rank: int
    run: Run


class Rewriter:
    """Plans edits for failures; files are read once. ``root`` is the folder that test ids are relative to."""

    def __init__(self, root: Path, known: Iterable[Phrase] = ()) -> None:
        self._root = root
        self._sources: dict[Path, Source] = {}
        self.known: set[Phrase] = set(known)
        """Phrases that have changed in whole texts; texts that are only searched for are changed by them."""

    def plan(self, failures: Iterable[Failure], made: Collection[Change] = ()) -> Plan:
        """Whole texts first: they show which phrases have changed. What was ``made`` before is not taken back."""
        failures = list(failures)
        edits: dict[str, list[Edit]] = {}
        changes: list[Change] = []
        for find in (self._compared_whole, self._searched):
            for failure in failures:
                if failure.test not in edits and (found := list(find(failure))):
                    if any(Change(change.new, change.old) in made for change in found):
                        continue
                    planned = [self._edits(failure, change) for change in found]
                    if all(planned):
                        edits[failure.test] = [edit for each in planned for edit in each]
                        changes += found
            self.known |= {phrase for change in changes for phrase in phrases(*change)}
        disputed = _disputed(edits)
        left = [Left(each.test, self._why(each, disputed)) for each in failures if disputed.get(each.test, True)]
        agreed = frozenset(edit for test, found in edits.items() if not disputed[test] for edit in found)
        return Plan(agreed, tuple(dict.fromkeys(changes)), tuple(dict.fromkeys(left)))

    # Which texts a failure asks to change

    def _compared_whole(self, failure: Failure) -> Iterator[Change]:
        """Expected texts that were compared with ``==``, whichever side they stood on."""
        for operator, left, right in _tuples(failure):
            if operator == "==" and is_message(left) and is_message(right):
                swapped = self._stands(failure, left) and not self._stands(failure, right)
                yield Change(left, right) if swapped else Change(right, left)

    def _searched(self, failure: Failure) -> Iterator[Change]:
        """Texts that were searched for in another, and are found there with the phrases as they are now."""
        for operator, left, right in _tuples(failure):
            if operator == "in" and (now := self._said_now(left)) != left and now in right:
                yield Change(left, now)
        if not any(failure.comparisons):
            for text in self._prefixes(failure):
                if (now := self._said_now(text)) != text:
                    yield Change(text, now)

    def _said_now(self, text: str) -> str:
        for phrase in sorted(self.known, key=lambda each: (-len(each.old), each)):
            text = text.replace(*phrase)
        return text

    def _prefixes(self, failure: Failure) -> Iterator[str]:
        """Texts of the failing statement that are arguments of ``startswith``, ``endswith`` or ``match=``."""
        path = self._path(failure)
        if path is None or not failure.line:
            return
        source = self._source(path)
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and node.lineno <= failure.line <= (node.end_lineno or 0):
                wanted = [word.value for word in node.keywords if word.arg == "match"]
                if isinstance(node.func, ast.Attribute) and node.func.attr in {"startswith", "endswith"}:
                    wanted += node.args
                for each in wanted:
                    yield from (run.text for literal in source.literals(ast.Expr(each)) for run in literal.runs())

    # Where they stand

    def _edits(self, failure: Failure, change: Change) -> list[Edit]:
        """Edits for every difference; none unless all have a place."""
        places = list(self._places(failure))
        found: list[Edit] = []
        for hunk in hunks(*change):
            edits = _best(places, change.old, hunk)
            if not edits:
                return []
            found += edits
        return found

    def _stands(self, failure: Failure, text: str) -> bool:
        return any(place.run.text == text for place in self._places(failure))

    def _places(self, failure: Failure) -> Iterator[Place]:
        """The literals of the test's function, then of its module but other tests, then of helpers it imports."""
        path = self._path(failure)
        if path is None:
            return
        source = self._source(path)
        name = failure.test.rpartition("::")[2].partition("[")[0]
        for node in source.tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                if node.name == name:
                    yield from _runs(path, 0, source, node)
            else:
                yield from _runs(path, 1, source, node)
        for helper in _helpers(self._root, source.tree):
            yield from _runs(helper, 2, self._source(helper), self._source(helper).tree)

    def _path(self, failure: Failure) -> Path | None:
        path = self._root / failure.test.partition("::")[0]
        return path if path.suffix == ".py" and path.exists() else None

    def _source(self, path: Path) -> Source:
        if path not in self._sources:
            self._sources[path] = Source.of(path.read_text())
        return self._sources[path]

    def _why(self, failure: Failure, disputed: dict[str, bool]) -> str:
        """Why a failure is left to a person."""
        if failure.test in disputed:
            return "cases with one literal differ now: give each its own"
        if any(self._compared_whole(failure)):
            return "the expected text stands in no literal of the test, its module or its helpers"
        return f"not a text: {failure.error}"


def _tuples(failure: Failure) -> list[tuple[str, str, str]]:
    return [(each.operator, each.left, each.right) for each in failure.comparisons]


def _runs(path: Path, rank: int, source: Source, node: ast.AST) -> Iterator[Place]:
    for literal in source.literals(node):
        for run in literal.runs():
            yield Place(path, rank, run)


def _helpers(root: Path, tree: ast.Module) -> Iterator[Path]:
    """The modules of tests that a test file imports."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tests."):
            path = root.joinpath(*node.module.split(".")).with_suffix(".py")
            if path.exists():
                yield path


def _best(places: list[Place], old: str, hunk: Hunk) -> list[Edit]:
    """The edits of the longest literals that hold the replaced words; of equals, those nearest to the test."""
    found = [(place, at) for place in places for at in _positions(place.run.text, old, hunk)]
    if not found:
        return []
    best = max((len(place.run.text), -place.rank) for place, _ in found)
    return [_edit(place, at, hunk) for place, at in found if (len(place.run.text), -place.rank) == best]


def _positions(part: str, old: str, hunk: Hunk) -> Iterator[int]:
    """Where a literal stands in the old text so that it holds the words to be replaced."""
    if part != old and len(part.strip()) < SHORTEST:
        return
    at = old.find(part, max(0, hunk.end - len(part)))
    while 0 <= at <= hunk.start:
        yield at
        at = old.find(part, at + 1)


def _edit(place: Place, at: int, hunk: Hunk) -> Edit:
    """The edit of one literal that begins at ``at`` of the old text."""
    chars = place.run.chars
    start, end = hunk.start - at, hunk.end - at
    if start == end:
        beside = chars[start - 1] if start else chars[0]
        where = beside.end if start else beside.start
        return Edit(place.path, where, where, beside.quoting.written(hunk.new), chars[0].start)
    # Where the words reach into the next piece of the literal, the quotes between the pieces go with them.
    text = chars[start].quoting.written(hunk.new)
    return Edit(place.path, chars[start].start, chars[end - 1].end, text, chars[0].start)


def _disputed(edits: dict[str, list[Edit]]) -> dict[str, bool]:
    """Of each test, whether another one wants a literal to be something else."""
    wanted: dict[tuple[Path, int], dict[str, set[Edit]]] = defaultdict(lambda: defaultdict(set))
    for test, found in edits.items():
        for edit in found:
            wanted[edit.path, edit.literal][test].add(edit)
    spoilt = {place for place, tests in wanted.items() if len(set(map(frozenset, tests.values()))) > 1}
    return {test: any((each.path, each.literal) in spoilt for each in found) for test, found in edits.items()}
