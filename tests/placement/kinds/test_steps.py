"""Templates of Argo Workflows: which make pods, at most how many at a time, and what is not known of them."""

from typing import Any, Final

import pytest

from tests.work import Work, excess
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import INSTANCES, ComponentPods, OperatorApplication, expanded
from webhook.placement.kinds.references import says_something
from webhook.placement.kinds.steps import CALLS, DEPTH, SHARED, called_templates

WORKFLOW: Final = application_kinds()["argoproj.io", "Workflow"]
LEAF: Final = {"name": "leaf", "container": {"image": "i"}}
ASKS: Final = {"annotations": {"streams.ibm.com/placement": 'host("a")'}}


def workflow(*templates: object, **spec: Any) -> OperatorApplication:
    found = {"entrypoint": "main", "templates": [*templates], **spec}
    document = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "w"}, "spec": found}
    return expanded(WORKFLOW, document)


def steps(*groups: object, name: str = "main", **fields: Any) -> dict[str, Any]:
    return {"name": name, "steps": [*groups], **fields}


def tasks(*listed: object, name: str = "main", **fields: Any) -> dict[str, Any]:
    return {"name": name, "dag": {"tasks": [*listed]}, **fields}


def most(*templates: object, **spec: Any) -> dict[str, int]:
    return {one.name.removeprefix("template "): one.most for one in workflow(*templates, **spec).components}


def call(template: str = "leaf", name: object = "x", **fields: Any) -> dict[str, Any]:
    return {"name": name, "template": template, **fields}


def pod(*templates: object, **spec: Any) -> dict[str, Any]:
    [component] = workflow(*templates, **spec).components
    found: dict[str, Any] = component.pod
    return found


@pytest.mark.parametrize(
    ("step", "times"),
    [
        (call(), 1),
        (call(withItems=[1, 2, 3]), 3),
        (call(withItems=[]), 1),
        (call(withParam='["a", "b"]'), 2),
        (call(withParam='{"a": 1}'), 1),
        (call(withParam="{{tasks.list.outputs.result}}"), 1),
        (call(withParam="[" * 10_000), 1),
        (call(withSequence={"count": 4}), 4),
        (call(withSequence={"start": 2}), 1),
        (call(withSequence={"end": "3"}), 4),
        (call(withSequence={"count": "-1"}), 0),
        (call(withSequence={"count": "{{workflow.parameters.count}}"}), 1),
        (call(hooks={"running": {"template": "leaf"}}, onExit="leaf"), 3),
        (call(hooks={"running": {"template": 7}}, onExit="nothing"), 1),
    ],
)
def test_a_step_makes_as_many_pods_as_it_says(step: dict[str, Any], times: int) -> None:
    assert most(steps([step]), LEAF) == {"leaf": max(times, 1)}


def test_parallelism_limits_what_is_called_and_nothing_below_it() -> None:
    """Source: ``getActiveChildrenCounter`` of Argo's ``node_counters.go``, which counts pods, steps and DAGs."""
    inner = steps([call(withItems=[1, 2, 3])], name="inner")
    assert most(steps([call(withItems=[1, 2, 3])], parallelism=2), LEAF) == {"leaf": 2}
    assert most(steps([call(), call(), call()], parallelism=2), LEAF) == {"leaf": 2}
    assert most(tasks(*(call(name=name) for name in "abc"), parallelism=2), LEAF) == {"leaf": 2}
    assert most(steps([call("inner", withItems=[1, 2, 3])], parallelism=2), inner, LEAF) == {"leaf": 6}
    assert most(steps([call("inner"), call("inner"), call("inner")], parallelism=2), inner, LEAF) == {"leaf": 6}
    assert most(tasks(*(call("inner", name=name) for name in "abc"), parallelism=2), inner, LEAF) == {"leaf": 6}
    assert most(steps([call("inner"), call()], parallelism=1), inner, LEAF) == {"leaf": 3}
    assert most(steps([call("inner", withItems=[1, 2, 3])]), inner, LEAF, parallelism=5) == {"leaf": 5}
    assert most(steps([call(withParam="{{x}}")], parallelism=4), LEAF) == {"leaf": 4}
    assert most(steps([call(withItems=[1, 2])], parallelism=0), LEAF) == {"leaf": 2}


