"""A stream is cut into lines wherever its chunks end."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webhook.cluster.watch.list_watch import LIMIT, Lines, TooLongError


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        pytest.param([b"a\n"], [b"a"], id="one chunk, one line"),
        pytest.param([b"a\nb\n"], [b"a", b"b"], id="one chunk, two lines"),
        pytest.param([b"a", b"b", b"\n"], [b"ab"], id="a line in three chunks"),
        pytest.param([b"a\nb", b"c\nd\n"], [b"a", b"bc", b"d"], id="a chunk that ends inside a line"),
        pytest.param([b"a\r\n"], [b"a\r"], id="white space is left to the decoder"),
        pytest.param([b"\n\na\n\n"], [b"a"], id="empty lines"),
        pytest.param([b""], [], id="an empty chunk"),
        pytest.param([b"a"], [], id="a line without an end"),
    ],
)
def test_lines_come_out_when_they_are_whole(chunks: list[bytes], lines: list[bytes]) -> None:
    cutter = Lines()
    assert [line for chunk in chunks for line in cutter.feed(chunk)] == lines


@settings(deadline=None)
@given(st.lists(st.binary(max_size=9)))
def test_it_does_not_matter_where_chunks_end(chunks: list[bytes]) -> None:
    cutter = Lines()
    found = [line for chunk in chunks for line in cutter.feed(chunk)]
    assert found == [line for line in b"".join(chunks).split(b"\n")[:-1] if line]


def test_a_line_of_four_mebibytes_is_long_enough() -> None:
    assert LIMIT == 4 * 1024 * 1024


def test_a_line_up_to_the_limit_is_whole() -> None:
    assert Lines(3).feed(b"abc\nd\n") == [b"abc", b"d"]


@pytest.mark.parametrize(
    "chunks", [pytest.param([b"abcd\n"], id="in one chunk"), pytest.param([b"ab", b"cd"], id="before its end is seen")]
)
def test_a_longer_line_is_refused(chunks: list[bytes]) -> None:
    cutter = Lines(3)
    for chunk in chunks[:-1]:
        cutter.feed(chunk)
    with pytest.raises(TooLongError, match="^a line is longer than 3 bytes$"):
        cutter.feed(chunks[-1])
