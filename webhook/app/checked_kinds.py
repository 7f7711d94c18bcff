"""``check_kinds``: whether applications of the reviewed kinds are refused, each asked for as a dry run."""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

from msgspec.structs import replace

from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from webhook.app.application_kinds import application_kinds
from webhook.app.check_result import CONTRADICTION, CheckResult, is_our_refusal, timed
from webhook.placement.kinds.kind import OperatorKind
from webhook.placement.text import keys

ABSENT: Final = "the API server does not serve the kind, so its objects are not judged until its CRD exists"
"""What is said of a kind without a definition."""

UNTRIED: Final = "the kind is served; another object describes its pods, so a refusal was not tested"
"""What is said of a kind whose objects refer to others."""

UNREFUSED: Final = (
    "an application that cannot run anywhere was created, so the API server did not ask the webhook: the namespace may "
    "be excluded, or the chart's value workloads.kinds lacks the kind"
)

_DENIED: Final = "denied the request"
"""What the API server writes where a webhook refuses, also one of the operator itself."""

UNKNOWN: Final = "no kind of that name is known: the chart's value workloads.kinds lists all of them"
"""What is said of a kind that there is no file of."""


async def check_kinds(
    server: ObjectClient, reviewed: Iterable[tuple[str, str]], namespace: str, *, audit: bool
) -> list[CheckResult]:
    """A result for each of the kinds, given as group and kind."""
    results = []
    for key in sorted(reviewed, key=lambda key: key[::-1]):
        kind = application_kinds().get(key)
        name = f"a refusal of {key[1]}.{key[0]}"
        if kind is None:
            results.append(CheckResult(name, False, UNKNOWN, 0.0))  # noqa: FBT003 -- fields of a record
        else:
            results.append(await _checked(server, kind, name, namespace, audit=audit))
    return results


async def _checked(server: ObjectClient, kind: OperatorKind, name: str, namespace: str, *, audit: bool) -> CheckResult:
    """The result for the kind, in the first version that the API server has."""
    served = False
    where = quote(namespace, safe="")

    async def ask() -> str:
        nonlocal served
        for version in kind.kind.versions:
            path = f"/apis/{kind.kind.group}/{version}/namespaces/{where}/{kind.kind.resource}?dryRun=All"
            try:
                await server.create(path, application_of(kind, version))
            except ApiError as failure:
                if failure.cause is Cause.MISSING:
                    continue
                served = True
                return _wrong(failure, kind, audit=audit)
            served = True
            return "" if audit or kind.reference else UNREFUSED
        return ""

    result = await timed(name, ask)
    if not served:
        return replace(result, message=ABSENT, served=False)
    return replace(result, message=UNTRIED) if result.ok and kind.reference else result


def _wrong(failure: ApiError, kind: OperatorKind, *, audit: bool) -> str:
    """What is wrong with a refusal; raises the error if the refusal is not this product's."""
    if is_our_refusal(failure):
        return "it was refused, although the installation is said to be in audit mode" if audit else ""
    if kind.reference and failure.request and _DENIED in failure.request.detail:
        return ""
    raise failure


def application_of(kind: OperatorKind, version: str) -> dict[str, Any]:
    """A small application of the kind that cannot run anywhere."""
    metadata = {"generateName": "streams-placement-check-", "annotations": {keys.PLACEMENT: CONTRADICTION}}
    return {
        "apiVersion": f"{kind.kind.group}/{version}",
        "kind": kind.kind.kind,
        "metadata": metadata,
        "spec": dict(kind.probe),
    }
