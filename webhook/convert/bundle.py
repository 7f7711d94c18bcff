"""Finds the ADL in an application bundle of Streams (``.sab``), without unpacking anything.

A bundle is a ZIP archive with ``bundleInfo.xml``, which names the ADL, and ``tar/bundle.tar``, which has it. An ADL
that is a member of the ZIP archive itself is read as well. Archives lie about their sizes and names: every size is
bounded before memory or time is spent on it, names that lead out of the bundle are refused, and links are not followed.
"""

import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import IO, Final
from xml.parsers import expat

from webhook.convert.adl.reading import ADL_LIMIT
from webhook.convert.findings import RefusedInputError
from webhook.placement.text.problem import Problem, quote

BUNDLE_LIMIT: Final = 512 * 1024 * 1024
"""Bytes of a bundle as it is."""
UNPACKED_LIMIT: Final = 1024 * 1024 * 1024
"""Bytes of one member of a bundle when it is unpacked."""
MEMBER_LIMIT: Final = 50_000
"""Members of a bundle, and of the archive in it."""
RATIO_LIMIT: Final = 200
"""How many times larger than packed a member may be, if it is large; libraries and programs reach ten."""

_LARGE: Final = 16 * 1024 * 1024
_DIRECTORY_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of the directory of a ZIP archive, which is read into memory as a whole."""
_INFO_LIMIT: Final = 8 * 1024 * 1024
_NAME_LIMIT: Final = 64 * 1024
"""Bytes of a long name in a TAR archive."""

_INFO: Final = "bundleInfo.xml"
_TAR: Final = "tar/bundle.tar"
_ADL: Final = ".adl"
_END: Final = b"PK\5\6"
_END_FIELDS: Final = struct.Struct("<4s4H2LH")
_END_LOCATOR: Final = b"PK\6\7"
_LOCATOR_SIZE: Final = 20
_COMMENT_LIMIT: Final = 1 << 16
_BLOCK: Final = 512
_PIECE: Final = 1024 * 1024
_OUTWARD: Final = re.compile(r"^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)")
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})


def is_bundle(content: bytes) -> bool:
    """Whether the content is a ZIP archive, perhaps with a program in front."""
    return content.startswith(b"PK\3\4") or content.rfind(_END, -_COMMENT_LIMIT - _END_FIELDS.size) >= 0


def adl_of_bundle(name: str, content: bytes) -> tuple[str, bytes]:
    """The path of the ADL in the bundle, and the ADL. Raises :class:`RefusedInputError`."""
    try:
        return _adl_of(name, content)
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        EOFError,
        NotImplementedError,
        OSError,
        ValueError,
    ) as error:
        raise _refused(name, f"the bundle is damaged: {error}") from None


def _refused(name: str, message: str) -> RefusedInputError:
    return RefusedInputError(Problem(name, message))


def _adl_of(name: str, content: bytes) -> tuple[str, bytes]:
    if len(content) > BUNDLE_LIMIT:
        raise _refused(name, f"the bundle has {len(content)} bytes, at most {BUNDLE_LIMIT} are read")
    _check_directory(name, content)
    with zipfile.ZipFile(BytesIO(content)) as archive:
        members = _members(name, archive)
        wanted = _wanted(name, archive, members)
        plain = [path for path in members if path == wanted or (wanted is None and path.endswith(_ADL))]
        if len(plain) > 1:
            raise _several(name, plain)
        if plain:
            return plain[0], _content(name, archive, members[plain[0]], ADL_LIMIT)
        if _TAR not in members:
            raise _refused(name, f"there is neither an ADL in the bundle nor {_TAR}: is it a bundle of Streams?")
        _check_size(name, members[_TAR], UNPACKED_LIMIT)
        with archive.open(members[_TAR]) as packed:
            return _in_tar(name, packed, wanted)


def _several(name: str, paths: list[str]) -> RefusedInputError:
    shown = ", ".join(quote(path) for path in sorted(paths)[:4])
    return _refused(name, f"the bundle has several ADLs, and does not say which one it is: {shown}")


def _check_directory(name: str, content: bytes) -> None:
    """Refuse a directory that would not fit into memory: ``zipfile`` reads it as a whole."""
    at = content.rfind(_END, -_COMMENT_LIMIT - _END_FIELDS.size)
    if at < 0 or len(content) - at < _END_FIELDS.size:
        raise _refused(name, "this is not a complete ZIP archive: its directory is missing")
    _, _, _, _, count, size, _, _ = _END_FIELDS.unpack_from(content, at)
    if content[max(0, at - _LOCATOR_SIZE) : at].startswith(_END_LOCATOR):
        raise _refused(name, "the bundle is in the ZIP64 format, for archives larger than are read here")
    if count > MEMBER_LIMIT:
        raise _refused(name, f"the bundle has {count} members, at most {MEMBER_LIMIT} are allowed")
    if size > _DIRECTORY_LIMIT:
        message = f"the directory of the bundle has {size} bytes, at most {_DIRECTORY_LIMIT} are read"
        raise _refused(name, message)


def _members(name: str, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The members by path. Raises :class:`RefusedInputError` for paths that lead outwards, and doubles."""
    members: dict[str, zipfile.ZipInfo] = {}
    infos = archive.infolist()
    if len(infos) > MEMBER_LIMIT:
        raise _refused(name, f"the bundle has {len(infos)} members, at most {MEMBER_LIMIT} are allowed")
    for info in infos:
        _check_path(name, info.orig_filename)
        if info.filename in members:
            raise _refused(name, f"the member {quote(info.filename)} occurs twice")
        members[info.filename] = info
    return members


