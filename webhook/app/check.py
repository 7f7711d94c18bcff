"""``check``: asks an API server for an admission and for refusals, all as a dry run (``docs/operations.md``)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import quote

import msgspec

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from webhook.admission.unstructured import mapping
from webhook.app.check_result import CONTRADICTION, CheckResult, is_our_refusal, timed
from webhook.app.checked_kinds import check_kinds
from webhook.app.cluster_source import configuration_of
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import POD
from webhook.settings import Settings, policy_of

POOL_OF_ALL: Final = "host($default)"
"""A placement that constrains nothing: any cluster admits it that has a node open to pods without tolerations."""


async def checked(settings: Settings, namespace: str, *, audit: bool) -> list[CheckResult]:
    """The results for both pods and each reviewed kind of applications; with ``audit`` nothing must be refused.

    Raises :class:`FatalError` if there is no cluster.
    """
    configuration = await asyncio.to_thread(configuration_of, settings)
    path = f"{POD.path_in(quote(namespace, safe=''))}?dryRun=All"
    async with Connection(configuration) as connection:
        server = ObjectClient(connection)

        async def create(placement: str) -> bytes:
            return await server.create(path, pod_of(placement))

        of_pods = [
            await timed("an admission", lambda: _admission(create, audit=audit)),
            await timed("a refusal", lambda: _refusal(create, audit=audit)),
        ]
        return of_pods + await check_kinds(server, policy_of(settings).reviewed, namespace, audit=audit)


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
        if not is_our_refusal(failure):
            raise
        return "it was refused, although the installation is said to be in audit mode" if audit else ""
    return "" if audit else _unseen("a pod that cannot run anywhere was created")


def _unseen(what: str) -> str:
    reasons = "the namespace may be excluded, the webhook may be in audit mode, or its configuration may be missing"
    return f"{what}, so the API server did not ask the webhook: {reasons}"
