"""Reads and writes the folder with ``ca.crt``, ``ca.key``, ``tls.crt`` (the leaf) and ``tls.key``, all PEM.

What a reader must tolerate: each file is replaced as a whole, keys before certificates, so a reader that sees a new
certificate finds its key. Between two replacements a new key can stand beside an old certificate, and an old leaf
beside a new authority; a reader then keeps its last good pair and looks again. If the program is killed, such a state
stays until the next ``create``.
"""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

AUTHORITY_CERTIFICATE: Final = "ca.crt"
AUTHORITY_KEY: Final = "ca.key"
LEAF_CERTIFICATE: Final = "tls.crt"
LEAF_KEY: Final = "tls.key"

ORDER: Final = (AUTHORITY_KEY, AUTHORITY_CERTIFICATE, LEAF_KEY, LEAF_CERTIFICATE)
"""The order in which files are replaced: a certificate after its key, and a leaf after its authority."""

KEYS: Final = frozenset({AUTHORITY_KEY, LEAF_KEY})

FOLDER_MODE: Final = 0o700
KEY_MODE: Final = 0o600
CERTIFICATE_MODE: Final = 0o644
OTHERS: Final = 0o077
"""The bits of a file mode for group and others."""

SIZE_LIMIT: Final = 65_536
"""Bytes read of one file: a certificate or a key has about 1,000."""

LOCK_PATIENCE: Final = 5.0
"""Seconds to wait for the lock: another writer holds it for some hundredths of a second."""

_LOCK_PAUSE: Final = 0.02
"""Seconds between two attempts to lock."""


def read(folder: Path) -> dict[str, bytes]:
    """The contents of the files that exist, by name.

    Raises:
        OSError: the folder or a file exists but cannot be read.
    """
    contents = {}
    for name in ORDER:
        with contextlib.suppress(FileNotFoundError):
            contents[name] = _read(folder / name)
    return contents


def write(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Replace these files in :data:`ORDER`, each atomically; must be called under :func:`locked`.

    Raises:
        OSError: a file cannot be written; the files after it in the order are then unchanged.
    """
    staged = {name: folder / f".{name}.new" for name in ORDER if name in contents}
    try:
        # All files are written beside their targets before the first one is replaced: a full disk changes nothing.
        for name, path in staged.items():
            _stage(path, contents[name], mode=KEY_MODE if name in KEYS else CERTIFICATE_MODE)
        for name, path in staged.items():
            path.replace(folder / name)
    finally:
        for path in staged.values():
            path.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make the folder, accessible for its owner alone, and its parents with usual modes. An existing folder stays."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)


def exposed(folder: Path) -> dict[str, int]:
    """Modes of the keys that users other than their owner can access, by file name."""
    modes = {
        name: (folder / name).stat().st_mode & 0o777 for name in ORDER if name in KEYS and (folder / name).exists()
    }
    return {name: mode for name, mode in modes.items() if mode & OTHERS}


def protect(folder: Path) -> dict[str, int]:
    """Make keys accessible for their owner alone; returns the former modes of those that were not."""
    exposed_names = exposed(folder)
    for name in exposed_names:
        (folder / name).chmod(KEY_MODE)
    return exposed_names


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder against other writers inside the context; the lock also ends with the process.

    Raises:
        TimeoutError: another writer held it for :data:`LOCK_PATIENCE` seconds.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + LOCK_PATIENCE
        while not _lock(descriptor):
            if time.monotonic() >= deadline:
                raise TimeoutError(errno.ETIMEDOUT, "another streams-placement-certs already runs there", str(folder))
            time.sleep(_LOCK_PAUSE)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(path: Path) -> bytes:
    with open(path, "rb", opener=_open_at_once) as file:
        return file.read(SIZE_LIMIT)


def _open_at_once(path: str, flags: int) -> int:
    # Without O_NONBLOCK, opening a named pipe in the file's place would block forever.
    return os.open(path, flags | os.O_NONBLOCK)


def _stage(path: Path, data: bytes, *, mode: int) -> None:
    # A file left by a killed run may have any mode; exclusive creation also refuses to follow a link.
    path.unlink(missing_ok=True)
    with open(path, "xb", opener=_open_for_owner) as file:
        os.fchmod(file.fileno(), mode)  # independent of the umask
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, KEY_MODE)
