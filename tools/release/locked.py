"""What a lock file of uv says: libraries with versions, checksums, conditions, and who needs them."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

_PIN: Final = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>.*?))?(?: \\)?$")
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_VIA: Final = re.compile(r"^ {4}#(?: via|  ) (?P<by>.+)$")


class LockedLibrary(Struct, frozen=True):
    """A library of the lock file.

    ``marker`` is the condition of the machine under which it is needed (empty: always), ``hashes`` the SHA-256 of each
    file that there is of this version, and ``needed_by`` the names of the libraries that ask for it; the project
    itself is there with the place of its demand, such as ``streams-placement (pyproject.toml)``.
    """

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]
    needed_by: tuple[str, ...]

    def runs(self, project: str) -> bool:
        """Whether the program needs the library, and not only a dependency group, such as that for building it."""
        return any(not name.startswith(f"{project} (pyproject.toml:") for name in self.needed_by)


def libraries(lock: str) -> Iterator[LockedLibrary]:
    """The libraries of the text of a lock file, in its order."""
    for block in re.split(r"\n(?=\S)", lock.strip()):
        head, *continuation = block.splitlines()
        pin = _PIN.match(head)
        if pin is None:
            raise ValueError(f"{head} is no pinned library: expected NAME==VERSION")
        by = tuple(via["by"] for line in continuation if (via := _VIA.match(line)))
        yield LockedLibrary(pin["name"], pin["version"], pin["marker"] or "", tuple(_HASH.findall(block)), by)
