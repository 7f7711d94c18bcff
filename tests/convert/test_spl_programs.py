"""How SPL programs are read: sections in any order, names of operators, words that look like others."""

import pytest

from tests.convert.converted_texts import converted, operators, refusals
from webhook.convert.conversion import ConvertOptions, Input, convert
from webhook.convert.input_kind import InputKind

PLACED = 'config placement: host("worker-1");'
BODIES = {
    "parameters": 'param expression<rstring> $f : "x"; type $T; operator $Op; function $fun; attribute $a : b;',
    "types": "type T = int32 a; E = enum {a, b}; static S = tuple<enum {x, y} e>;",
    "more": "config restartable: true; logLevel: debug;",
    "pools": 'config hostPool : P = ["worker-1"]; restartable: true;',
}
GRAPHS = {
    "an invocation in parentheses": f"graph (stream<int32 a> S) as Op = Custom() {{ {PLACED} }}",
    "an invocation without outputs": f"graph () as Op = Custom() {{ {PLACED} }}",
    "a stream": f"graph stream<int32 a> Op = Custom() {{ {PLACED} }}",
    "an annotation with arguments": f'graph @view(name="x", port=S) stream<int32 a> Op = Custom() {{ {PLACED} }}',
    "an annotation alone": f"graph @threading () as Op = Custom() {{ {PLACED} }}",
    "an annotation alone before outputs": f"graph @threading (stream<int32 a> Op) = Custom() {{ {PLACED} }}",
    "a stream of an enumeration": f"graph stream<enum {{a, b}} e> Op = Custom() {{ {PLACED} }}",
}


@pytest.mark.parametrize("before", [[], ["parameters"], ["types"], ["pools"], ["parameters", "types", "pools"]])
@pytest.mark.parametrize("after", [[], ["more"], ["types"], ["parameters"]])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
def test_a_graph_is_found_wherever_it_stands(before: list[str], after: list[str], graph: str) -> None:
    sections = [*(BODIES[name] for name in before), graph, *(BODIES[name] for name in after)]
    assert operators(f"composite Main {{ {' '.join(sections)} }}") == {"Op": 'host("worker-1")'}


@pytest.mark.parametrize(
    "before",
    [
        "logic state : { mutable int32 x = 0; } onTuple In : { if (x < 1) { submit(In, A); } }",
        "logic onTuple In : submit(In, A); onProcess : while (true) { f(); }",
        "window In : tumbling, count(1); Other : sliding, delta(a, 1), partitioned;",
        'param file : {a = 1}.a; config_file : "x"; names : ["a", "b"];',
        'output A : a = {graph_ = 1}, b = "config placement: x;"; B : c = d ? e : f;',
    ],
)  # fmt: skip
def test_a_config_is_found_after_every_section(before: str) -> None:
    assert operators(f"composite Main {{ graph stream<int32 a> A = Custom(In) {{ {before} {PLACED} }} }}") == {
        "A": 'host("worker-1")'
    }


@pytest.mark.parametrize(
    "text",
    [
        "use com.x.graph::A; use com.config.param::*;\nMAIN",
        "type Odd = tuple<int32 graph_, int32 config_>;\nMAIN",
        "rstring f(rstring a) { return 'graph ( config placement : host(\"no\");'; }\nMAIN",
        '// graph ( config placement : host("no");\n/* param } */ MAIN',
        '@threading(model=dynamic, note="}")\npublic MAIN',
        "@consistent(trigger=periodic) @threading\nMAIN",
        "rstring g() { return 'it is on\ntwo lines {'; }\nMAIN",
        'rstring g() { return "a"r + \'b\'u + "c"r; }\nMAIN',
    ],
)
def test_what_looks_like_a_section_is_none(text: str) -> None:
    main = f"composite Main {{ graph () as X = com.x.graph::A(In) {{ param t : a.type::b(); {PLACED} }} }}"
    assert operators(text.replace("MAIN", main)) == {"X": 'host("worker-1")'}


