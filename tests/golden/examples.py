"""Expected results of the example manifests, computed by the product; ``python -m tests.golden`` writes them.

Beside ``examples/NAME.yaml`` stands ``examples/NAME.expected.yaml``: for every pod of the manifest, the pod as it would
be created, or the refusal; the refusal of the whole workload if that comes first.
"""

import base64
import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonpatch

from webhook.admission.answer import Answer, WholeQuestion, WorkloadRef
from webhook.admission.checks.templates import is_job, pods_of, pools_of
from webhook.admission.mutate import Known, mutate
from webhook.admission.validate import validate
from webhook.cli.client import admission_review, is_workload
from webhook.cli.terminal.differences import as_yaml
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.cluster.snapshot.loader import SnapshotLoader
from webhook.cluster.snapshot.manifests import read_manifests
from webhook.cluster.snapshot.snapshot import read_snapshot
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.planning.search.solver import finished
from webhook.settings import policy_of, read

POLICY = policy_of(read({}))
"""Settings of an installation as they are by default."""

Entry = Callable[[bytes, Inventory, Policy], Answer]

Asking = Callable[[Entry, dict[str, Any], Inventory], dict[str, Any]]
"""Asks an entry about the creation of an object in a cluster, and returns its response."""

EXAMPLES = Path(__file__).parents[2] / "examples"


def manifests() -> list[Path]:
    """Every example manifest, in the order of their names."""
    return sorted(path for path in EXAMPLES.glob("*.yaml") if not path.name.endswith(".expected.yaml"))


def snapshot() -> Inventory:
    """The cluster of the examples."""
    cluster = Inventory()
    report = read_snapshot(EXAMPLES / "cluster", cluster)
    assert not report.skipped, report.skipped
    return cluster


def expected(path: Path) -> Path:
    """The file of expected results of a manifest."""
    return path.with_suffix(".expected.yaml")


def answered(entry: Entry, document: dict[str, Any], cluster: Inventory) -> dict[str, Any]:
    """The response to the creation of the object."""
    namespace = document["metadata"].get("namespace", "default")
    body = json.dumps(admission_review(document, namespace), separators=(",", ":")).encode()
    answer = entry(body, cluster, POLICY)
    if isinstance(answer.question, WholeQuestion):
        answer = finished(answer.question.resume(AtOnce()))
    response: dict[str, Any] = json.loads(answer.body)["response"]
    return response


def results(path: Path, cluster: Inventory, ask: Asking = answered) -> Iterator[dict[str, Any]]:
    """What becomes of each pod of the manifest, or of the workload that would have them, by the answers of ``ask``."""
    for document in read_manifests(path):
        whole = ask(validate, document, cluster) if is_workload(document) else {"allowed": True}
        if not whole["allowed"]:
            yield outcome(document, whole)
            continue
        if is_job(document):
            yield outcome(document, whole)
            cluster = _with_job(document)
            yield from (outcome(pool, ask(validate, pool, cluster)) for pool in pools_of(document))
        for found in pods_of(document):
            known = Known(count=functools.partial(_count, found.replicas.count))
            single = ask(functools.partial(mutate, known=known), found.pod, cluster)
            told = dict.fromkeys([*whole.get("warnings", ()), *single.get("warnings", ())])
            yield outcome(found.pod, single | {"warnings": list(told)})


def _with_job(job: dict[str, Any]) -> Inventory:
    """The cluster of the examples with that Job of Streams and the HostPools that it declares."""
    cluster = snapshot()
    reading = SnapshotLoader(cluster)
    reading.begin("")
    for document in (job, *pools_of(job)):
        reading.document(document)
    assert not reading.report().skipped
    return cluster


def _count(count: int, _workload: WorkloadRef) -> int:
    """How many pods the workload of the manifest wants, as the API server would tell the webhook."""
    return count


def outcome(pod: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """The response as it stands in a file: the patched pod, or the code and text of the refusal."""
    result: dict[str, Any] = {"warnings": response["warnings"]} if response.get("warnings") else {}
    if not response["allowed"]:
        status = response["status"]
        return {"refused": status["code"], "message": status["message"], **result}
    patch = json.loads(base64.b64decode(response["patch"])) if "patch" in response else []
    return {"admitted": jsonpatch.apply_patch(pod, patch), **result}


def write_examples() -> list[Path]:
    """Write every file of expected results; those that changed."""
    cluster = snapshot()
    changed = []
    for path in manifests():
        text = "---\n".join(map(as_yaml, results(path, cluster)))
        if not expected(path).exists() or expected(path).read_text() != text:
            expected(path).write_text(text)
            changed.append(expected(path))
    return changed
