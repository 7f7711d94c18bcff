"""Which kind an input is, and what all conversions have in common."""

import pytest

from tests.convert.adl_documents import adl, bundle, operator
from tests.golden.conversions import INPUTS, inputs
from webhook.convert.conversion import ConvertOptions, Input, convert, kind_of
from webhook.convert.input_kind import InputKind

KINDS = {
    ".spl": InputKind.SPL, ".adl": InputKind.ADL, ".properties": InputKind.TWISTER2, ".json": InputKind.EMCO,
    ".txt": InputKind.EMCO, ".sab": InputKind.SAB,
}  # fmt: skip


@pytest.mark.parametrize("path", inputs(), ids=lambda path: path.name)
def test_the_kind_of_an_example_is_told_from_its_content(path: str) -> None:
    found = INPUTS / path
    wanted = InputKind.OVERLAY if found.stem == "overlay" else None
    wanted = wanted or KINDS.get(found.suffix) or (InputKind.EMCO if found.stem == "analytics" else InputKind.TWISTER2)
    assert kind_of(found.read_bytes()) is wanted


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (bundle(adl(operator())), InputKind.SAB),
        (adl(operator()).encode(), InputKind.ADL),
        (adl(operator()).partition("?>")[2].encode("utf-16"), InputKind.ADL),
        (b"\xef\xbb\xbf<!-- x --><applicationSet/>", InputKind.ADL),
        (b"composite Main {}", InputKind.SPL),
        (b"config hostPool: P = createPool(Sys.Shared);", InputKind.SPL),
        (b'host("a")', InputKind.SPL),
        (b"hostIsolation", InputKind.SPL),
        (b'partitionColocation("a")', InputKind.SPL),
        (b"stream<int32 i> A = Beacon() {}", InputKind.SPL),
        (b"kubernetes.worker.mapping.uniform: none", InputKind.TWISTER2),
        (b"  twister2.resource.job.name=x", InputKind.TWISTER2),
        (b'{"metadata": {}}', InputKind.EMCO),
        (b"[]", InputKind.EMCO),
        (b"metadata :\n  name: x", InputKind.EMCO),
        (b"- Metadata:\n    name: x", InputKind.EMCO),
        (b"version: emco/v2\nresourceContext:\n  anchor: projects/p/x/hpa-intents", InputKind.EMCO),
        (b"", None),
        (b"hello", None),
        (b"\xff\xfe\x00", None),
        (b"metadata: {name: x}", InputKind.EMCO),
    ],
)
def test_the_kind_is_told_from_the_content(content: bytes, kind: InputKind | None) -> None:
    assert kind_of(content) is kind


def test_the_namespace_of_all_manifests_is_given() -> None:
    text = b"config hostPool: P = createPool(Sys.Shared), Q = createPool(Sys.Shared);"
    found = convert([Input("in", text, InputKind.SPL)], ConvertOptions(namespace="edge"))[0].manifests
    assert [one["metadata"] for one in found] == [
        {"name": "p", "namespace": "edge"},
        {"name": "q", "namespace": "edge"},
    ]


def test_the_name_is_given() -> None:
    options = ConvertOptions(name="given")
    assert convert([Input("in", b'host("a")', InputKind.SPL)], options)[0].manifests[0]["metadata"]["name"] == "given"
    workers = convert([Input("in", b"kubernetes.namespace: a", InputKind.TWISTER2)], options)[0].manifests[0]
    assert workers["metadata"] == {"name": "given", "namespace": "a"}


def test_a_name_that_is_too_long_for_a_job_is_refused() -> None:
    options = ConvertOptions(name="x" * 62)
    (problem,) = convert([Input("in", b'host("a")', InputKind.SPL)], options)[0].problems
    rule = "the Job's processing elements are named <job>-<index>, so at most 59 are allowed"
    assert (problem.field, problem.message) == ("in:1", f'metadata.name: "{"x" * 62}" has 62 characters: {rule}')


def test_a_program_that_is_not_text_is_refused_beside_others() -> None:
    inputs_ = [Input("a", b"\xff", InputKind.SPL), Input("b", b"type T = int32 a;", InputKind.SPL)]
    broken, library = convert(inputs_, ConvertOptions())
    assert [problem.message for problem in broken.problems] == ["byte 0 is not UTF-8: save the input as UTF-8"]
    assert library.problems == ()
