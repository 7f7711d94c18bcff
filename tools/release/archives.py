"""Archives that are the same bytes whenever and wherever they are made."""

import gzip
import io
import tarfile
from collections.abc import Iterable
from pathlib import Path


def tar_gz(root: Path, names: Iterable[str], prefix: str, seconds: int) -> bytes:
    """Files and links below ``root`` as a ``.tar.gz``, in the order of their names, in a folder ``prefix``.

    All entries have one time (``seconds`` since 1970), no owner, and the mode 0755 if they may be executed, else 0644.
    The header of gzip has neither a name nor the kind of the machine.
    """
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(names):
            _add(archive, root / name, f"{prefix}/{name}", seconds)
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=seconds) as file:
        file.write(plain.getvalue())
    return packed.getvalue()


def _add(archive: tarfile.TarFile, path: Path, name: str, seconds: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.mtime = seconds
    if path.is_symlink():
        entry.type = tarfile.SYMTYPE
        entry.linkname = str(path.readlink())
        entry.mode = 0o777
        archive.addfile(entry)
        return
    content = path.read_bytes()
    entry.size = len(content)
    entry.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
    archive.addfile(entry, io.BytesIO(content))
