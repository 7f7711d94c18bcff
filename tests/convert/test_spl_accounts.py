"""Every host clause of a program is on an operator, or a remark or a refusal is about it."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.convert.converted_texts import converted, refusals, remarks, together
from webhook.convert.source_text import SourceText
from webhook.convert.spl import program
from webhook.convert.spl.accounts import clause_places
from webhook.convert.spl.scanner import SplScanner

WORK = 'composite Work(input I) { graph () as A = Custom(I) { config placement : host("a"), hostIsolation; } }'


def words(text: str) -> list[str]:
    """The words of host clauses that are counted in a text."""
    scanner = SplScanner(SourceText("in", text))
    return [scanner.word(place) for place in clause_places(scanner)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('config placement : host("a"), hostIsolation;', ["host", "hostIsolation"]),
        ("config placement: partitionIsolation; host(1)", []),
        ('config tracing: a; placement : hostColocation("a" + f(host)), host(P[1]); x: host(1);',
         ["hostColocation", "host", "host"]),
        ('hostColocation("a") hostExlocation ("a") hostIsolation host("a") hostColocation',
         ["hostColocation", "hostExlocation"]),
        ("{ placement : } host(1)", []),
        ("placement = host(1); a.placement", []),
        ("'placement : host(1)' \"placement : host(2)\" // placement : host(3)\n/* placement : host(4) */", []),
    ],
)  # fmt: skip
def test_clauses_are_counted_by_their_words(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_a_composite_that_is_never_invoked_is_noted() -> None:
    found = converted(f"composite Main {{ graph () as X = Custom(I) {{}} }}\n{WORK}", "spl")
    assert remarks(found)[1:] == [
        (
            'in:2: host("a"), hostIsolation holds for no operator: no main composite of the input invokes Work; '
            "convert it together with the program that does"
        )
    ]


@pytest.mark.parametrize(
    ("graph", "clause"),
    [
        ('() as X = Work(I) { config placement : host("outer"); }', 'host("outer")'),
        ('() as E = Export(I) { config placement : host("x"); }', 'host("x")'),
        ('() as X = None(I) { config placement : hostExlocation( "x"  +  "y" ); }', 'hostExlocation( "x" + "y" )'),
    ],
)
def test_a_placement_that_no_operator_has_is_noted(graph: str, clause: str) -> None:
    text = f"composite Main {{ graph {graph}\n () as S = Custom(I) {{}} }}\n{WORK}\ncomposite None(input I) {{}}"
    noted = [line for line in remarks(converted(text, "spl")) if line.startswith("in:1") and "holds" in line]
    assert noted == [
        (
            f"in:1: {clause} holds for no operator: inner placements replace it, or nothing runs inside; "
            "check that this is intended"
        )
    ]


def test_pools_of_inner_composites_are_noted() -> None:
    work = 'composite Work(input I) { graph () as A = Custom(I) {} config hostPool : P = ["a"]; }'
    found = converted(f"composite Main {{ graph () as X = Work(I) {{}} }}\n{work}", "spl")
    assert remarks(found)[1:] == [
        "in:2: the host pools of Work are left out: pools are those of a main composite; declare them there"
    ]


@pytest.mark.parametrize(
    "text",
    [
        'composite Main { graph () as X = Custom(I) { logic state : { placement : host("a"); } } }',
        'composite Main { graph () as X = Custom(I) { param placement : host("a"); } }',
        'int32 f() { return hostColocation("a"); }\ncomposite Main { graph () as X = Custom(I) {} }',
        'composite Main { graph () as X = Custom(I) { config tracing : hostExlocation("a"); } }',
    ],
)
def test_a_clause_where_no_placement_is_read_is_refused(text: str) -> None:
    (refusal,) = refusals(text, "spl")
    assert refusal == "in:1: this clause is in the config of no operator and of no composite"


def test_what_a_reader_of_sections_would_miss_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count does not depend on the reader: one that finds no invocations is found out."""
    monkeypatch.setattr(program, "_graph", lambda *_: iter(()))
    text = 'composite Main { graph\n() as X = Custom(I) { config placement : host("a"),\nhostIsolation; } }'
    assert (
        refusals(text, "spl")
        == [
            "in:2: this clause is in the config of no operator and of no composite",
            "in:3: this clause is in the config of no operator and of no composite",
            'in:1: "Main" invokes no operator, so nothing would run',
        ][:2]
    )


