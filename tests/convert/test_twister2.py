"""Configurations of Twister2 become StatefulSets with annotations."""

from typing import Any

import pytest

from tests.convert.converted_texts import converted, refusals, remarks

PREFIX = "streams.ibm.com/kubernetes."
MAPPED = """\
kubernetes.worker.to.node.mapping: true
twister2.resource.kubernetes.worker.mapping.key: disktype
kubernetes.worker.mapping.operator: In
kubernetes.worker.mapping.values: [ssd, 'n v']
kubernetes.worker.mapping.uniform: ALL-SAME-NODE
"""


def template(text: str) -> dict[str, Any]:
    """The pod template of the only StatefulSet."""
    found = converted(text, "twister2")
    assert found.problems == ()
    (manifest,) = found.manifests
    pod: dict[str, Any] = manifest["spec"]["template"]
    return pod


def resources(text: str) -> str:
    return f"twister2.resource.worker.compute.resources:\n- {text}\n"


def test_parameters_are_annotations_of_the_same_name() -> None:
    found = template(MAPPED.replace("'n v'", "nvme"))
    assert found["metadata"] == {
        "labels": {"app": "in", "streams.ibm.com/job": "in"},
        "annotations": {
            f"{PREFIX}worker.to.node.mapping": "true",
            f"{PREFIX}worker.mapping.key": "disktype",
            f"{PREFIX}worker.mapping.operator": "In",
            f"{PREFIX}worker.mapping.values": "[ssd, nvme]",
            f"{PREFIX}worker.mapping.uniform": "all-same-node",
        },
    }


def test_parameters_may_be_nested_and_in_several_documents() -> None:
    text = "kubernetes:\n  worker:\n    mapping:\n      uniform: none\n---\nkubernetes.bind.worker.to.cpu: false\n"
    assert template(text)["metadata"]["annotations"] == {
        f"{PREFIX}worker.mapping.uniform": "none",
        f"{PREFIX}bind.worker.to.cpu": "false",
    }


