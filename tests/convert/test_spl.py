"""SPL programs and pieces of them become Jobs and HostPools."""

from typing import Any

import pytest

from tests.convert.converted_texts import converted, operators, refusals, remarks
from webhook.convert.source_text import decoded
from webhook.convert.spl import expansion
from webhook.convert.spl.reading import read_spl
from webhook.convert.streams_job import fused

BUNDLE = "the place of the bundle is not known"


def elements(text: str) -> list[list[str]]:
    """The names of the operators of each processing element that annotations of pods are made for."""
    (reading,) = read_spl([decoded("in", text.encode())], frozenset(), alone=True)
    (application,) = reading.applications
    return [[one.name for one in element.operators] for element in fused(application)]


def pools(text: str) -> list[dict[str, Any]]:
    """The specs of the HostPools of a text without operators."""
    return [manifest["spec"] for manifest in converted(text, "spl").manifests]


def main(graph: str, config: str = "") -> str:
    """A program with one composite."""
    return f"composite Main {{\ngraph\n{graph}\n{config}}}\n"


def beacon(placement: str, name: str = "A") -> str:
    """An operator with that placement."""
    return f"stream<int32 i> {name} = Beacon() {{ config placement: {placement}; }}"


# Programs


def test_a_composite_is_a_job_with_its_pools_and_operators() -> None:
    text = main(beacon("host(P)"), 'config hostPool: P = createPool({size=2u, tags=["a"]}, Sys.Exclusive);')
    found = converted(text, "spl", file="dir/app.spl")
    assert found.problems == ()
    assert found.manifests == (
        {
            "apiVersion": "streams.ibm.com/v1",
            "kind": "Job",
            "metadata": {"name": "main"},
            "spec": {
                "bundle": {"name": "Main.sab"},
                "hostPools": [{"name": "P", "size": 2, "tags": ["a"], "mode": "Exclusive"}],
                "operators": [{"name": "A", "placement": "host(P)"}],
            },
        },
    )
    assert remarks(found) == [
        (
            "dir/app.spl:1: the place of the bundle is not known: Kubernetes fetches Main.sab from where the Job says; "
            "add bundle.http, file or github"
        )
    ]


def test_the_namespace_is_part_of_the_bundle_and_not_of_the_job() -> None:
    (job,) = converted("namespace apps.one;\n" + main(beacon("hostIsolation")), "spl").manifests
    assert (job["metadata"]["name"], job["spec"]["bundle"]["name"]) == ("main", "apps.one.Main.sab")


def test_each_main_composite_is_a_job() -> None:
    text = main(beacon("hostIsolation")) + main(beacon("hostIsolation")).replace("Main", "Other_One")
    found = converted(text, "spl", name="given").manifests
    assert [job["metadata"]["name"] for job in found] == ["main", "other-one"]


def test_everything_else_of_a_program_is_passed_over() -> None:
    text = """
    use spl.utility::*;
    type Point = tuple<int32 x, int32 y>;
    rstring greet(rstring name) { return 'hi "' + name; }
    public composite Main {
      param expression<int32> $n : 5; expression<rstring> $s : "a = b {";
      type Local = Point;
      graph
        /* config placement: host("no"); */
        stream<Point> A = Custom() {
          logic state: { mutable int32 i = 0; map<rstring, int32> m = {"config": 1}; }
            onProcess : { while (true) { submit({x=1, y=2}, A); } } // '{'
          param config_file : "x"; period : 1.5;
          output A : x = 1, y = 2;
          config threadedPort : queue(In, Sys.Wait); placement : host ( "worker-1" ) , /* and */ hostIsolation ;
        }
        () as B = FileSink(A) { param file : 'it is "x"'; }
      config logLevel : debug; tracing: info;
    }
    """
    assert operators(text) == {"A": 'host("worker-1"), hostIsolation', "B": None}


def test_operators_that_only_name_streams_are_not_run() -> None:
    text = main("stream<int32 i> I = Import() {}\n() as E = Export(I) {}\n() as S = Custom(I) {}")
    assert operators(text) == {"S": None}


def test_a_main_composite_without_operators_is_refused() -> None:
    assert refusals(main(""), "spl") == ['in:1: "Main" invokes no operator, so nothing would run']


