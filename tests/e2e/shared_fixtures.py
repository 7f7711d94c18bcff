"""Which files of end-to-end tests share fixtures, such as a control plane: they run in one process, one after another.

By file alone each process of pytest-xdist would start every control plane, and install the chart into it.
"""

import functools
import inspect
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

_LASTING: Final = frozenset({"package", "session"})
"""Scopes of fixtures that outlive a file."""

_OWN: Final = frozenset({"module", "package", "session"})
"""Those of what is made once for a file at least."""

EARLY: Final = "early"
"""The mark of files that take minutes by themselves."""

_CACHED: Final = "e2e/groups"
"""Where processes that collect tests write the group of each file for the one that hands tests out."""


class _Group(NamedTuple):
    """Files, and the lasting fixtures that they use."""

    files: list[str]
    fixtures: frozenset[object]


class GroupScheduling(LoadFileScheduling):
    """A process gets all files of a group, in their order."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        self._cache = _cache(config)

    @functools.cached_property
    def _groups(self) -> Mapping[str, str]:
        found: dict[str, str] = self._cache.get(_CACHED, {}) if self._cache else {}
        return found

    def _split_scope(self, nodeid: str) -> str:
        """The group of the test's file."""
        file: str = super()._split_scope(nodeid)
        return self._groups.get(file, file)


def put_together(items: list[pytest.Item], folder: Path) -> dict[str, str]:
    """Sort tests so that the files of a group follow each other, the largest groups first; returns each file's group.

    Two files belong together if they use one fixture of ``folder`` that outlives a file, or if a third file belongs to
    both. A file that shares nothing is a group of its own. Groups of many files take longest, so they begin first, then
    files that are marked as ``EARLY``, and files that make nothing for all of their tests come last; otherwise the
    order stays. A group has the name of its first file.
    """
    used: dict[str, set[object]] = {}
    large, early = set[str](), set[str]()
    for item in items:
        used.setdefault(_file(item), set()).update(_fixtures(item, folder, _LASTING))
        if item.get_closest_marker(EARLY):
            early.add(_file(item))
        if any(_fixtures(item, folder, _OWN)):
            large.add(_file(item))
    found = {file: group.files[0] for group in _groups(used) for file in group.files}
    sizes = Counter(found.values())
    begins = {name: number for number, name in enumerate(dict.fromkeys(found[file] for file in used))}

    def rank(item: pytest.Item) -> tuple[int, bool, bool, int]:
        file = _file(item)
        alone = sizes[found[file]] == 1
        return -sizes[found[file]], alone and file not in early, alone and file not in large, begins[found[file]]

    items.sort(key=rank)
    return found


def tell_groups(config: pytest.Config, groups: Mapping[str, str]) -> None:
    """Write them down for ``GroupScheduling``, which reads them when every process has collected all tests."""
    if cache := _cache(config):
        cache.set(_CACHED, dict(groups))


def _cache(config: pytest.Config) -> pytest.Cache | None:
    """None if pytest runs without it; then each file is handed out by itself."""
    found: pytest.Cache | None = getattr(config, "cache", None)
    return found


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _groups(used: Mapping[str, set[object]]) -> list[_Group]:
    """Files that belong together, in their order."""
    groups: list[_Group] = []
    for file, fixtures in used.items():
        near = [one for one in groups if one.fixtures & fixtures]
        files = [other for one in near for other in one.files]
        joined = _Group([*files, file], frozenset(fixtures).union(*(one.fixtures for one in near)))
        groups = [*(one for one in groups if one not in near), joined]
    return groups


def _fixtures(item: pytest.Item, folder: Path, scopes: frozenset[str]) -> Iterable[object]:
    """The functions that make what the test uses, of these scopes."""
    if not isinstance(item, pytest.Function):
        return
    definitions = item._fixtureinfo.name2fixturedefs  # noqa: SLF001 -- pytest tells no other way before the test runs
    for name in item.fixturenames:
        for found in definitions.get(name, ())[-1:]:
            if found.scope in scopes and folder in Path(inspect.getfile(found.func)).parents:
                yield found.func