def test_daemons_run_beside_what_comes_later() -> None:
    daemon = {**LEAF, "daemon": True}
    assert most(steps([call()], [call()]), daemon) == {"leaf": 2}
    assert most(tasks(call(name="a"), call(name="b", dependencies=["a"])), daemon) == {"leaf": 2}
    assert most(tasks(call(name="a"), call(name="b", dependencies=["a"])), LEAF) == {"leaf": 1}


@pytest.mark.parametrize(
    ("listed", "times"),
    [
        ([call(name="a"), call(name="b", depends="a.Succeeded || c-d.Failed"), call(name="c-d")], 2),
        ([call(name="a", depends="b"), call(name="b", depends="a")], 2),
        ([call(name="a"), call(name="b", depends="a"), call(name="c", depends="b"), call(name="d", depends="a")], 2),
        ([call(name=7), call(name="b", dependencies="a", depends=None)], 2),
        ([call(name="a", onExit="leaf"), call(name="b", depends="a")], 2),
    ],
)
def test_tasks_that_depend_on_one_another_do_not_run_at_a_time(listed: list[object], times: int) -> None:
    assert most(tasks(*listed), LEAF) == {"leaf": times}


def test_templates_that_make_no_pods_are_passed_over() -> None:
    others = [{"name": "s", "suspend": {}}, {"name": "h", "http": {}}, {"name": "n"}, {"name": 7}, 7]
    assert most(steps([call(name) for name in ("s", "h", "n")], 7, [7]), *others) == {}
    assert most(steps([call()]), LEAF, entrypoint=None, hooks={"exit": {"template": "leaf"}}) == {"leaf": 1}
    assert most(LEAF, entrypoint="nothing") == {}
    assert most({"name": "main", "dag": 7}) == {}


def test_a_template_has_the_rules_of_the_one_that_calls_it() -> None:
    north, south = ({"nodeSelector": {"zone": zone}} for zone in ("n", "s"))
    callers = [steps([call()], name=name, **own) for name, own in (("a", north), ("b", south), ("c", south))]
    found = workflow(steps([call("a"), call("b"), call("c")]), *callers, LEAF).components
    assert [one.pod["spec"].get("nodeSelector") for one in found] == [{"zone": "n"}, {"zone": "s"}]
    assert pod(steps([call()], **north), {**LEAF, "nodeSelector": {"zone": "x"}})["spec"]["nodeSelector"] == {
        "zone": "x"
    }
    assert pod(steps([call()]), LEAF, nodeSelector={"zone": "w"})["spec"]["nodeSelector"] == {"zone": "w"}
    empty = {**LEAF, "nodeSelector": {}, "tolerations": []}
    calling = steps([call()], nodeSelector={"zone": "s"}, tolerations=[])
    found_spec = pod(calling, empty, tolerations=[{"key": "w"}])["spec"]
    assert (found_spec["nodeSelector"], found_spec["tolerations"]) == ({"zone": "s"}, [{"key": "w"}])


def test_the_pod_has_what_the_controller_gives_it() -> None:
    volumes = [{"name": "data"}, {"name": "unused"}, 7]
    container = {"name": "c", "resources": {"requests": {"cpu": 1}}, "volumeMounts": [{"name": "data"}]}
    own = {"labels": {"a": "2"}, "annotations": {"b": "2"}}
    found = pod(
        {"name": "main", "metadata": own, "container": container, "podResources": {"requests": {"cpu": 2}}},
        podMetadata={"labels": {"a": "1", "c": "1"}}, volumes=volumes, schedulerName="s", podPriorityClassName="p",
    )  # fmt: skip
    assert found["metadata"]["labels"] == {"a": "2", "c": "1"}
    assert found["metadata"]["annotations"] == {"b": "2"}
    assert found["spec"] == {
        "containers": [{**container, "name": "main"}], "volumes": [{"name": "data"}], "schedulerName": "s",
        "priorityClassName": "p", "resources": {"requests": {"cpu": 2}},
    }  # fmt: skip


def test_mounts_of_a_container_set_count_for_all_its_containers() -> None:
    own = {"containers": [{"name": "a"}], "volumeMounts": [{"name": "w"}]}
    assert pod({"name": "main", "containerSet": own, "volumes": [{"name": "w"}]})["spec"]["volumes"] == [{"name": "w"}]


