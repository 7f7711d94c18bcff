"""Workloads of a job, listed when another workload of the job is submitted: the two are judged together.

What makes a workload one of a job is the label of its pods, in the template. No selector of the API server looks at
templates, so all workloads of the namespace are listed; where these are too many, only those that have the label
themselves. Every bound errs on the side of not knowing: the submitted workload is judged alone then.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Final
from urllib.parse import quote, urlencode

from msgspec import Raw, Struct

from kubeapi.client import decoding
from kubeapi.client.api_types import Page
from kubeapi.client.errors import ApiError, Cause
from webhook.admission.checks.job_workloads import KINDS
from webhook.admission.unstructured import Unstructured
from webhook.cluster.objects import items
from webhook.cluster.watch.lists import ListReader
from webhook.placement.kube.names import LABEL_NAME
from webhook.placement.kube.pod import Metadata
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import DEPLOYMENT, ApiKind

SECONDS: Final = 1.0
"""For all lists together: a review waits for them."""

OBJECTS: Final = 1000
"""Workloads of one kind: a namespace with more is not looked through."""

LIST_BYTES: Final = 2 << 20
"""Bytes of one list: some 500 Deployments with what the API server keeps about their fields."""

AT_A_TIME: Final = 4
"""Jobs whose workloads are listed at a time: a replica holds at most 32 MiB of lists."""


class _LabelledTemplate(Struct, frozen=True, gc=False):
    metadata: Metadata = Metadata()


class _TemplateOnly(Struct, frozen=True, gc=False):
    template: _LabelledTemplate = _LabelledTemplate()


class _ListedWorkload(Struct, frozen=True, gc=False):
    """A workload, with the fields that name its job."""

    metadata: Metadata = Metadata()
    spec: _TemplateOnly = _TemplateOnly()

    def belongs_to(self, job: str) -> bool:
        """Whether the workload makes pods of the job, and does so for no Deployment."""
        owners = self.metadata.owner_references or ()
        owned = any(owner.controller and owner.kind == DEPLOYMENT.name for owner in owners)
        labels = self.spec.template.metadata.labels or {}
        return labels.get(keys.JOB) == job and not owned and not self.metadata.deletion_timestamp


class JobWorkloads:
    """Lists workloads of jobs; ``unknown`` is called with ``busy`` or ``failed`` if that is not possible."""

    def __init__(self, server: ListReader, unknown: Callable[[str], object]) -> None:
        self._server = server
        self._unknown = unknown
        self._asking = 0

    async def find(self, namespace: str, job: str) -> Sequence[Unstructured]:
        """The workloads of the job; none if the API server does not list them in time."""
        if not LABEL_NAME.fullmatch(job):
            return ()
        if self._asking >= AT_A_TIME:
            self._unknown("busy")
            return ()
        self._asking += 1
        try:
            async with asyncio.timeout(SECONDS):
                lists = await asyncio.gather(*(self._listed(kind, namespace, job) for kind in KINDS))
        except TimeoutError:
            lists = [None]
        finally:
            self._asking -= 1
        if None in lists:
            self._unknown("failed")
            return ()
        return [workload for workloads in lists for workload in workloads or ()]

    async def _listed(self, kind: ApiKind, namespace: str, job: str) -> list[Unstructured] | None:
        """The workloads of that kind; ``None`` if they cannot be read, or are too many."""
        for selectors in ({}, {"labelSelector": f"{keys.JOB}={job}"}):
            query = urlencode({"limit": str(OBJECTS), **selectors}, quote_via=quote)
            try:
                body = await self._server.read(f"{kind.path_in(quote(namespace, safe=''))}?{query}")
                page = items.decode(Raw(body), Page)
            except ApiError as failure:
                if failure.cause is not Cause.UNREADABLE:  # else the list may be too long
                    return None
                continue
            except decoding.ERRORS:
                return None
            if not page.metadata.following:
                return list(_of_job(page.items or (), kind, job))
        return None


def _of_job(listed_items: Sequence[Raw], kind: ApiKind, job: str) -> Iterator[Unstructured]:
    """The workloads of the job among the items, each with its kind, which lists omit. Unreadable items are skipped.

    Most objects of a namespace are others, and only a few fields of these are decoded.
    """
    for item in listed_items:
        try:
            if items.decode(item, _ListedWorkload).belongs_to(job):
                yield {**items.decode(item, Unstructured), "apiVersion": kind.api_version, "kind": kind.name}
        except decoding.ERRORS:
            continue
