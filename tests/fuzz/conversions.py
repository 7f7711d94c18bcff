"""What must hold of a ConversionReview: all of its objects are converted or none, and nothing but their version."""

import itertools
import json
from collections.abc import Iterator
from typing import Any, Final

from tests.fuzz.oracles import readable
from tests.fuzz.seeds import compact, example_objects
from webhook.admission.answer import Answer
from webhook.admission.conversion import OBJECT_LIMIT, convert
from webhook.cluster.crds.versions import TRIAL, VERSIONS

_GROUP: Final = "streams.ibm.com"
_CHANGING: Final = frozenset({"apiVersion", "spec"})
"""Fields of an object that a conversion may write."""


def conversions(data: bytes) -> None:
    """Every body gets a readable answer; what is converted there comes back as it was."""
    answer = _finished(data)
    said = json.loads(answer.body)
    if answer.status == 400:
        assert (said["kind"], said["status"], said["code"]) == ("Status", "Failure", 400)
        readable(said["message"])
        return
    assert answer.status == 200, answer.status
    request, response = _read(data)["request"], said["response"]
    assert response["uid"] == request["uid"]
    if response["result"]["status"] == "Failure":
        readable(response["result"]["message"])
        assert not response.get("convertedObjects")
        return
    objects, wanted = request.get("objects", []), request["desiredAPIVersion"]
    converted = _read(answer.body)["response"]["convertedObjects"]
    assert len(objects) == len(converted) <= OBJECT_LIMIT
    for before, after in zip(objects, converted, strict=True):
        assert after["apiVersion"] == wanted
        assert _others(before) == _others(after)
    for version, alike in itertools.groupby(zip(objects, converted, strict=True), lambda pair: pair[0]["apiVersion"]):
        pairs = list(alike)
        back = _read(_finished(_asked([after for _, after in pairs], version)).body)["response"]["convertedObjects"]
        again = _read(_finished(_asked(back, wanted)).body)["response"]["convertedObjects"]
        assert again == [after for _, after in pairs]


def _others(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in _CHANGING}


def _read(text: bytes) -> Any:
    """The JSON value, each number in its own digits; of a key that occurs twice the last value counts."""
    return json.loads(text.decode("utf-8", "surrogatepass"), parse_int=_Digits, parse_float=_Digits)


class _Digits(str):
    """A number as it is written: it differs from the text of the same letters."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Digits) and str(self) == str(other)

    __hash__ = str.__hash__


def _finished(body: bytes) -> Answer:
    work = convert(body, VERSIONS)
    while True:
        try:
            next(work)
        except StopIteration as done:
            answer: Answer = done.value
            return answer


def _asked(objects: list[Any], wanted: str) -> bytes:
    request = {"uid": "u", "desiredAPIVersion": wanted, "objects": objects}
    return _written({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request})


def _written(value: Any) -> bytes:
    """The value as JSON, numbers as they were read."""
    if isinstance(value, _Digits):
        return str(value).encode()
    if isinstance(value, dict):
        fields = (json.dumps(key).encode() + b":" + _written(inner) for key, inner in value.items())
        return b"{" + b",".join(fields) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(_written, value)) + b"]"
    return json.dumps(value).encode()


def conversion_seeds() -> Iterator[bytes]:
    """The HostPools of the examples, from each version to each; and reviews of which something is wrong."""
    pools = [found for found in example_objects() if found["kind"] == "HostPool"]
    versions = [f"{_GROUP}/v1", f"{_GROUP}/{TRIAL}"]
    for at, (version, wanted) in enumerate(itertools.product(versions, [*versions, f"{_GROUP}/v3", "v1"])):
        stated = [found | {"apiVersion": version} for found in pools[at : at + 3]]
        yield _asked(stated, wanted)
    for spec in ({"exclusive": True}, {"exclusive": 1, "mode": "Shared"}, {"mode": "\ud800"}, None, [], "x"):
        yield _asked([{"apiVersion": versions[1], "kind": "HostPool", "spec": spec, "metadata": {}}], versions[0])
    yield compact({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": {"uid": ""}})
    yield b"{}"
