"""Declarations of host pools in SPL: what is read, what is refused and how, and that they can be written again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.suite.example_count import examples
from tests.work import Work, excess
from webhook.placement.spl.host_pools import PoolDeclaration, parse_pools

FIELD = "job.spl"
TAGS = ("ib", "blue")


def quoted(count: int) -> str:
    """So many different texts of four digits, as they stand in a list."""
    return ",".join(f'"{i:04}"' for i in range(count))


def pools(text: str) -> tuple[PoolDeclaration, ...]:
    """The pools of a flawless text."""
    found, problems = parse_pools(text, FIELD)
    assert problems == ()
    return found


def problems(text: str) -> list[tuple[int | None, str]]:
    """Offsets and messages."""
    return [(problem.offset, problem.message) for problem in parse_pools(text, FIELD)[1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            'P1=createPool({size=10u, tags=["ib","blue"]}, Sys.Shared)',
            PoolDeclaration("P1", size=10, tags=TAGS),
            id="sized, tagged, shared",
        ),
        pytest.param(
            'P2=createPool({size=10u, tags=["ib","blue"]}, Sys.Exclusive)',
            PoolDeclaration("P2", size=10, tags=TAGS, mode="Exclusive"),
            id="sized, tagged, exclusive",
        ),
        pytest.param(
            'P3=createPool({tags=["ib","blue"]}, Sys.Shared)',
            PoolDeclaration("P3", tags=TAGS),
            id="unsized, tagged, shared",
        ),
        pytest.param(
            "P4=createPool({size=10u}, Sys.Shared)", PoolDeclaration("P4", size=10), id="sized, untagged, shared"
        ),
        pytest.param(
            "P5=createPool({size=10u}, Sys.Exclusive)",
            PoolDeclaration("P5", size=10, mode="Exclusive"),
            id="sized, untagged, exclusive",
        ),
        pytest.param("P6=createPool(Sys.Shared)", PoolDeclaration("P6"), id="unsized, untagged, shared"),
        pytest.param('Names=["foo","bar"]', PoolDeclaration("Names", hosts=("foo", "bar")), id="names"),
        pytest.param(
            'IPs=["10.8.5.6","2001:db8::1"]', PoolDeclaration("IPs", hosts=("10.8.5.6", "2001:db8::1")), id="addresses"
        ),
    ],
)
def test_form_is_read_and_written_again(text: str, expected: PoolDeclaration) -> None:
    assert (pools(text), str(expected)) == ((expected,), text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("config hostPool: P=createPool(Sys.Shared);", PoolDeclaration("P"), id="after config hostPool:"),
        pytest.param("hostPool: P=createPool(Sys.Shared)", PoolDeclaration("P"), id="after hostPool:"),
        pytest.param('config = ["a"]', PoolDeclaration("config", hosts=("a",)), id="a pool named config"),
        pytest.param('hostPool = ["a"]', PoolDeclaration("hostPool", hosts=("a",)), id="a pool named hostPool"),
        pytest.param(
            'P=createPool({tags=["a"], size=1}, Sys.Shared)', PoolDeclaration("P", size=1, tags=("a",)), id="tags first"
        ),
        pytest.param("P=createPool({size=5000}, Sys.Shared)", PoolDeclaration("P", size=5000), id="largest size"),
    ],
)
def test_text_is_read_as(text: str, expected: PoolDeclaration) -> None:
    assert pools(text) == (expected,)


def test_declarations_keep_their_order() -> None:
    text = 'B=["x"], // names\n A=createPool(Sys.Shared);'
    assert [pool.name for pool in pools(text)] == ["B", "A"]


SIZE = "a size is a whole number from 1 to 5000, found "
TAG = 'is not a label value: a tag has 1 to 63 letters, digits, "-", "_" and ".", the first and last a letter or digit'


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        pytest.param("", 0, "expected the name of a host pool, found the end of the text", id="empty"),
        pytest.param("config pool: P", 7, 'expected "hostPool" after "config", found "pool"', id="another config"),
        pytest.param("config hostPool P", 16, 'expected ":" after "config hostPool", found "P"', id="no colon"),
        pytest.param("P [", 2, 'expected "=" after the host pool name "P", found "["', id="no equals sign"),
        pytest.param("P=5", 2, 'expected a list of hosts or "createPool", found "5"', id="neither list nor createPool"),
        pytest.param(
            "P=createPool", 12, 'expected "(" after "createPool", found the end of the text', id="no arguments"
        ),
        pytest.param("P=createPool()", 13, 'expected Sys.Shared or Sys.Exclusive, found ")"', id="no mode"),
        pytest.param("P=createPool(Shared)", 13, 'expected Sys.Shared or Sys.Exclusive, found "Shared"', id="no Sys"),
        pytest.param(
            "P=createPool(Sys)", 16, 'expected ".Shared" or ".Exclusive" after "Sys", found ")"', id="only Sys"
        ),
        pytest.param(
            "P=createPool(Sys.5)", 17, 'expected "Shared" or "Exclusive" after "Sys.", found "5"', id="mode not a word"
        ),
        pytest.param(
            "P=createPool(Sys.exclusive)", 17, 'unknown mode "exclusive" (did you mean Exclusive?)', id="mode misspelt"
        ),
        pytest.param(
            "P=createPool(Sys.Own)", 17, 'unknown mode "Own": use one of Shared, Exclusive', id="no such mode"
        ),
        pytest.param(
            "P=createPool(Sys.Shared",
            23,
            'expected ")" to close "createPool(", found the end of the text',
            id="not closed",
        ),
        pytest.param("P=createPool({}, Sys.Shared)", 14, 'expected size or tags, found "}"', id="no attributes"),
        pytest.param(
            "P=createPool({sizes=1}, Sys.Shared)", 14, 'unknown attribute "sizes" (did you mean size?)', id="attribute"
        ),
        pytest.param("P=createPool({size 1}, Sys.Shared)", 19, 'expected "=" after "size", found "1"', id="size 1"),
        pytest.param(
            "P=createPool({size=1} Sys.Shared)",
            22,
            'expected "," and Sys.Shared or Sys.Exclusive after "}", found "Sys"',
            id="no comma before the mode",
        ),
        pytest.param(
            "P=createPool({size=1 5}, Sys.Shared)", 21, 'expected "," or "}" after an attribute, found "5"', id="junk"
        ),
        pytest.param("P=createPool({size=1, size=2}, Sys.Shared)", 22, "size is given twice", id="size twice"),
        pytest.param("P=createPool({size=0}, Sys.Shared)", 19, SIZE + '"0"', id="size 0"),
        pytest.param("P=createPool({size=5001}, Sys.Shared)", 19, SIZE + '"5001"', id="size 5001"),
        pytest.param("P=createPool({size=-1}, Sys.Shared)", 19, SIZE + '"-1"', id="negative size"),
        pytest.param("P=createPool({size=1.5}, Sys.Shared)", 19, SIZE + '"1.5"', id="fractional size"),
        pytest.param("P=createPool({size=}, Sys.Shared)", 19, SIZE + "nothing", id="empty size"),
        pytest.param("P=createPool({size=\uff11}, Sys.Shared)", 19, SIZE + '"\\uff11"', id="fullwidth size"),
        pytest.param(
            'P=createPool({tags="a"}, Sys.Shared)',
            19,
            'expected "[" and a tag in double quotes, found the string "a"',
            id="tag without a list",
        ),
        pytest.param(
            "P=createPool({tags=[a]}, Sys.Shared)",
            20,
            'expected a tag in double quotes, found "a"',
            id="tag not quoted",
        ),
        pytest.param('P=createPool({tags=["a b"]}, Sys.Shared)', 20, f'"a b" {TAG}', id="tag with a blank"),
        pytest.param('P=createPool({tags=[""]}, Sys.Shared)', 20, f'"" {TAG}', id="empty tag"),
        pytest.param('P=createPool({tags=["a","a"]}, Sys.Shared)', 24, 'the tag "a" is listed twice', id="tag twice"),
        pytest.param(
            "P=createPool(Sys.Exclusive)",
            13,
            "an exclusive host pool needs a size, as in createPool({size=3u}, Sys.Exclusive)",
            id="exclusive without a size",
        ),
        pytest.param("P=[]", 3, 'expected the name or address of a host in double quotes, found "]"', id="no hosts"),
        pytest.param(
            'P=["a" "b"]',
            7,
            'expected "," or "]" to go on with the list or to close it, found the string "b"',
            id="no comma between hosts",
        ),
        pytest.param('P=["A_b"]', 3, '"A_b" is neither an IP address nor the name of a node', id="no host name"),
        pytest.param('P=["a","a"]', 7, '"a" is listed twice', id="host twice"),
        pytest.param('P=["::1","0::1"]', 9, '"0::1" is listed twice', id="address in two spellings"),
        pytest.param('P=["a"] x', 8, 'expected "," or ";" after the host pool "P", found "x"', id="junk after a pool"),
        pytest.param('P=["a"]; x', 9, 'expected nothing after ";", found "x"', id="junk after the semicolon"),
        pytest.param('P=["a"], P=["b"]', 9, 'host pool "P" is declared twice', id="pool twice"),
        pytest.param('P=["a', 3, "the string that starts here is never closed", id="unclosed string"),
    ],
)
def test_text_is_refused_because(text: str, offset: int, message: str) -> None:
    assert problems(text) == [(offset, message)]


def test_all_mistakes_are_reported_at_once() -> None:
    text = 'config: A=["a"], B=createPool({size=0, tags=["-"]}, Sys.Shared), C=["_"], D=["d"]'
    assert [offset for offset, _ in problems(text)] == [6, 36, 45, 68]


def test_only_flawless_pools_are_returned() -> None:
    found, _ = parse_pools('A=["_"], B=["b"], C=["c" "d"]', FIELD)
    assert found == (PoolDeclaration("B", hosts=("b",)),)


def test_ten_problems_are_enough() -> None:
    hosts = ",".join(f'"_{i}"' for i in range(20))
    assert len(problems(f"P=[{hosts}], Q=[1]")) == 10


def test_5000_hosts_are_allowed() -> None:
    (pool,) = pools(f"P=[{quoted(5000)}]")
    assert len(pool.hosts or ()) == 5000


def test_5001st_host_is_refused() -> None:
    text = f"P=[{quoted(5001)}]"
    assert problems(text) == [(3 + 5000 * 7, "too many hosts: at most 5000 are allowed")]


def test_65th_tag_is_refused() -> None:
    text = f"P=createPool({{tags=[{quoted(65)}]}}, Sys.Shared)"
    assert problems(text) == [(20 + 64 * 7, "too many tags: at most 64 are allowed")]


def test_text_over_1_mib_is_refused() -> None:
    assert problems("x" * (2**20 + 1)) == [(None, "the text has 1048577 bytes, at most 1048576 are allowed")]


def test_half_a_surrogate_pair_is_refused() -> None:
    assert problems('P=["\udfff"]') == [(4, "U+DFFF is half of a surrogate pair, so this is not Unicode text")]


TIME = Work(calls=650_000, seconds=0.3)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("(" * 100_000, id="100,000 parentheses"),
        pytest.param("P=[" * 30_000, id="lists in lists"),
        pytest.param('"' * 100_001, id="quotes"),
        pytest.param("P=createPool({size=" + "9" * 100_000, id="100,000 digits"),
    ],
)
def test_hostile_text_is_refused_in_time(text: str) -> None:
    assert excess(lambda: problems(text), TIME) is None
    assert problems(text)


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
HOSTS = st.lists(st.sampled_from(["a", "b-1.c", "10.0.0.1", "::1", "fe80::1%e\u00e9"]), min_size=1, unique=True)
TAG_LISTS = st.lists(st.from_regex(r"[A-Za-z0-9]([-._][a-z])?", fullmatch=True), max_size=4, unique=True).map(tuple)
SIZES = st.integers(1, 5000)
DECLARATIONS = st.one_of(
    st.builds(PoolDeclaration, NAMES, hosts=HOSTS.map(tuple)),
    st.builds(PoolDeclaration, NAMES, size=st.none() | SIZES, tags=TAG_LISTS),
    st.builds(PoolDeclaration, NAMES, size=SIZES, tags=TAG_LISTS, mode=st.just("Exclusive")),
)


@examples(200)
@given(st.lists(DECLARATIONS, min_size=1, max_size=4, unique_by=lambda pool: pool.name))
def test_written_pools_are_read_as_the_same(found: list[PoolDeclaration]) -> None:
    assert pools(", ".join(map(str, found))) == tuple(found)


PIECES = ["P", "=", "[", "]", '"a"', ",", ";", "createPool", "(", ")", "{", "}", "size", "5u", "tags", "Sys", ".", '"']


@examples(200)
@given(
    st.one_of(
        st.text(st.characters(exclude_categories=()), max_size=60),
        st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    )
)
def test_any_text_is_read_or_refused_inside_itself(text: str) -> None:
    found, wrong = parse_pools(text, FIELD)
    assert found or wrong
    assert len(wrong) <= 10
    assert all(problem.offset is not None and 0 <= problem.offset <= len(text) for problem in wrong)
