"""Streams of SPL programs and of compiled applications become streams of Jobs."""

from typing import Any

import pytest

from tests.convert.adl_documents import adl
from tests.convert.converted_texts import converted, refusals
from webhook.convert.adl import streams as adl_streams
from webhook.convert.spl import wiring


def spec_of(text: str, kind: str = "spl") -> dict[str, Any]:
    """The spec of the only Job."""
    found = converted(text, kind)
    assert found.problems == ()
    (manifest,) = found.manifests
    spec: dict[str, Any] = manifest["spec"]
    return spec


def streams(text: str, kind: str = "spl") -> list[str]:
    """The streams as ``A B``, with their rate if they state one."""
    return [" ".join(map(str, one.values())) for one in spec_of(text, kind).get("streams", ())]


def main(graph: str, others: str = "") -> str:
    return f"composite Main {{ graph {graph} }}\n{others}"


# Of SPL


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ("stream<int32 i> A = Beacon() {} () as B = Custom(A) {}", ["A B"]),
        ("stream<int32 i> A as X = Beacon() {} () as B = Custom(A as Y) {}", ["A B"]),
        ("() as B = Custom(A) {} stream<tuple<list<int32>> t> A = Beacon() {}", ["A B"]),
        ("(stream<int32 i> A; stream<A> C as D) as O = Split() {} () as B = Custom(A; C as E) {}", ["O B 2"]),
        ("(stream<int32 i> A) as O = Beacon() {} stream<A> C = Beacon() {} () as B = Custom(A, C) {}", ["O B", "C B"]),
        ("stream<int32 i> A = Functor(A) {}", ["A A"]),
        ("stream<int32 i> A = Beacon() {} () as B = Generic<int32, list<A>>(A) {}", ["A B"]),
        ("() as B = Custom(Nowhere) {}", []),
        ("(A; stream<int32 i> C) as O = Split() {} () as B = Custom(A, C) {}", ["O B"]),
        ("stream<int32 i> A = Beacon() {} () as E = Export(A) {} stream<A> I = Import() {} () as B = Custom(I) {}", []),
        ("stream<int32 i> A = Beacon() { } () as B = Custom(A, 7) {}", ["A B"]),
    ],
)
def test_an_operator_receives_the_streams_in_its_parentheses(graph: str, found: list[str]) -> None:
    assert streams(main(graph)) == found


WORK = (
    "composite Work(output stream<tuple<int32 a, int32 b>> Out, Rest; input stream<int32 a, int32 b> In, More) "
    "{{ {0} }}"
)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (
            "graph stream<In> Mid = Functor(In) {} stream<In> Out = Functor(Mid) {} stream<In> Rest = Functor(More) {}",
            ["A W.Mid", "W.Mid W.Out", "B W.Rest", "C W.Rest", "W.Out Sink", "W.Rest Tap"],
        ),
        ("graph stream<In> Out = Functor(In, More) {}", ["A W.Out", "B W.Out", "C W.Out", "W.Out Sink"]),
        ("graph stream<In> Other = Functor(In) {}", ["A W.Other"]),
    ],
)
def test_streams_pass_through_the_ports_of_composites(body: str, found: list[str]) -> None:
    graph = (
        "stream<int32 a> A = Beacon() {} stream<int32 a> B = Beacon() {} stream<int32 a> C = Beacon() {}"
        "(stream<A> S; stream<A> R) as W = Work(A; B, C as X) {} () as Sink = Custom(S) {} () as Tap = Custom(R) {}"
    )
    assert sorted(streams(main(graph, WORK.format(body)))) == sorted(found)


def test_an_input_that_is_an_output_carries_its_own_stream() -> None:
    ring = "composite Ring(output O; input O) { graph stream<int32 i> X = Functor(O) {} }"
    assert streams(main("stream<int32 a> A = Ring(A) {}", ring)) == []


def test_channels_keep_to_themselves_inside_a_region_and_mix_outside() -> None:
    work = "composite Work(output O; input I) { graph stream<I> M = Functor(I) {} stream<I> O = Functor(M) {} }"
    graph = "stream<int32 a> A = Beacon() {} @parallel(width=2) stream<A> W = Work(A) {} () as S = Custom(W) {}"
    spec = spec_of(main(graph, work))
    assert streams(main(graph, work)) == ["A W.M", "W.M W.O", "W.O S"]
    assert [one.get("region") for one in spec["operators"]] == [None, "W", "W", None]
    assert spec["parallelRegions"] == [{"name": "W", "width": 2}]


def test_regions_next_to_each_other_are_joined_channel_by_channel() -> None:
    graph = "@parallel(width=2) stream<int32 a> A = Beacon() {} @parallel(width=3) stream<A> B = Functor(A) {}"
    spec = spec_of(main(graph))
    assert spec["streams"] == [{"from": "A", "to": "B"}]
    assert spec["parallelRegions"] == [{"name": "A", "width": 2}, {"name": "B", "width": 3}]


def test_streams_of_all_channels_are_limited() -> None:
    graph = "@parallel(width=150) stream<int32 a> A = Beacon() {} @parallel(width=150) stream<A> B = Functor(A) {}"
    assert refusals(main(graph), "spl") == [
        "in:1: the application has more than 20000 streams between operators, counting each channel"
    ]


def test_the_search_for_ends_of_streams_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "_STEPS", 2)
    assert refusals(main("stream<int32 i> A = Beacon() {} () as B = Custom(A) {} () as C = Custom(A) {}"), "spl") == [
        "in:1: the application has more than 20000 streams between operators, counting each channel"
    ]


def test_a_threaded_port_is_a_thread() -> None:
    text = main("stream<int32 i> A = Beacon() {} () as B = Custom(A) { config threadedPort: queue(A, Sys.Wait); }")
    assert spec_of(text)["operators"] == [{"name": "A"}, {"name": "B", "threaded": True}]


