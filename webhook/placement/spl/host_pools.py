"""Parser of SPL's ``config hostPool`` declarations: the pools as values, and all problems of the text.

Each rule of the grammar is in the docstring of the function that reads it (``docs/hostpool.md`` has examples). The
forms are those of "Streams host constraints": a list of hosts, and ``createPool`` with size and tags, or with either or
none.
"""

from typing import Final, Literal

from msgspec import Struct

from webhook.placement.kube.addresses import canonical, parse_address
from webhook.placement.kube.names import LABEL_VALUE, is_object_name
from webhook.placement.spl.literals import encode
from webhook.placement.spl.reader import GrammarError, Reader, unreadable
from webhook.placement.spl.tokens import Token, TokenKind
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, quote

Mode = Literal["Shared", "Exclusive"]
"""Whether a pool shares its hosts with other pools and jobs (``Shared``) or has them alone (``Exclusive``)."""


class PoolDeclaration(Struct, frozen=True, gc=False):
    """One declaration of ``config hostPool``.

    ``hosts`` are the names or addresses of a literal pool, and ``None`` for ``createPool``. ``size``, ``tags`` and
    ``mode`` belong to ``createPool`` only; a ``size`` of ``None`` means as many hosts as there are.
    """

    name: str
    hosts: tuple[str, ...] | None = None
    size: int | None = None
    tags: tuple[str, ...] = ()
    mode: Mode = "Shared"

    def __str__(self) -> str:
        """The declaration in printable ASCII: ``P1=createPool({size=10u, tags=["ib","blue"]}, Sys.Shared)``."""
        if self.hosts is not None:
            return f"{self.name}={_quoted(self.hosts)}"
        attributes = [] if self.size is None else [f"size={self.size}u"]
        if self.tags:
            attributes.append(f"tags={_quoted(self.tags)}")
        braces = f"{{{', '.join(attributes)}}}, " if attributes else ""
        return f"{self.name}=createPool({braces}Sys.{self.mode})"


def _quoted(texts: tuple[str, ...]) -> str:
    return f"[{','.join(map(encode, texts))}]"


TEXT_LIMIT: Final = 1024 * 1024
"""Bytes of one text in UTF-8: enough for ``SIZE_LIMIT`` host names of 200 characters."""
SIZE_LIMIT: Final = 5000
"""Hosts of one pool."""
TAG_LIMIT: Final = 64
"""Tags of one pool: each becomes a label that the scheduler compares."""

_MODES: dict[str, Mode] = {"Shared": "Shared", "Exclusive": "Exclusive"}
_ATTRIBUTES = ("size", "tags")


def parse_pools(text: str, field: str) -> tuple[tuple[PoolDeclaration, ...], tuple[Problem, ...]]:
    """The pools that the text declares, in order, and the problems of the text, ten at most; never raises.

    ``text`` is a list of declarations, with or without ``config hostPool:`` in front. ``field`` is the path of the
    text, for the problems.
    """
    if problem := unreadable(text, field, limit=TEXT_LIMIT):
        return (), (problem,)
    reader = Reader(text, field)
    return tuple(_declarations(reader).values()), tuple(reader.problems)


def _declarations(reader: Reader) -> dict[str, PoolDeclaration]:
    """``declarations = [ [ "config" ] , "hostPool" , ":" ] , declaration , { "," , declaration } , [ ";" ] ;``."""
    pools: dict[str, PoolDeclaration] = {}
    start = reader.place
    try:
        _prefix(reader)
    except GrammarError as error:
        reader.recover(error, start)
    else:
        _keep(reader, pools)
    while reader.take(","):
        _keep(reader, pools)
    if reader.take(";"):
        try:
            reader.expect(TokenKind.END, expected='nothing after ";"')
        except GrammarError as error:
            reader.recover(error, reader.place)
    return pools


def _prefix(reader: Reader) -> None:
    if reader.token.text == "config" and reader.following != "=":
        reader.read()
        reader.expect("hostPool", expected='"hostPool" after "config"')
        reader.expect(":", expected='":" after "config hostPool"')
    elif reader.token.text == "hostPool" and reader.following == ":":
        reader.read()
        reader.read()


def _keep(reader: Reader, pools: dict[str, PoolDeclaration]) -> None:
    """Read a declaration and the ``,`` or ``;`` after it, and add it to ``pools`` if it has no problems.

    After a syntax error the rest of the declaration is skipped.
    """
    start, known = reader.place, len(reader.problems)
    offset = reader.token.offset
    try:
        pool = _declaration(reader)
        if reader.token.text not in {",", ";", ""}:
            raise reader.unexpected(f'"," or ";" after the host pool {quote(pool.name)}')
    except GrammarError as error:
        reader.recover(error, start)
        return
    if pool.name in pools:
        reader.report(offset, f"host pool {quote(pool.name)} is declared twice")
    if len(reader.problems) == known:
        pools[pool.name] = pool


