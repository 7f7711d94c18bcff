"""What must hold of the body of a review, and of every object in one."""

import base64
import copy
import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import jsonpatch

from tests.admission.hostile.readable_answers import CLUSTER
from tests.admission.hostile.test_hostile import UNREADABLE
from tests.builders import UID, envelope, review
from tests.fuzz.oracles import readable
from tests.fuzz.seeds import compact, example_objects
from webhook.admission.answer import Answer
from webhook.admission.mutate import mutate
from webhook.admission.review import UnreadableReviewError, read_review
from webhook.admission.validate import CHECKS, GUARDS, guard, validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy

Entry = Callable[[bytes, Inventory, Policy], Answer]

_ENTRIES: Final[Mapping[str, Entry]] = {"mutate": mutate, "validate": validate, "guard": guard}

SUBJECTS: Final = tuple(dict.fromkeys((*CHECKS, *GUARDS)))
"""What reviews are about; the first byte of an input of ``objects`` chooses one."""

_OLD: Final = b"\x1e"
"""Between the object and the old object."""

_WARNING: Final = 512
"""Characters of a warning, at most, that no other limit is known of."""


def bodies(data: bytes) -> None:
    """Every body gets a readable answer, and what is read of it is what another parser reads."""
    for entry in _ENTRIES.values():
        _answered(entry(data, CLUSTER, Policy()), data)
    try:
        read = read_review(data)
    except UnreadableReviewError as error:
        readable(str(error).encode("ascii", "backslashreplace").decode())
        return
    if read.deep:
        return
    other = _pairs(data)
    request = other.once("request")
    assert (other.once("apiVersion"), other.once("kind")) == ("admission.k8s.io/v1", "AdmissionReview")
    assert request.once("uid") == read.uid
    assert (request.once("namespace") or "", request.once("name") or "") == (read.namespace, read.name)
    assert (request.once("operation") or "", request.once("subResource") or "") == (read.operation, read.subresource)
    assert _pairs(bytes(read.object)) == request.once("object")
    assert _pairs(bytes(read.old)) == request.once("oldObject")


def _pairs(text: bytes) -> Any:
    """The JSON value; of what the webhook does not read, it does not look at the encoding either."""
    return json.loads(text.decode("utf-8", "replace"), object_pairs_hook=_Pairs, parse_int=str)


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with all of its keys, also those that occur twice."""

    def once(self, name: str) -> Any:
        values = [value for key, value in self if key == name]
        assert len(values) < 2, f"{name} occurs twice, and the review was read"
        return values[0] if values else None


def objects(data: bytes) -> None:
    """Every object gets a verdict, which can be read; a patch can be applied."""
    group, kind, subresource, operation = SUBJECTS[data[0] % len(SUBJECTS)] if data else SUBJECTS[0]
    found, _, old = data[1:].partition(_OLD)
    whole = review("?", operation, kind=kind, group=group, subresource=subresource or None, name="x", oldObject="??")
    whole = whole.replace(b'"?"', found or b"null", 1).replace(b'"??"', old or b"null", 1)
    for entry in _ENTRIES.values():
        answer = entry(whole, CLUSTER, Policy())
        response = _answered(answer, whole)
        if response is not None and "patch" in response:
            _applied(found, response["patch"])


def _applied(found: bytes, patch: str) -> None:
    operations = json.loads(base64.b64decode(patch))
    # Bytes that are no UTF-8 are in parts that nobody reads: the API server sends none.
    jsonpatch.apply_patch(json.loads(found.decode("utf-8", "replace")), operations)


def _answered(answer: Answer, body: bytes) -> Any:
    """The response, proven readable; ``None`` for a body that is no review."""
    said = json.loads(answer.body)
    if answer.status == 400:
        assert (said["kind"], said["status"], said["code"]) == ("Status", "Failure", 400), body
        readable(said["message"])
        return None
    assert answer.status == 200, answer.status
    response = said["response"]
    assert response["uid"], body
    readable(response.get("status", {}).get("message", ""))
    for warning in response.get("warnings", []):
        readable(warning, _WARNING)
    for value in response.get("auditAnnotations", {}).values():
        readable(value)
    return response


def body_seeds() -> Iterator[bytes]:
    """Reviews of example objects, and bodies that once were hostile."""
    yield from (body for body in UNREADABLE.values() if len(body) < 5000)
    for found in example_objects():
        yield review(found, kind=found["kind"], group=found["apiVersion"].rpartition("/")[0])
    yield json.dumps(json.loads(envelope({"uid": UID, "name": "x"})), indent=2).encode()


def object_seeds() -> Iterator[bytes]:
    """Example objects as each subject of their kind."""
    for at, (group, kind, _, operation) in enumerate(SUBJECTS):
        for found in example_objects():
            if (found["kind"], found["apiVersion"].rpartition("/")[0]) == (kind, group):
                old = _OLD + compact(found) if operation != "CREATE" else b""
                yield bytes([at]) + compact(found) + old


_ODD: Final = (
    None, True, 0, -1, 1.5, 2**63, 10**30, "", "a", "\u00e9", "\u202e", "x" * 300, "1", "500m", "2Gi", "-1", "a/b", "*",
    [], {}, [None], [{}], {"": ""}, [[]], 'host("node-a")', "hostIsolation", "host(P[1])", "In", "Exists", "0",
    "nvidia.com/gpu",
)  # fmt: skip
"""Values that are put in place of others."""


def changed(data: bytes, most: int, seed: int) -> bytes | None:
    """The input with one value of its JSON changed, doubled, dropped or moved; ``None`` if it is no JSON."""
    draw = random.Random(seed)  # noqa: S311 -- no secret
    head, separator, old = data.partition(_OLD)
    begin = 0 if head[:1] in {b"{", b"["} else 1
    try:
        value = json.loads(head[begin:])
        places = list(_places(value))
    except (ValueError, RecursionError):
        return None
    if not places:
        return None
    for _ in range(draw.randint(1, 3)):
        owner, key = draw.choice(places)
        _change(draw, owner, key, places)
        places = list(_places(value))
        if not places:
            break
    written = head[:begin] + compact(value) + separator + old
    return written if len(written) <= most else None


def _change(draw: random.Random, owner: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    """Change the value that the owner has at the key or index."""
    action = draw.randrange(4)
    other, place = draw.choice(places)
    if action == 0:
        owner[key] = copy.deepcopy(draw.choice(_ODD))
    elif action == 1:
        owner[key] = copy.deepcopy(other[place])
    elif isinstance(owner, list):
        owner.insert(key, copy.deepcopy(owner[key]))
    else:
        value = owner.pop(key)
        if action == 2:
            owner[place if isinstance(place, str) else "x"] = value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every value inside this one, as its owner and its key or index."""
    waiting = [value]
    while waiting:
        owner = waiting.pop()
        keys = owner if isinstance(owner, dict) else range(len(owner)) if isinstance(owner, list) else ()
        for key in keys:
            yield owner, key
            waiting.append(owner[key])
