"""Each kind of other operators: which pods its objects become, also in shapes that no manifest of the projects has."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.placement.kinds.expansion import application_document, assert_expanded
from tests.yaml_values import loaded
from tools.kinds import chart_name
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import OperatorApplication, expanded
from webhook.placement.kinds.kind import OperatorKind

KINDS: Final = {chart_name(kind): kind for kind in application_kinds().values()}
CASES: Final = [
    pytest.param(KINDS[path.stem], case, id=f"{path.stem}: {case['from']}")
    for path in sorted((Path(__file__).parent / "cases").iterdir())
    for case in loaded(path.read_text())
]


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_an_object_becomes_the_pods_that_its_operator_makes(kind: OperatorKind, case: dict[str, Any]) -> None:
    assert_expanded(expanded(kind, application_document(kind, case), case.get("runtime")), case)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_cases(name: str) -> None:
    assert (Path(__file__).parent / "cases" / f"{name}.yaml").exists()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            {"kafka": {"replicas": 3}, "zookeeper": {"replicas": 3}},
            (
                "spec.kafka.replicas makes brokers where there are no KafkaNodePools, which were not judged",
                "spec.zookeeper makes pods of ZooKeeper, which were not judged",
            ),
        ),
        (
            {"kafka": {"template": {"pod": {"metadata": {"annotations": {"streams.ibm.com/placement": "x"}}}}}},
            (
                (
                    "spec.kafka.template.pod.metadata is for brokers, which were not judged: write placement into "
                    "spec.template.pod.metadata of each KafkaNodePool"
                ),
            ),
        ),
        ({"kafka": {"config": {}}}, ()),
    ],
    ids=["without pools", "a template for brokers", "pools have the brokers"],
)
def test_brokers_that_a_kafka_describes_itself_are_not_judged(spec: dict[str, Any], said: tuple[str, ...]) -> None:
    application = expanded(KINDS["Kafka"], {"kind": "Kafka", "metadata": {"name": "events"}, "spec": spec})
    assert (application.components, application.not_judged) == ((), said)
    assert application.asks is ("template" in spec["kafka"])


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            {"type": "ExclusiveSlice", "topology": "topology.kubernetes.io/zone"},
            (
                (
                    "spec.placementPolicy.type keeps the pods of a slice in one topology domain and other slices out "
                    "of it, which was not judged"
                ),
            ),
        ),
        ({"type": "None"}, ()),
        ({}, ()),
    ],
    ids=["one domain", "none", "absent"],
)
def test_topology_domains_of_slices_are_not_judged(policy: dict[str, Any], said: tuple[str, ...]) -> None:
    template = {"workerTemplate": {"spec": {"containers": [{"name": "main"}]}}}
    spec = {"placementPolicy": policy, "roles": [{"name": "decode", "spec": {"leaderWorkerTemplate": template}}]}
    document = {"kind": "DisaggregatedSet", "metadata": {"name": "chat"}, "spec": spec}
    application = expanded(KINDS["DisaggregatedSet"], document)
    assert [one.name for one in application.components] == ["leader decode"]
    assert application.not_judged == said


def test_pods_of_a_volcano_job_have_its_priority_and_its_scheduler_unless_they_say_other_ones() -> None:
    """Source: ``createJobPod`` of Volcano's ``job_controller_util.go``."""
    own = {"priorityClassName": "high", "schedulerName": "other", "containers": [{"name": "a"}]}
    tasks = [
        {"name": "plain", "replicas": 1, "template": {"spec": {"containers": [{"name": "a"}]}}},
        {"name": "own", "replicas": 1, "template": {"spec": own}},
    ]
    spec = {"priorityClassName": "low", "schedulerName": "volcano", "tasks": tasks}
    application = expanded(KINDS["VolcanoJob"], {"kind": "Job", "metadata": {"name": "v"}, "spec": spec})
    fields = ("priorityClassName", "schedulerName")
    assert [[one.pod["spec"].get(field) for field in fields] for one in application.components] == [
        ["low", "volcano"], ["high", "other"],
    ]  # fmt: skip
    unsaid = expanded(KINDS["VolcanoJob"], {"kind": "Job", "metadata": {"name": "v"}, "spec": {"tasks": tasks[:1]}})
    assert unsaid.components[0].pod["spec"] == {"containers": [{"name": "a"}]}


@pytest.mark.parametrize(
    ("volumes", "claims"),
    [
        (None, []),
        ([], []),
        (
            [{"mountPath": "/a", "volumeClaimName": "data"}, {"mountPath": "/b", "volumeClaimName": "more"}],
            ["data", "more"],
        ),
        (
            [{"mountPath": "/a", "volumeClaimName": "made", "volumeClaim": {}}, {"mountPath": "/b", "volumeClaim": {}}],
            [],
        ),
        ([{"mountPath": "/a"}, {"volumeClaimName": 7}, "data"], []),
    ],
    ids=["absent", "none", "two", "made by the controller", "without a name"],
)
def test_pods_of_a_volcano_job_mount_its_claims(volumes: object, claims: list[str]) -> None:
    """Source: ``createJobPod`` of Volcano's ``job_controller_util.go``."""
    own = {"name": "own", "emptyDir": {}}
    task = {"name": "t", "replicas": 1, "template": {"spec": {"containers": [{"name": "a"}], "volumes": [own]}}}
    document = {"kind": "Job", "metadata": {"name": "v"}, "spec": {"volumes": volumes, "tasks": [task]}}
    [component] = expanded(KINDS["VolcanoJob"], document).components
    first, *mounted = component.pod["spec"]["volumes"]
    assert first == own
    assert [one["persistentVolumeClaim"]["claimName"] for one in mounted] == claims
    assert len({one["name"] for one in mounted}) == len(claims)