def test_two_composites_of_one_name_are_refused() -> None:
    assert refusals(main("") + main(""), "spl") == ["in:5: 1 composites have the name of another one"]


def test_a_composite_at_the_end_of_the_text_has_no_body() -> None:
    assert refusals("composite", "spl") == ['in:1: composite "" has no body: write "{" after its name and ports']


def test_composites_with_ports_alone_are_no_program() -> None:
    text = "composite Work(output O; input I) { graph stream<int32 i> O = Functor(I) {} }"
    assert refusals(text, "spl") == ["in:1: no composite is a main one: each has ports, or is invoked by another"]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("composite Main {\n graph (", 'in:2: "(" is never closed'),
        ("composite Main {\n graph ) }", 'in:2: ")" closes nothing'),
        ("composite Main {\n graph ( ] }", 'in:2: "]" closes nothing'),
        ('composite Main {\n "abc }', "in:2: the string that starts here is never closed"),
        ("composite Main {\n /* abc }", "in:2: the comment that starts here is never closed"),
    ],
)
def test_what_is_never_closed_is_refused_at_its_line(text: str, refusal: str) -> None:
    assert refusals(text, "spl") == [refusal]


# Composites inside composites


WORK = """
composite Work(output Out; input In) {
  graph
    stream<int32 i> Mid = Functor(In) { config placement: hostExlocation("mid"); }
    stream<int32 i> Out = Functor(Mid) {}
  CONFIG
}
"""


def nested(invocation: str, config: str = "") -> dict[str, str | None]:
    graph = f"stream<int32 i> A = Beacon() {{}}\n{invocation}"
    return operators(main(graph) + WORK.replace("CONFIG", config))


def test_operators_of_an_invoked_composite_have_its_name_in_front() -> None:
    assert nested("stream<int32 i> R = Work(A) {}") == {
        "A": None,
        "R.Mid": 'hostExlocation("mid")',
        "R.Out": None,
    }


def test_a_composite_of_the_text_is_found_by_its_full_name() -> None:
    text = "namespace x.y;\n" + main("stream<int32 i> R = x.y::Work(A) {}") + WORK.replace("CONFIG", "")
    assert operators(text) == {"R.Mid": 'hostExlocation("mid")', "R.Out": None}


def test_an_inner_config_replaces_an_outer_one_about_the_same() -> None:
    invocation = 'stream<int32 i> R = Work(A) { config placement: host("a"), hostColocation("outer"); }'
    assert nested(invocation, 'config placement: hostColocation("inner");') == {
        "A": None,
        "R.Mid": 'host("a"), hostExlocation("mid")',
        "R.Out": 'host("a"), hostColocation("inner")',
    }


def test_restartable_holds_for_the_operators_inside() -> None:
    text = main("stream<int32 i> R = Work(A) { config restartable: false; }") + WORK.replace("CONFIG", "")
    (job,) = converted(text, "spl").manifests
    found = job["spec"]["operators"]
    assert [one.get("restartable") for one in found] == [False, False]


def test_a_composite_inside_itself_is_refused() -> None:
    text = main("stream<int32 i> R = Loop(A) {}") + (
        "composite Loop(output O; input I) {\n graph stream<int32 i> O = Loop(I) {} }"
    )
    assert refusals(text, "spl") == ['in:6: composite "Loop" invokes itself, or composites are nested too deeply']


def test_a_program_that_expands_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "OPERATOR_LIMIT", 100)
    levels = [
        f"composite L{n}(input I) {{ graph {' '.join(f'() as X{k} = L{n + 1}(I) {{}}' for k in range(10))} }}"
        for n in range(5)
    ]
    text = main("() as T = L0(A) {}") + "\n".join(levels)
    assert refusals(text, "spl") == ["in:9: the program expands to more than 100 operators"]


# Parallel regions


def test_a_parallel_operator_is_one_for_each_channel() -> None:
    assert operators(main("@parallel(width=3)\n" + beacon('host("a")'))) == {
        "A[0]": 'host("a")',
        "A[1]": 'host("a")',
        "A[2]": 'host("a")',
    }


