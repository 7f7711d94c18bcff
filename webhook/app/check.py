"""``check``: asks an API server for an admission and for a refusal, both as a dry run (``docs/operations.md``)."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from webhook.admission.unstructured import mapping
from webhook.app.cluster_source import configuration_of
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import POD
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings

POOL_OF_ALL: Final = "host($default)"
"""A placement that constrains nothing: any cluster admits it that has a node open to pods without tolerations."""

CONTRADICTION: Final = 'hostColocation("check"), hostExlocation("check")'
"""A placement that no cluster can satisfy."""

SAYS: Final = "contradict each other"
"""Part of the refusal."""

_OURS: Final = "placement.streams.ibm.com"
"""The end of the names of the webhooks, which the API server puts in front of a refusal."""


class CheckResult(Struct, frozen=True):
    """One question to the API server: ``ok``, or what was wrong in ``message``."""

    name: str
    ok: bool
    message: str
    milliseconds: float


async def checked(settings: Settings, namespace: str, *, audit: bool) -> list[CheckResult]:
    """Both results; with ``audit`` the pod that would be refused must be let through.

    Raises :class:`FatalError` if there is no cluster.
    """
    configuration = await asyncio.to_thread(configuration_of, settings)
    path = f"{POD.path_in(quote(namespace, safe=''))}?dryRun=All"
    async with Connection(configuration) as connection:
        server = ObjectClient(connection)

        async def create(placement: str) -> bytes:
            return await server.create(path, pod_of(placement))

        return [
            await _timed("an admission", lambda: _admission(create, audit=audit)),
            await _timed("a refusal", lambda: _refusal(create, audit=audit)),
        ]


def pod_of(placement: str) -> dict[str, Any]:
    """A pod with that placement that quotas and the strictest Pod Security Standard let through; it never runs."""
    few = {"cpu": "1m", "memory": "1Mi"}
    secured = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    container = {
        "name": "check",
        "image": "registry.invalid/check",
        "resources": {"requests": few, "limits": few},
        "securityContext": secured,
    }
    context = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
    return {
        "apiVersion": POD.api_version,
        "kind": POD.name,
        "metadata": {
            "generateName": "streams-placement-check-",
            "labels": {keys.JOB: "check"},
            "annotations": {keys.PLACEMENT: placement},
        },
        "spec": {"containers": [container], "securityContext": context, "automountServiceAccountToken": False},
    }


Create = Callable[[str], Awaitable[bytes]]
"""Sends the pod of a placement to the API server; raises ApiError if it is not created."""


async def _timed(name: str, ask: Callable[[], Awaitable[str]]) -> CheckResult:
    """The result of one question, which returns what is wrong."""
    began = time.perf_counter()
    try:
        wrong = await ask()
    except ApiError as failure:
        if failure.cause in {Cause.UNREACHABLE, Cause.UNAUTHORIZED}:
            raise FatalError(str(failure)) from failure
        wrong = str(failure)
    return CheckResult(name, not wrong, wrong, round((time.perf_counter() - began) * 1e3, 1))


async def _admission(create: Create, *, audit: bool) -> str:
    """What is wrong with the answer to a pod that can run."""
    pod = msgspec.json.decode(await create(POOL_OF_ALL), type=dict[str, Any])
    seen = keys.INJECTED in mapping(pod, "metadata", "annotations")
    return "" if seen or audit else _unseen("the pod was created unchanged")


async def _refusal(create: Create, *, audit: bool) -> str:
    """What is wrong with the answer to a pod that cannot run."""
    try:
        await create(CONTRADICTION)
    except ApiError as failure:
        detail = failure.request.detail if failure.request else ""
        if _OURS not in detail or SAYS not in detail:
            raise
        return "it was refused, although the installation is said to be in audit mode" if audit else ""
    return "" if audit else _unseen("a pod that cannot run anywhere was created")


def _unseen(what: str) -> str:
    reasons = "the namespace may be excluded, the webhook may be in audit mode, or its configuration is not there"
    return f"{what}, so the API server did not ask the webhook: {reasons}"
