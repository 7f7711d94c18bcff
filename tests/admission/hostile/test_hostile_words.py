"""Hostile words in every field: none acts in an answer, whatever it is made of."""

from collections.abc import Callable

import pytest

from tests.admission.hostile.readable_answers import FAKE, Entry, answered, entries
from tests.answers import Json
from tests.builders import pod, review
from webhook.admission.validate import validate
from webhook.placement.text import keys

EVIL = {
    "escape sequence": "\x1b[31m",
    "line break": f"a\n{FAKE}",
    "carriage return": "a\r",
    "NUL": "\x00",
    "delete": "\x7f",
    "C1 control": "\x9b31m",
    "right-to-left override": "\u202e",
    "zero width": "\u200b",
    "line separator": "\u2028",
    "byte order mark": "\ufeff",
    "tag character": "\U000e0041",
    "quotes": '"\\"',
    "endless": "x" * 2**20,
    "unterminated string": 'host("',
    "unterminated comment": "/*",
}


def place(*path: str) -> Callable[[Json, str], None]:
    """Puts a text at a path of the pod."""

    def put(found: Json, text: str) -> None:
        for step in path[:-1]:
            found = found.setdefault(step, {})
        found[path[-1]] = text

    return put


def key_of(*path: str, prefix: str = "") -> Callable[[Json, str], None]:
    """Puts a text as a key at a path of the pod."""

    def put(found: Json, text: str) -> None:
        for step in path:
            found = found.setdefault(step, {})
        found[prefix + text] = "x"

    return put


def placed(template: str) -> Callable[[Json, str], None]:
    """Puts a text into a placement, as JSON escapes it or as it is."""
    return lambda found, text: place("metadata", "annotations", keys.PLACEMENT)(found, template.replace("%s", text))


def term(key: str, operator: str, value: str) -> Json:
    """A required node affinity."""
    expression = {"key": key, "operator": operator, "values": [value]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


PLACES: dict[str, Callable[[Json, str], None]] = {
    "placement": placed("%s"),
    "string in the placement": placed('host("%s")'),
    "token in the placement": placed('hostColocation("%s")'),
    "pool in the placement": placed("host(%s)"),
    "operator in the placement": placed("%s: hostIsolation"),
    "preferred": place("metadata", "annotations", keys.PREFERRED),
    "host-binding": place("metadata", "annotations", keys.HOST_BINDING),
    "injected": place("metadata", "annotations", keys.INJECTED),
    "annotation of ours": key_of("metadata", "annotations", prefix=keys.PREFIX),
    "annotation": key_of("metadata", "annotations"),
    "job": place("metadata", "labels", keys.JOB),
    "element": place("metadata", "labels", keys.PE),
    "label of ours": key_of("metadata", "labels", prefix=keys.COLOCATION),
    "value of a label of ours": place("metadata", "labels", keys.ISOLATION + keys.digest("parallel-1")),
    "nodeName": place("spec", "nodeName"),
    "nodeSelector": key_of("spec", "nodeSelector"),
    "value of the nodeSelector": place("spec", "nodeSelector", "disk"),
    "key of the affinity": lambda found, text: found["spec"].update(affinity=term(text, "In", "x")),
    "operator of the affinity": lambda found, text: found["spec"].update(affinity=term("x", text, "x")),
    "value of the affinity": lambda found, text: found["spec"].update(affinity=term("x", "Gt", text)),
    "toleration": lambda found, text: found["spec"].update(tolerations=[{"key": keys.EXCLUSIVE, "value": text}]),
    "quantity": lambda found, text: found["spec"]["containers"][0].update(resources={"requests": {"cpu": text}}),
    "resource": lambda found, text: found["spec"]["containers"][0].update(resources={"requests": {text: "1"}}),
    "resource and quantity": lambda found, text: found["spec"]["containers"][0].update(
        resources={"limits": {text: "x"}}
    ),
    "owner": lambda found, text: found["metadata"].update(ownerReferences=[{"kind": text, "controller": True}]),
    "phase": place("status", "phase"),
    "unknown field": key_of("spec"),
}


@entries
@pytest.mark.parametrize("put", PLACES.values(), ids=PLACES.keys())
def test_no_word_of_a_user_acts_in_an_answer(entry: Entry, put: Callable[[Json, str], None]) -> None:
    for text in EVIL.values():
        found = pod('hostExlocation("t")')
        put(found, text)
        answered(entry, review(found))


@pytest.mark.parametrize("text", EVIL.values(), ids=EVIL.keys())
@pytest.mark.parametrize("field", ["name", "job", "mode", "hosts", "tags", "selector", "unknown field"])
def test_no_word_of_a_pool_acts_in_an_answer(field: str, text: str) -> None:
    specs: dict[str, Json] = {
        "hosts": {"hosts": [text]},
        "tags": {"tags": [text]},
        "selector": {"selector": {"matchLabels": {text: text}, "matchExpressions": [{"key": text, "operator": text}]}},
        "unknown field": {text: 1},
    }
    found = {"metadata": {"name": text}, "spec": specs.get(field, {field: text})}
    answered(validate, review(found, kind="HostPool", group="streams.ibm.com"))


@entries
@pytest.mark.parametrize("field", ["namespace", "name", "operation", "subResource", "kind", "group", "unknown"])
def test_no_word_of_a_request_acts_in_an_answer(entry: Entry, field: str) -> None:
    for text in EVIL.values():
        answered(entry, review(pod(), **{field: text}))


@entries
@pytest.mark.parametrize("uid", ["\x1b", "\u202e", '"', "\\", "\x00", "\u00e9", "\U0001f600"], ids=ascii)
def test_a_uid_is_echoed_verbatim(entry: Entry, uid: str) -> None:
    assert answered(entry, review(pod(), uid=uid), uid)