def test_defaults_of_templates_count_where_a_template_says_nothing_else() -> None:
    defaults = {
        "container": {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}},
        "tolerations": [{"key": "a", "value": "1"}, {"key": "b"}],
        "sidecars": [{"name": "s", "image": "x"}],
        "script": {"image": "other"},
    }
    main = {
        "name": "main",
        "container": {"resources": {"requests": {"cpu": "2"}}},
        "tolerations": [{"key": "a", "value": "2"}],
    }
    spec = pod(main, templateDefaults=defaults)["spec"]
    assert spec["containers"] == [
        {"name": "main", "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}, {"name": "s", "image": "x"},
    ]  # fmt: skip
    assert spec["tolerations"] == [{"key": "a", "value": "2"}, {"key": "b"}]


def test_defaults_whose_entries_have_no_key_are_replaced() -> None:
    made = pod({"name": "main", "container": {}, "sidecars": [{"image": "y"}]}, templateDefaults={"sidecars": [7, 8]})
    assert made["spec"]["containers"] == [{"name": "main"}, {"image": "y"}]


def refused(application: OperatorApplication) -> list[str]:
    assert not application.components
    return [*application.warnings("Workflow")]


@pytest.mark.parametrize(
    ("step", "path"),
    [
        ({"name": "x", "templateRef": {"name": "t"}}, "spec.templates[0].steps[0][0].templateRef was not judged"),
        ({"name": "x", "inline": {"container": {}}}, "spec.templates[0].steps[0][0].inline was not judged"),
        (call("{{item}}"), "spec.templates[0].steps[0][0].template was not judged"),
    ],
)
def test_templates_elsewhere_are_named(step: dict[str, Any], path: str) -> None:
    assert refused(workflow(steps([step]))) == [path]


@pytest.mark.parametrize(
    ("template", "spec", "said"),
    [
        ({"podSpecPatch": "{}"}, {}, "spec.templates[0].podSpecPatch may change the pods, which were not judged"),
        ({}, {"podSpecPatch": "{}"}, "spec.podSpecPatch may change the pods, which were not judged"),
        (
            {"nodeSelector": {"arch": "{{inputs.parameters.arch}}"}}, {},
            "template main: {{inputs.parameters.arch}} is filled in later, so its pods were not judged",
        ),
        (
            {"nodeSelector": {"env": "{{workflow.parameters.env}}"}}, {},
            "template main: {{workflow.parameters.env}} is filled in later, so its pods were not judged",
        ),
        (
            {"nodeSelector": {"containers": "{{workflow.parameters.runtime}}"}}, {},
            "template main: {{workflow.parameters.runtime}} is filled in later, so its pods were not judged",
        ),
        (
            {"nodeSelector": {"{{inputs.parameters.label}}": "true"}}, {},
            "template main: {{inputs.parameters.label}} is filled in later, so its pods were not judged",
        ),
        (
            {"metadata": {"annotations": {"streams.ibm.com/placement": 'host("{{workflow.name}}")'}}}, {},
            'template main: host("{{workflow.name}}") is filled in later, so its pods were not judged',
        ),
    ],
)  # fmt: skip
def test_a_pod_that_may_be_another_one_is_not_judged(template: Any, spec: Any, said: str) -> None:
    application = workflow({"name": "main", "container": {"image": "i"}, "metadata": ASKS, **template}, **spec)
    assert refused(application) == [said]
    assert application.asks


def test_what_only_the_containers_run_may_be_filled_in_later() -> None:
    own = {"args": ["{{x}}"], "image": "{{y}}", "resources": {"requests": {"cpu": 1}}}
    [component] = workflow({"name": "main", "container": own, "metadata": {"labels": {"a": "{{z}}"}}}).components
    assert component.count == 1


def test_of_a_huge_pod_the_first_texts_are_looked_at() -> None:
    own = {"resources": {"requests": {"cpu": "{{x}}"}}, "ports": [{"name": "p"}] * 3000}
    assert workflow({"name": "main", "container": own}).not_judged
    assert not workflow({"name": "main", "container": dict(reversed(own.items()))}).not_judged


def test_a_workflow_of_a_workflow_template_is_warned_of() -> None:
    document = {"metadata": {"name": "w", **ASKS}, "spec": {"workflowTemplateRef": {"name": "t"}}}
    application = expanded(WORKFLOW, document)
    assert application.asks
    assert refused(application) == ["spec.workflowTemplateRef is another object, whose templates were not judged"]
    assert not expanded(WORKFLOW, {**document, "metadata": {"name": "w"}}).asks


@pytest.mark.parametrize("name", ["Workflow", "CronWorkflow"])
def test_what_the_defaults_of_templates_ask_for_is_asked_for(name: str) -> None:
    """By the same paths the API server sees which objects ask for something."""
    kind = application_kinds()["argoproj.io", name]
    spec = {"entrypoint": "leaf", "templates": [LEAF], "templateDefaults": {"metadata": ASKS}}
    document = {"spec": spec if name == "Workflow" else {"workflowSpec": spec}}
    assert expanded(kind, document).asks
    assert says_something(kind, document)


def test_paths_of_a_cron_workflow_are_those_of_its_own() -> None:
    cron = application_kinds()["argoproj.io", "CronWorkflow"]
    inner = {
        "entrypoint": "main",
        "workflowTemplateRef": {"name": "t"},
        "templates": [steps([{"templateRef": {"x": 1}}])],
    }
    assert [*expanded(cron, {"spec": {"workflowSpec": inner}}).not_judged] == [
        "spec.workflowSpec.workflowTemplateRef is another object, whose templates were not judged",
        "spec.workflowSpec.templates[0].steps[0][0].templateRef was not judged",
    ]


def test_no_more_templates_calls_and_levels_are_followed_than_are_judged() -> None:
    leaves = [{"name": f"l{at}", "container": {}} for at in range(INSTANCES + 1)]
    found = workflow(steps([call(one["name"]) for one in leaves]), *leaves)
    assert (len(found.components), found.not_judged) == (INSTANCES, ("spec.templates[201] was not judged",))
    many = called_templates({"entrypoint": "main", "templates": [steps([call()] * (CALLS + 1)), LEAF]}, INSTANCES)
    assert ([one.most for one in many.templates], many.unknown) == ([CALLS], (f"spec.templates[0].steps[0][{CALLS}]",))
    rows = [steps([call(f"t{at + 1}")], name=f"t{at}") for at in range(DEPTH + 5)]
    deep = called_templates({"entrypoint": "t0", "templates": rows}, INSTANCES)
    assert deep.unknown == (f"spec.templates[{DEPTH}]",)


def test_what_many_templates_have_in_common_is_bounded() -> None:
    volumes = [{"name": f"v{at}"} for at in range(SHARED)]
    found = workflow({**LEAF, "name": "main"}, volumes=volumes)
    assert found.not_judged == ("the shared part of the templates is too large, so none of them was judged",)
    assert workflow({**LEAF, "name": "main"}, volumes=volumes[: SHARED // 3]).components


def many(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{**LEAF, "name": f"t{at}", **more} for at in range(count)]


WORST: Final = {
    "tasks that depend on many": (
        tasks(*(call(f"t{at % 200}", f"a{at}", dependencies=[f"a{other}" for other in range(max(0, at - 60), at)])
                for at in range(CALLS))),
        *many(200),
    ),
    "tasks that depend on none": (tasks(*(call(f"t{at % 200}", f"a{at}") for at in range(CALLS))), *many(200)),
    "limited steps": (steps(*([call(f"t{at}") for at in range(200)],) * 5, parallelism=2), *many(200)),
    "tasks with many hooks": (
        tasks(*(call("all", hooks={f"h{at}": {"template": "all"} for at in range(5000)}) for _ in range(4))),
        steps([call(f"t{at}") for at in range(200)], name="all"), *many(200),
    ),
    "large templates": (
        steps([call(f"t{at}") for at in range(200)]), *many(200, sidecars=[{"name": str(at)} for at in range(200)]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORST)
def test_the_worst_workflows_are_expanded_in_a_fraction_of_a_second(name: str) -> None:
    """Other reviews wait meanwhile."""
    assert excess(lambda: workflow(*WORST[name]), Work(calls=1_000_000, seconds=0.2)) is None


def test_hooks_count_as_calls() -> None:
    hooks = {f"h{at}": {"template": "leaf"} for at in range(CALLS)}
    found = workflow(steps([call("other"), call(hooks=hooks)]), {**LEAF, "name": "other"}, LEAF)
    assert ([one.name for one in found.components], found.not_judged) == (
        ["template other"], ("spec.templates[0].steps[0][1] was not judged",),
    )  # fmt: skip


def test_components_are_named_and_apart() -> None:
    found: tuple[ComponentPods, ...] = workflow(steps([call()]), LEAF).components
    assert [(one.name, one.apart, one.count, one.field, one.annotations_field) for one in found] == [
        ("template leaf", True, 1, "spec.templates[1]", "spec.podMetadata.annotations"),
    ]  # fmt: skip
