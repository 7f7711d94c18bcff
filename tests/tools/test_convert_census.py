"""The census of conversions counts programs and host clauses by itself, and finds out a converter that drops one."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools import convert_census
from tools.convert_census import HostClause, host_clauses, main, placed_everywhere
from webhook.convert.conversion import ConvertOptions, Input
from webhook.convert.findings import Conversion
from webhook.convert.input_kind import InputKind

PLACED = 'composite Main { graph () as A = Custom(I) { config placement : host("w"), hostExlocation("t"); } }\n'
LIBRARY = (
    "composite Work(input I) { graph () as A = Custom(I) { config placement : hostIsolation, host($default); } }\n"
)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with two repositories."""
    for name, text in {
        "one/Main.spl": PLACED,
        "one/lib/Work.spl": LIBRARY,
        "two/Uses.spl": "composite Uses { graph () as X = Gone(I) {} }",
        "two/Broken.spl": PLACED.removesuffix("}\n"),
        "two/note.txt": PLACED,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_clauses_are_counted_by_characters() -> None:
    text = (
        'config placement : // host("no")\n host("w"), /* hostIsolation, */ hostColocation("a" + "; host(1)"),\n'
        "  hostExlocation('t'), host($default), hostIsolation; param placement_ : host(1);\n"
        "x : 'placement : host(2);'; y : \"// \"; config placement: partitionIsolation;\n"
    )
    assert list(host_clauses(text)) == [
        HostClause(2, "host", "w"),
        HostClause(2, "hostColocation", ""),
        HostClause(3, "hostExlocation", "t"),
        HostClause(3, "host", "$default"),
        HostClause(3, "hostIsolation", ""),
    ]


def test_programs_and_clauses_are_counted(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(programs)]) == 0
    one_by_one, rest = capsys.readouterr().out.split("with a clause in every invocation: ")
    placed, by_folder = rest.split("by folder: ")
    assert placed.splitlines()[:3] == ["4 programs, 10 host clauses", "      2 refused", "      1 converted"]
    assert "silent" not in placed
    assert one_by_one.splitlines() == [
        "one by one: 4 programs, 6 host clauses",
        "      2 refused",
        "      1 converted",
        "      1 lost",
        "      4 host clauses refused",
        "      2 host clauses on operators",
        "      1 refused: no composite is a main one: each has ports, or is invoked by another",
        "      1 refused: … is never closed",
    ]
    assert by_folder.splitlines() == [
        "4 programs, 6 host clauses",
        "      1 converted",
        "      1 library",
        "      1 refused",
        "      1 lost",
        "      2 host clauses on operators",
        "      2 host clauses refused",
        "      1 host clauses in remarks",
        "      1 host clauses without constraint",
        "      1 refused: … is never closed",
    ]


def test_a_clause_is_put_into_every_invocation() -> None:
    text = (
        'composite Main { graph /* x = f() { */ stream<int32 a> A = Beacon() { param n : "= f() {"; }\n'
        "(stream<A> B as P) as C = a.b::Op(A; B as Q) {} @x () as D = $Op() {} }"
    )
    placed = placed_everywhere(Input("in", text.encode(), InputKind.SPL)).content.decode()
    assert [(clause.line, clause.literal) for clause in host_clauses(placed)] == [
        (1, "made-up-0"),
        (2, "made-up-1"),
        (2, "made-up-2"),
    ]
    assert re.sub(r" config placement: [^;]*; ", "", placed) == text


def test_a_clause_that_is_dropped_is_found_out(
    programs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(inputs: Sequence[Input], _options: ConvertOptions) -> list[Conversion]:
        return [Conversion() for _ in inputs]

    monkeypatch.setattr(convert_census, "convert", silent)
    assert main([str(programs)]) == 1
    out = capsys.readouterr().out
    assert "      5 host clauses silent" in out
    assert "        silent: one/Main.spl" in out


def test_a_conversion_that_raises_is_found_out(
    programs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_inputs: Sequence[Input], _options: ConvertOptions) -> list[Conversion]:
        raise RecursionError("too deep")

    monkeypatch.setattr(convert_census, "convert", broken)
    assert main([str(programs)]) == 1
    assert "      4 crashed: RecursionError: too deep" in capsys.readouterr().out
