"""Placement text: what is read, what is refused and how, and that it can be written again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.suite.example_count import examples
from tests.work import Work, excess
from webhook.placement.spl.clauses import PlacementClause as Clause
from webhook.placement.spl.placement import (
    ClauseName,
    PoolName,
    format_placement,
    is_operator,
    parse_placement,
    problems_together,
)
from webhook.placement.text.problem import Problem

FIELD = "metadata.annotations[streams.ibm.com/placement]"
HOST, COLOCATION, EXLOCATION = ClauseName.HOST, ClauseName.COLOCATION, ClauseName.EXLOCATION
ISOLATION = ClauseName.ISOLATION


def clauses(text: str) -> list[Clause]:
    """The clauses of a flawless text, without offsets."""
    found, problems = parse_placement(text, FIELD)
    assert problems == ()
    return [structs.replace(clause, offset=0) for clause in found]


def problems(text: str) -> list[tuple[int | None, str]]:
    """Offsets and messages."""
    return [(problem.offset, problem.message) for problem in parse_placement(text, FIELD)[1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('host("foo")', [Clause(HOST, "foo")], id="host by name"),
        pytest.param("host(MyPool)", [Clause(HOST, PoolName("MyPool"))], id="any host of a pool"),
        pytest.param("host(MyPool[5])", [Clause(HOST, PoolName("MyPool", 5))], id="one host of a pool"),
        pytest.param("host(MyPool[5u])", [Clause(HOST, PoolName("MyPool", 5))], id="unsigned index"),
        pytest.param("host(P[007])", [Clause(HOST, PoolName("P", 7))], id="index with leading zeros"),
        pytest.param("host(P[000])", [Clause(HOST, PoolName("P", 0))], id="index of zeros"),
        pytest.param("host(P[4294967295])", [Clause(HOST, PoolName("P", 4294967295))], id="largest index"),
        pytest.param("host($default)", [Clause(HOST, PoolName("$default"))], id="pool of all hosts"),
        pytest.param('hostColocation("t")', [Clause(COLOCATION, "t")], id="colocation"),
        pytest.param('hostExlocation("t")', [Clause(EXLOCATION, "t")], id="exlocation"),
        pytest.param("hostIsolation", [Clause(ISOLATION)], id="isolation"),
        pytest.param('partitionColocation("t")', [Clause(ClauseName.PARTITION_COLOCATION, "t")], id="fused together"),
        pytest.param('partitionExlocation("t")', [Clause(ClauseName.PARTITION_EXLOCATION, "t")], id="fused apart"),
        pytest.param("partitionIsolation;", [Clause(ClauseName.PARTITION_ISOLATION)], id="fused alone"),
        pytest.param('host("\\u0041\\"")', [Clause(HOST, 'A"')], id="escapes"),
        pytest.param("Sink: hostIsolation", [Clause(ISOLATION, None, "Sink")], id="operator"),
        pytest.param(
            "a . B::c [0] [12]: hostIsolation", [Clause(ISOLATION, None, "a.B::c[0][12]")], id="long operator"
        ),
        pytest.param("host: host(host)", [Clause(HOST, PoolName("host"), "host")], id="words are not reserved"),
        pytest.param(
            'A: host("a"), hostIsolation; B: host("b"); host("c");',
            [Clause(HOST, "a", "A"), Clause(ISOLATION, None, "A"), Clause(HOST, "b", "B"), Clause(HOST, "c")],
            id="one host each for two operators and the element itself",
        ),
        pytest.param('host // where\n ( /* here */ "a" )', [Clause(HOST, "a")], id="comments between tokens"),
    ],
)
def test_text_is_read_as(text: str, expected: list[Clause]) -> None:
    assert clauses(text) == expected


def test_offset_of_a_clause_is_where_its_name_starts() -> None:
    found, _ = parse_placement('A: host("a"), hostIsolation', FIELD)
    assert [clause.offset for clause in found] == [3, 14]


NO_CLAUSE = 'expected a placement clause such as host("node-a"), found '
INDEX = "an index is a whole number from 0 to 4294967295, found "


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        pytest.param("", 0, NO_CLAUSE + "the end of the text", id="empty"),
        pytest.param(" \n", 2, NO_CLAUSE + "the end of the text", id="blank"),
        pytest.param("// all", 6, NO_CLAUSE + "the end of the text", id="only a comment"),
        pytest.param("[]", 0, NO_CLAUSE + '"["', id="empty list"),
        pytest.param('""', 0, NO_CLAUSE + 'the string ""', id="empty string"),
        pytest.param('host("a"),', 10, NO_CLAUSE + "the end of the text", id="comma at the end"),
        pytest.param('host("a");;', 10, NO_CLAUSE + '";"', id="two semicolons"),
        pytest.param("host", 4, 'expected "(" after "host", found the end of the text', id="no argument"),
        pytest.param(
            "host()", 5, 'expected a string or a host pool name after "host(", found ")"', id="empty argument"
        ),
        pytest.param(
            'host(("a"))', 5, 'expected a string or a host pool name after "host(", found "("', id="nested parentheses"
        ),
        pytest.param('host("a"', 8, 'expected ")" to close "host(", found the end of the text', id="not closed"),
        pytest.param('host("a" "b")', 9, 'expected ")" to close "host(", found the string "b"', id="two arguments"),
        pytest.param('host("a") host("b")', 10, 'expected "," or ";" after host("a"), found "host"', id="no comma"),
        pytest.param(
            f'hostColocation("{"t" * 99}") x',
            118,
            f'expected "," or ";" after hostColocation("{"t" * 64}..., found "x"',
            id="long clause is cut",
        ),
        pytest.param("hostColocation()", 15, 'expected a string after "hostColocation(", found ")"', id="no token"),
        pytest.param("host(P", 6, 'expected ")" to close "host(", found the end of the text', id="pool, not closed"),
        pytest.param("host(a b)", 7, 'expected ")" to close "host(", found "b"', id="two words without quotes"),
        pytest.param("host(-1)", 5, 'unexpected character "-"', id="nothing that quotes would help"),
        pytest.param(
            "hostExlocation(A::b)", 15, 'expected a string after "hostExlocation(", found "A"', id="no legal token"
        ),
        pytest.param("hostIsolation()", 13, "hostIsolation takes no parentheses", id="isolation()"),
        pytest.param('hostIsolation("x")', 13, "hostIsolation takes no parentheses", id="isolation(x)"),
        pytest.param("host(P[-1])", 7, INDEX + '"-1"', id="negative index"),
        pytest.param("host(P[1.5])", 7, INDEX + '"1.5"', id="fractional index"),
        pytest.param("host(P[])", 7, INDEX + "nothing", id="empty index"),
        pytest.param("host(P[4294967296])", 7, INDEX + '"4294967296"', id="index beyond uint32"),
        pytest.param(f"host(P[{'9' * 99}])", 7, f'{INDEX}"{"9" * 80}..."', id="index of 99 digits"),
        pytest.param("host(P[5x])", 7, INDEX + '"5x"', id="index with a wrong suffix"),
        pytest.param("host(P[\uff15])", 7, INDEX + '"\\uff15"', id="index in fullwidth digits"),
        pytest.param(
            "host(P[5)", 8, 'expected "]" after the index of a host pool, found ")"', id="index that is not closed"
        ),
        pytest.param("hostColocaton(1)", 0, 'unknown clause "hostColocaton" (did you mean hostColocation?)', id="typo"),
        pytest.param("HostIsolation", 0, 'unknown clause "HostIsolation" (did you mean hostIsolation?)', id="case"),
        pytest.param(
            "null",
            0,
            'unknown clause "null": use one of host, hostColocation, hostExlocation, hostIsolation, '
            "partitionColocation, partitionExlocation, partitionIsolation",
            id="nothing like a clause",
        ),
        pytest.param("A.: hostIsolation", 2, 'expected a name after ".", found ":"', id="operator cut short"),
        pytest.param("A::1: hostIsolation", 3, 'expected a name after "::", found "1"', id="operator with a number"),
        pytest.param("A[x]: host(P)", 2, 'an index is a whole number from 0, found "x"', id="operator index"),
        pytest.param(
            "A[\uff11]: host(P)", 2, 'an index is a whole number from 0, found "\\uff11"', id="fullwidth index"
        ),
        pytest.param(
            "A[1: host(P)", 3, 'expected "]" after the index of an operator, found ":"', id="operator index not closed"
        ),
        pytest.param("A.B host(P)", 4, 'expected ":" after the operator "A.B", found "host"', id="operator, no colon"),
        pytest.param(
            "A: hostIsolation, B: host(P)",
            18,
            'an operator starts after ";", not after ",": found "B:"',
            id="operator after a comma",
        ),
        pytest.param('host("a', 5, "the string that starts here is never closed", id="unclosed string"),
        pytest.param('A: host("a") /*', 13, "the comment that starts here is never closed", id="unclosed comment"),
        pytest.param("host('a')", 5, 'unexpected character "\'": strings are written in double quotes', id="quotes"),
        pytest.param(
            'host("a"), host("b")',
            11,
            'the processing element has host("a") and host("b"): SPL allows one host per operator',
            id="two hosts of the element itself",
        ),
        pytest.param(
            "A: host(P); B: host(Q); A: host(P[1])",
            27,
            'operator "A" has host(P) and host(P[1]): SPL allows one host per operator',
            id="two hosts of one operator",
        ),
    ],
)
def test_text_is_refused_because(text: str, offset: int, message: str) -> None:
    assert problems(text) == [(offset, message)]


@pytest.mark.parametrize(
    ("clause", "found"),
    [
        pytest.param("host", "worker-1", id="node"),
        pytest.param("host", "foo.bar", id="node of a domain"),
        pytest.param("host", "1", id="digits"),
        pytest.param("host", "10.1.2.3", id="IPv4 address"),
        pytest.param("host", "fe80::1%eth0", id="IPv6 address with a zone"),
        pytest.param("host", "::1", id="IPv6 address that starts with colons"),
        pytest.param("host", "2001:db8::1/64", id="address with a length"),
        pytest.param("hostColocation", "t", id="colocation"),
        pytest.param("hostExlocation", "apart", id="exlocation"),
        pytest.param("hostExlocation", "far-apart.2", id="exlocation, no identifier"),
        pytest.param("partitionExlocation", "apart", id="partition"),
    ],
)
@pytest.mark.parametrize(
    "end", [")", " )", ", hostIsolation", ";", ""], ids=["closed", "blank", "comma", "semicolon", "end"]
)
def test_what_lacks_its_quotes_is_shown_with_them(clause: str, found: str, end: str) -> None:
    wanted = "a string or a host pool name" if clause == "host" else "a string"
    first, *_ = problems(f"{clause}({found}{end}")
    assert first == (
        len(clause) + 1,
        f'expected {wanted} after "{clause}(", found "{found}": write it in quotes: {clause}("{found}")',
    )


def test_all_that_lacks_its_quotes_is_told_at_once() -> None:
    assert [message.partition(": ")[2] for _, message in problems("host(worker-1), hostExlocation(apart)")] == [
        'write it in quotes: host("worker-1")',
        'write it in quotes: hostExlocation("apart")',
    ]


def test_problem_carries_field_and_text() -> None:
    _, (problem,) = parse_placement("host()", FIELD)
    assert problem == Problem(FIELD, 'expected a string or a host pool name after "host(", found ")"', "host()", 5)


def test_all_mistakes_are_reported_at_once() -> None:
    assert problems('host(), hostIsolation(1, 2); A.: host(Q), host(P[x]), hostExlocation("t")') == [
        (5, 'expected a string or a host pool name after "host(", found ")"'),
        (21, "hostIsolation takes no parentheses"),
        (31, 'expected a name after ".", found ":"'),
        (49, INDEX + '"x"'),
    ]


def test_ten_problems_are_enough() -> None:
    assert len(problems("x, " * 500)) == 10


def test_stray_closing_brackets_do_not_hide_the_next_clause() -> None:
    assert [offset for offset, _ in problems("x))), y")] == [0, 6]


def test_text_of_8_kib_is_read() -> None:
    assert problems("hostIsolation" + " " * (8192 - 13)) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("hostIsolation" + " " * (8193 - 13), id="characters"),
        pytest.param("hostIsolation//" + "\u20ac" * 2726, id="bytes of UTF-8"),
    ],
)
def test_text_over_8_kib_is_refused(text: str) -> None:
    assert problems(text) == [(None, "the text has 8193 bytes, at most 8192 are allowed")]


def test_unicode_within_8_kib_is_read() -> None:
    assert clauses("hostIsolation // \u20ac") == [Clause(ISOLATION)]


def test_half_a_surrogate_pair_is_refused() -> None:
    assert problems('host("\ud800")') == [(6, "U+D800 is half of a surrogate pair, so this is not Unicode text")]


def test_64_clauses_are_allowed() -> None:
    assert len(clauses(", ".join(["hostIsolation"] * 64))) == 64


def test_65th_clause_is_refused_and_the_rest_is_not_read() -> None:
    assert problems(", ".join(["hostIsolation"] * 65 + ["x"])) == [
        (64 * 15, "too many placement clauses: at most 64 are allowed")
    ]


def test_32_different_tokens_are_allowed() -> None:
    text = ", ".join(f'hostColocation("t{i}"), hostExlocation("t{i}")' for i in range(32))
    assert len(clauses(text)) == 64


def test_33rd_token_is_refused() -> None:
    text = ", ".join(f'hostColocation("{i:02}")' for i in range(34))
    assert problems(text) == [(32 * 22, "too many different tokens: at most 32 are allowed")]


@pytest.mark.parametrize(
    ("clause", "text"),
    [
        pytest.param(Clause(HOST, "foo"), 'host("foo")', id="host by name"),
        pytest.param(Clause(HOST, PoolName("P")), "host(P)", id="any host of a pool"),
        pytest.param(Clause(HOST, PoolName("P", 5)), "host(P[5])", id="one host of a pool"),
        pytest.param(Clause(COLOCATION, 'a"\n\u202e'), 'hostColocation("a\\"\\n\\u202e")', id="escapes"),
        pytest.param(Clause(ISOLATION, None, "Sink"), "hostIsolation", id="the operator is left out"),
    ],
)
def test_clause_is_written_as(clause: Clause, text: str) -> None:
    assert (clause.text, str(clause)) == (text, text)


def test_neighbours_of_one_operator_are_written_as_a_group() -> None:
    text = 'A: host("a"), hostIsolation; hostIsolation; B: host(P)'
    assert format_placement(clauses(text)) == text


def test_repeated_text_is_not_read_again() -> None:
    text = 'hostColocation("repeated")'
    assert parse_placement(text, FIELD) is parse_placement(text, FIELD)
    assert parse_placement(text, FIELD) is parse_placement(text, "elsewhere")


def test_problems_say_where_the_text_is() -> None:
    _, (here,) = parse_placement("hostIsolated", FIELD)
    _, (there,) = parse_placement("hostIsolated", "elsewhere")
    assert (here.field, there.field) == (FIELD, "elsewhere")


def test_long_text_is_not_kept() -> None:
    text = "hostIsolation" + " " * 2000
    assert parse_placement(text, FIELD) is not parse_placement(text, FIELD)


TIME = Work(calls=70_000, seconds=0.05)
"""Ten milliseconds are usual; counting and tracing take several times as long."""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("(" * 8192, id="opening parentheses"),
        pytest.param('"\\' * 4096, id="unclosed strings of escapes"),
        pytest.param("/*" * 4096, id="unclosed comments"),
        pytest.param("a." * 4096, id="long operator"),
        pytest.param("\u00e9 " * 2730, id="strange characters"),
        pytest.param("host(P[1" + "(" * 8184, id="brackets in an index"),
        pytest.param("9" * 8192, id="digits"),
        pytest.param("(" * 100_000, id="100,000 parentheses"),
        pytest.param('host("a"), ' * 10_000, id="10,000 clauses"),
    ],
)
def test_hostile_text_is_refused_in_time(text: str) -> None:
    assert excess(lambda: problems(text), TIME) is None
    assert problems(text)


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
OPERATORS = st.just("") | st.from_regex(r"[a-z_](::[A-Z]|\.b_){0,2}(\[[0-9]{1,3}\]){0,2}", fullmatch=True)
POOLS = st.builds(PoolName, NAMES | st.just("$default"), st.none() | st.integers(0, 2**32 - 1))
QUOTED = st.sampled_from([name for name in ClauseName if name.endswith("location")])
CLAUSES = st.one_of(
    st.builds(Clause, st.sampled_from([ISOLATION, ClauseName.PARTITION_ISOLATION]), st.none(), OPERATORS),
    st.builds(Clause, QUOTED, st.text(max_size=8), OPERATORS),
    st.builds(Clause, st.just(HOST), st.text(max_size=8) | POOLS, OPERATORS),
)


def only_one(clause: Clause) -> str | Clause:
    """What a text can hold only once: a host of each operator."""
    return clause.operator if clause.name is HOST else clause


@examples(200)
@given(st.lists(CLAUSES, min_size=1, max_size=8, unique_by=only_one))
def test_written_clauses_are_read_as_the_same(found: list[Clause]) -> None:
    assert clauses(format_placement(found)) == found


PIECES = ["host", "(", ")", '"a"', "P", "[", "]", "5u", ",", ";", ":", "::", ".", "hostIsolation", '"', "\\", "/*", " "]


@examples(200)
@given(
    st.one_of(
        st.text(st.characters(exclude_categories=()), max_size=60),
        st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    )
)
def test_any_text_is_read_or_refused_inside_itself(text: str) -> None:
    found, wrong = parse_placement(text, FIELD)
    assert found or wrong
    assert len(wrong) <= 10
    assert all(problem.offset is not None and 0 <= problem.offset <= len(text) for problem in wrong)
    assert all(text.startswith(clause.name, clause.offset) for clause in found)


# What is known without parsing

PIECES = st.lists(st.sampled_from(["a", "Main", "_", "9", ".", "::", ":", "[", "]", "0", "12", " ", "x1", "\n", "é"]))


@given(PIECES.map("".join))
def test_an_operator_is_what_a_text_can_begin_with(name: str) -> None:
    probe, wrong = parse_placement(f"{name}: hostIsolation", FIELD)
    begins = not wrong and len(probe) == 1 and probe[0].operator == name and bool(name)
    assert is_operator(name) == begins


def test_an_operator_has_a_length() -> None:
    assert is_operator("a" * 8192)
    assert not is_operator("a" * 8193)


CLAUSES = st.sampled_from(
    [f'{name}("t{at}")' for name in ("hostColocation", "hostExlocation") for at in range(40)]
    + ["hostIsolation", "host(P)", 'host("a")', "partitionIsolation"]
)
OPERATORS = st.lists(st.tuples(st.sampled_from(["A", "B", "C[0]"]), CLAUSES), max_size=80)


@given(OPERATORS)
@examples(200)
def test_clauses_have_the_problems_of_the_text_that_they_make(operators: list[tuple[str, str]]) -> None:
    text = "; ".join(f"{operator}: {clause}" for operator, clause in operators)
    parsed = [structs.replace(clauses(clause)[0], operator=operator) for operator, clause in operators]
    expected = [problem.message for problem in parse_placement(text, FIELD)[1]] if operators else []
    assert [problem.message for problem in problems_together(parsed, FIELD)] == expected