def test_channels_are_counted_from_the_outermost_region() -> None:
    text = main(
        '@parallel(width=2)\nstream<int32 i> R = Work(A) { config placement: hostColocation("c" + byChannel()); }'
    )
    inner = (
        "composite Work(output O; input I) { graph @parallel(width=2)\n"
        'stream<int32 i> O = Functor(I) { config placement: partitionColocation("x"), host("h"); } }'
    )
    assert operators(text + inner) == {
        "R.O[0][0]": 'hostColocation("c0"), host("h")',
        "R.O[0][1]": 'hostColocation("c0"), host("h")',
        "R.O[1][0]": 'hostColocation("c1"), host("h")',
        "R.O[1][1]": 'hostColocation("c1"), host("h")',
    }


def test_a_channel_outside_of_regions_is_the_first() -> None:
    assert operators(main(beacon("hostColocation(byChannel())"))) == {"A": 'hostColocation("0")'}


def test_a_width_that_is_computed_is_lost() -> None:
    text = main('@parallel(width=$n, replicateHostTags=["a"], partitionBy=[{port=A}])\n' + beacon("hostIsolation"))
    found = converted(text, "spl")
    assert [line for line in remarks(found) if "lost" in line] == [
        (
            "lost in:3: the width $n of a parallel region is left out: it is only known when a job is submitted; "
            "write the number of channels"
        ),
        (
            'lost in:3: replicateHostTags=["a"] is left out: tags of channels are generated at run time; '
            "declare a pool for each channel"
        ),
    ]
    (job,) = found.manifests
    assert job["spec"]["parallelRegions"] == [{"name": "A", "width": 1}]


def test_a_width_that_is_missing_is_lost() -> None:
    text = main("@parallel(width=)\n" + beacon("hostIsolation"))
    assert [line for line in remarks(converted(text, "spl")) if "lost" in line] == [
        (
            "lost in:3: the width  of a parallel region is left out: it is only known when a job is submitted; "
            "write the number of channels"
        )
    ]


@pytest.mark.parametrize("width", ["0", "10001", "99999999999999999999"])
def test_a_width_is_limited(width: str) -> None:
    assert refusals(main(f"@parallel(width={width})\n{beacon('hostIsolation')}"), "spl") == [
        f"in:3: a parallel region has 1 to 10000 channels, found {width}"
    ]


def test_a_width_is_said_once_however_often_its_composite_is_expanded() -> None:
    text = main("() as R = Work(A) {}\n() as S = Work(A) {}") + (
        "composite Work(input I) { graph @threading @parallel(width=$n)\n() as O = Functor(I) {} }"
    )
    assert [remark.demand for remark in converted(text, "spl").remarks] == [False, True]


# Placement


def test_strings_are_joined() -> None:
    text = main(beacon('hostColocation("a" + "-" + "b"), hostExlocation(\'single\')'))
    assert operators(text) == {"A": 'hostColocation("a-b"), hostExlocation("single")'}


@pytest.mark.parametrize(
    "clause",
    [
        'hostColocation(getSubmissionTimeValue("x"))',
        'hostColocation("a" + $token)',
        "hostExlocation($token)",
        "host($pool)",
        "host(P[$i])",
        "host(P[n])",
        'partitionColocation((rstring) getChannel() + "x")',
        "host(Sys.pool)",
    ],
)
def test_what_is_computed_is_lost_and_said(clause: str) -> None:
    found = converted(main(beacon(clause)), "spl")
    (lost,) = [remark for remark in found.remarks if remark.demand]
    assert str(lost) == (
        f"in:3: {clause} is left out: it is computed when the program is compiled or the job is submitted; "
        "write it with a literal"
    )
    (job,) = found.manifests
    assert job["spec"]["operators"] == [{"name": "A"}]


@pytest.mark.parametrize(
    ("placement", "refusal"),
    [
        ('hostColocaton("t")', 'unknown clause "hostColocaton" (did you mean hostColocation?)'),
        ('host("a"), host("b")', 'the config has host("a") and host("b"): SPL allows one host per operator'),
        (
            "host(worker-1)",
            (
                'expected a string or a host pool name after "host(", found "worker-1": '
                'write it in quotes: host("worker-1")'
            ),
        ),
        ("", "placement has 0 clauses, 1 to 64 are allowed"),
        (", ".join(["hostIsolation"] * 65), "placement has 65 clauses, 1 to 64 are allowed"),
        ("A: hostIsolation", '"A: hostIsolation" is not a placement clause of SPL, which has no operator in front'),
        ('hostColocation("t") hostIsolation', 'expected "," or ";" after hostColocation("t"), found "hostIsolation"'),
        ("host(P[-1])", 'an index is a whole number from 0 to 4294967295, found "-1"'),
    ],
)
def test_what_is_not_a_placement_is_refused(placement: str, refusal: str) -> None:
    assert refusals(main(beacon(placement)), "spl") == [f"in:3: {refusal}"]


