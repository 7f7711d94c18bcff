"""What users may write for an object."""

from collections.abc import Callable
from typing import Any

import pytest

from webhook.cli.exits import WrongUse
from webhook.cli.why.targets import TYPES, target_of
from webhook.cluster.crds.definitions import (
    hostpool_definition,
    job_definition,
    parallelregion_definition,
    processingelement_definition,
)

PATHS = {
    ("stpr", "web"): "/apis/streams.ibm.com/v1/namespaces/team/streamsparallelregions/web",
    ("web",): "/api/v1/namespaces/team/pods/web",
    ("pod/web",): "/api/v1/namespaces/team/pods/web",
    ("Deployments.apps", "web"): "/apis/apps/v1/namespaces/team/deployments/web",
    ("sts/web",): "/apis/apps/v1/namespaces/team/statefulsets/web",
    ("job/web",): "/apis/batch/v1/namespaces/team/jobs/web",
    ("streamsjob/web",): "/apis/streams.ibm.com/v1/namespaces/team/streamsjobs/web",
    ("hostpool/web",): "/apis/streams.ibm.com/v1/namespaces/team/streamshostpools/web",
    ("rayclusters/web",): "/apis/ray.io/v1/namespaces/team/rayclusters/web",
    ("jobs.batch.volcano.sh", "web"): "/apis/batch.volcano.sh/v1/namespaces/team/jobs/web",
    ("sthp", "web"): "/apis/streams.ibm.com/v1/namespaces/team/streamshostpools/web",
}

WRONG = {
    ("deploymen/web",): '"deploymen" is not a supported kind of object, did you mean deployment?',
    ("zzz", "web"): (
        '"zzz" is not a supported kind of object: pod, deployment, statefulset, hostpool, streamsjob and others'
    ),
    ("pod/a", "pod/b"): "one object at a time: pod/a",
    ("pod/",): "\"\" is not an object name: use a-z, 0-9, '-' and '.'",
    ("Web",): "\"Web\" is not an object name: use a-z, 0-9, '-' and '.'",
    ("hostpool/MyPool",): (
        "\"MyPool\" is not an object name: use a-z, 0-9, '-' and '.'; for a HostPool that is its metadata.name, not "
        "the spec.name by which pods ask for it"
    ),
    ("pod", "a", "b"): "one object at a time: pod a",
}


@pytest.mark.parametrize("words", PATHS)
def test_objects_are_named_as_for_kubectl(words: tuple[str, ...]) -> None:
    assert target_of(words, "team").path == PATHS[words]


def test_a_kind_that_is_not_served_in_v1_has_other_paths() -> None:
    first, second = target_of(("jobset/web",), "team").paths
    assert first == "/apis/jobset.x-k8s.io/v1/namespaces/team/jobsets/web"
    assert second == "/apis/jobset.x-k8s.io/v1alpha2/namespaces/team/jobsets/web"


@pytest.mark.parametrize("words", WRONG)
def test_other_words_are_wrong_use(words: tuple[str, ...]) -> None:
    with pytest.raises(WrongUse) as wrong:
        target_of(words, "team")
    assert str(wrong.value) == WRONG[words]


def test_every_word_is_lower_case() -> None:
    assert all(word == word.lower() for word in TYPES)


@pytest.mark.parametrize(
    "define", [hostpool_definition, job_definition, parallelregion_definition, processingelement_definition]
)
def test_every_name_that_kubectl_has_for_our_kinds_will_do(define: Callable[[], dict[str, Any]]) -> None:
    names = define()["spec"]["names"]
    called = [names["plural"], names["singular"], *names["shortNames"]]
    assert {TYPES[word].name for word in called} == {names["kind"]}
