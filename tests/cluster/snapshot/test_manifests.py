"""Manifests as a user writes them."""

from pathlib import Path

import pytest

from webhook.cluster.snapshot.manifests import ManifestError, read_manifests

READABLE = {
    "one document": ("a.yaml", "kind: Pod\n", ["Pod"]),
    "several documents": ("a.yaml", "---\nkind: Pod\n---\n---\nkind: Job\n", ["Pod", "Job"]),
    "a list": ("a.yaml", "kind: List\nitems:\n- kind: Pod\n- kind: List\n  items:\n  - kind: Job\n", ["Pod", "Job"]),
    "a kind that ends in List without items": ("a.yaml", "kind: PodList\n", ["PodList"]),
    "a list of a kind, as the API server gives it": (
        "a.yaml",
        "kind: PodList\nitems:\n- metadata: {name: p}\n",
        ["Pod"],
    ),
    "JSON": ("a.json", '{"kind": "PodList", "items": [{"kind": "Pod"}]}', ["Pod"]),
    "several texts of JSON": ("a.json", '{"kind": "Pod", "a": "}\\"{"}{"kind": "Job"}\n', ["Pod", "Job"]),
    "several texts of JSON in a file of YAML": ("a.yaml", '{"kind": "Pod"}\n{"kind":\t"Job"}', ["Pod", "Job"]),
    "JSON with dashes between": ("a.json", '---\n{"kind": "Pod"}\n---\n{"kind": "Job"}\n', ["Pod", "Job"]),
    "YAML that begins like JSON": ("a.yaml", '{"kind": "Pod"}\n---\nkind: Job\n', ["Pod", "Job"]),
}
UNREADABLE = {
    "no file": ("b.yaml", None, "No such file or directory"),
    "no YAML": ("b.yaml", "a: [,", "line 1, column 5: did not find expected node content"),
    "no JSON": ("b.json", "{", "Input data was truncated"),
    "nothing": ("b.json", " ", "Input data was truncated"),
    "no second text of JSON": (
        "b.json",
        '{"kind": "Pod"} ]',
        "document 2, from byte 16: JSON is malformed: invalid character (byte 0)",
    ),
    "no object": ("b.yaml", "- 1\n", "a document is not a Kubernetes object: it has no kind"),
    "no kind": ("b.json", "{}", "a document is not a Kubernetes object: it has no kind"),
    "a list of no objects": (
        "b.yaml",
        "kind: List\nitems: [7]\n",
        "a document is not a Kubernetes object: it has no kind",
    ),
    "a kind that is no text": ("b.json", '{"kind": 1}', "a document is not a Kubernetes object: it has no kind"),
}


@pytest.mark.parametrize(("name", "text", "kinds"), READABLE.values(), ids=READABLE)
def test_every_object_is_read(name: str, text: str, kinds: list[str], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert [document["kind"] for document in read_manifests(path)] == kinds


@pytest.mark.parametrize(("name", "text", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_is_not_a_manifest_is_named_with_the_reason(
    name: str, text: str | None, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(ManifestError) as raised:
        list(read_manifests(path))
    assert str(raised.value) == f"{path}: {reason}"
