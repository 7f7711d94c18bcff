"""ParallelRegions at ``/validate``: a larger width is judged as a submission, beside what runs of the Job."""

import json
from typing import Any

import pytest
from msgspec import Raw

from tests.answers import refused, response, warnings
from tests.builders import NAMESPACE, Json, bound_pod, cluster, node, nodes, review
from tests.fusion_jobs import BUNDLE
from tests.placement.planning.at_once import AtOnce
from webhook.admission.answer import Answer, ClassQuestion, RegionQuestion, VolumesQuestion, WholeQuestion
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec
from webhook.placement.objects.volumes import Volumes
from webhook.placement.planning.search.solver import Solving, finished

GROUP = "streams.ibm.com"
RESOURCE = {"group": GROUP, "version": "v1", "resource": "streamsparallelregions"}
REGION = ParallelRegionSpec("apps", "work", 2, 16, 2)
BESIDE = "beside the running pods"
HAS_NO_JOB = "the ParallelRegion has no Job: its width has no effect"


def stored(width: int = 2, most: int | None = 16, *, fused: bool = True, placement: str = "", **more: Any) -> Json:
    """A Job whose region has two channels, each in an element of its own."""
    work = {"name": "Work", "region": "work", "cost": "3", "placement": placement}
    spec = {
        "bundle": BUNDLE,
        "operators": [{"name": "Src", "cost": "1"}, {key: value for key, value in work.items() if value}],
        "streams": [{"from": "Src", "to": "Work"}],
        "parallelRegions": [{"name": "work", "width": 2, **({"maxWidth": most} if most else {})}],
        "fusion": {"type": "channelIsolation"},
        **more,
    }
    elements = [{"name": "apps-0", "operators": ["Src"]}]
    elements += [{"name": f"apps-{at + 1}", "operators": [f"Work[{at}]"]} for at in range(width)]
    regions = [{"name": "work", "width": width, "stated": 2}]
    status = {"fusion": {"processingElements": elements, "regions": regions}} if fused else {}
    return {"metadata": {"name": "apps"}, "spec": spec, "status": status}