def test_whether_an_operator_may_be_relocated_is_a_rule_of_fusion() -> None:
    work = "composite Work(input I) { graph () as X = Custom(I) {} () as Y = Custom(I) { config relocatable: true; } }"
    text = main("stream<int32 i> A = Beacon() {} () as W = Work(A) { config relocatable: false; }", work)
    assert spec_of(text)["operators"] == [{"name": "A"}, {"name": "W.X", "relocatable": False}, {"name": "W.Y"}]


# Of ADL


def primitive(index: int, name: str, ports: str = "", kind: str = "primitiveOperInstance") -> str:
    return f'<{kind} index="{index}" name="{name}">{ports}</{kind}>'


def ports(side: str, *connections: str, around: str = "connections") -> str:
    listed = "".join(f'<port index="{at}"><{around}>{one}</{around}></port>' for at, one in enumerate(connections))
    return f"<{side}Ports>{listed}</{side}Ports>"


def to(index: int, port: int = 0, kind: str = "") -> str:
    return f'<connection operIndex="{index}" portIndex="{port}"' + (f' portKind="{kind}"/>' if kind else "/>")


def test_connections_are_streams_whichever_side_lists_them() -> None:
    both = primitive(0, "A", ports("output", to(1, 0, "input"))) + primitive(1, "B", ports("input", to(0, 0, "output")))
    sending = primitive(0, "A", ports("output", to(1))) + primitive(1, "B")
    receiving = primitive(0, "A") + primitive(1, "B", ports("input", to(0)))
    assert [streams(adl(graph), "adl") for graph in (both, sending, receiving)] == [["A B"]] * 3


def test_two_ports_are_two_streams() -> None:
    graph = primitive(0, "A") + primitive(1, "B", ports("input", to(0), to(0)))
    assert streams(adl(graph), "adl") == ["A B 2"]


def test_connections_pass_through_the_ports_of_composites() -> None:
    composite = (
        '<compositeOperInstance index="5" name="C">'
        + ports("input", to(0, 0, "output"), around="incomingConnections")
        + ports("output", to(2, 0, "output"), around="incomingConnections")
        + primitive(2, "C.X", ports("input", to(5, 0, "input")))
        + "</compositeOperInstance>"
    )
    graph = primitive(0, "A") + composite + primitive(1, "B", ports("input", to(5, 0, "output")))
    assert sorted(streams(adl(graph), "adl")) == ["A C.X", "C.X B"]


def test_what_leaves_a_composite_may_be_listed_there() -> None:
    composite = (
        '<compositeOperInstance index="5" name="C">'
        + ports("input", to(2, 0, "input"), around="outgoingConnections")
        + ports("output", to(1, 0, "input"), around="outgoingConnections")
        + primitive(2, "C.X", ports("output", to(5, 0, "output")))
        + "</compositeOperInstance>"
    )
    graph = primitive(0, "A", ports("output", to(5, 0, "input"))) + composite + primitive(1, "B")
    assert sorted(streams(adl(graph), "adl")) == ["A C.X", "C.X B"]


def test_connections_of_exports_and_elsewhere_are_passed_over() -> None:
    graph = primitive(0, "A", ports("output", to(7, 0, "input")) + ports("input", to(1), around="other"))
    graph += primitive(7, "E", ports("input", to(0)), "primitiveExportOperInstance") + primitive(1, "B")
    graph += f'<primitiveOperInstance name="N">{ports("input", to(0))}</primitiveOperInstance>{to(0)}'
    assert streams(f"{adl(graph)}", "adl") == []
    after = f"{ports('input', to(0))}<connection/>"
    assert streams(adl(primitive(0, "A"), after=after), "adl") == []


def test_a_threaded_port_of_an_adl_is_a_thread() -> None:
    threaded = '<inputPorts><port index="0"><threadedPort/></port></inputPorts>'
    text = adl(primitive(0, "A", threaded)).replace("<hostpools>", "<threadedPort/><hostpools>")
    assert spec_of(text, "adl")["operators"] == [{"name": "A", "threaded": True}]


REGION = (
    '<parallelRegion name="{1}"><parallelOperator operIndex="{0}"/><constantWidth>{2}</constantWidth></parallelRegion>'
)


def test_channels_of_an_adl_keep_to_themselves_inside_a_region() -> None:
    inside = primitive(1, "R.X", ports("input", to(0))) + primitive(2, "R.Y", ports("input", to(1)))
    graph = primitive(0, "A") + f'<compositeOperInstance index="5" name="R">{inside}</compositeOperInstance>'
    graph += primitive(3, "P", ports("input", to(2)))
    found = spec_of(adl(graph, after=REGION.format(5, "R", 2) + REGION.format(3, "P", 3)), "adl")
    assert [tuple(one.values()) for one in found["streams"]] == [("A", "R.X"), ("R.X", "R.Y"), ("R.Y", "P")]
    assert found["parallelRegions"] == [{"name": "R", "width": 2}, {"name": "P", "width": 3}]


def test_streams_of_an_adl_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = primitive(0, "A", ports("output", to(1))) + primitive(1, "B")
    wide = REGION.format(0, "A", 150) + REGION.format(1, "B", 150)
    refused = ["in:3: the application has more than 20000 streams between operators, counting each channel"]
    assert refusals(adl(graph, after=wide), "adl") == refused
    longer = graph.replace(to(1), to(1) + to(2)) + primitive(2, "C")
    assert refusals(adl(longer, after=wide), "adl") == refused
    monkeypatch.setattr(adl_streams, "_STEPS", 1)
    assert refusals(adl(graph), "adl") == refused
