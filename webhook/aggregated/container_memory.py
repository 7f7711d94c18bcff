"""How much memory the container has left (cgroup v2), so that a review does not end the webhook for want of it."""

from pathlib import Path
from typing import Final

CGROUP: Final = Path("/sys/fs/cgroup")
"""Where a container sees its own control group."""


def memory_left(folder: Path = CGROUP) -> int | None:
    """Bytes up to the limit of the container; ``None`` if it has none, or that cannot be found out.

    Pages of files that were not used lately count as free, as the system lets go of them first.
    """
    try:
        limit = int((folder / "memory.max").read_text(encoding="ascii"))  # "max" without one
        used = int((folder / "memory.current").read_text(encoding="ascii"))
        lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
        files = next(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
    except (OSError, ValueError, IndexError, StopIteration):
        return None
    return limit - used + files