@pytest.mark.parametrize(
    ("placement", "refusal"),
    [
        (
            'hostColocation("t"), hostExlocation("t")',
            'hostColocation("t") and hostExlocation("t") contradict each other',
        ),
        ("host(Q)", 'the Job declares no HostPool "Q"; known HostPools: P'),
        ("host(P[2])", "host(P[2]): HostPool P has 2 hosts, index 0 to 1"),
        ('host("Foo_bar")', "host(\"Foo_bar\") cannot be a node: names of nodes are a-z, 0-9, '-' and '.'"),
    ],
)
def test_what_breaks_rules_of_the_job_is_refused_at_the_operator(placement: str, refusal: str) -> None:
    text = main(beacon(placement), "config hostPool: P = createPool({size=2u}, Sys.Shared);")
    assert refusals(text, "spl") == [f"in:3: {refusal}"]


def test_all_problems_are_said_with_the_place_in_their_line() -> None:
    text = main(beacon("hostIsolated") + "\n" + beacon('host("a") host("b")', "B"))
    found = converted(text, "spl").problems
    assert [(problem.field, problem.text[problem.offset :]) for problem in found] == [
        ("in:3", "hostIsolated; }"),
        ("in:4", 'host("b"); }'),
    ]


def test_misspelt_configs_are_not_passed_over() -> None:
    text = main("stream<int32 i> A = Beacon() { config placment: hostIsolation; }", 'config hostpool: P = ["a"];')
    assert refusals(text, "spl") == [
        'in:4: unknown config "hostpool" (did you mean hostPool?)',
        'in:3: unknown config "placment" (did you mean placement?)',
    ]


@pytest.mark.parametrize(
    ("graph", "refusal"),
    [
        ("stream<int32 i> A = Beacon() { placement: hostIsolation; }", '"placement" is in no section'),
        (
            "stream<int32 i> A = Beacon() { config placement hostIsolation; }",
            '"placement hostIsolation" is not a config',
        ),
        (
            "stream<int32 i> A = Beacon() { config (placement): hostIsolation; }",
            '"(placement): hostIsolation" is not a config',
        ),
    ],
)
def test_what_is_in_no_section_or_no_config_is_not_passed_over(graph: str, refusal: str) -> None:
    (found,) = refusals(main(graph), "spl")
    assert found.startswith(f"in:3: {refusal}: write ")


def test_an_invocation_outside_of_a_graph_is_not_passed_over() -> None:
    assert refusals("composite Main {\nstream<int32 i> A = Beacon() {}\n}", "spl") == [
        'in:2: "stream" is in no section: write graph, config or the like in front of it'
    ]


def test_a_namespace_may_be_empty() -> None:
    assert operators("namespace ;\n" + main(beacon("hostIsolation"))) == {"A": "hostIsolation"}


def test_relocatable_is_noted() -> None:
    text = main("stream<int32 i> A = Beacon() { config relocatable: false; }")
    assert remarks(converted(text, "spl"))[1:] == [
        (
            "in:3: relocatable: false only decides what is fused: Kubernetes starts the pod of a restart on any host "
            "that its constraints allow; give it host(...) if it has to come back to the same host"
        )
    ]


# Tokens


def test_a_token_that_is_not_a_label_value_becomes_one() -> None:
    graph = "\n".join(
        beacon(f'host("h"), hostColocation("{token}")', f"A{at}")
        for at, token in enumerate(["a b", "a-b", "a  b", "ok", "a b", ""])
    )
    found = operators(main(graph))
    assert found == {
        "A0": 'host("h"), hostColocation("a-b-7dbde9350412")',
        "A1": 'host("h"), hostColocation("a-b")',
        "A2": 'host("h"), hostColocation("a--b")',
        "A3": 'host("h"), hostColocation("ok")',
        "A4": 'host("h"), hostColocation("a-b-7dbde9350412")',
        "A5": 'host("h"), hostColocation("x")',
    }
    assert remarks(converted(main(beacon('hostExlocation("a b")')), "spl"))[1:] == [
        (
            'in:3: the token "a b" becomes a-b: tokens are values of labels in Kubernetes; '
            "say a-b in other parts of the job, too"
        )
    ]