def _declaration(reader: Reader) -> PoolDeclaration:
    """``declaration = identifier , "=" , ( list | "createPool" , "(" , [ attributes , "," ] , mode , ")" ) ;``."""
    name = reader.expect(TokenKind.NAME, expected="the name of a host pool").text
    reader.expect("=", expected=f'"=" after the host pool name {quote(name)}')
    if reader.token.text == "[":
        return PoolDeclaration(name, hosts=_hosts(reader))
    reader.expect("createPool", expected='a list of hosts or "createPool"')
    reader.expect("(", expected='"(" after "createPool"')
    size: int | None = None
    tags: tuple[str, ...] = ()
    if reader.take("{"):
        size, tags = _attributes(reader)
        reader.expect(",", expected='"," and Sys.Shared or Sys.Exclusive after "}"')
    offset, mode = reader.token.offset, _mode(reader)
    reader.expect(")", expected='")" to close "createPool("')
    if mode == "Exclusive" and size is None:
        reader.report(offset, "an exclusive host pool needs a size, as in createPool({size=3u}, Sys.Exclusive)")
    return PoolDeclaration(name, size=size, tags=tags, mode=mode)


def _attributes(reader: Reader) -> tuple[int | None, tuple[str, ...]]:
    """``attributes = "{" , attribute , { "," , attribute } , "}" ;`` each attribute once, in any order.

    ``attribute = "size" , "=" , digits , [ "u" ] | "tags" , "=" , list ;``.
    """
    size: int | None = None
    tags: tuple[str, ...] = ()
    seen: set[str] = set()
    while not seen or reader.take(","):
        word = reader.expect(TokenKind.NAME, expected="size or tags")
        if word.text not in _ATTRIBUTES:
            raise GrammarError(word.offset, unknown("attribute", word.text, _ATTRIBUTES))
        if word.text in seen:
            reader.report(word.offset, f"{word.text} is given twice")
        seen.add(word.text)
        reader.expect("=", expected=f'"=" after "{word.text}"')
        if word.text == "size":
            size = _size(reader)
        else:
            tags = _tags(reader)
    reader.expect("}", expected='"," or "}" after an attribute')
    return size, tags


def _size(reader: Reader) -> int | None:
    """``digits , [ "u" ]``: the number; outside 1 to ``SIZE_LIMIT`` a problem is reported and ``None`` returned."""
    offset, written = reader.token.offset, reader.fragment()
    size = reader.number(maximum=SIZE_LIMIT)
    if size:
        return size
    while reader.token.text not in {",", "}", ""}:
        reader.read()
    reader.report(offset, f"a size is a whole number from 1 to {SIZE_LIMIT}, found {written}")
    return None


def _hosts(reader: Reader) -> tuple[str, ...]:
    """The hosts of a literal pool: addresses and node names, each once."""
    strings = _list(reader, "the name or address of a host")
    if len(strings) > SIZE_LIMIT:
        reader.report(strings[SIZE_LIMIT].offset, f"too many hosts: at most {SIZE_LIMIT} are allowed")
    seen: set[str] = set()
    for string in strings:
        host = string.value
        key = canonical(host) or host
        if parse_address(host) is None and not is_object_name(host):
            reader.report(string.offset, f"{quote(host)} is neither an IP address nor the name of a node")
        elif key in seen:
            reader.report(string.offset, f"{quote(host)} is listed twice")
        seen.add(key)
    return tuple(string.value for string in strings)


def _tags(reader: Reader) -> tuple[str, ...]:
    """The tags of a pool: label values, each once."""
    strings = _list(reader, "a tag")
    if len(strings) > TAG_LIMIT:
        reader.report(strings[TAG_LIMIT].offset, f"too many tags: at most {TAG_LIMIT} are allowed")
    seen: set[str] = set()
    for string in strings:
        tag = string.value
        if not tag or LABEL_VALUE.fullmatch(tag) is None:
            rule = 'a tag has 1 to 63 letters, digits, "-", "_" and ".", the first and last a letter or digit'
            reader.report(string.offset, f"{quote(tag)} is not a label value: {rule}")
        elif tag in seen:
            reader.report(string.offset, f"the tag {quote(tag)} is listed twice")
        seen.add(tag)
    return tuple(string.value for string in strings)


def _list(reader: Reader, item: str) -> list[Token]:
    """``list = "[" , string , { "," , string } , "]" ;``."""
    reader.expect("[", expected=f'"[" and {item} in double quotes')
    strings = [reader.expect(TokenKind.STRING, expected=f"{item} in double quotes")]
    while reader.take(","):
        strings.append(reader.expect(TokenKind.STRING, expected=f"{item} in double quotes"))
    reader.expect("]", expected='"," or "]" to go on with the list or to close it')
    return strings


def _mode(reader: Reader) -> Mode:
    """``mode = "Sys" , "." , ( "Shared" | "Exclusive" ) ;``."""
    reader.expect("Sys", expected="Sys.Shared or Sys.Exclusive")
    reader.expect(".", expected='".Shared" or ".Exclusive" after "Sys"')
    word = reader.expect(TokenKind.NAME, expected='"Shared" or "Exclusive" after "Sys."')
    if mode := _MODES.get(word.text):
        return mode
    raise GrammarError(word.offset, unknown("mode", word.text, _MODES))
