"""Composites that other files define, toolkits, and operators that nobody defines."""

import pytest

from tests.convert.converted_texts import lost, operators, remarks, together

MAIN = "composite Main { graph stream<int32 a> S = Beacon() {} () as W = NAME(S) {} }"
PAIR = 'public composite Pair(input I) { graph () as A = FileSink(I) { config placement : host("worker-1"); } }'


@pytest.mark.parametrize(
    ("program", "library"),
    [
        ("use acme.lib::Pair;\nPair", "namespace acme.lib;\n"),
        ("use acme.lib::*;\nPair", "namespace acme.lib;\n"),
        ("use other::*; use acme.lib::*;\nPair", "namespace acme.lib;\n"),
        ("acme.lib::Pair", "namespace acme.lib;\n"),
        ("namespace acme.lib;\nPair", "namespace acme.lib;\n"),
        ("namespace acme.lib;\nacme.lib::Pair", "namespace acme . lib;\n"),
        ("Pair", ""),
    ],
)
@pytest.mark.parametrize("first", ["program", "library"])
def test_a_composite_of_another_file_is_found_by_its_name(program: str, library: str, first: str) -> None:
    head, _, name = program.rpartition("\n")
    texts = [f"{head}\n{MAIN.replace('NAME', name)}", library + PAIR]
    if first == "library":
        texts.reverse()
    assert operators(*texts) == {"S": None, "W.A": 'host("worker-1")'}
    assert lost(*texts) == []


def test_a_library_has_no_manifests_and_nothing_is_said_of_it() -> None:
    program, library = together("use l::*;\n" + MAIN.replace("NAME", "Pair"), f"namespace l;\n{PAIR}")
    assert (len(program.manifests), library.manifests, library.remarks, library.problems) == (1, (), (), ())


@pytest.mark.parametrize(
    "more",
    [
        "namespace n;",
        "namespace n; type T = int32 a;",
        "// nothing\nuse a.b::C;",
        "public composite Types { type static T = int32 a; E = enum {a, b}; }",
    ],
)
def test_files_of_definitions_alone_are_passed_over(more: str) -> None:
    assert operators(MAIN.replace("NAME", "Custom"), more) == {"S": None, "W": None}


def test_a_composite_of_the_file_itself_counts_before_others() -> None:
    own = "composite Pair(input I) { graph () as Own = Custom(I) {} }"
    assert operators(f"{MAIN.replace('NAME', 'Pair')}\n{own}", PAIR) == {"S": None, "W.Own": None}


def test_a_composite_that_several_files_define_is_refused() -> None:
    found = together(MAIN.replace("NAME", "Pair"), PAIR, f"\n{PAIR}")
    assert [problem.message for problem in found[0].problems] == [
        'composite "Pair" is defined in in2:1 and in3:2: convert the files of one program at a time'
    ]
    assert found[0].manifests == ()


def test_programs_of_several_files_are_a_job_each() -> None:
    found = together(
        "composite A { graph () as X = Custom(I) {} }", "composite B { graph () as Y = A() {} }", 'host("c")'
    )
    assert [[one["metadata"]["name"] for one in each.manifests] for each in found] == [[], ["b"], ["in3"]]


def test_what_is_wrong_in_one_file_is_said_there() -> None:
    library = PAIR.replace('host("worker-1")', "hostIsolated")
    program, found, broken = together(MAIN.replace("NAME", "Pair"), library, "composite {")
    assert [str(one.field) for one in found.problems] == ["in2:1"]
    assert [one.message for one in broken.problems] == ['"{" is never closed']
    assert program.problems == ()


def test_libraries_alone_are_refused_once() -> None:
    found = together("namespace a; type T = int32 a;", f"namespace b;\n{PAIR}")
    assert [[one.message for one in each.problems] for each in found] == [
        ["it has neither a main composite nor an operator, so nothing would run"],
        [],
    ]


@pytest.mark.parametrize(
    "name",
    [
        "Custom",
        "spl.utility::Custom",
        "JobControlPlane",
        "com.ibm.streamsx.hbase::HBASEPut",
        "com.ibm.streamsx.topology.topic::Publish",
    ],
)
def test_operators_of_public_toolkits_are_not_mentioned(name: str) -> None:
    assert remarks(together(MAIN.replace("NAME", name))[0])[1:] == []


@pytest.mark.parametrize("use", ["com.ibm.streamsx.hbase::*", "com.ibm.streamsx.hbase::HBASEPut"])
def test_operators_of_public_toolkits_are_known_by_directives(use: str) -> None:
    assert remarks(together(f"use {use};\n{MAIN.replace('NAME', 'HBASEPut')}")[0])[1:] == []


@pytest.mark.parametrize("head", ["com.ibm.streams.geo::Fence", "use com.ibm.streams.geo::Fence;\nFence"])
def test_what_a_toolkit_has_that_is_not_known_is_noted(head: str) -> None:
    use, _, name = head.rpartition("\n")
    twice = MAIN.replace("NAME", name).replace("} }", f"}} () as V = {name}(S) {{}} }}")
    noted = [line for line in remarks(together(f"{use}\n{twice}")[0]) if "bundle" not in line]
    assert noted == [
        (
            f"in:2: {name} counts as one operator: the source of its toolkit is not among the files; "
            "if it is a composite with placement, convert its source as well"
        )
    ]


@pytest.mark.parametrize(
    ("uses", "known"),
    [
        ("use com.ibm.streams.db::*;", True),
        ("use com.ibm.streams.db::*; use n::*;", True),
        ("use com.ibm.streams.db::*; use acme::*;", False),
        ("use n::*;", False),
    ],
)
def test_of_several_files_a_name_that_none_defines_is_of_a_toolkit_in_use(uses: str, *, known: bool) -> None:
    texts = (f"namespace m; {uses}\n{MAIN.replace('NAME', 'Odbc')}", f"namespace n;\n{PAIR}")
    noted = [remark for remark in together(*texts)[0].remarks if "Odbc" in remark.what]
    assert [remark.demand for remark in noted] == [not known]
    assert len(lost(texts[0])) == 1


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("", "Mine"),
        ("", "acme::Pair"),
        ("use acme::Pair;", "Pair"),
        ("namespace com.ibm.streamsx.mine;", "Mine"),
        ("use com.ibm.streamsx.hbase::*;", "Mine"),
        ("", "ReplayableStart"),
        ("", "spl.utility::ReplayableStart"),
    ],
)
def test_what_may_place_something_and_is_not_there_is_lost(head: str, name: str) -> None:
    assert lost(f"{head}\n{MAIN.replace('NAME', name)}") == [
        (
            f"in:2: what {name} may place is left out: none of the files defines it, and it may be a composite; "
            "convert the files, or the folder, that define it as well"
        )
    ]


def test_an_operator_that_is_known_to_be_primitive_is_not_lost() -> None:
    (found,) = together(MAIN.replace("NAME", "a.b::Mine"), primitives=frozenset({"Mine"}))
    assert [remark for remark in found.remarks if remark.demand] == []


def test_a_piece_of_a_program_finds_composites_of_other_files() -> None:
    (piece, _) = together("() as W = Pair(S) {}", PAIR)
    assert piece.manifests[0]["spec"]["operators"][0]["name"] == "W.A"