# Fusion


def test_partition_clauses_decide_which_operators_share_an_element() -> None:
    graph = "\n".join(
        (
            beacon('partitionColocation("x")', "A"),
            beacon('partitionColocation("y")', "B"),
            beacon("partitionIsolation", "C"),
            beacon('partitionColocation("x"), partitionColocation("z")', "D"),
            beacon('partitionColocation("z"), partitionExlocation("w")', "E"),
            beacon('partitionExlocation("w")', "F"),
        )
    )
    assert elements(main(graph)) == [["A", "D", "E"], ["B"], ["C"], ["F"]]


def test_groups_that_meet_late_are_one() -> None:
    graph = "\n".join(
        (
            beacon('partitionColocation("x")', "A"),
            beacon('partitionColocation("y")', "B"),
            beacon('partitionColocation("y"), partitionColocation("x")', "C"),
        )
    )
    assert elements(main(graph)) == [["A", "B", "C"]]


@pytest.mark.parametrize(
    ("other", "refusal"),
    [
        ("partitionIsolation", 'in:3: "A" has partitionIsolation, and is fused with "B"'),
        ('partitionExlocation("apart")', 'in:4: "B" has partitionExlocation("apart") as "A" has, and is fused with it'),
    ],
)
def test_clauses_of_fusion_that_contradict_are_refused(other: str, refusal: str) -> None:
    second = "" if other == "partitionIsolation" else f", {other}"
    graph = beacon(f'partitionColocation("x"), {other}') + "\n" + beacon(f'partitionColocation("x"){second}', "B")
    assert refusals(main(graph), "spl") == [refusal]


# Pools


def test_pools_without_operators_are_objects_by_themselves() -> None:
    more = "hostPool: B = createPool(Sys.Shared), C_1 = createPool({size=1}, Sys.Exclusive);"
    text = f'config hostPool: A = ["a", "10.8.5.6"]; {more}'
    found = converted(text, "spl").manifests
    assert [(one["kind"], one["metadata"]["name"], one["spec"]) for one in found] == [
        ("HostPool", "a", {"name": "A", "hosts": ["a", "10.8.5.6"]}),
        ("HostPool", "b", {"name": "B"}),
        ("HostPool", "c-1", {"name": "C_1", "size": 1, "mode": "Exclusive"}),
    ]


def test_two_pools_of_one_object_are_refused() -> None:
    text = "config hostPool: A_1 = createPool(Sys.Shared), a_1 = createPool(Sys.Shared);"
    assert refusals(text, "spl") == ["in:1: host pool a_1 would be the object a-1, as A_1 is: rename one"]


@pytest.mark.parametrize(
    "pool",
    [
        'createPool({size=(uint32) getSubmissionTimeValue("n")}, Sys.Shared)',
        "createPool({tags=$tags}, Sys.Shared)",
        "getPool(1)",
        "$hosts",
    ],
)
def test_a_pool_that_is_computed_is_lost_and_said(pool: str) -> None:
    found = converted(f"config hostPool: P = {pool};", "spl")
    assert remarks(found) == [
        (
            f"lost in:1: P = {pool} is left out: it is computed when the program is compiled or the job is submitted; "
            "write its size, tags and hosts as literals"
        )
    ]


@pytest.mark.parametrize(
    ("pool", "refusal"),
    [
        ("P = createPool({size=0}, Sys.Shared)", 'a size is a whole number from 1 to 5000, found "0"'),
        ("P = createPool({size=-1}, Sys.Shared)", 'a size is a whole number from 1 to 5000, found "-1"'),
        ("P = createPool Sys.Shared", 'expected "(" after "createPool", found "Sys"'),
        ("P createPool(Sys.Shared)", 'expected "=" after the host pool name "P", found "createPool"'),
        (
            "P = createPool(Sys.Exclusive)",
            "an exclusive host pool needs a size, as in createPool({size=3u}, Sys.Exclusive)",
        ),
    ],
)
def test_a_pool_that_is_wrong_is_refused(pool: str, refusal: str) -> None:
    assert refusals(f"config hostPool:\n {pool};", "spl") == [f"in:2: {refusal}"]