def _check_path(name: str, path: str) -> None:
    if _OUTWARD.search(path) or "\0" in path:
        raise _refused(name, f"the member {quote(path)} leads out of the bundle")


def _check_size(name: str, info: zipfile.ZipInfo, limit: int) -> None:
    """Refuse a member that is encrypted, packed in an odd way, or too large."""
    what = f"the member {quote(info.filename)}"
    if info.flag_bits & 1:
        raise _refused(name, f"{what} is encrypted")
    if info.compress_type not in _METHODS:
        raise _refused(name, f"{what} is packed by method {info.compress_type}, which bundles do not use")
    if info.file_size > limit:
        raise _refused(name, f"{what} has {info.file_size} bytes, at most {limit} are read")
    if info.file_size > _LARGE and info.file_size > RATIO_LIMIT * max(1, info.compress_size):
        raise _refused(name, f"{what} is more than {RATIO_LIMIT} times larger than packed")


def _content(name: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes:
    """The content of a member; ``zipfile`` never gives more than the size that was checked."""
    _check_size(name, info, limit)
    with archive.open(info) as member:
        return member.read()


def _wanted(name: str, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> str | None:
    """The path of the ADL, by ``bundleInfo.xml``; ``None`` if the bundle does not say."""
    if _INFO not in members:
        return None
    said: dict[str, str] = {}

    def start(_name: str, attributes: dict[str, str]) -> None:
        if not said:
            said.update(attributes, read="")

    def doctype(*_: object) -> None:
        raise _refused(name, f"{_INFO} has a document type, which could define entities")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(_content(name, archive, members[_INFO], _INFO_LIMIT), True)  # noqa: FBT003 -- positional in expat
    except expat.ExpatError as error:
        raise _refused(name, f"{_INFO}, line {error.lineno}: this is not XML") from None
    if not said.get("adlFile"):
        return None
    path = "/".join(filter(None, (said.get("outputDirectory"), said["adlFile"])))
    _check_path(name, path)
    return path


def _in_tar(name: str, packed: IO[bytes], wanted: str | None) -> tuple[str, bytes]:
    """The ADL in the TAR archive: the one at that path, or the only one."""
    contents: dict[str, bytes] = {}
    for member, size in _tar_members(name, packed):
        matches = member == wanted if wanted is not None else member.endswith(_ADL)
        if not matches:
            _skip(packed, _padded(size))
            continue
        if size > ADL_LIMIT:
            raise _refused(name, f"the ADL {quote(member)} has {size} bytes, at most {ADL_LIMIT} are read")
        content = packed.read(_padded(size))[:size]
        if len(content) < size:
            raise _refused(name, f"the ADL {quote(member)} is cut off")
        if wanted is not None:
            return member, content
        contents[member] = content
        if len(contents) > 1:
            raise _several(name, list(contents))
    for member, content in contents.items():
        return member, content
    raise _refused(name, f"the bundle contains no ADL{f' at {quote(wanted)}' if wanted else ''}")


def _tar_members(name: str, packed: IO[bytes]) -> Iterator[tuple[str, int]]:
    """Path and size of each regular file; the caller reads or skips its blocks."""
    long_name = ""
    for _ in range(MEMBER_LIMIT):
        block = packed.read(_BLOCK)
        if len(block) < _BLOCK or not block.strip(b"\0"):
            return
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        if info.type in {tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.XGLTYPE}:
            if info.size > _NAME_LIMIT:
                raise _refused(name, f"a name in {_TAR} has {info.size} bytes, at most {_NAME_LIMIT} are allowed")
            data = packed.read(_padded(info.size))[: info.size]
            long_name = _long_name(info.type, data) or long_name
            continue
        path, long_name = (long_name or info.name).removeprefix("./"), ""
        _check_path(name, path)
        if info.isreg():
            yield path, info.size
        elif info.size and info.type == tarfile.GNUTYPE_LONGLINK:
            _skip(packed, _padded(info.size))
    raise _refused(name, f"{_TAR} has more than {MEMBER_LIMIT} members")


def _long_name(kind: bytes, data: bytes) -> str:
    """The name that a header in front of a member gives it; empty if it gives none."""
    if kind == tarfile.GNUTYPE_LONGNAME:
        return data.rstrip(b"\0").decode("utf-8", "surrogateescape")
    path = re.search(rb"(?:^|\n)\d+ path=([^\n]*)\n", data)
    return path[1].decode("utf-8", "surrogateescape") if path and kind != tarfile.XGLTYPE else ""


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _skip(packed: IO[bytes], size: int) -> None:
    while size > 0:
        piece = packed.read(min(size, _PIECE))
        if not piece:
            return
        size -= len(piece)