def running(count: int = 2, width: int = 2) -> Inventory:
    """Nodes of 8 CPUs, on which a Job of that width runs: two channels to a node."""
    pods = [bound_pod("node-a", job="apps", pe="apps-0", requests={"cpu": 1000})]
    names = ["node-a", "node-b", "node-c", "node-d"][:count]
    pods += [bound_pod(names[at // 2], job="apps", pe=f"apps-{at + 1}", requests={"cpu": 3000}) for at in range(width)]
    return cluster(nodes(count), pods=pods)


def scale(
    width: int, inventory: Inventory | None = None, policy: Policy | None = None, *, before: int = 2, **more: Any
) -> Answer:
    """The review of a Scale."""
    new, old = ({"metadata": {"name": "apps-work"}, "spec": {"replicas": at}} for at in (width, before))
    fields: Json = {
        "kind": "Scale",
        "group": "autoscaling",
        "subresource": "scale",
        "resource": RESOURCE,
        "name": "apps-work",
    }
    body = review(new, "UPDATE", old=old, **{**fields, **more})
    return validate(body, inventory or running(), policy or Policy())


def change(width: int, inventory: Inventory, **metadata: Any) -> Answer:
    """The review of a ParallelRegion that is edited."""
    spec = {"job": "apps", "region": "work", "width": width}
    new = {"metadata": {"name": "apps-work", **metadata}, "spec": spec}
    old = {"metadata": {"name": "apps-work"}, "spec": {**spec, "width": 2}}
    body = review(new, "UPDATE", old=old, kind="ParallelRegion", group=GROUP, resource=RESOURCE, name="apps-work")
    return validate(body, inventory, Policy())


def answered(
    answer: Answer, job: Json | None, region: ParallelRegionSpec | None = REGION, solving: Solving | None = None
) -> Answer:
    """The answer once all questions are answered."""
    while (question := answer.question) is not None:
        match question:
            case RegionQuestion():
                raw = None if job is None else Raw(json.dumps(job).encode())
                answer = question.resume(question.known or region, raw)
            case WholeQuestion():
                answer = finished(question.resume(solving or AtOnce()))
            case VolumesQuestion():
                answer = question.resume(Volumes())
            case ClassQuestion():
                answer = question.resume(question.known)
            case _:
                raise AssertionError(question)
    return answer


def test_a_width_that_fits_is_allowed() -> None:
    assert response(answered(scale(4), stored())) == response(scale(2))


def test_the_job_of_the_region_is_asked_for() -> None:
    question = scale(3).question
    assert isinstance(question, RegionQuestion)
    assert (question.namespace, question.name, question.known) == (NAMESPACE, "apps-work", None)
    question = change(3, running()).question
    assert isinstance(question, RegionQuestion)
    assert question.known == ParallelRegionSpec("apps", "work", 3)


@pytest.mark.parametrize("answer", [scale(2), scale(1, before=2), change(2, running()), change(1, running())])
def test_fewer_channels_are_never_refused(answer: Answer) -> None:
    assert response(answer)["allowed"]
    assert answer.question is None


REFUSAL = (
    "6 channels of parallel region work do not fit beside the running pods: at most 4 fit now.\n"
    "Work: cost 3 cannot hold: no fusion of 7 operators fits on the cluster.\n"
    "Nearest fix: scale to 4, or add 2 nodes with cpu 3 free, or drop Work: cost 3."
)


@pytest.mark.untraced
@pytest.mark.parametrize("ask", [scale, change], ids=["scaled", "edited"])
def test_a_width_that_does_not_fit_beside_what_runs_is_refused(ask: Any) -> None:
    """Two nodes of 8 CPUs have room for two channels more."""
    assert refused(answered(ask(6, running()), stored())) == (403, REFUSAL)


def test_no_more_channels_than_run_are_not_refused() -> None:
    """While four still run, who has scaled to two and wants three again asks for fewer, even where a node is gone."""
    gone = cluster(nodes(1))
    assert response(answered(scale(4, gone), stored(4))) == response(scale(2))
    assert refused(answered(scale(5, gone), stored(4)))[0] == 403


def test_what_runs_stays_where_it_is() -> None:
    """The nodes would have room for six channels of 4 CPUs if the running ones were put together."""
    inventory = running(3, 0)
    for at, name in enumerate(("node-a", "node-b", "node-c")):
        inventory.set_pod(bound_pod(name, job="apps", pe=f"apps-{at + 1}", requests={"cpu": 3000}))
    wide = stored(3)
    wide["spec"]["operators"][1]["cost"] = "6"
    assert refused(answered(scale(4, inventory, before=3), wide))[1].startswith(
        "4 channels of parallel region work do not fit beside the running pods: at most 3 fit now.\n"
    )
    wide["spec"]["operators"][1]["cost"] = "3"
    assert response(answered(scale(4, inventory, before=3), wide))["allowed"]


def moving(*, isolated: bool = False) -> tuple[Json, Inventory]:
    """A Job with one channel, and nodes of 7 and 6 CPUs that three channels fit on if Log moves."""
    operators = [{"name": "Src", "cost": "2"}, {"name": "Log", "cost": "2"}]
    operators.append({"name": "Work", "region": "work", "cost": "3"})
    fusion = {"manual": 5, **({"type": "channelIsolation"} if isolated else {})}
    job = stored(1, operators=operators, streams=[], fusion=fusion)
    job["status"]["fusion"]["processingElements"] = [
        {"name": f"apps-{at}", "operators": [name]} for at, name in enumerate(("Src", "Log", "Work[0]"))
    ]
    pods = [
        bound_pod(name, uid=f"u{at}", job="apps", pe=f"apps-{at}", requests={"cpu": cpu})
        for at, (name, cpu) in enumerate((("node-a", 2000), ("node-b", 2000), ("node-a", 3000)))
    ]
    return job, cluster([node("node-a", cpu=7000), node("node-b", cpu=6000)], pods=pods)


def test_what_runs_may_go_elsewhere_if_it_is_fused_again() -> None:
    """It is replaced then; an element that keeps its operators and streams stays."""
    job, inventory = moving()
    assert response(answered(scale(3, inventory, before=1), job))["allowed"]
    said = refused(answered(scale(4, inventory, before=1), job))[1]
    assert said.startswith(
        "4 channels of parallel region work do not fit beside the running pods: at most 3 fit now.\n"
    )
    job, inventory = moving(isolated=True)
    said = refused(answered(scale(3, inventory, before=1), job))[1]
    assert said.startswith(
        "3 channels of parallel region work do not fit beside the running pods: at most 2 fit now.\n"
    )


def test_what_runs_takes_its_room_until_it_is_replaced() -> None:
    """Without its cost Src would leave room for a channel, but its pod still requests it when the width is asked for.

    What is advised is enough at once.
    """
    job, inventory = moving(isolated=True)
    assert refused(answered(scale(3, inventory, before=1), job))[1].splitlines()[1:] == [
        "Work: cost 3 cannot hold: no fusion of 5 operators fits on the cluster.",
        "Nearest fix: scale to 2, or add a node with cpu 3 free, or drop Work: cost 3.",
    ]
    src, _, work = job["spec"]["operators"]
    del src["cost"]
    assert not response(answered(scale(3, inventory, before=1), job))["allowed"]
    src["cost"] = work.pop("cost")
    assert response(answered(scale(3, inventory, before=1), job))["allowed"]


def test_no_node_is_to_be_added_for_channels_that_have_to_be_where_others_run() -> None:
    said = refused(answered(scale(3), stored(placement='hostColocation("c")')))[1]
    assert said.splitlines()[-1] == (
        'Nearest fix: scale to 2, or drop Work: hostColocation("c"), or drop Work: cost 3.'
    )


@pytest.mark.untraced
def test_fewer_channels_than_there_are_may_be_all_that_fits() -> None:
    """Four are made, but their pods have no nodes: one node of 8 CPUs has room for two."""
    said = refused(answered(scale(5, cluster(nodes(1))), stored(4)))[1]
    first, *_, last = said.split("\n")
    assert first == "5 channels of parallel region work do not fit beside the running pods: at most 2 fit now."
    assert last.startswith("Nearest fix: scale to 2, or ")


def test_not_even_one_channel_may_fit() -> None:
    said = refused(answered(scale(5, cluster(nodes(1, cpu=2000))), stored(4)))[1]
    first, *_, last = said.split("\n")
    assert first == "5 channels of parallel region work do not fit beside the running pods: not even 1 fits now."
    assert "scale to" not in last


def test_one_channel_may_be_all_that_fits() -> None:
    one = running(1, 1)
    one.set_pod(bound_pod("node-a", uid="other", requests={"cpu": 3500}))
    said = refused(answered(scale(2, one, before=1), stored(1)))[1]
    assert said.startswith(
        "2 channels of parallel region work do not fit beside the running pods: at most 1 fits now.\n"
    )


def test_in_audit_mode_a_refusal_is_a_warning() -> None:
    answer = answered(scale(6, policy=Policy(audit=True)), stored())
    assert warnings(answer) == [f"audit: this would be refused: {REFUSAL.partition(chr(10))[0]}"]
    assert answer.rules == ("nodes",)


def test_a_job_that_is_not_fused_yet_is_judged_as_a_submission() -> None:
    assert response(answered(scale(4), stored(fused=False)))["allowed"]
    said = refused(answered(scale(5), stored(fused=False)))[1]
    first, second, _ = said.splitlines()
    assert first == "5 channels of parallel region work do not fit beside the running pods."
    assert second == "Work: cost 3 cannot hold: no fusion of 6 operators fits on the cluster."


class Hurried(AtOnce):
    """Time is over after so many looks at the clock."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def left(self) -> float:
        self.looks -= 1
        return float(self.looks > 0)


def test_without_time_to_find_out_the_refusal_does_not_say_how_many_fit() -> None:
    patient = Hurried(10**6)
    assert refused(answered(scale(6), stored(), solving=patient)) == (403, REFUSAL)
    late = answered(scale(6), stored(), solving=Hurried((10**6 - patient.looks) // 2))
    assert refused(late)[1].startswith("6 channels of parallel region work do not fit beside the running pods.\n")
    assert response(answered(scale(6), stored(), solving=Hurried(1)))["allowed"]


@pytest.mark.parametrize(
    ("most", "width", "said"),
    [
        pytest.param(3, 4, "spec.replicas: 4 is more than maxWidth, 3, which Job apps states", id="of the Job"),
        pytest.param(
            None, 1001, "spec.replicas: 1001 is more than maxWidth, 1000, which Job apps states", id="of all regions"
        ),
    ],
)
def test_the_bound_of_the_job_counts(most: int | None, width: int, said: str) -> None:
    """Not that of the ParallelRegion, which its users may write."""
    assert refused(answered(scale(width), stored(most=most))) == (422, said)


def test_limits_of_all_channels_together_are_those_of_a_job() -> None:
    many = [{"name": f"Op{at}", "region": "work"} for at in range(9)]
    assert refused(answered(scale(600), stored(most=None, operators=many, streams=[]))) == (
        422,
        (
            "spec.replicas: with 600 channels of parallel region work, spec.operators: "
            "5400 of them in all channels, at most 5000 are allowed"
        ),
    )


@pytest.mark.parametrize(
    ("job", "region", "said"),
    [
        pytest.param(None, REGION, HAS_NO_JOB, id="no Job"),
        pytest.param(stored(), None, HAS_NO_JOB, id="no region"),
        pytest.param({"spec": 7}, REGION, HAS_NO_JOB, id="a Job that cannot be read"),
        pytest.param(
            stored() | {"metadata": {"name": "apps", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
            REGION,
            HAS_NO_JOB,
            id="a Job that is being deleted",
        ),
        pytest.param(
            stored(parallelRegions=[{"name": "other", "width": 1}]),
            REGION,
            'Job apps has no parallel region "work": the width has no effect',
            id="another region",
        ),
    ],
)
def test_a_width_without_effect_is_let_in(job: Json | None, region: ParallelRegionSpec | None, said: str) -> None:
    assert warnings(answered(scale(9), job, region)) == [said]


def test_a_status_that_cannot_be_read_is_none() -> None:
    assert response(answered(scale(4), stored() | {"status": {"fusion": 7}}))["allowed"]


def test_another_object_that_is_scaled_is_none_of_ours() -> None:
    for resource in (RESOURCE | {"resource": "deployments", "group": "apps"}, RESOURCE | {"group": ""}, None, 7):
        answer = scale(9, resource=resource)
        assert (response(answer)["allowed"], answer.question) == (True, None)


def test_what_was_before_counts_as_nothing_if_it_cannot_be_read() -> None:
    body = review({"spec": {"replicas": 1}}, "UPDATE", old={"spec": 7}, kind="Scale", group="autoscaling",
                  subresource="scale", resource=RESOURCE)  # fmt: skip
    assert isinstance(validate(body, running(), Policy()).question, RegionQuestion)


def test_what_is_being_deleted_is_not_held_back() -> None:
    answer = change(9, running(), deletionTimestamp="2026-01-01T00:00:00Z")
    assert (response(answer)["allowed"], answer.question) == (True, None)


def test_only_the_controller_makes_one() -> None:
    body = review({"metadata": {"name": "own"}, "spec": {}}, kind="ParallelRegion", group=GROUP, resource=RESOURCE)
    assert refused(validate(body, running(), Policy())) == (
        403,
        (
            "metadata.name: the controller makes a ParallelRegion for each of spec.parallelRegions of a Job: "
            "state it there"
        ),
    )


@pytest.mark.parametrize("known", [None, Volumes()], ids=["no API server", "volumes"])
def test_the_claims_of_all_pods_count(known: Volumes | None) -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    template = {"spec": {"volumes": volumes, "containers": [{"name": "main", "image": "main"}]}}
    claiming = stored(operators=[{"name": "Src"}, {"name": "Work", "region": "work", "template": template}])
    first = scale(3).question
    assert isinstance(first, RegionQuestion)
    answer = first.resume(REGION, Raw(json.dumps(claiming).encode()))
    assert isinstance(answer.question, WholeQuestion)
    asked = finished(answer.question.resume(AtOnce())).question
    assert isinstance(asked, VolumesQuestion)
    assert list(asked.claims) == [(NAMESPACE, "data")]
    assert isinstance(asked.resume(known).question, WholeQuestion)


def test_a_class_that_is_not_known_is_asked_about() -> None:
    template = {"spec": {"priorityClassName": "high", "containers": [{"name": "main", "image": "main"}]}}
    operators = [{"name": "Src"}, {"name": "Work", "region": "work", "template": template}]
    first = scale(3).question
    assert isinstance(first, RegionQuestion)
    whole = first.resume(REGION, Raw(json.dumps(stored(operators=operators)).encode())).question
    assert isinstance(whole, WholeQuestion)
    assert isinstance(finished(whole.resume(AtOnce())).question, ClassQuestion)


def test_a_long_refusal_keeps_its_first_lines_and_its_fix() -> None:
    """Reasons of several operators have no room below the first line."""
    tags = [{"name": f"Op{at}", "region": "work", "placement": f'host("{"n" * 60}{at}")'} for at in range(9)]
    said = refused(answered(scale(3), stored(operators=[{"name": "Src"}, *tags], streams=[])))[1]
    assert said.startswith("3 channels of parallel region work do not fit beside the running pods")
    assert len(said) <= 1024


@pytest.mark.untraced
def test_a_changed_job_is_judged_with_the_widths_to_which_it_was_scaled() -> None:
    """Whoever applies a Job again has not changed the width."""
    old = stored(4)
    new = stored(4, operators=[{"name": "Src", "cost": "1"}, {"name": "Work", "region": "work", "cost": "8"}])
    answer = validate(review(new, "UPDATE", old=old, kind="Job", group=GROUP), cluster(nodes(3)), Policy())
    assert "no fusion of 5 operators fits on the cluster" in refused(answered(answer, None))[1]
    new["spec"]["parallelRegions"][0]["width"] = 1
    answer = validate(review(new, "UPDATE", old=old, kind="Job", group=GROUP), cluster(nodes(3)), Policy())
    assert response(answered(answer, None))["allowed"]