# The law, over programs that are made up


TOKENS = re.compile(r"t\d+")


class Made:
    """A program under construction: composites by name, and a token for each clause."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self.tokens = 0
        self.texts: list[str] = []

    def token(self) -> str:
        self.tokens += 1
        return f"t{self.tokens}"

    def one_of(self, *values: str) -> str:
        return self._draw(st.sampled_from(values))

    def config(self) -> str:
        clauses = [
            self.one_of("host", "hostColocation", "hostExlocation") if at == 0 else "hostExlocation"
            for at in range(self._draw(st.integers(0, 2)))
        ]
        if not clauses:
            return self.one_of("", "config tracing : info;")
        listed = ", ".join(f"{name}({self.literal()})" for name in clauses)
        before = self.one_of("", "restartable : true; ", "threading : $dynamic(); ")
        return f"config {before}placement{self.one_of('', ' ')}: {listed};"

    def literal(self) -> str:
        token = self.token()
        return self.one_of(
            f'"{token}"', f"'{token}'", f'"{token}"r', f'"{token}" + ""', f'("{token}")', f'f("{token}")'
        )

    def invocation(self, at: int, invoked: str) -> str:
        name = f"N{at}"
        outputs = self.one_of(
            f"stream<int32 a> {name}", f"stream<int32 a> {name} as Q",
            f"(stream<int32 a> {name} as Q; stream<int32 b> M{at})",
            f"() as {name}", f"(stream<enum {{x, y}} e> S{at}) as {name}", f"stream<enum {{x, y}} e> {name}",
        )  # fmt: skip
        annotation = self.one_of(
            "", "", "@threading ", '@view(name="x{") ', "@parallel(width=2) ", "@parallel(width=$w) "
        )
        head = self.one_of("", 'logic state : { mutable int32 i = 0; } onTuple I : { if (i > 0) { f("}"); } }')
        tail = self.one_of("", 'param file : "graph ("; m : {a = 1};', "output Q : a = 1, b = {c = 2};")
        body = [part for part in (head, tail, self.config()) if part]
        if self._draw(st.booleans()):
            body.reverse()
        return f"{annotation}{outputs} = {invoked}(I) {{ {' '.join(body)} }}"

    def composite(self, name: str, ports: str, callable_: Sequence[str]) -> str:
        names = ["Custom", "Export", "Unknown", "other.ns::Gone", *callable_]
        invoked = self._draw(st.lists(st.sampled_from(names), min_size=name == "Main", max_size=3))
        graph = "".join(f"\n{self.invocation(at, one)}" for at, one in enumerate(invoked))
        sections = [
            self.one_of("", "param type $T; expression<int32> $w : 2;", 'param expression<rstring> $s : "graph (";'),
            self.one_of("", "type T = int32 a; E = enum {a, b};"),
            f"graph{graph}" if graph else "",
            self.config(),
        ]
        ordered = self._draw(st.permutations([part for part in sections if part]))
        head = self.one_of("", "public ", "@threading(model=manual) public ", "/** graph ( */ ")
        return f"{head}composite {name}{ports} {{ {' '.join(ordered)} }}"


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[str], set[str]]:
    """Texts of a program, and the tokens of their clauses."""
    made = Made(draw)
    names = [f"C{at}" for at in range(draw(st.integers(0, 3)))]
    composites = [made.composite(name, "(input I)", names[at + 1 :]) for at, name in enumerate(names)]
    main = made.composite("Main", made.one_of("", "()"), names)
    cut = draw(st.integers(0, len(composites)))
    texts = ["\n".join([*composites[:cut], main]), "\n".join(composites[cut:])]
    return [text for text in texts if text], {f"t{at + 1}" for at in range(made.tokens)}


@given(programs())
def test_no_clause_is_lost_in_silence(made: tuple[list[str], set[str]]) -> None:
    texts, tokens = made
    found = together(*texts)
    problems = [problem for one in found for problem in one.problems]
    if problems:
        return  # refused: nothing is written
    said = [str([one.manifests for one in found]), *(str(remark) for one in found for remark in one.remarks)]
    assert set(TOKENS.findall(" ".join(said))) >= tokens, texts