@pytest.mark.parametrize(
    ("outputs", "name"),
    [
        ("stream<int32 i> A", "A"),
        ("stream<int32 i> A as B", "A"),
        ("stream<A> B as C", "B"),
        ("stream<tuple<list<int32>> t> A as B", "A"),
        ("(stream<int32 i> A as P)", "A"),
        ("(stream<int32 i> A as P; stream<int32 j> B as Q)", "A"),
        ("(stream<int32 i> A; stream<int32 j> B)", "A"),
        ("(stream<int32 i> A as P; stream<int32 j> B) as C", "C"),
        ("() as Sink", "Sink"),
        ('@view(name="x", port=A)\n() as Sink', "Sink"),
    ],
)
@pytest.mark.parametrize("around", ["composite Main {{ graph {} }}", "{}"])
def test_an_operator_is_named_by_as_or_by_its_first_stream_and_never_by_a_port(
    outputs: str, name: str, around: str
) -> None:
    text = f"{outputs} = spl.utility::Custom(In as I) {{ config placement: hostIsolation; }}"
    assert operators(around.format(text)) == {name: "hostIsolation"}


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ("stream<int32 i> A = Beacon();", '"stream<int32 i> A = Beacon"'),
        ("stream<int32 i> A = Beacon()", '"stream<int32 i> A = Beacon"'),
        ("stream<int32 i> A = Beacon() stream<int32 i> B = Beacon() {}", '"stream<int32 i> A = Beacon"'),
        ("stream<int32 i> A = Beacon {}", '"stream<int32 i> A = Beacon"'),
        ("Beacon() {}", '"Beacon() {}"'),
        ("= Beacon() {}", '"= Beacon() {}"'),
        ("() = Beacon() {}", '"() = Beacon() {}"'),
        ("() to A = Beacon() {}", '"() to A = Beacon()"'),
        ("stream<int32 i> A = Beacon() {} {}", '"{}"'),
        ("type(x) = Beacon() {}", '"type(x) = Beacon()"'),
    ],
)
def test_what_is_not_an_invocation_in_a_graph_is_refused(graph: str, found: str) -> None:
    assert refusals(f"composite Main {{\ngraph {graph} }}", "spl") == [
        f"in:2: {found} begins no operator invocation such as stream<int32 i> A = Beacon() {{}}"
    ]


MIXED_MODE = (
    'this is a mixed-mode program, and its Perl, which "<%" begins, is not run: convert its compiled ADL or bundle, or '
    "SPL without Perl"
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("in", "composite Main { graph\n<% for (1 .. 2) { %> () as A = Custom() {} <% } %> }"),
        ("in", "// <% in a comment\n<% # one) that Perl begins\n%> composite Main {}"),
        ("in.splmm", 'composite Main { graph () as A = Custom() { config placement:\nhost("<%=$host%>"); } }'),
    ],
)
def test_a_mixed_mode_program_is_refused_for_its_perl(name: str, text: str) -> None:
    (conversion,) = convert([Input(name, text.encode(), InputKind.SPL)], ConvertOptions())
    assert [(problem.field, problem.message) for problem in conversion.problems] == [(f"{name}:2", MIXED_MODE)]


@pytest.mark.parametrize("text", ["/* <% */", 'param format : "<%d>";', "param format : '<%d>';"])
def test_what_only_looks_like_perl_is_part_of_a_program(text: str) -> None:
    main = f"composite Main {{ graph () as A = Custom() {{ {text} {PLACED} }} }}"
    assert operators(main) == {"A": 'host("worker-1")'}


def test_semicolons_between_invocations_are_passed_over() -> None:
    assert operators("composite Main { graph ; () as A = Custom() {}; () as B = Custom() {} ; }") == {
        "A": None,
        "B": None,
    }


@pytest.mark.parametrize("odd", ["= Beacon();", "(a) to = Beacon();", "(a b) c = Beacon();", "a(b);"])
def test_what_is_not_an_invocation_outside_of_a_graph_is_passed_over(odd: str) -> None:
    assert operators(f"{odd}\n() as A = Custom(I) {{ {PLACED} }}") == {"A": 'host("worker-1")'}


def test_parameters_without_a_dollar_or_a_colon_are_passed_over() -> None:
    text = (
        "composite Work(input I) { param expression<int32> w : 3; $; graph () as A = Custom(I) {} }\n"
        "composite Main { graph () as X = Work(I) { param file; } }"
    )
    assert operators(text) == {"X.A": None}


@pytest.mark.parametrize("text", ["composite Main;", "composite Main(input I)", "composite Main graph"])
def test_a_composite_without_a_body_is_refused(text: str) -> None:
    assert refusals(text, "spl") == ['in:1: composite "Main" has no body: write "{" after its name and ports']


@pytest.mark.parametrize(("text", "name"), [("composite", ""), ("composite Main", "Main"), ("public composite", "")])
def test_a_program_that_ends_in_the_head_of_a_composite_is_refused(text: str, name: str) -> None:
    assert refusals(text, "spl") == [f'in:1: composite "{name}" has no body: write "{{" after its name and ports']


@pytest.mark.parametrize("text", ["namespace a.b;", "use a.b::*;", "type T = int32 a;", "int32 f() { return 1; }"])
def test_a_text_of_definitions_alone_is_refused(text: str) -> None:
    assert refusals(text, "spl") == ["in:1: it has neither a main composite nor an operator, so nothing would run"]


@pytest.mark.parametrize("name", ["host", "hostIsolation", "hostColocation", "hostExlocation", "partitionColocation"])
def test_a_clause_that_is_written_as_a_config_is_not_passed_over(name: str) -> None:
    text = f'composite Main {{ graph () as A = Custom() {{ config {name} : "x"; }} }}'
    assert refusals(text, "spl") == [f'in:1: "{name}" is a clause, not a config: write placement : {name}']


def test_the_namespace_is_read_without_blanks() -> None:
    (job,) = converted("namespace a . /* . */ b ;\ncomposite Main { graph () as A = Custom() {} }", "spl").manifests
    assert job["spec"]["bundle"]["name"] == "a.b.Main.sab"
