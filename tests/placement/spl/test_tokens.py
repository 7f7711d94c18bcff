"""Tokens and string literals of SPL text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.suite.example_count import examples
from webhook.placement.spl.literals import Flaw, decode, encode
from webhook.placement.spl.tokens import TokenKind, tokenize
from webhook.placement.text.nearest import nearest

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
SPL_TEXT = st.text(st.sampled_from('ab1u_$"\\/*()[]{},;:.= \n\u00e9'), max_size=60)


def written(text: str) -> list[str]:
    return [token.text for token in tokenize(text)[:-1]]


def broken(text: str) -> tuple[int, str]:
    """Offset and message of the only broken token."""
    (token,) = (token for token in tokenize(text) if token.kind is TokenKind.BROKEN)
    return token.offset, token.value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("host", TokenKind.NAME, id="word"),
        pytest.param("_x9", TokenKind.NAME, id="word that starts with an underscore"),
        pytest.param("$default", TokenKind.DEFAULT, id="the pool of all hosts"),
        pytest.param("10", TokenKind.NUMBER, id="digits"),
        pytest.param("10u", TokenKind.NUMBER, id="digits with a suffix"),
        pytest.param('"a b"', TokenKind.STRING, id="string"),
        pytest.param("::", TokenKind.SYMBOL, id="scope"),
        pytest.param(":", TokenKind.SYMBOL, id="colon"),
        pytest.param("]", TokenKind.SYMBOL, id="bracket"),
        pytest.param("$defaults", TokenKind.BROKEN, id="dollar before another word"),
        pytest.param("\uff11", TokenKind.BROKEN, id="fullwidth digit"),
        pytest.param("h\u00f6st", TokenKind.NAME, id="only ASCII letters are letters"),
        pytest.param("/", TokenKind.BROKEN, id="slash"),
    ],
)
def test_first_token_is_of_kind(text: str, kind: TokenKind) -> None:
    assert tokenize(text)[0].kind is kind


@pytest.mark.parametrize(
    "space",
    [
        pytest.param(" ", id="blank"),
        pytest.param("\t\r\n\f\v", id="tabs and line ends"),
        pytest.param("// b, c\n", id="comment to the end of the line"),
        pytest.param("// b\r", id="comment to a carriage return"),
        pytest.param("/* b */", id="comment"),
        pytest.param("/**/", id="empty comment"),
        pytest.param("/***/", id="comment of stars"),
        pytest.param("/* /* // */", id="comment in a comment"),
        pytest.param('/* " */ // "\n', id="quotes in comments"),
    ],
)
def test_space_separates_tokens(space: str) -> None:
    assert written(f"a{space}b") == ["a", "b"]


def test_comment_signs_inside_a_string_are_text() -> None:
    assert tokenize('"a // b /* c"')[0].value == "a // b /* c"


def test_last_token_is_the_end() -> None:
    end = tokenize("a ")[-1]
    assert (end.kind, end.text, end.offset) == (TokenKind.END, "", 2)


def test_escapes_stand_for_their_characters() -> None:
    assert tokenize(r'"\" \\ \n \t \r \u0041 \u00e9"')[0].value == '" \\ \n \t \r A \u00e9'


def test_pair_of_surrogates_stands_for_one_character() -> None:
    assert tokenize(r'"\uD83D\ude00"')[0].value == "\U0001f600"


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        pytest.param('a "b', 2, "the string that starts here is never closed", id="unclosed string"),
        pytest.param('"a\\"', 0, "the string that starts here is never closed", id="string closed by an escape"),
        pytest.param('"a\\', 0, "the string that starts here is never closed", id="string cut in an escape"),
        pytest.param("a /* b", 2, "the comment that starts here is never closed", id="unclosed comment"),
        pytest.param("a @@", 2, 'unexpected character "@"', id="other character"),
        pytest.param("\u202e", 0, 'unexpected character "\\u202e"', id="right-to-left override"),
        pytest.param("\x00", 0, 'unexpected character "\\x00"', id="control character outside strings"),
        pytest.param("'a", 0, 'unexpected character "\'": strings are written in double quotes', id="single quote"),
        pytest.param(
            "\u201ca", 0, 'unexpected character "\\u201c": strings are written in double quotes', id="typographic quote"
        ),
        pytest.param(
            '"a\nb"', 2, "control character U+000A inside a string: write it as \\n", id="line end inside a string"
        ),
        pytest.param(
            '"a\x85"', 2, "control character U+0085 inside a string: write it as \\u0085", id="C1 inside a string"
        ),
        pytest.param(
            r'"a\q"',
            2,
            '"\\q" is not an escape: the escapes are \\" \\\\ \\n \\t \\r and \\u with four hexadecimal digits',
            id="unknown escape",
        ),
        pytest.param(
            r'"\u12"',
            1,
            '"\\u" is not an escape: the escapes are \\" \\\\ \\n \\t \\r and \\u with four hexadecimal digits',
            id="short unicode escape",
        ),
        pytest.param(
            r'"x\ud800"',
            2,
            "\\ud800 is half a surrogate pair: both halves must be there, the higher one first",
            id="high surrogate alone",
        ),
        pytest.param(
            r'"\ude00\ud83d"',
            1,
            "\\ude00 is half a surrogate pair: both halves must be there, the higher one first",
            id="surrogates in the wrong order",
        ),
    ],
)
def test_broken_token_says_why_and_where(text: str, offset: int, message: str) -> None:
    assert broken(text) == (offset, message)


def test_tokens_go_on_after_a_flawed_string() -> None:
    assert written(r'"\q", b') == [r'"\q"', ",", "b"]


@examples(200)
@given(st.one_of(ANY_TEXT, SPL_TEXT))
def test_tokens_stand_in_the_text_in_order(text: str) -> None:
    position = 0
    for token in tokenize(text):
        if token.kind is not TokenKind.BROKEN:
            assert text.startswith(token.text, token.offset)
        assert position <= token.offset <= len(text)
        position = token.offset


@examples(200)
@given(st.text(max_size=40))
def test_encoded_text_decodes_to_itself(text: str) -> None:
    assert decode(encode(text)) == text


@examples(200)
@given(ANY_TEXT)
def test_encoded_text_is_one_printable_token(text: str) -> None:
    literal = encode(text)
    assert literal.isascii()
    assert literal.isprintable()
    assert written(literal) == [literal]


@examples(200)
@given(SPL_TEXT)
def test_what_is_between_quotes_decodes_or_has_a_flaw_inside(text: str) -> None:
    value = decode(f'"{text}"')
    assert not isinstance(value, Flaw) or 0 < value.offset <= len(text)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        pytest.param("hostColocaton", "hostColocation", id="a letter is missing"),
        pytest.param("HOSTCOLOCATION", "hostColocation", id="letter case"),
        pytest.param("frobnicate", None, id="nothing like it"),
        pytest.param("hostColocation" * 5, None, id="too long to be compared"),
    ],
)
def test_nearest_word(word: str, meant: str | None) -> None:
    assert nearest(word, ["host", "hostColocation"]) == meant
