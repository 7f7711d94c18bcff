"""``Submitter``: what admission says to an object that a user submits, by the very functions that answer reviews."""

import base64
from collections.abc import Mapping
from typing import Any, Final

import jsonpatch
import msgspec
from msgspec import Struct

from webhook.admission.answer import Answer, ReferenceQuestion
from webhook.admission.mutate import mutate
from webhook.admission.review import User
from webhook.admission.unstructured import Unstructured, group_and_kind, mapping
from webhook.admission.validate import guard, validate
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.text.api_kinds import DAEMON_SET, POD
from webhook.placement.text.problem import escape, render

_UID: Final = "placementreview"
"""The uid of every review that is made here: answers are told apart by being awaited one by one."""

_OK: Final = 200


class Submission(Struct, frozen=True):
    """What admission says: refused with a ``message``, else ``after`` is the object with the ``patch``.

    ``waits`` is why a pod is let in that no node can run.
    """

    after: Unstructured | None
    message: str = ""
    warnings: tuple[str, ...] = ()
    patch: tuple[dict[str, Any], ...] = ()
    waits: str = ""

    @property
    def refused(self) -> bool:
        """Whether the object must not be created."""
        return self.after is None


def escaped(text: str) -> str:
    """The text escaped line by line, as admission writes refusals."""
    return "\n".join(map(escape, text.split("\n")))


class Submitter:
    """Submits objects for a ``user``; ``queries`` ask the API server what answers depend on."""

    def __init__(self, user: User, policy: Policy, queries: ReviewQueries) -> None:
        self._user = user
        self._policy = policy
        self._queries = queries

    async def submit(self, document: Unstructured, namespace: str, inventory: Inventory) -> Submission:
        """What admission says to creating the object in that namespace."""
        kind = group_and_kind(document)
        if kind != (POD.group, POD.name):
            checks = [validate, guard] if kind == (DAEMON_SET.group, DAEMON_SET.name) else [validate]
            bodies = [(check(_body(document, namespace, self._user), inventory, self._policy)) for check in checks]
            return _both([_read(await self._completed(answer, inventory), document) for answer in bodies])
        pod, refusal = _defaulted(document, namespace, inventory)
        if refusal:
            return Submission(None, refusal)
        asked = mutate(_body(pod, namespace, self._user), inventory, self._policy)
        mutated = _read(await self._completed(asked, inventory), pod)
        if mutated.after is None:
            return mutated
        final = validate(_body(mutated.after, namespace, self._user), inventory, self._policy)
        return _both([mutated, _read(await self._completed(final, inventory), mutated.after)])

    async def _completed(self, answer: Answer, inventory: Inventory) -> Answer:
        """The answer with all that it depends on; an object that it refers to may be among the manifests."""
        question = answer.question
        if isinstance(question, ReferenceQuestion) and question.reference.key in inventory.references:
            answer = question.resume(inventory.references[question.reference.key])
        completed = self._queries.completed(answer)
        return completed if isinstance(completed, Answer) else await completed


def _both(answers: list[Submission]) -> Submission:
    """The answers of several webhooks as one: the first refusal, or else all they say."""
    refusal = next((one for one in answers if one.refused), None)
    warnings = tuple(dict.fromkeys(text for one in answers for text in one.warnings))
    if refusal:
        return msgspec.structs.replace(refusal, warnings=warnings)
    patch = tuple(step for one in answers for step in one.patch)
    return Submission(answers[-1].after, warnings=warnings, patch=patch, waits=answers[0].waits)


def _defaulted(document: Unstructured, namespace: str, inventory: Inventory) -> tuple[Unstructured, str]:
    """The pod as plugins of the API server complete it before webhooks, and why they refuse it, empty if they do not.

    A pod that cannot be read is left as it is.
    """
    try:
        pod = msgspec.convert(document, Pod)
    except msgspec.ValidationError:
        return document, ""
    completed = inventory.pod_defaults.completed(pod, namespace)
    if completed.problems:
        return document, render(completed.problems)
    made = msgspec.json.decode(msgspec.json.encode(completed.spec))
    return {**document, "spec": _merged(mapping(document, "spec"), made)}, ""


def _merged(stated: Any, made: Any) -> Any:  # noqa: ANN401 -- JSON
    """What is stated with what was added to it; ``made`` has only the fields that placement reads."""
    if isinstance(stated, dict) and isinstance(made, dict):
        return {**stated, **{key: _merged(stated.get(key), value) for key, value in made.items() if value is not None}}
    if isinstance(stated, list) and isinstance(made, list) and len(stated) == len(made):
        return [_merged(one, other) for one, other in zip(stated, made, strict=True)]
    return made


def _body(document: Unstructured, namespace: str, user: User) -> bytes:
    """The AdmissionReview of creating the object, as the API server writes it."""
    version = str(document.get("apiVersion") or "").rpartition("/")[2]
    group, kind = group_and_kind(document)
    request = {
        "uid": _UID,
        "kind": {"group": group, "version": version, "kind": kind},
        "resource": {"group": group, "version": version, "resource": f"{kind.lower()}s"},
        "name": str(mapping(document, "metadata").get("name") or ""),
        "namespace": namespace,
        "operation": "CREATE",
        "userInfo": user,
        "object": document,
    }
    review = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    return msgspec.json.encode(review)


def _read(answer: Answer, document: Unstructured) -> Submission:
    """What the answer says about the object."""
    if answer.status != _OK:
        return Submission(None, str(msgspec.json.decode(answer.body)["message"]))
    response: Mapping[str, Any] = msgspec.json.decode(answer.body)["response"]
    warnings = tuple(response.get("warnings", ()))
    if not response["allowed"]:
        return Submission(None, response["status"]["message"], warnings)
    patch = msgspec.json.decode(base64.b64decode(response["patch"])) if response.get("patch") else []
    after = jsonpatch.apply_patch(document, patch) if patch else document
    return Submission(after, warnings=warnings, patch=tuple(patch), waits=answer.waits)