def test_the_size_of_the_default_pool_is_lost_and_said() -> None:
    found = converted(main(beacon("hostIsolation"), "config defaultPoolSize: 5;"), "spl")
    assert [line for line in remarks(found) if line.startswith("lost")] == [
        (
            "lost in:4: defaultPoolSize 5 is left out: Kubernetes has no pool of all hosts with a size; "
            "declare a pool of that size, and say host of it"
        )
    ]


def test_the_pool_of_all_hosts_is_not_a_constraint() -> None:
    assert operators(main(beacon("host($default)"))) == {"A": None}


# Pieces of programs


def test_an_invocation_alone_is_a_job_with_a_made_up_bundle() -> None:
    found = converted(beacon("host(P)"), "spl", file="d/piece.spl")
    (job,) = found.manifests
    assert job["metadata"]["name"] == "piece"
    assert job["spec"]["bundle"] == {"name": "piece.sab"}
    assert remarks(found) == [
        (
            "d/piece.spl:1: the name of the bundle is a placeholder: this is only a piece of a program; write the "
            "name of "
            "yours"
        ),
        "d/piece.spl:1: host pool P: it is not declared in this text; a HostPool P has to be in the namespace",
    ]


def test_a_pool_beside_the_operator_that_names_it_is_known() -> None:
    text = beacon("host(P)") + "\nconfig hostPool: P = createPool(Sys.Shared);"
    assert not any("host pool" in line for line in remarks(converted(text, "spl")))


def test_a_config_alone_belongs_to_an_operator_that_is_made_up() -> None:
    assert operators('config placement: host("a");') == {"in": 'host("a")'}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('host("a"), hostExlocation("t")', {"in": 'host("a"), hostExlocation("t")'}),
        ('A: host("a"); B: hostIsolation', {"A": 'host("a")', "B": "hostIsolation"}),
    ],
)
def test_a_placement_text_alone_is_read_as_in_annotations(text: str, found: dict[str, str]) -> None:
    assert operators(text) == found


def test_a_placement_text_alone_with_a_mistake_is_refused() -> None:
    assert refusals('host("a"),\nhostIsolaton', "spl") == [
        'in:2: unknown clause "hostIsolaton" (did you mean hostIsolation?)'
    ]


def test_a_file_without_a_name_that_an_object_can_have() -> None:
    (job,) = converted("hostIsolation", "spl", file=".spl").manifests
    assert job["metadata"]["name"] == "piece"


def test_clauses_of_several_configs_are_limited_together() -> None:
    text = "config placement: hostIsolation, hostIsolation;\n" * 33
    assert refusals(text, "spl") == ["in:1: the configs have 66 clauses, at most 64 are allowed"]


def test_operators_of_one_element_are_limited() -> None:
    text = main("@parallel(width=1001)\n" + beacon('partitionColocation("x")'))
    assert refusals(text, "spl") == [
        (
            "in:4: One partition colocation is too large for a processing element, which has at most 1000 operators, "
            "64 different clauses, 32 tokens and 8192 bytes of them"
        )
    ]


def test_operators_that_are_fused_and_cannot_be_are_refused() -> None:
    graph = beacon('partitionColocation("q"), host(P[0])') + "\n" + beacon('partitionColocation("q"), host(P[1])', "B")
    pool = "config hostPool: P = createPool({size=2u}, Sys.Exclusive);"
    assert refusals(main(graph, pool), "spl") == [
        (
            'in:4: A: partitionColocation("q"), B: partitionColocation("q"), A: host(P[0]) and B: host(P[1]) cannot '
            "all hold: operators of one partition colocation share a processing element"
        )
    ]


def test_a_mistake_inside_is_said_once_however_often_it_is_expanded() -> None:
    work = 'composite Work(input I) { graph () as O = Functor(I) { config placement: host("a"), host("b"); } }'
    assert refusals(main("() as R = Work(A) {}\n() as S = Work(A) {}") + work, "spl") == [
        'in:6: the config has host("a") and host("b"): SPL allows one host per operator'
    ]


def test_too_many_operators_are_refused() -> None:
    assert refusals(main(f"@parallel(width=5001)\n{beacon('hostIsolation')}"), "spl") == [
        "in:1: spec.operators: 5001 of them, at most 5000 are allowed"
    ]
