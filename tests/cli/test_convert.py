"""``streams-placement convert``: files of other systems become manifests."""

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.convert.adl_documents import adl, bundle, operator
from tests.yaml_values import all_loaded, loaded
from webhook.cli import main
from webhook.cli.arguments import inputs

Run = Callable[..., tuple[int, str, str]]

POOLS = "config hostPool: P = createPool(Sys.Shared);\n"
LOST = 'stream<int32 i> A = Beacon() { config placement: hostExlocation($t), host("worker-1"); }\n'


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """``convert`` with these words in a folder of its own: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def convert(*words: str, **files: str | bytes) -> tuple[int, str, str]:
        for name, content in files.items():
            path = tmp_path / name.replace("_", ".")
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        code = main(["convert", *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return convert


def test_manifests_go_to_standard_output_and_remarks_to_standard_error(run: Run) -> None:
    code, out, err = run("a.spl", a_spl='host("worker-1")')
    note = (
        "a.spl:1: note: the name of the bundle is a placeholder: this is only a piece of a program; write the name of "
        "yours"
    )
    assert (code, err) == (0, f"{note}\n")
    assert out == (
        f"# Converted from a.spl.\n# {note}\n"
        "apiVersion: streams.ibm.com/v1\nkind: Job\nmetadata:\n  name: a\nspec:\n  bundle:\n    name: a.sab\n"
        "  operators:\n  - name: a\n"
        '    placement: host("worker-1")\n'
    )


def test_several_files_are_one_stream_of_documents(run: Run) -> None:
    code, out, err = run(
        "a.spl", "b.sab", "c.yaml", "-n", "edge", a_spl=POOLS, b_sab=bundle(adl(operator())),
        c_yaml="kubernetes.worker.mapping.uniform: none\n",
    )  # fmt: skip
    assert code == 0
    found = list(all_loaded(out))
    assert [(one["kind"], one["metadata"]) for one in found] == [
        ("HostPool", {"name": "p", "namespace": "edge"}),
        ("Job", {"name": "main", "namespace": "edge"}),
        ("StatefulSet", {"name": "c", "namespace": "edge"}),
    ]
    assert [line.partition(": ")[0] for line in err.splitlines()] == ["b.sab/out/Main.adl:3", "c.yaml:1", "c.yaml:1"]


def test_json_is_a_list_that_kubectl_takes(run: Run) -> None:
    _, out, _ = run("a.spl", "-o", "json", a_spl=POOLS)
    assert json.loads(out) == {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            {
                "apiVersion": "streams.ibm.com/v1",
                "kind": "HostPool",
                "metadata": {"name": "p"},
                "spec": {"name": "P"},
            }
        ],
    }


def test_standard_input_is_a_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(POOLS.encode())))
    code, out, _ = run("-")
    assert (code, out.splitlines()[0]) == (0, "# Converted from stdin.")


def test_a_program_without_operators_is_known_by_its_name(run: Run) -> None:
    types = "namespace sample;\ntype Trade = decimal64 price, decimal64 volume;\n"
    code, _, err = run("Types.spl", Types_spl=types)
    assert (code, "neither a main composite nor an operator" in err, "unclear" in err) == (1, True, False)
    program = 'composite Main { graph () as A = Beacon() { config placement: host("worker-1"); } }\n'
    code, _, err = run("Main.spl", "Types.spl", Main_spl=program, Types_spl=types)
    assert (code, "unclear" in err) == (0, False)


def test_a_mixed_mode_program_is_known_by_its_name(run: Run) -> None:
    code, _, err = run("Types.splmm", Types_splmm="<% my $n = 2; %>\ntype Trade = decimal64 price;\n")
    assert (code, "mixed-mode" in err, "unclear" in err) == (1, True, False)


def test_the_kind_may_be_given(run: Run) -> None:
    code, _, err = run("a.txt", a_txt="hello\n")
    assert (code, err) == (
        2,
        (
            "streams-placement: a.txt: the kind of input is unclear: set --from to one of spl, adl, sab, overlay, "
            "twister2, emco\n"
        ),
    )
    code, _, err = run("a.txt", "--from", "spl", a_txt="hello\n")
    assert code == 1
    assert err.splitlines()[0] == (
        'a.txt:1: error: unknown clause "hello": use one of host, hostColocation, hostExlocation, hostIsolation, '
        "partitionColocation, partitionExlocation, partitionIsolation"
    )


def test_an_error_shows_its_place_and_no_manifest_is_written(run: Run) -> None:
    code, out, err = run("a.spl", "b.spl", a_spl=POOLS, b_spl="config placement:\n  hostIsolated;\n")
    assert (code, out) == (1, "")
    assert err == (
        'b.spl:2: error: unknown clause "hostIsolated" (did you mean hostIsolation?)\n    hostIsolated;\n    ^\n'
        "streams-placement: no manifest is written: 1 error\n"
    )


def test_errors_beyond_fifty_are_counted(run: Run) -> None:
    graph = "".join(f"stream<int32 i> A{at} = Beacon() {{ config placement: wrong; }}\n" for at in range(60))
    _, _, err = run("a.spl", a_spl=f"composite Main {{ graph {graph} }}")
    assert err.count(": error: ") == 50
    assert err.endswith("streams-placement: no manifest is written: 60 errors\n")


def test_a_lost_demand_is_refused_unless_the_rest_is_wanted(run: Run) -> None:
    code, out, err = run("a.spl", a_spl=LOST)
    lost = (
        "a.spl:1: lost: hostExlocation($t) is left out: it is computed when the program is compiled or the job is "
        "submitted; write it with a literal"
    )
    assert (code, out) == (1, "")
    assert lost in err.splitlines()
    assert err.endswith("streams-placement: no manifest is written: 1 demand lost; --partial writes the rest\n")
    code, out, _ = run("a.spl", "--partial")
    assert code == 0
    assert f"# {lost}\n" in out


LONG = "x" * 64
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: pe}]}\n"


def test_annotations_are_put_onto_manifests(run: Run) -> None:
    code, out, _ = run("a.spl", "--onto", "p.yaml", a_spl='host("worker-1")', p_yaml=POD)
    assert code == 0
    assert out == (
        "# Converted from a.spl.\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations:\n"
        "    streams.ibm.com/placement: 'a: host(\"worker-1\")'\nspec:\n  containers:\n  - name: pe\n"
    )
    code, out, _ = run("a.spl", "--onto", "p.yaml", "-o", "json")
    assert [one["kind"] for one in json.loads(out)["items"]] == ["Pod"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("missing.spl",), "missing.spl: No such file or directory"),
        (("a\0b",), "a\\x00b: embedded null byte"),
        ((), "nothing to convert: name files, folders of SPL programs, or - for standard input"),
        (("empty",), "empty: no file in the folder or below ends in .spl"),
        ((".", "--from", "adl"), ".: only SPL programs are read from a folder: name the files of adl one by one"),
        (("a.spl", "--onto", "missing.yaml"), "missing.yaml: No such file or directory"),
        (("a.spl", "--onto", "s.yaml"), "s.yaml: no pod or workload to annotate"),
        (("a.spl", "--name", "A_B"), ("--name \"A_B\" is not a valid name: a-z, 0-9, '-' and '.', at most 63 "
        "characters")),
        (("a.spl", "-n", "X"), "--namespace \"X\" is not a valid name: a-z, 0-9, '-' and '.', at most 63 characters"),
        (("a.spl", "--name", LONG), (f"--name \"{LONG}\" is not a valid name: a-z, 0-9, '-' and '.', at most 63 "
        "characters")),
        (
            ("a.spl", "a.spl"),
            "there would be two objects HostPool p: convert the files one by one, each with a --name of its own",
        ),
        (("a.spl", "--name", "given"), "--name is for one application: these have several, or none"),
    ],
)  # fmt: skip
def test_wrong_use_is_said(run: Run, words: tuple[str, ...], sentence: str) -> None:
    Path("empty").mkdir()
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
    assert run(*words, a_spl=POOLS, s_yaml=service) == (2, "", f"streams-placement: {sentence}\n")


def test_the_name_of_the_job_is_given(run: Run) -> None:
    code, out, _ = run("a.spl", "--name", "given", a_spl='host("worker-1")')
    assert (code, loaded(out)["metadata"]) == (0, {"name": "given"})


def test_names_of_files_have_no_effect_on_terminals(run: Run) -> None:
    code, out, err = run("a\x1b[1m.spl", **{"a\x1b[1m_spl": 'host("worker-1")'})
    assert code == 0
    assert "\x1b" not in out + err


# Several files, and folders


PROGRAM = "use lib.one::*;\ncomposite Main { graph () as W = Pair(S) {} () as M = Mine(S) {} }\n"
PAIR = (
    "namespace lib.one;\n"
    'public composite Pair(input I) { graph () as A = FileSink(I) { config placement : host("w"); } }\n'
)
MODEL = '<?xml version="1.0" ?>\n<!-- a license -->\n<operatorModel xmlns="http://www.ibm.com/xmlns">'


def placements(out: str) -> dict[str, str | None]:
    """The operators of the only Job, and their placement."""
    return {one["name"]: one.get("placement") for one in loaded(out)["spec"]["operators"]}


def test_a_program_and_its_library_are_read_together(run: Run) -> None:
    program = "use lib.one::*;\ncomposite Main { graph () as W = Pair(S) {} }\n"
    code, out, _ = run("-f", "main.spl", "pair.spl", main_spl=program, pair_spl=PAIR)
    assert (code, placements(out)) == (0, {"W.A": 'host("w")'})
    assert "pair.spl" not in out


def test_files_and_flags_are_one_list(run: Run) -> None:
    program = "use lib.one::*;\ncomposite Main { graph () as W = Pair(S) {} }\n"
    code, out, _ = run("main.spl", "-f", "pair.spl", main_spl=program, pair_spl=PAIR)
    assert (code, placements(out)) == (0, {"W.A": 'host("w")'})


def test_a_folder_is_its_programs_and_the_primitive_operators_that_it_has_models_of(run: Run) -> None:
    toolkit = Path("toolkit")
    for name, text in {
        "app/Main.spl": PROGRAM,
        "lib.one/Pair.spl": PAIR,
        "lib.one/Mine/Mine.xml": MODEL,
        "lib.one/Mine/Other.xml": MODEL,
        "lib.one/Odd/Odd.xml": "<a/>",
        "lib.one/.hidden.spl": "composite {",
        ".git/Old.spl": "composite {",
        "notes.txt": "composite {",
    }.items():
        (toolkit / name).parent.mkdir(parents=True, exist_ok=True)
        (toolkit / name).write_text(text)
    code, out, err = run("-f", "toolkit")
    assert (code, placements(out)) == (0, {"W.A": 'host("w")', "M": None})
    assert "lost" not in err
    code, _, err = run("toolkit/app/Main.spl", "toolkit/lib.one/Pair.spl")
    assert (code, "what Mine may place is left out" in err) == (1, True)


def test_a_folder_of_very_many_programs_is_not_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "FOLDER_LIMIT", 1)
    sentence = "streams-placement: .: the folder has 2 programs, at most 1 are read\n"
    assert run(".", a_spl=PAIR, b_spl=PAIR) == (2, "", sentence)


def test_a_folder_that_cannot_be_listed_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(top: Path, onerror: Callable[[OSError], None]) -> list[object]:
        onerror(PermissionError(13, "Permission denied", str(top)))
        return []

    monkeypatch.setattr(os, "walk", denied)
    assert run(".", a_spl=PAIR) == (2, "", "streams-placement: .: Permission denied\n")


# Fused for a cluster


CLUSTER = str(Path(__file__).parents[2] / "examples" / "cluster")
STREAMED = (
    'composite Main { graph stream<int32 i> A = Beacon() { config placement: host("worker-1"); }\n'
    "() as B = Custom(A) { config placement: %s; } }\n"
)


def test_operators_are_fused_for_a_cluster(run: Run) -> None:
    code, out, err = run("a.spl", "--fused", "--snapshot", CLUSTER, a_spl=STREAMED % "partitionIsolation")
    assert (code, "note" in err) == (0, True)
    spec = loaded(out)["spec"]
    assert "operators" not in spec
    assert [(one["name"], one["operators"]) for one in spec["processingElements"]] == [
        ("main-0", [{"name": "A", "placement": 'host("worker-1")'}]),
        ("main-1", [{"name": "B"}]),
    ]


def test_what_fusion_warns_of_is_a_note(run: Run) -> None:
    overlay = json.dumps(
        {"jobConfigOverlays": [{"deploymentConfig": {"fusionScheme": "manual", "fusionTargetPeCount": 3}}]}
    )
    words = ("a.spl", "b.json", "--fused", "--snapshot", CLUSTER)
    code, _, err = run(*words, a_spl=STREAMED % "hostIsolation", b_json=overlay)
    assert code == 0
    assert (
        "a.spl:1: note: Job main: fusion.manual asks for 3 processing elements, and 2 are made: 2 operators "
        "cannot be fused into more; look at its plan\n"
    ) in err


def test_manifests_that_are_no_jobs_of_operators_stay_as_they_are(run: Run) -> None:
    code, out, _ = run("a.spl", "--fused", "--snapshot", CLUSTER, a_spl=POOLS)
    assert (code, loaded(out)["kind"]) == (0, "HostPool")


def test_a_job_that_the_cluster_cannot_run_is_an_error(run: Run) -> None:
    code, out, err = run("a.spl", "--fused", "--snapshot", CLUSTER, a_spl=STREAMED % 'host("nowhere")')
    assert (code, out) == (1, "")
    assert (
        'a.spl: error: Job main cannot be fused: operator B: host("nowhere") cannot hold: 0 of 13 nodes can run this '
        "pod. "
    ) in err


def test_a_program_that_is_refused_is_not_fused(run: Run) -> None:
    code, _, err = run("a.spl", "--fused", "--snapshot", CLUSTER, a_spl=STREAMED % "hostIsolaton")
    assert (code, "cannot be fused" in err) == (1, False)


def test_a_cluster_is_only_named_for_fusion(run: Run) -> None:
    assert run("a.spl", "--snapshot", CLUSTER, a_spl=POOLS)[::2] == (
        2,
        "streams-placement: --snapshot and --context name the cluster for --fused: add it, or leave them out\n",
    )


def test_a_folder_that_is_not_a_cluster_is_trouble(run: Run) -> None:
    code, out, _ = run("a.spl", "--fused", "--snapshot", "nowhere", a_spl=STREAMED % "hostIsolation")
    assert (code, out) == (3, "")