@pytest.mark.parametrize(
    ("options", "claims"),
    [
        ({"backend": "rocksdb", "storage": {"claimName": "gcs"}}, ["gcs"]),
        ({"backend": "rocksdb", "storage": {"size": "1Gi"}}, None),
        ({"backend": "redis", "storage": {"claimName": "gcs"}}, None),
    ],
    ids=["a claim of the user", "a claim that KubeRay makes", "no claim"],
)
def test_the_head_of_a_ray_cluster_mounts_the_claim_of_its_store(options: Any, claims: list[str] | None) -> None:
    """Source: ``configureEmbeddedFT`` of KubeRay v1.7's ``pod.go``."""
    template = {"spec": {"containers": [{"name": "a"}]}}
    groups = [{"groupName": "g", "replicas": 1, "template": template}]
    spec = {"gcsFaultToleranceOptions": options, "headGroupSpec": {"template": template}, "workerGroupSpecs": groups}
    head, worker = expanded(KINDS["RayCluster"], {"metadata": {"name": "r"}, "spec": spec}).components
    volumes = head.pod["spec"].get("volumes")
    assert (volumes and [one["persistentVolumeClaim"]["claimName"] for one in volumes]) == claims
    assert "volumes" not in worker.pod["spec"]


@pytest.mark.parametrize(
    ("topology", "said"),
    [
        (
            {"highestTierAllowed": 1},
            ("spec.networkTopology.mode keeps the pods in one part of the network, which was not judged",),
        ),
        (
            {"mode": "hard"},
            ("spec.networkTopology.mode keeps the pods in one part of the network, which was not judged",),
        ),
        ({"mode": "soft", "highestTierAllowed": 1}, ()),
        (None, ()),
    ],
    ids=["hard by default", "hard", "soft", "absent"],
)
def test_network_topologies_of_volcano_are_not_judged(topology: Any, said: tuple[str, ...]) -> None:
    """Source: ``NetworkTopologySpec`` of Volcano, whose mode is hard by default."""
    task = {"name": "a", "replicas": 2, "template": {"spec": {"containers": [{"name": "main"}]}}}
    spec = {"tasks": [task], **({"networkTopology": topology} if topology else {})}
    application = expanded(KINDS["VolcanoJob"], {"metadata": {"name": "v"}, "spec": spec})
    assert ([one.count for one in application.components], application.not_judged) == ([2], said)


MANAGERS: Final = {
    "JobSet": ("spec.managedBy", ("jobset.sigs.k8s.io/jobset-controller",)),
    "MPIJob": ("spec.runPolicy.managedBy", ("kubeflow.org/mpi-operator", "kubeflow.org/training-operator")),
    "PyTorchJob": ("spec.runPolicy.managedBy", ("kubeflow.org/training-operator",)),
    "RayCluster": ("spec.managedBy", ("ray.io/kuberay-operator",)),
    "RayCronJob": ("spec.jobTemplate.managedBy", ("ray.io/kuberay-operator",)),
    "RayJob": ("spec.managedBy", ("ray.io/kuberay-operator",)),
    "RayService": ("spec.managedBy", ("ray.io/kuberay-operator",)),
    "TrainJob": ("spec.managedBy", ("trainer.kubeflow.org/trainjob-controller",)),
}
"""Where objects name their controller, and the names of the operators, by the types of their projects in Go."""


def managed(name: str, manager: object) -> OperatorApplication:
    """The first case of the kind that has pods, with that controller."""
    cases = loaded((Path(__file__).parent / "cases" / f"{name}.yaml").read_text())
    case = next(one for one in cases if one["pods"])
    document = application_document(KINDS[name], case)
    place: dict[str, Any] = document
    *steps, last = MANAGERS[name][0].split(".")
    for step in steps:
        place = place.setdefault(step, {})
    place[last] = manager
    document["metadata"]["annotations"] = {"streams.ibm.com/placement": 'host("a")'}
    return expanded(KINDS[name], document, case.get("runtime"))


def test_all_kinds_whose_objects_name_a_controller_are_known() -> None:
    assert MANAGERS.keys() == {name for name, kind in KINDS.items() if kind.managed_by}


@pytest.mark.parametrize("name", MANAGERS)
def test_pods_that_another_controller_creates_are_not_judged(name: str) -> None:
    application = managed(name, "kueue.x-k8s.io/multikueue")
    said = (
        f"{MANAGERS[name][0]} is kueue.x-k8s.io/multikueue: another controller creates the pods, which were not judged"
    )
    assert (application.components, application.not_judged, application.asks) == ((), (said,), True)


@pytest.mark.parametrize("name", MANAGERS)
def test_the_operator_itself_may_be_named(name: str) -> None:
    for manager in (*MANAGERS[name][1], "", None, 7):
        application = managed(name, manager)
        assert application.components
        assert not application.not_judged
