"""A parallel region of an application is one of the Job exactly where that says the same."""

from typing import Any

import pytest

from tests.convert.converted_texts import converted, remarks


def spec_of(text: str) -> dict[str, Any]:
    """The spec of the only Job."""
    found = converted(text, "spl")
    assert found.problems == ()
    (manifest,) = found.manifests
    spec: dict[str, Any] = manifest["spec"]
    return spec


def main(graph: str, others: str = "") -> str:
    return f"composite Main {{ graph {graph} }}\n{others}"


def parallel(name: str, placement: str, received: str = "", width: int = 2) -> str:
    return (
        f"@parallel(width={width}) stream<int32 a> {name} = Functor({received}) {{ config placement: {placement}; }} "
    )


def names(spec: dict[str, Any]) -> list[str]:
    return [one["name"] for one in spec["operators"]]


WORK = "composite Work(input I) {{ graph {0} }}"


@pytest.mark.parametrize(
    ("placement", "written"),
    [
        ('host("a"), partitionColocation("t")', 'host("a"), partitionColocation("t")'),
        ('hostColocation("t" + byChannel())', 'hostColocation("t" + byChannel())'),
        ("partitionExlocation(byChannel())", "partitionExlocation(byChannel())"),
        ('hostExlocation("a" + byChannel() + "b")', 'hostExlocation("a" + byChannel() + "b")'),
        ('hostColocation("é" + byChannel())', 'hostColocation("-" + byChannel())'),
        ("host($default), hostIsolation", "hostIsolation"),
    ],
)
def test_what_is_the_same_in_all_channels_is_said_once(placement: str, written: str) -> None:
    spec = spec_of(main(parallel("A", placement)))
    assert spec["operators"] == [{"name": "A", "placement": written, "region": "A"}]
    assert spec["parallelRegions"] == [{"name": "A", "width": 2}]


def test_channels_of_two_regions_that_belong_together_are_written_one_by_one() -> None:
    """In a Job the channels of different regions never have the same token."""
    together = 'hostColocation("c" + byChannel())'
    text = main(parallel("A", together) + parallel("B", together, "A") + "() as S = Custom(B) {}")
    spec = spec_of(text)
    assert spec["operators"] == [
        {"name": "A[0]", "placement": 'hostColocation("c0")'},
        {"name": "A[1]", "placement": 'hostColocation("c1")'},
        {"name": "B[0]", "placement": 'hostColocation("c0")'},
        {"name": "B[1]", "placement": 'hostColocation("c1")'},
        {"name": "S"},
    ]
    assert "parallelRegions" not in spec
    assert [(one["from"], one["to"], one["rate"]) for one in spec["streams"]] == [
        ("A[0]", "B[0]", 250),
        ("A[1]", "B[0]", 250),
        ("A[0]", "B[1]", 250),
        ("A[1]", "B[1]", 250),
        ("B[0]", "S", 500),
        ("B[1]", "S", 500),
    ]
    assert remarks(converted(text, "spl"))[-2:] == [
        (
            f"in:1: the channels of the parallel region {region} are written one by one: what its operators demand of "
            "hosts or fusion cannot be said for all channels at once; write the operators of another channel if you "
            "need one"
        )
        for region in ("A", "B")
    ]


@pytest.mark.parametrize(
    ("placement", "inner"),
    [
        # the channel of the outer region alone
        ('hostColocation("t" + byChannel())', "partitionIsolation"),
        # the channel of the inner region, whatever the outer one is
        ('host("a")', 'hostColocation("t" + byChannel())'),
    ],
)
def test_one_channel_of_nested_regions_is_written_out(placement: str, inner: str) -> None:
    spec = spec_of(
        main(
            f"@parallel(width=2) () as W = Work(A) {{ config placement: {placement}; }}",
            WORK.format(f"@parallel(width=2) () as X = Custom(I) {{ config placement: {inner}; }}"),
        )
    )
    assert "parallelRegions" not in spec
    assert names(spec) == ["W.X[0][0]", "W.X[0][1]", "W.X[1][0]", "W.X[1][1]"]


def test_nested_regions_are_within_each_other() -> None:
    spec = spec_of(
        main("@parallel(width=2) () as W = Work(A) {}", WORK.format("@parallel(width=3) () as X = Custom(I) {}"))
    )
    assert spec["operators"] == [{"name": "W.X", "region": "X"}]
    assert spec["parallelRegions"] == [{"name": "W", "width": 2}, {"name": "X", "width": 3, "within": "W"}]


def test_regions_have_identifiers_of_their_own() -> None:
    long = "L" * 50
    inner = WORK.format(f"@parallel(width=2) () as X = Custom(I) {{}} @parallel(width=2) () as {long} = Custom(I) {{}}")
    spec = spec_of(main("() as V = Work(A) {} () as W = Work(A) {}", inner))
    found = [one["name"] for one in spec["parallelRegions"]]
    assert found[0] == "X"
    assert found[2] == "W_X"
    assert [one[:37] for one in (found[1], found[3])] == [f"{'L' * 37}"] * 2
    assert all(len(one) <= 48 for one in found)
    assert len(set(found)) == 4


def test_an_operator_that_is_there_twice_is_not_a_region() -> None:
    found = converted(main(parallel("A", "hostIsolation") + parallel("A", "hostIsolation")), "spl")
    assert [problem.message for problem in found.problems] == [
        '"A[0]" is also spec.operators[0].name',
        '"A[1]" is also spec.operators[1].name',
    ]
