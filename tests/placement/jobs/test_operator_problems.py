"""What can be wrong with the operators, streams and parallel regions of a Job, in the words that its author reads."""

from typing import Any, Final

import msgspec
import pytest

from tests.fusion_jobs import problems_of
from webhook.placement.kube.size_limits import NESTING_LIMIT

BUNDLE: Final = {"name": "apps.A.sab"}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            {"operators": None, "streams": []}, "spec.streams: is stated without spec.operators", id="streams"
        ),
        pytest.param(
            {"operators": None, "parallelRegions": []},
            "spec.parallelRegions: is stated without spec.operators",
            id="regions",
        ),
        pytest.param(
            {"processingElements": []},
            "spec.operators: a Job states either operators or processingElements, which are fused already",
            id="both forms",
        ),
        pytest.param(
            {"operators": [{"name": f"O{at}"} for at in range(5001)]},
            "spec.operators: 5001 of them, at most 5000 are allowed",
            id="many operators",
        ),
        pytest.param(
            {"operators": [{"name": "a b"}]},
            'spec.operators[0].name: "a b" is not an operator name, such as Main.Sink',
            id="name of an operator",
        ),
        pytest.param({"operators": [{"name": ""}]}, "spec.operators[0].name: must not be empty", id="no name"),
        pytest.param(
            {"operators": [{"name": "A"}, {"name": "A"}]},
            'spec.operators[1].name: "A" is also spec.operators[0].name',
            id="one name twice",
        ),
        pytest.param(
            {"operators": [{"name": "A", "cost": "-1"}]},
            'spec.operators[0].cost: "-1" is not an amount of 0 or more',
            id="negative cost",
        ),
        pytest.param(
            {"operators": [{"name": "A", "memory": "much"}]},
            'spec.operators[0].memory: "much" is not an amount of 0 or more',
            id="no quantity",
        ),
        pytest.param(
            {"operators": [{"name": "A", "region": "work"}]},
            'spec.operators[0].region: the Job has no parallel region "work"',
            id="unknown region",
        ),
        pytest.param(
            {"operators": [{"name": "A", "placement": "hostExlocation(byChannel())"}]},
            "spec.operators[0].placement: byChannel() and byReplica() stand for a channel, and the operator is in no "
            "parallel region",
            id="channel outside a region",
        ),
        pytest.param(
            {"operators": [{"name": "A", "placement": "B: hostIsolation"}]},
            'spec.operators[0].placement: "B" is another operator: each has a placement of its own',
            id="another operator",
        ),
        pytest.param(
            {"streams": [{"from": "A", "to": "C"}]}, 'spec.streams[0].to: the Job has no operator "C"', id="loose end"
        ),
        pytest.param(
            {"streams": [{"from": "", "to": "A"}]}, "spec.streams[0].from: missing: a stream has two ends", id="one end"
        ),
        pytest.param(
            {"streams": [{"from": "A", "to": "A", "rate": -1}]}, "spec.streams[0].rate: -1 is less than 0", id="rate"
        ),
        pytest.param(
            {"parallelRegions": [{"name": "a b", "width": 2}]},
            'spec.parallelRegions[0].name: "a b" is not an identifier of SPL',
            id="name of a region",
        ),
        pytest.param(
            {"parallelRegions": [{"name": "r", "width": 5, "maxWidth": 4}]},
            "spec.parallelRegions[0].width: 5 is more than maxWidth, 4",
            id="too wide",
        ),
        pytest.param(
            {"parallelRegions": [{"name": "r", "width": 1, "within": "s"}]},
            'spec.parallelRegions[0].within: the Job has no parallel region "s"',
            id="unknown outer region",
        ),
        pytest.param(
            {"parallelRegions": [{"name": "r", "width": 1, "within": "r"}]},
            'spec.parallelRegions[0].within: parallel region "r" would be nested in itself',
            id="nested in itself",
        ),
        pytest.param(
            {"parallelRegions": [{"name": "r", "width": 1}, {"name": "r", "width": 1}]},
            'spec.parallelRegions[1].name: "r" is also spec.parallelRegions[0].name',
            id="one region twice",
        ),
        pytest.param(
            {"operators": [{"name": "A", "template": {"spec": {}}}]},
            "spec.operators[0].template.spec.containers: missing: a pod needs a container",
            id="template without a container",
        ),
        pytest.param(
            {"bundle": None},
            "spec.bundle: missing, and an operator has no template: the Streams runtime needs a bundle to run",
            id="no bundle",
        ),
    ],
)
def test_each_rule_that_a_model_breaks_has_a_problem_with_its_path(spec: dict[str, Any], expected: str) -> None:
    """Exactly one problem is said of each."""
    stated = {"bundle": BUNDLE, "operators": [{"name": "A"}, {"name": "B"}], **spec}
    assert problems_of(stated) == [expected]


def test_a_template_that_is_nested_too_deeply_is_refused() -> None:
    """It could not be handled."""
    template: dict[str, Any] = {}
    for _ in range(NESTING_LIMIT + 1):
        template = {"a": template}
    problems = problems_of({"operators": [{"name": "A", "template": template}]})
    assert len(problems) == 1
    assert problems[0].startswith("spec.operators[0].template: nested too deeply: at most ")


def test_copies_in_channels_count() -> None:
    """Two nested regions of 100 channels make 10,000 copies of one operator, and streams between them."""
    spec = {
        "bundle": BUNDLE,
        "operators": [{"name": "A", "region": "inner"}, {"name": "B", "region": "outer"}],
        "streams": [{"from": "A", "to": "B"}, {"from": "B", "to": "A"}, {"from": "A", "to": "A"}],
        "parallelRegions": [{"name": "outer", "width": 100}, {"name": "inner", "width": 100, "within": "outer"}],
    }
    assert problems_of(spec) == [
        "spec.operators: 10100 of them in all channels, at most 5000 are allowed",
        "spec.streams: 30000 of them in all channels, at most 20000 are allowed",
    ]


def test_a_model_with_every_field_is_read() -> None:
    """All fields together break no rule, and numbers of a size are kept."""
    spec = {
        "bundle": BUNDLE,
        "operators": [
            {
                "name": "A",
                "placement": 'partitionColocation("t" + byChannel())',
                "restartable": False,
                "relocatable": False,
                "threaded": True,
                "cost": "400m",
                "memory": "256Mi",
                "region": "work",
            },
            {"name": "B", "template": {"spec": {"containers": [{"name": "main"}]}}},
        ],
        "streams": [{"from": "A", "to": "B", "rate": 10**15}],
        "parallelRegions": [{"name": "work", "width": 2, "maxWidth": 4}],
    }
    assert problems_of(spec) == []
    assert msgspec.json.decode(msgspec.json.encode(spec)) == spec


def test_a_token_with_a_mistake_beside_a_channel_is_refused() -> None:
    """The escape is what is said of it, not the call."""
    spec = {
        "bundle": BUNDLE,
        "operators": [{"name": "A", "region": "r", "placement": 'partitionColocation("\\x" + byChannel())'}],
        "parallelRegions": [{"name": "r", "width": 2}],
    }
    (problem,) = problems_of(spec)
    assert problem.startswith("spec.operators[0].placement: ")


def test_names_of_elements_have_room_for_an_index() -> None:
    """The controller names the elements."""
    name = "a" * 60
    assert problems_of({"bundle": BUNDLE, "operators": [{"name": "A"}]}, name) == [
        (
            f'metadata.name: "{name}" has 60 characters: the Job\'s processing elements are named <job>-<index>, '
            "so at most 59 are allowed"
        )
    ]
