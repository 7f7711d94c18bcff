"""Expressions of SPL whose value is known: parameters, defaults of submission, sums, and names of instances."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.convert.converted_texts import converted, lost, operators, remarks
from webhook.convert.spl.values import ChannelText, Value, value_of

MODE = "Exclusive"
KNOWN: dict[str, Value] = {"n": 3, "t": "text", "l": ("a", "b"), "default": 7}


def value(text: str) -> Value:
    return value_of(text, KNOWN.get, lambda _name, _default: None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"a"', "a"),
        ('"a" + "b"+$t', "abtext"),
        ("3", 3),
        ("3u", 3),
        ("12ul", 12),
        ("$n", 3),
        ("$default", 7),
        ("$n*2+1", 7),
        ("$n * (2 + 1)", 9),
        ("7/2", 3),
        ("-7/2", -3),
        ("-7%2", -1),
        ("7 - -2", 9),
        ("1 - 2 - 3", -4),
        ('(int32) " 5 "', 5),
        ("(uint64) 5", 5),
        ("(rstring) 5", "5"),
        ('(rstring) "a"', "a"),
        ('(rstring) $n + "x"', "3x"),
        ('["a", "b" + $t]', ("a", "btext")),
        ("[]", ()),
        ("true", True),
        ("false", False),
        ("byChannel()", ChannelText((None,))),
        ('"a" + byChannel() + "b"', ChannelText(("a", None, "b"))),
        ('getSubmissionTimeValue("x", "1")', "1"),
        ('(int32)getSubmissionTimeValue("x", "4")', 4),
        ('getCompileTimeValue("x", $t)', "text"),
        ('getSubmissionTimeListValue("x", ["a"])', ("a",)),
    ],
)  # fmt: skip
def test_what_is_known(text: str, found: Value) -> None:
    assert value(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "", "$", "$unknown", "name", "f()", "(1 + 2", 'f("a")', "1.5", "0x10", "1 / 0", "1 % 0", '"a" - "b"', '"a" + 1',
        '1 + "a"',
        '"a" + "b" + 1', '"a" * 2', '-"a"', "-true", "true + 1", "(rstring) true", '(int32) "x"', '(int32) ["a"]',
        "(float64) 1", "(1", "[1", "[1,", "f(1", '"a" "b"', "1 2", "1 +", "1 *", "byChannel(1)", "byReplica()",
        'getSubmissionTimeValue("x")', 'getSubmissionTimeValue($n, "1")', "99999999999999999999999",
        "18446744073709551615 + 1", "9999999999 * 9999999999", "(" * 100 + "1" + ")" * 100, "-" * 100 + "1",
        "(rstring)" * 100 + "1", f'"{"a" * 40_000}" + "{"a" * 40_000}"', "$n > 2 ? 1 : 2", '"a\\xb"', "a.b",
    ],
)  # fmt: skip
def test_what_is_only_known_later(text: str) -> None:
    assert value(text) is None


@given(st.text(alphabet='"$()[]+-*/%, 1ab\\\n', max_size=40))
def test_texts_of_any_kind_have_a_value_or_none(text: str) -> None:
    assert value(text) is None or value(text) is not None


def main(graph: str, parameters: str = "", more: str = "") -> str:
    section = f"param {parameters}" if parameters else ""
    return f"composite Main {{\n{section}\ngraph {graph} }}\n{more}"


def test_defaults_of_a_main_composite_are_known() -> None:
    parameters = 'expression<int32> $W : 3; expression<rstring> $T : "apart"; expression<rstring> $H : "worker-" + $T;'
    graph = "@parallel(width=$W)\nstream<int32 a> S = Beacon() { config placement : hostExlocation($T), host($H); }"
    found = main(graph, parameters)
    assert operators(found) == {f"S[{at}]": 'hostExlocation("apart"), host("worker-apart")' for at in range(3)}
    assert lost(found) == []


def test_what_an_invocation_states_counts_before_the_default() -> None:
    work = (
        "composite Work(input I) {\n"
        'param expression<rstring> $h : "own"; expression<int32> $i; expression<rstring> $u;\n'
        "graph () as A = Custom(I) { config placement : host($h); }\n"
        "() as B = Custom(I) { config placement : host(P[$i + 1]), hostExlocation($h); }\n"
        "() as C = Custom(I) { config placement : hostColocation($u); } }"
    )
    graph = (
        '() as X = Work(I) { param h : $g + "-1"; i : 1; other : 2; }\n'
        "() as Y = Work(I) { param i : 0; u : $nothing; }\n"
        'config hostPool : P = [$g, "b", "c"];'
    )
    text = main(graph, 'expression<rstring> $g : "given";', work)
    assert operators(text) == {
        "X.A": 'host("given-1")',
        "X.B": 'host(P[2]), hostExlocation("given-1")',
        "X.C": None,
        "Y.A": 'host("own")',
        "Y.B": 'host(P[1]), hostExlocation("own")',
        "Y.C": None,
    }
    assert lost(text) == [
        (
            "in:10: hostColocation($u) is left out: it is computed when the program is compiled or the job is "
            "submitted; write it with a literal"
        )
    ]


def test_a_default_of_submission_is_assumed_and_said_once() -> None:
    graph = "@parallel(width=$w)\nstream<int32 a> S = Beacon() { config placement : hostColocation((rstring) $w); }"
    text = main(graph, '\nexpression<int32> $w : (int32) getSubmissionTimeValue("width", "2");')
    assert operators(text) == {"S[0]": 'hostColocation("2")', "S[1]": 'hostColocation("2")'}
    assert [line for line in remarks(converted(text, "spl")) if "width" in line] == [
        (
            'in:3: the value width is taken as "2": that is its default at submission or compilation; '
            "replace it if you submit another value"
        )
    ]


def test_a_list_that_is_assumed_is_shown_in_one_line() -> None:
    config = 'config hostPool: P = createPool({tags=getSubmissionTimeListValue("tags", ["a", "b"])}, Sys.Shared);'
    found = converted(main(f"() as A = Custom(I) {{}} {config}"), "spl")
    assert found.manifests[0]["spec"]["hostPools"] == [{"name": "P", "tags": ["a", "b"]}]
    assert 'the value tags is taken as "a, b"' in remarks(found)[1]


def test_a_value_that_places_nothing_is_not_mentioned() -> None:
    text = main("() as A = Custom(I) {}", 'expression<rstring> $topic : getSubmissionTimeValue("topic", "t");')
    assert len(remarks(converted(text, "spl"))) == 1


@pytest.mark.parametrize(
    "parameters",
    ["expression<rstring> $a : $a;", "expression<rstring> $a : $b; expression<rstring> $b : $a;",
     "expression<rstring> $a;", 'expression<rstring> $other : "x";',
     " ".join(f"expression<rstring> $a{'' if at == 0 else at} : $a{at + 1};" for at in range(60))],
    ids=["itself", "each other", "no default", "another one", "a long chain"],
)  # fmt: skip
def test_a_parameter_without_a_value_is_lost(parameters: str) -> None:
    text = main("() as A = Custom(I) { config placement : host($a); }", parameters)
    assert operators(text) == {"A": None}
    assert len(lost(text)) == 1


def test_names_of_instances_are_texts() -> None:
    work = (
        "composite Work(input I) { graph () as A = Custom(I) "
        "{ config placement : hostExlocation(getThisCompositeInstanceName()), hostColocation(byReplica()); }\n"
        "config placement : partitionColocation(byReplica()); }"
    )
    text = "namespace n;\n" + main("() as X = Work(I) {} () as Y = Work(I) {}", more=work)
    assert operators(text) == {
        "X.A": 'hostExlocation("X"), hostColocation("X.A")',
        "Y.A": 'hostExlocation("Y"), hostColocation("Y.A")',
    }
    graph = "() as A = Custom(I) { config placement : hostExlocation(getThisCompositeInstanceName()); }"
    assert operators(f"namespace n;\n{main(graph)}") == {"A": 'hostExlocation("n.Main")'}


def test_an_operator_may_be_a_parameter() -> None:
    work = 'composite Work(input I) { graph () as A = Custom(I) { config placement : host("w"); } }\n'
    outer = "composite Outer(input I) { param operator $Op : Work; operator $Prim; graph () as X = $Op(I) {} "
    both = f"{outer} () as Y = $Prim(I) {{}} }}"
    text = main(
        "() as O = Outer(I) { param Prim : Custom; } () as Q = Outer(I) { param Op : Custom; }", more=work + both
    )
    assert operators(text) == {"O.X.A": 'host("w")', "O.Y": None, "Q.X": None, "Q.Y": None}
    assert lost(text) == [
        (
            "in:5: what $Prim may place is left out: none of the files defines it, and it may be a composite; "
            "convert the files, or the folder, that define it as well"
        )
    ]


@pytest.mark.parametrize(("said", "restartable"), [("false", False), ("true", True), ("$r", False), ("$unknown", True)])
def test_whether_an_operator_is_restarted_is_a_value(said: str, *, restartable: bool) -> None:
    text = main(f"() as A = Custom(I) {{ config restartable : {said}; }}", "expression<boolean> $r : false;")
    (job,) = converted(text, "spl").manifests
    assert job["spec"]["operators"][0].get("restartable", True) is restartable


@pytest.mark.parametrize(
    ("pool", "fields"),
    [
        ("createPool({size=$n}, Sys.Shared)", {"size": 2}),
        ('createPool({size=$n+1, tags=[$t, "b"]}, Sys.Exclusive)', {"size": 3, "tags": ["t", "b"], "mode": MODE}),
        ('[$t, $t + "-2"]', {"hosts": ["t", "t-2"]}),
        ("$l", {"hosts": ["x", "y"]}),
    ],
)  # fmt: skip
def test_pools_with_known_values_are_declared(pool: str, fields: dict[str, object]) -> None:
    parameters = 'expression<uint32> $n : 2u; expression<rstring> $t : "t"; expression<list<rstring>> $l : ["x", "y"];'
    found = converted(main(f"() as A = Custom(I) {{}} config hostPool : P = {pool};", parameters), "spl")
    assert found.manifests[0]["spec"]["hostPools"] == [{"name": "P", **fields}]


def test_a_known_value_that_breaks_a_rule_is_refused() -> None:
    text = main(
        "() as A = Custom(I) {} config hostPool : P = createPool({size=$n}, Sys.Shared);", "expression<int32> $n : 0;"
    )
    assert [problem.message for problem in converted(text, "spl").problems] == [
        'a size is a whole number from 1 to 5000, found "0"'
    ]


@pytest.mark.parametrize(
    "pool",
    ["createPool({size=$t}, Sys.Shared)", "createPool(f(), Sys.Shared)", "createPool({size=$u}, Sys.Shared)", "$n",
     "$n + createPool(1)", "createPool(f())"],
)  # fmt: skip
def test_pools_with_other_values_are_lost(pool: str) -> None:
    parameters = "expression<uint32> $n : 2u; expression<list<int32>> $t : [1];"
    assert len(lost(main(f"() as A = Custom(I) {{}} config hostPool : P = {pool};", parameters))) == 1