def test_a_job_has_a_stateful_set_for_each_of_its_resources() -> None:
    text = (
        'twister2.resource.job.name: "T2_Job"\nkubernetes.namespace: edge\nkubernetes.image.pull.policy: Always\n'
        "twister2.resource.kubernetes.docker.image: img:1\n"
    ) + resources("{cpu: 0.5, ram: 1024, disk: 1.5, instances: 4}\n- {cpu: 2, ram: 0, scalable: true}")
    first, second = converted(text, "twister2").manifests
    assert first == {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "t2-job", "namespace": "edge"},
        "spec": {
            "replicas": 4,
            "serviceName": "t2-job",
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": "t2-job"}},
            "template": {
                "metadata": {"labels": {"app": "t2-job", "streams.ibm.com/job": "t2-job"}},
                "spec": {
                    "containers": [
                        {
                            "name": "worker",
                            "image": "img:1",
                            "imagePullPolicy": "Always",
                            "resources": {"requests": {"cpu": "0.5", "memory": "1024Mi", "ephemeral-storage": "1.5Gi"}},
                        }
                    ]
                },
            },
        },
    }
    assert second["metadata"]["name"] == "t2-job-1"
    assert second["spec"]["template"]["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "2"}}
    assert remarks(converted(text, "twister2")) == [
        (
            "in:6: the disk is a request for ephemeral-storage: Twister2 mounts a volume of that size; "
            "mount a volume if it is to last"
        ),
        "in:7: scalable is left out: a StatefulSet can always be scaled; use kubectl scale",
    ]


def test_workers_that_are_bound_have_limits() -> None:
    found = template("kubernetes.bind.worker.to.cpu: TRUE\n" + resources("{cpu: 2, ram: 512, workersPerPod: 2}"))
    amounts = {"cpu": "2", "memory": "512Mi"}
    assert [one["name"] for one in found["spec"]["containers"]] == ["worker", "worker-1"]
    assert [one["resources"] for one in found["spec"]["containers"]] == [{"requests": amounts, "limits": amounts}] * 2
    assert found["metadata"]["annotations"] == {
        f"{PREFIX}bind.worker.to.cpu": "true",
        "streams.ibm.com/container": "worker",
    }


def test_what_is_assumed_or_left_out_is_noted() -> None:
    text = (
        "twister2.resource.rack.labey.key: rack\nkubernetes.worker.base.port: 1\nkubernetes.bind.worker.to.cpu: false\n"
    )
    assert remarks(converted(text, "twister2")) == [
        (
            "in:1: twister2.resource.rack.labey.key is left out: workers learn from the cluster where their nodes are; "
            "label the nodes topology.kubernetes.io/rack and zone"
        ),
        (
            "in:2: kubernetes.worker.base.port is left out: it says nothing about where workers run; "
            "give it to the program in the container"
        ),
        (
            "in:3: the image twister2/twister2-k8s: the configuration does not say "
            "twister2.resource.kubernetes.docker.image; write yours, or use --onto WORKLOAD"
        ),
        (
            "in:3: one worker without resources: the configuration does not say "
            "twister2.resource.worker.compute.resources; write yours, or use --onto WORKLOAD"
        ),
    ]


def test_a_parameter_that_is_like_none_is_noted() -> None:
    name = f"kubernetes.worker.{'x' * 64}"
    assert f"in:1: {name} is left out" in remarks(converted(f"{name}: 1", "twister2"))[0]


def test_several_workers_in_a_pod_are_noted() -> None:
    text = "twister2.resource.kubernetes.docker.image: a\n" + resources("{cpu: 1, workersPerPod: 2}")
    assert remarks(converted(text, "twister2")) == [
        (
            "in:3: 2 workers in a pod are as many containers: mapping places pods, and each of them has this many "
            "workers; "
            "binding gives cores to the container worker only: for binding have one worker in a pod"
        )
    ]


def test_properties_are_read_too() -> None:
    text = "# all\nkubernetes.worker.to.node.mapping=true\nkubernetes.worker.mapping.key=gpu\n"
    found = template(f"{text}kubernetes.worker.mapping.operator=Exists")
    assert found["metadata"]["annotations"][f"{PREFIX}worker.mapping.operator"] == "Exists"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (MAPPED, [
            ("in:4: kubernetes.worker.mapping.values: \"n v\" is not a label value: at most 63 letters, digits, '-', "
            "'_' "
            "or '.', with a letter or digit at both ends")
        ]),
        ("kubernetes.worker.to.node.mapping: true\nkubernetes.worker.mapping.operator: in\n", [
            ("in:1: kubernetes.worker.mapping.key: missing: worker mapping needs the key of a node label, such as "
            "kubernetes.io/hostname"),
            'in:2: kubernetes.worker.mapping.operator: unknown operator "in" (did you mean In?)',
        ]),
        (("kubernetes.worker.to.node.mapping: perhaps\nkubernetes.worker.mapping.key: a\n"
         "kubernetes.worker.mapping.operator: Exists\n"), [
            'in:1: kubernetes.worker.to.node.mapping: "perhaps" is neither true nor false'
        ]),
        ("kubernetes.worker.mapping.uniform: all-same-nodes\n", [
            ('in:1: kubernetes.worker.mapping.uniform: unknown uniform mapping "all-same-nodes" '
            "(did you mean all-same-node?)")
        ]),
        ("kubernetes.worker.maping.key: a\n", [
            'in:1: unknown parameter "kubernetes.worker.maping.key" (did you mean kubernetes.worker.mapping.key?)'
        ]),
        ("kubernetes.worker.mapping.key: a\ntwister2.resource.kubernetes.worker.mapping.key: a\n", [
            ('in:2: "twister2.resource.kubernetes.worker.mapping.key" and "kubernetes.worker.mapping.key" are the same '
            "parameter")
        ]),
        ("kubernetes.worker.mapping.key: [a]\n", ['in:1: "kubernetes.worker.mapping.key" must be one word']),
        ("kubernetes.worker.mapping.values: [[a]]\n", [
            'in:1: "kubernetes.worker.mapping.values" must be a list of words'
        ]),
        ("a: {b: 1}\na.b: 2\n", ['in:2: "a.b" occurs twice, first in line 1']),
        ("[a]\n", ["in:1: a configuration of Twister2 has parameters, such as kubernetes.namespace: test"]),
        ("kubernetes.namespace: a b\n", ["in:1: \"a b\" is not a namespace name: a-z, 0-9 and '-'"]),
        ("kubernetes.namespace: a..b\n", ["in:1: \"a..b\" is not a namespace name: a-z, 0-9 and '-'"]),
        ("kubernetes.namespace: a.b\n", ["in:1: \"a.b\" is not a namespace name: a-z, 0-9 and '-'"]),
        ("kubernetes.namespace: [a]\n", ['in:1: "kubernetes.namespace" must be one word']),
        ("twister2.resource.worker.compute.resources: 4\n", [
            ("in:1: twister2.resource.worker.compute.resources must be a list, such as "
            "[{cpu: 1, ram: 1024, instances: 4}]")
        ]),
        (resources("4"), ["in:2: must be an entry such as {cpu: 1, ram: 1024, disk: 1.0, instances: 4}"]),
        (resources("{cpus: 4}"), ['in:2: unknown field "cpus" (did you mean cpu?)']),
        (resources("{gizmo: 4}"), ['in:2: unknown field "gizmo"']),
        (resources("{cpu: many}"), ['in:2: cpu is "many", which is not an amount']),
        (resources("{ram: 1Gi}"), ['in:2: ram is "1Gi", which is not an amount']),
        (resources("{cpu: -1}"), ['in:2: cpu is "-1", which is not an amount']),
        (resources("{instances: 0}"), ['in:2: instances is "0", which is not a whole number from 1 to 100000']),
        (resources("{workersPerPod: 65}"), ['in:2: workersPerPod is "65", which is not a whole number from 1 to 64']),
        (resources("{cpu: 1.5}") + "kubernetes.bind.worker.to.cpu: true\n", [
            'in:2: cpu "1.5" is not a whole number, and workers that are bound have whole cores'
        ]),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_at_its_line(text: str, found: list[str]) -> None:
    assert refusals(text, "twister2") == found


def test_a_mapping_that_is_off_is_kept_as_it_is() -> None:
    found = template("kubernetes.worker.to.node.mapping: false\nkubernetes.worker.mapping.operator: whatever\n")
    assert found["metadata"]["annotations"] == {
        f"{PREFIX}worker.to.node.mapping": "false",
        f"{PREFIX}worker.mapping.operator": "whatever",
    }


def test_a_worker_without_parameters_has_no_annotations() -> None:
    assert template(resources("{cpu: 1}"))["metadata"] == {"labels": {"app": "in", "streams.ibm.com/job": "in"}}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('twister2.resource.desired_nodes: "149.165.150.1,149.165.150.2"', "149.165.150.1,149.165.150.2"),
        ("twister2.resource.desired_nodes: [a, b]", "a, b"),
        ('twister2.desired_nodes: "a"', "a"),
        ("twister2:\n  resource:\n    desired_nodes: a", "a"),
        ("twister2.resource.scheduler.mpi.nodes.file: conf/nodes", "conf/nodes"),
        ("twister2.resource.scheduler.slurm.partition: juliet", "juliet"),
    ],
)
def test_a_list_of_hosts_is_lost(text: str, what: str) -> None:
    found = converted(f"kubernetes.namespace: a\n{text}", "twister2")
    (lost,) = [remark for remark in found.remarks if remark.demand]
    assert lost.what.endswith(f" {what} is left out")
    assert (lost.why, lost.instead) == (
        "worker mapping selects nodes by their labels",
        "label these nodes, and map the workers to the label",
    )


def test_all_hosts_are_no_demand() -> None:
    found = converted("twister2.resource.desired_nodes: all", "twister2")
    assert remarks(found)[0] == (
        "in:1: twister2.resource.desired_nodes is left out: it allows every host; nothing is missing"
    )
