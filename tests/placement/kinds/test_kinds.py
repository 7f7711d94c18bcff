"""Each kind of other operators: which pods its objects become, also in shapes that no manifest of the projects has."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.placement.kinds.expansion import application_document, assert_expanded
from tests.yaml_values import loaded
from tools.kinds import chart_name
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import expanded
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
