"""Answers to hostile bodies, proven readable."""

import json
import re
from collections.abc import Callable

import pytest

from tests.answers import Json
from tests.builders import UID, cluster, job, nodes, pool
from webhook.admission.answer import Answer, Outcome
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy

CLUSTER = cluster(nodes(2), pools=[pool(tags=["a"])], jobs=[job({"parallel-1": "hostIsolation"})])

MESSAGE_LIMIT = 1024

FAKE = "Nearest fix: give up"
"""A line of a user's own, which must never stand alone in an answer."""

Entry = Callable[[bytes, Inventory, Policy], Answer]

entries = pytest.mark.parametrize("entry", [mutate, validate], ids=["mutate", "validate"])


def answered(entry: Entry, body: bytes, uid: str = UID) -> Json | None:
    """The response, proven readable; nothing for a body that was unreadable, which the answer says readably too."""
    answer = entry(body, CLUSTER, Policy())
    said = json.loads(answer.body)
    if answer.status == 400:
        assert (said["kind"], said["status"], said["code"]) == ("Status", "Failure", 400)
        assert (answer.outcome, _printable([said["message"]])) == (Outcome.UNREADABLE, True)
        return None
    assert answer.status == 200
    response: Json = said["response"]
    message = response.get("status", {}).get("message", "")
    assert response["uid"] == uid
    lines = message.split("\n")
    assert _printable([*lines, *response.get("warnings", [])]), message[:300]
    assert not any(line.lstrip().startswith(FAKE) for line in lines), message
    assert len(message) <= MESSAGE_LIMIT, message[:300]
    return response


def _printable(texts: list[str]) -> bool:
    return all(re.fullmatch(r"[\x20-\x7e]*", text) for text in texts)
