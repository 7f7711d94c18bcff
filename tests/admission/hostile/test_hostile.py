"""Hostile bodies: whatever arrives, the answer is readable, and nothing in it acts on a terminal."""

from typing import Any

import pytest

from tests.admission.hostile.readable_answers import Entry, answered, entries
from tests.builders import UID, envelope, pod, review

WHOLE = review(pod())

UNREADABLE: dict[str, bytes] = {
    "empty": b"",
    "a brace": b"{",
    "no JSON": b"hello",
    "a number": b"7",
    "truncated": WHOLE[: len(WHOLE) // 2],
    "one byte short": WHOLE.rstrip()[:-1],
    "trailing text": WHOLE + b"x",
    "trailing brace": WHOLE.rstrip() + b"}",
    "byte order mark": b"\xef\xbb\xbf" + WHOLE,
    "UTF-16": WHOLE.decode().encode("utf-16"),
    "UTF-16 without a mark": WHOLE.decode().encode("utf-16-le"),
    "UTF-32": WHOLE.decode().encode("utf-32"),
    "NUL bytes": b"\x00" * 1000,
    "invalid UTF-8 in the uid": WHOLE.replace(UID.encode(), b"\xff\xfe"),
    "invalid UTF-8 in a key": WHOLE.replace(b'"uid"', b'"\xff"'),
    "half a surrogate pair in the uid": WHOLE.replace(UID.encode(), rb"\ud800"),
    "half a surrogate pair in the namespace": envelope({"uid": UID, "name": "?"}).replace(b'"?"', rb'"\udfff"'),
    "brackets": b"[" * 100_000,
    "braces": b'{"a":' * 100_000,
    "brackets in the request": envelope({}).replace(b"{}", b"[" * 100_000 + b"]" * 100_000),
    "brackets before the object": WHOLE.replace(b',"object":', b',"x":' + b"[" * 9999 + b"]" * 9999 + b',"object":'),
    "NaN in the request": WHOLE.replace(b'"dryRun":false', b'"dryRun":NaN'),
    "Infinity in the request": WHOLE.replace(b'"dryRun":false', b'"dryRun":-Infinity'),
    "NaN in the pod": WHOLE.replace(b'"restartPolicy":"Never"', b'"x":NaN'),
    "a key that no text is": b" " + WHOLE.replace(b'"dryRun":', b'"\\ud800":'),
    "an escape that is none": WHOLE.replace(UID.encode(), rb"\x41"),
    "a control character": WHOLE.replace(UID.encode(), b"\x1b[31m"),
    "single quotes": WHOLE.replace(b'"', b"'"),
    "a comment": b"/* */" + WHOLE,
    "a comma too many": WHOLE.replace(b'"dryRun":false', b'"dryRun":false,'),
}  # fmt: skip


@entries
@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_body_that_is_not_a_review_is_a_bad_request(entry: Entry, body: bytes) -> None:
    assert answered(entry, body) is None


NUMBERS = {
    "many digits": b"9" * 5000,
    "beyond 64 bits": b"18446744073709551616",
    "a large exponent": b"1e400",
    "a small exponent": b"1e-400",
    "beyond any exponent": b"1e99999999999",
    "minus zero": b"-0",
    "a leading zero": b"01",
    "hexadecimal": b"0x10",
}


@entries
@pytest.mark.parametrize("digits", NUMBERS.values(), ids=NUMBERS.keys())
@pytest.mark.parametrize(
    "place",
    [b'"requests":{"cpu":%s}', b'"limits":{"memory":%s}', b'"unknown":%s'],
    ids=["requests", "limits", "unknown field"],
)
def test_huge_numbers_are_answered(entry: Entry, digits: bytes, place: bytes) -> None:
    answered(entry, WHOLE.replace(b'"resources":{}', b'"resources":{' + place.replace(b"%s", digits) + b"}"))


SURROGATES = {
    "annotation": b'"annotations":{"streams.ibm.com/placement":"host(\\"\\ud800\\")"}',
    "annotation of others": b'"annotations":{"a":"\\udc00"}',
    "key of an annotation": b'"annotations":{"streams.ibm.com/\\ud800":"x"}',
    "label": b'"labels":{"streams.ibm.com/job":"\\ud800","streams.ibm.com/pe":"x"}',
    "reversed pair": b'"labels":{"streams.ibm.com/job":"\\udc00\\ud800"}',
}


@entries
@pytest.mark.parametrize("text", SURROGATES.values(), ids=SURROGATES.keys())
def test_half_a_surrogate_pair_is_not_text(entry: Entry, text: bytes) -> None:
    body = review({"metadata": {}, "spec": {}}).replace(b'"metadata":{}', b'"metadata":{' + text + b"}")
    assert answered(entry, body) is None


@entries
def test_duplicate_keys_in_the_pod_are_answered(entry: Entry) -> None:
    answered(entry, WHOLE.replace(b'"restartPolicy":"Never"', b'"nodeName":"node-a","nodeName":"node-b"'))


MANY: dict[str, dict[str, Any]] = {
    "containers": {"containers": [{"name": f"c{at}"} for at in range(10_000)]},
    "init containers": {"initContainers": [{"name": f"c{at}", "restartPolicy": "Always"} for at in range(10_000)]},
    "tolerations": {"tolerations": [{"key": f"k{at}", "operator": "Exists"} for at in range(10_000)]},
    "selector labels": {"nodeSelector": {f"k{at}": "v" for at in range(10_000)}},
    "bad quantities": {"containers": [{"resources": {"limits": {"cpu": "x"}}}] * 10_000},
}


@entries
@pytest.mark.parametrize("spec", MANY.values(), ids=MANY.keys())
def test_ten_thousand_of_anything_are_answered(entry: Entry, spec: dict[str, Any]) -> None:
    assert answered(entry, review(pod(**spec)))


@entries
@pytest.mark.parametrize("containers", [None, [], {}, "x"], ids=["null", "none", "a mapping", "a text"])
def test_containers_that_are_none_are_answered(entry: Entry, containers: object) -> None:
    assert answered(entry, review(pod(containers=containers)))
