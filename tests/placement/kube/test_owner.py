"""Which workload a pod is a replica of."""

from typing import Any

import msgspec
import pytest

from webhook.cluster.objects import wire
from webhook.placement.kube.owner import owner_of, owners_of


def owned(*owners: dict[str, Any], **labels: str) -> str:
    """The workload of a pod with these owners and labels."""
    metadata = {"name": "p", "labels": labels, "ownerReferences": [*owners]}
    stated = msgspec.convert(metadata, wire.ObjectMetadata)
    return owner_of(stated.owner_references, stated.labels)


def by(kind: str, name: str, *, controller: bool | None = True) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "u", "controller": controller}


HASH = {"pod-template-hash": "5d4f8c7b9"}


@pytest.mark.parametrize(
    ("owner", "labels", "expected"),
    [
        pytest.param(by("StatefulSet", "w"), {}, "StatefulSet/w", id="StatefulSet"),
        pytest.param(by("Job", "w-29391840"), {}, "Job/w-29391840", id="Job"),
        pytest.param(by("ReplicaSet", "w-5d4f8c7b9"), HASH, "Deployment/w", id="ReplicaSet of a Deployment"),
        pytest.param(by("ReplicaSet", "a-5d4f8c7b9-5d4f8c7b9"), HASH, "Deployment/a-5d4f8c7b9", id="hash in a name"),
        pytest.param(by("ReplicaSet", "w-5d4f8c7b9"), {}, "ReplicaSet/w-5d4f8c7b9", id="ReplicaSet without a hash"),
        pytest.param(
            by("ReplicaSet", "w-"), {"pod-template-hash": ""}, "ReplicaSet/w-", id="ReplicaSet with an empty hash"
        ),
        pytest.param(by("ReplicaSet", "w"), HASH, "ReplicaSet/w", id="ReplicaSet of another name"),
        pytest.param(by("StatefulSet", "w-5d4f8c7b9"), HASH, "StatefulSet/w-5d4f8c7b9", id="hash on another kind"),
        pytest.param(by("ReplicaSet", "w", controller=False), {}, "", id="owner that does not control"),
        pytest.param(by("ReplicaSet", "w", controller=None), {}, "", id="owner that does not say so"),
    ],
)
def test_the_controller_and_its_name_tell(owner: dict[str, Any], labels: dict[str, str], expected: str) -> None:
    assert owned(owner, **labels) == expected


def test_of_several_owners_the_controller_counts() -> None:
    assert owned(by("ConfigMap", "c", controller=False), by("StatefulSet", "w")) == "StatefulSet/w"


def test_a_pod_without_an_owner_is_its_own() -> None:
    assert owned() == ""


def test_metadata_that_says_nothing_tells_nothing() -> None:
    assert owner_of(None, None) == ""


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        pytest.param("Job/w-29391840", ["Job/w-29391840", "CronJob/w"], id="run of a CronJob"),
        pytest.param("Job/w", ["Job/w"], id="Job"),
        pytest.param("StatefulSet/w-1", ["StatefulSet/w-1"], id="StatefulSet"),
    ],
)
def test_a_run_belongs_to_its_cron_job_too(owner: str, expected: list[str]) -> None:
    assert list(owners_of(owner)) == expected
