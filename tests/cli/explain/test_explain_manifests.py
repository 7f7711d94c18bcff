"""``streams-placement explain``: manifests are named as for kubectl: ``-f``, ``-R``, ``-n``."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Explain
from tests.golden.examples import EXAMPLES
from tests.yaml_values import loaded

CLUSTER = ("--snapshot", str(EXAMPLES / "cluster"))
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: c}]}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with manifests in it, files of other kinds, and a folder below."""
    (tmp_path / "below").mkdir()
    for name in ("b.yaml", "a.yml", "README.md", "below/d.yaml"):
        (tmp_path / name).write_text(POD % Path(name).stem)
    (tmp_path / "c.json").write_text(json.dumps(loaded(POD % "c")))
    return tmp_path


def origins(explain: Explain, *words: str) -> list[str]:
    _, out, _ = explain("-o", "json", *CLUSTER, *words)
    return [found["origin"] for found in json.loads(out)]


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What stands on standard input."""
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))


def test_the_manifests_of_a_folder_are_those_directly_in_it_sorted(explain: Explain, folder: Path) -> None:
    assert origins(explain, "-f", str(folder)) == ["Pod a", "Pod b", "Pod c"]


@pytest.mark.parametrize("flag", ["-R", "--recursive"])
def test_recursively_those_below_count_too(explain: Explain, folder: Path, flag: str) -> None:
    assert origins(explain, flag, "-f", str(folder)) == ["Pod a", "Pod b", "Pod d", "Pod c"]


def test_a_file_that_is_named_may_end_in_anything(explain: Explain, folder: Path) -> None:
    assert origins(explain, "-f", str(folder / "README.md")) == ["Pod README"]


@pytest.mark.parametrize("form", ["-f {0} -f {1}", "-f {0} {1}", "--filename {0} {1}", "--filename={0} -f{1}"])
def test_several_files_are_named_as_one_likes(explain: Explain, folder: Path, form: str) -> None:
    words = form.format(folder / "b.yaml", folder / "a.yml").split()
    assert origins(explain, *words) == ["Pod b", "Pod a"]


TABBED = '{\n\t"apiVersion": "v1",\n\t"kind": "Pod",\n\t"metadata": {"name": "p"}\n}\n'


@pytest.mark.parametrize(
    "text",
    [POD % "p", TABBED, "{apiVersion: v1, kind: Pod, metadata: {name: p}}\n"],
    ids=["YAML", "JSON with tabs", "YAML that begins like JSON"],
)
def test_a_dash_is_standard_input(explain: Explain, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    given(monkeypatch, text)
    assert explain("-f", "-", *CLUSTER)[1].startswith("stdin: Pod p in namespace default\n")


@pytest.fixture
def typed_wrong(folder: Path) -> dict[str, tuple[str, str]]:
    url = "https://example.com/pod.yaml"
    empty = folder / "empty"
    empty.mkdir()
    return {
        "a URL": (url, f"{url}: URLs are not read; download it and give the file, or pipe it to -f -"),
        "nothing": ("", "the name of a file is empty"),
        "an empty folder": (
            str(empty),
            (
                f"{empty}: the folder holds no file that ends in .json, .yaml, .yml; with -R files in "
                "subfolders count as well"
            ),
        ),
    }


@pytest.mark.parametrize("name", ["a URL", "nothing", "an empty folder"])
def test_what_cannot_be_read_is_said_in_one_sentence(
    explain: Explain, typed_wrong: dict[str, tuple[str, str]], name: str
) -> None:
    word, sentence = typed_wrong[name]
    assert explain("-f", word, *CLUSTER) == (2, "", f"streams-placement: {sentence}\n")


def test_a_folder_without_manifests_at_any_depth(explain: Explain, tmp_path: Path) -> None:
    sentence = f"{tmp_path}: the folder holds no file that ends in .json, .yaml, .yml"
    assert explain("-R", "-f", str(tmp_path), *CLUSTER) == (2, "", f"streams-placement: {sentence}\n")


def test_a_folder_that_cannot_be_listed(explain: Explain, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unlisted(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.scandir", unlisted)
    assert explain("-f", str(folder), *CLUSTER)[2] == f"streams-placement: {folder}: Permission denied\n"


def objects(folder: Path, *documents: dict[str, Any]) -> str:
    file = folder / "objects.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    return str(file)


def pod(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "c"}]}}


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1"}}}


@pytest.mark.parametrize("flag", ["-n", "--namespace"])
def test_objects_without_a_namespace_are_put_into_the_one_that_is_named(
    explain: Explain, tmp_path: Path, flag: str
) -> None:
    file = objects(tmp_path, pod(name="p"), pod(name="q", namespace="team-a"), NODE)
    _, out, _ = explain("-f", file, flag, "team-a", "-o", "json", *CLUSTER)
    assert [(found["namespace"], found["before"]["metadata"]) for found in json.loads(out)] == [
        ("team-a", {"name": "p", "namespace": "team-a"}),
        ("team-a", {"name": "q", "namespace": "team-a"}),
    ]


def test_an_object_that_states_another_namespace_is_refused(explain: Explain, tmp_path: Path) -> None:
    file = objects(tmp_path, pod(name="p", namespace="team-b"))
    assert explain("-f", file, "-n", "team-a", *CLUSTER) == (
        2,
        "",
        (
            f'streams-placement: {file}: Pod p states the namespace "team-b", but --namespace is "team-a": '
            "give --namespace team-b, or none\n"
        ),
    )


def test_yaml_says_what_json_says(explain: Explain) -> None:
    words = ("-f", "examples/refused-replicas.yaml", "examples/pool-any.yaml", *CLUSTER)
    code, out, _ = explain("-o", "yaml", *words)
    assert (code, loaded(out)) == (1, json.loads(explain("-o", "json", *words)[1]))


@pytest.mark.parametrize(
    ("metadata", "heading"),
    [
        ({"generateName": "parallel-0-"}, "Pod parallel-0-* in namespace default"),
        ({}, "Pod without a name in namespace default"),
        ({"name": "p", "generateName": "p-"}, "Pod p in namespace default"),
    ],
    ids=["a name to be made up", "no name", "both"],
)
def test_a_pod_is_called_by_its_name_or_what_is_known_of_it(
    explain: Explain, tmp_path: Path, metadata: dict[str, str], heading: str
) -> None:
    file = objects(tmp_path, pod(**metadata))
    assert explain("-f", file, *CLUSTER)[1].startswith(f"{file}: {heading}\n")


BROKEN = {
    "no YAML": ("a: [,", "line 1, column 5: did not find expected node content"),
    "no object": ("- 1\n", "a document is not a Kubernetes object: it has no kind"),
    "a pod that cannot be decoded": (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: 1\n",
        "Pod is not readable: spec: 1 is a whole number, expected a mapping",
    ),
}


@pytest.mark.parametrize(("text", "reason"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_left_out_with_a_warning_and_the_rest_is_judged(
    explain: Explain, folder: Path, text: str, reason: str
) -> None:
    (folder / "a.yml").write_text(text)
    code, out, err = explain("-f", str(folder), *CLUSTER, "-o", "json")
    assert code == 2
    assert [judged["origin"] for judged in json.loads(out)] == ["Pod b", "Pod c"]
    assert err == f"streams-placement: warning: {folder / 'a.yml'}: {reason} (left out)\n"


def test_files_with_one_reason_are_one_warning(explain: Explain, folder: Path) -> None:
    for at in range(7):
        (folder / f"no-{at}.yaml").write_text("- 1\n---\n- 2\n")
    _, _, err = explain("-f", str(folder), *CLUSTER, "-o", "json")
    named = ", ".join(str(folder / f"no-{at}.yaml") for at in range(5))
    assert err == (
        f"streams-placement: warning: {named} and 2 more: "
        "a document is not a Kubernetes object: it has no kind (left out)\n"
    )


def test_documents_after_one_that_is_not_an_object_are_judged(explain: Explain, folder: Path) -> None:
    (folder / "a.yml").write_text(f"{POD % 'first'}---\n- 1\n---\n{POD % 'last'}")
    code, out, _ = explain("-f", str(folder / "a.yml"), *CLUSTER, "-o", "json")
    assert (code, [judged["origin"] for judged in json.loads(out)]) == (2, ["Pod first", "Pod last"])


def test_a_refusal_counts_more_than_what_cannot_be_read(explain: Explain, folder: Path) -> None:
    (folder / "a.yml").write_text("- 1\n")
    refused = str(EXAMPLES / "refused-index.yaml")
    assert explain("-f", str(folder), refused, *CLUSTER)[0] == 1


@pytest.mark.parametrize("output", ["review", "html"])
def test_other_outputs_leave_it_out_as_well(explain: Explain, folder: Path, output: str) -> None:
    (folder / "a.yml").write_text("- 1\n")
    code, out, err = explain("-f", str(folder), *CLUSTER, "-o", output)
    assert (code, bool(out)) == (2, True)
    assert err.endswith(" (left out)\n") or "reviews, one a line" in err
