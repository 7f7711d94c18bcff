"""What an answer says, as its caller reads it."""

import base64
import json
from typing import Any

import jsonpatch

from webhook.admission.answer import Answer

Json = dict[str, Any]


def response(answer: Answer) -> Json:
    """The response of a review that could be answered."""
    assert answer.status == 200
    body = json.loads(answer.body)
    assert (body["kind"], body["apiVersion"]) == ("AdmissionReview", "admission.k8s.io/v1")
    found: Json = body["response"]
    return found


def steps(answer: Answer) -> list[Json]:
    """The operations of the patch; none where there is no patch."""
    found: list[Json] = json.loads(base64.b64decode(response(answer).get("patch", "W10=")))
    return found


def patched(pod: Json, answer: Answer) -> Json:
    """The pod after the patch of an answer that admits it."""
    assert response(answer)["allowed"], refused(answer)
    found: Json = jsonpatch.apply_patch(pod, steps(answer))
    return found


def refused(answer: Answer) -> tuple[int, str]:
    """Code and message of a refusal."""
    found = response(answer)
    assert not found["allowed"]
    return found["status"]["code"], found["status"]["message"]


def warnings(answer: Answer) -> list[str]:
    """The warnings."""
    found: list[str] = response(answer).get("warnings", [])
    return found
